from mcp import StdioServerParameters, stdio_client
from strands import Agent
from strands.models.openai import OpenAIModel
from strands.tools.mcp import MCPClient

server = StdioServerParameters(command="memstore-mcp", args=["--db", "memory.db"])
with MCPClient(lambda: stdio_client(server)) as memory:
    agent = Agent(
        model=OpenAIModel(model_id="gpt-5-mini"),
        system_prompt="Look into your memory before you answer; keep what holds for long.",
        tools=memory.list_tools_sync(),
        callback_handler=None,
    )
    print(agent("I have moved to Lisbon. Remember it."))
