"""The HTTP server's application in this process: requests without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx
from tests.support.served import MCP_HEADERS, request

import memstore
from memstore.faces.http.endpoint import McpEndpoint
from memstore.faces.http.gate import MAX_BODY_BYTES, Gate
from memstore.faces.http.metrics import Metrics
from memstore.faces.mcp import catalogue
from memstore.faces.serving.address import AcceptedNames
from memstore.faces.serving.opening import Opening
from memstore.faces.serving.readiness import Readiness
from memstore.faces.serving.stores import Stores

METRICS_PORT = 9464


class Client(NamedTuple):
    http: httpx.AsyncClient
    readiness: Readiness

    async def call(self, tool: str, **arguments: Any) -> httpx.Response:
        asked = request("tools/call", name=tool, arguments=arguments)
        return await self.http.post("/mcp", json=asked, headers=MCP_HEADERS)

    async def probes(self) -> list[int]:
        """The statuses of /livez and /readyz."""
        return [(await self.http.get(path)).status_code for path in ("/livez", "/readyz")]

    async def metrics(self, accept: str = "*/*") -> httpx.Response:
        at = f"http://localhost:{METRICS_PORT}/metrics"
        return await self.http.get(at, headers={"Accept": accept})


@asynccontextmanager
async def client(
    open_store: Callable[[], memstore.Store], *, needs_token: bool = False
) -> AsyncIterator[Client]:
    """Serve a store with metrics to one client; the gate's own thread limits apply."""
    opening = Opening(open_store)
    stores = Stores(opening)
    readiness = Readiness(stores)
    offered = catalogue.offered()
    metrics = Metrics(offered, stores, readiness)
    endpoint = McpEndpoint(
        offered, stores, lambda: None, largest_body=MAX_BODY_BYTES, watch=metrics.watch
    )
    gate = Gate(
        endpoint,
        stores,
        names=AcceptedNames.of("localhost", (), ()),
        writing=offered.writing(),
        needs_token=needs_token,
        readiness=readiness,
    )
    way = httpx.ASGITransport(metrics.at({METRICS_PORT}, metrics.counting(gate)))
    try:
        async with (
            endpoint.running(),
            httpx.AsyncClient(transport=way, base_url="http://localhost") as http,
        ):
            yield Client(http, readiness)
    finally:
        opening.close()
