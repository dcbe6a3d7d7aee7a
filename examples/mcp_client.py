"""An MCP client that starts the server and calls its tools: python examples/mcp_client.py.

Needs the protocol's own SDK: pip install "mcp>=2".
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from mcp import ClientSession, StdioServerParameters, stdio_client

SERVER = "from memstore.__main__ import mcp_server; raise SystemExit(mcp_server())"


async def main(folder: Path) -> None:
    # In a configuration the command is "memstore-mcp"; this is the same program of this Python.
    # A model gets its answers as lines; a program asks for JSON.
    arguments = ["-c", SERVER, "--db", str(folder / "memory.db"), "--answers", "json"]
    server = StdioServerParameters(command=sys.executable, args=arguments)
    async with stdio_client(server) as pipes, ClientSession(*pipes) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        print(f"tools   {' '.join(tool.name for tool in tools)}")

        fact = {"content": "Alice prefers light mode", "subject": "alice", "category": "preference"}
        await session.call_tool("memory_store", fact)
        answer = await session.call_tool("memory_search", {"query": "which theme does Alice like?"})
        print(f"found   {answer.structured_content['facts'][0]['content']}")

        new = {**fact, "content": "Alice prefers dark mode", "supersedes": 1}
        await session.call_tool("memory_store", new)
        answer = await session.call_tool("memory_history", {"id": 2})
        for one in answer.structured_content["facts"]:
            print(f"history {one.get('status', 'active'):<11} {one['content']}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(main(Path(name)))
