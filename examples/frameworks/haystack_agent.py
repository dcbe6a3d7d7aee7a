from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack_integrations.tools.mcp import MCPToolset, StdioServerInfo

memory = MCPToolset(StdioServerInfo("memstore-mcp", ["--db", "memory.db"]))
agent = Agent(
    chat_generator=OpenAIChatGenerator(model="gpt-5-mini"),
    system_prompt="Look into your memory before you answer; keep what holds for long.",
    tools=memory,
)
asked = ChatMessage.from_user("I have moved to Lisbon. Remember it.")
print(agent.run(messages=[asked])["last_message"].text)
memory.close()
