from mcp import StdioServerParameters
from smolagents import MCPClient, OpenAIServerModel, ToolCallingAgent

server = StdioServerParameters(command="memstore-mcp", args=["--db", "memory.db"])
with MCPClient(server, structured_output=False) as memory:
    agent = ToolCallingAgent(
        tools=memory,
        model=OpenAIServerModel("gpt-5-mini"),
        instructions="Look into your memory before you answer; keep what holds for long.",
    )
    print(agent.run("I have moved to Lisbon. Remember it."))
