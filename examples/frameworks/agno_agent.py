import asyncio

from agno.agent import Agent
from agno.models.openai import OpenAIChat
from agno.tools.mcp import MCPTools
from mcp import StdioServerParameters

server = StdioServerParameters(command="memstore-mcp", args=["--db", "memory.db"])


async def main() -> None:
    async with MCPTools(server_params=server) as memory:
        agent = Agent(
            model=OpenAIChat(id="gpt-5-mini"),
            instructions="Look into your memory before you answer; keep what holds for long.",
            tools=[memory],
        )
        print((await agent.arun("I have moved to Lisbon. Remember it.")).content)


asyncio.run(main())
