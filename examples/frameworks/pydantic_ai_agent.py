from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset

memory = MCPToolset(StdioTransport("memstore-mcp", ["--db", "memory.db"]))
agent = Agent(
    "openai:gpt-5-mini",
    instructions="Look into your memory before you answer; keep what holds for longer than today.",
    toolsets=[memory],
)
print(agent.run_sync("I have moved to Lisbon. Remember it.").output)
