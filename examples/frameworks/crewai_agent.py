from crewai import Agent
from crewai.mcp import MCPServerStdio

memory = MCPServerStdio(command="memstore-mcp", args=["--db", "memory.db"])
agent = Agent(
    role="Assistant",
    goal="Help Ana, and keep in memory what holds for longer than today",
    backstory="You look into your memory before you answer.",
    llm="openai/gpt-5-mini",
    mcps=[memory],
)
print(agent.kickoff("I have moved to Lisbon. Remember it.").raw)
