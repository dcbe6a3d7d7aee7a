import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


async def main() -> None:
    memory = McpToolSpec(BasicMCPClient("memstore-mcp", args=["--db", "memory.db"]))
    agent = FunctionAgent(
        tools=await memory.to_tool_list_async(),
        llm=OpenAI(model="gpt-5-mini"),
        system_prompt="Look into your memory before you answer; keep what holds for long.",
    )
    print(await agent.run("I have moved to Lisbon. Remember it."))


asyncio.run(main())
