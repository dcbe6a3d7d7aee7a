import asyncio

import dspy
from mcp import ClientSession, StdioServerParameters, stdio_client

dspy.configure(lm=dspy.LM("openai/gpt-4.1-mini"))
server = StdioServerParameters(command="memstore-mcp", args=["--db", "memory.db"])


async def main() -> None:
    async with stdio_client(server) as pipes, ClientSession(*pipes) as memory:
        await memory.initialize()
        listed = (await memory.list_tools()).tools
        tools = [dspy.Tool.from_mcp_tool(memory, tool) for tool in listed]
        agent = dspy.ReAct("request -> answer", tools)
        print((await agent.acall(request="I have moved to Lisbon. Remember it.")).answer)


asyncio.run(main())
