"""The server's application over HTTP in this process, without a socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import anyio.to_thread
import httpx
import uvicorn
from tests.support.served import MCP_HEADERS, request

import memstore
from memstore.faces.http import identity
from memstore.faces.http.device_files import with_device_files
from memstore.faces.http.endpoint import McpEndpoint
from memstore.faces.http.gate import MAX_BODY_BYTES, Gate
from memstore.faces.http.hooks import with_hooks
from memstore.faces.http.provider_tokens import ProviderTokens
from memstore.faces.mcp import catalogue
from memstore.faces.serving.address import AcceptedNames
from memstore.faces.serving.opening import Opening
from memstore.faces.serving.stores import Stores

NAMES = AcceptedNames.of("localhost", [], [])


class Gated:
    """Requests to the application."""

    def __init__(self, client: httpx.AsyncClient, gate: Gate) -> None:
        self._client = client
        self.gate = gate

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self._client.get(path, headers=headers)

    async def post(self, token: str | None, message: Any) -> httpx.Response:
        return await self._post("/mcp", token, message)

    async def hook(self, token: str | None, **event: Any) -> httpx.Response:
        return await self._post("/mcp/hook", token, event)

    async def files(
        self, method: str, token: str | None, name: str = "", body: bytes = b"", **headers: str
    ) -> httpx.Response:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent |= {} if token is None else {"Authorization": f"Bearer {token}"}
        path = f"/mcp/sync/{name}" if name else "/mcp/sync"
        return await self._client.request(method, path, content=body, headers=sent)

    async def call(self, token: str | None, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the result of a tool's call."""
        sent = request("tools/call", name=tool, arguments=arguments)
        answer = await self.post(token, sent)
        assert answer.status_code == 200, (answer.status_code, answer.text)
        result: dict[str, Any] = answer.json()["result"]
        return result

    async def text(self, token: str | None, tool: str, **arguments: Any) -> str:
        result = await self.call(token, tool, **arguments)
        assert not result["isError"], result
        return str(result["content"][0]["text"])

    async def _post(self, path: str, token: str | None, message: Any) -> httpx.Response:
        sent = MCP_HEADERS | ({} if token is None else {"Authorization": f"Bearer {token}"})
        return await self._client.post(path, content=json.dumps(message), headers=sent)


@asynccontextmanager
async def gated(
    path: Path, settings: str | None = None, *, records: bool = False
) -> AsyncIterator[Gated]:
    """Serve a file until the block ends.

    Args:
        settings: the text of the settings file of an identity provider.
        records: whether hooks record prompts.
    """
    provider = None
    if settings is not None:
        with TemporaryDirectory() as folder:
            file = Path(folder, "identity.toml")
            file.write_text(settings, "utf-8")
            provider = ProviderTokens(identity.read(str(file)))
    opening = Opening(partial(memstore.open, path, embedder=None, actor="agent", source="mcp"))
    stores = Stores(opening)
    endpoint = McpEndpoint(
        catalogue.offered("facts,tasks,graph"), stores, lambda: None, largest_body=MAX_BODY_BYTES
    )
    gate = Gate(
        with_device_files(with_hooks(endpoint, stores, {}, records=records), stores),
        stores,
        names=NAMES,
        writing={"memory_store"},
        needs_token=True,
        provider=provider,
    )
    transport = httpx.ASGITransport(gate)
    async with (
        endpoint.running(),
        httpx.AsyncClient(transport=transport, base_url="http://localhost:8765") as client,
    ):
        try:
            yield Gated(client, gate)
        finally:
            opening.close()


@contextmanager
def listening(path: Path, settings: str | None = None) -> Iterator[str]:
    """Serve a file on loopback, in a thread, until the block ends; yields the endpoint's address.

    Programs that use the network, such as hooks, can be tested against it.
    """
    stopped, started = threading.Event(), threading.Event()
    address: list[str] = []

    async def serve() -> None:
        async with gated(path, settings) as server:
            opened = socket.create_server(("127.0.0.1", 0))
            address.append(f"http://127.0.0.1:{opened.getsockname()[1]}/mcp")
            config = uvicorn.Config(server.gate, log_config=None, lifespan="off")
            running = uvicorn.Server(config)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(running.serve, [opened])
                started.set()
                await anyio.to_thread.run_sync(stopped.wait)
                running.should_exit = True

    thread = threading.Thread(target=anyio.run, args=[serve])
    thread.start()
    assert started.wait(30)
    try:
        yield address[0]
    finally:
        stopped.set()
        thread.join()


def run(
    path: Path,
    use: Callable[[Gated], Awaitable[None]],
    settings: str | None = None,
    *,
    records: bool = False,
) -> None:
    """Serve a file, and use the server."""

    async def serve() -> None:
        async with gated(path, settings, records=records) as server:
            await use(server)

    anyio.run(serve)
