import asyncio

from agent_framework import Agent, MCPStdioTool
from agent_framework.openai import OpenAIChatClient


async def main() -> None:
    async with MCPStdioTool("memstore", "memstore-mcp", args=["--db", "memory.db"]) as memory:
        agent = Agent(
            OpenAIChatClient(model="gpt-5-mini"),
            "Look into your memory before you answer; keep what holds for longer than today.",
            tools=memory,
        )
        print(await agent.run("I have moved to Lisbon. Remember it."))


asyncio.run(main())
