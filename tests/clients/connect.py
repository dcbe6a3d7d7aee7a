"""Connects one client to the server over pipes: it lists the tools, stores a fact and finds it.

    python tests/clients/connect.py langchain --requirement     # what pip installs for it
    python tests/clients/connect.py langchain                   # with memstore installed beside it

Each client wants an environment of its own; ``clients.yml`` makes them. The TypeScript SDK has
``connect.mjs``.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

CLAIM = "Ana drinks lapsang in the morning"
FACT = {"content": CLAIM, "subject": "ana", "category": "preference"}
QUESTION = {"query": "what does Ana drink?"}
TOOLS = 12


class Server(NamedTuple):
    command: str
    args: list[str]
    env: dict[str, str]


class Connected(NamedTuple):
    """A connection: the tools as the client names them, and a call, which returns any text."""

    names: list[str]
    call: Callable[[str, dict[str, Any]], Awaitable[object]]


Open = Callable[[Server, AsyncExitStack], Awaitable[Connected]]


async def sdk(server: Server, stack: AsyncExitStack) -> Connected:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(**server._asdict())
    pipes = await stack.enter_async_context(stdio_client(parameters))
    session = await stack.enter_async_context(ClientSession(*pipes))
    await session.initialize()
    listed = await session.list_tools()
    return Connected([tool.name for tool in listed.tools], session.call_tool)


async def fastmcp(server: Server, stack: AsyncExitStack) -> Connected:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    client = await stack.enter_async_context(Client(StdioTransport(**server._asdict())))
    return Connected([tool.name for tool in await client.list_tools()], client.call_tool)


async def langchain(server: Server, stack: AsyncExitStack) -> Connected:
    from langchain_mcp_adapters.client import MultiServerMCPClient

    client = MultiServerMCPClient({"memstore": {"transport": "stdio", **server._asdict()}})
    tools = {tool.name: tool for tool in await client.get_tools()}
    return Connected([*tools], lambda name, given: tools[name].ainvoke(given))


async def autogen(server: Server, stack: AsyncExitStack) -> Connected:
    from autogen_core import CancellationToken
    from autogen_ext.tools.mcp import StdioServerParams, mcp_server_tools

    found = await mcp_server_tools(StdioServerParams(**server._asdict()))
    tools = {tool.name: tool for tool in found}
    return Connected([*tools], lambda name, given: tools[name].run_json(given, CancellationToken()))


async def crewai(server: Server, stack: AsyncExitStack) -> Connected:
    from crewai_tools import MCPServerAdapter
    from mcp import StdioServerParameters

    adapter = MCPServerAdapter(StdioServerParameters(**server._asdict()))
    tools = {tool.name: tool for tool in stack.enter_context(adapter)}
    return Connected([*tools], lambda name, given: asyncio.to_thread(tools[name].run, **given))


async def smolagents(server: Server, stack: AsyncExitStack) -> Connected:
    from mcp import StdioServerParameters
    from smolagents import MCPClient

    client = MCPClient(StdioServerParameters(**server._asdict()), structured_output=False)
    tools = {tool.name: tool for tool in stack.enter_context(client)}
    return Connected([*tools], lambda name, given: asyncio.to_thread(tools[name], **given))


async def semantic_kernel(server: Server, stack: AsyncExitStack) -> Connected:
    from semantic_kernel import Kernel
    from semantic_kernel.connectors.mcp import MCPStdioPlugin

    opened = MCPStdioPlugin(name="memstore", **server._asdict())
    plugin = await stack.enter_async_context(opened)
    functions = Kernel().add_plugin(plugin).functions
    return Connected([*functions], lambda name, given: plugin.call_tool(name, **given))


async def openai_agents(server: Server, stack: AsyncExitStack) -> Connected:
    from agents.mcp import MCPServerStdio

    opened = await stack.enter_async_context(MCPServerStdio(params=server._asdict()))
    return Connected([tool.name for tool in await opened.list_tools()], opened.call_tool)


async def pydantic_ai(server: Server, stack: AsyncExitStack) -> Connected:
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai.mcp import MCPToolset

    opened = await stack.enter_async_context(MCPToolset(StdioTransport(**server._asdict())))
    return Connected([tool.name for tool in await opened.list_tools()], opened.direct_call_tool)


async def llama_index(server: Server, stack: AsyncExitStack) -> Connected:
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    client = BasicMCPClient(server.command, args=server.args, env=server.env)
    found = await McpToolSpec(client).to_tool_list_async()
    tools = {tool.metadata.name: tool for tool in found}
    return Connected([*tools], lambda name, given: tools[name].acall(**given))


async def google_adk(server: Server, stack: AsyncExitStack) -> Connected:
    from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
    from mcp import StdioServerParameters

    parameters = StdioServerParameters(**server._asdict())
    toolset = McpToolset(connection_params=StdioConnectionParams(server_params=parameters))
    stack.push_async_callback(toolset.close)
    tools = {tool.name: tool for tool in await toolset.get_tools()}
    return Connected(
        [*tools], lambda name, given: tools[name].run_async(args=given, tool_context=None)
    )


async def agno(server: Server, stack: AsyncExitStack) -> Connected:
    from agno.tools.mcp import MCPTools
    from mcp import StdioServerParameters

    opened = MCPTools(server_params=StdioServerParameters(**server._asdict()))
    toolkit = await stack.enter_async_context(opened)
    functions = toolkit.functions
    return Connected([*functions], lambda name, given: functions[name].entrypoint(**given))


CLIENTS: dict[str, tuple[str, Open]] = {
    "sdk-1": ("mcp>=1,<2", sdk),
    "sdk-2": ("mcp>=2,<3", sdk),
    "fastmcp": ("fastmcp", fastmcp),
    "langchain": ("langchain-mcp-adapters", langchain),
    "autogen": ("autogen-ext[mcp] mcp<2", autogen),
    "crewai": ("crewai crewai-tools[mcp]", crewai),
    "smolagents": ("smolagents[mcp] mcp<2", smolagents),
    "semantic-kernel": ("semantic-kernel[mcp]", semantic_kernel),
    "openai-agents": ("openai-agents", openai_agents),
    "pydantic-ai": ("pydantic-ai-slim[mcp]", pydantic_ai),
    "llama-index": ("llama-index-tools-mcp", llama_index),
    "google-adk": ("google-adk[mcp]", google_adk),
    "agno": ("agno[mcp]", agno),
}
"""What to install for each client, and how it connects. autogen-ext and smolagents accept any SDK
version, but cannot be imported with version 2."""


async def session(open_client: Open, db: Path) -> str:
    """Run one session; return what the client found."""
    import memstore  # beside the client, in its environment

    server = Server(
        str(Path(sys.prefix, "Scripts" if os.name == "nt" else "bin", "memstore-mcp")),
        ["--db", str(db)],
        {"PATH": os.environ["PATH"], "HOME": str(db.parent)},
    )
    async with AsyncExitStack() as stack:
        names, call = await open_client(server, stack)
        tools = [name for name in names if name.startswith("memory_")]  # prompts may be beside them
        assert len(tools) == TOOLS, names
        await call("memory_store", FACT)
        found = str(await call("memory_search", QUESTION))
    assert CLAIM in found, found
    with memstore.open(db, embedder=None, read_only=True) as store:
        assert [fact.content for fact in store.list()] == [CLAIM]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("--requirement", action="store_true", help="only print what it takes")
    asked = parser.parse_args()
    requirement, open_client = CLIENTS[asked.client]
    if asked.requirement:
        print(requirement)
        return
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(session(open_client, Path(folder, "memory.db")))
    print(f"{asked.client}: {TOOLS} tools, stored and found")


if __name__ == "__main__":
    main()
