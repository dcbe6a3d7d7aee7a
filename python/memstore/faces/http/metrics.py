"""Counts and measures for Prometheus: ``GET /metrics`` at an address of its own.

Labels have few values, all of them ours: tools, classes of status codes, names of error classes.
No namespace, owner, token, client or text is among them (decision 110).
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.to_thread
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response

from memstore import __version__, errors
from memstore.domain import clock
from memstore.errors import MemstoreError
from memstore.faces import wording
from memstore.faces.http.device_files import is_of_devices
from memstore.faces.http.endpoint import Watch
from memstore.faces.http.gate import PATH
from memstore.faces.mcp.tool import ToolError
from memstore.faces.serving.readiness import OK, PROBES
from memstore.file import figures

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.faces.serving.readiness import Readiness
    from memstore.faces.serving.stores import Stores
    from memstore.file.figures import Figures

logger = logging.getLogger(__name__)

METRICS: Final = "/metrics"

BUCKETS: Final = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
    *(30.0, 60.0, 300.0),
)
"""Upper limits in seconds: a search takes milliseconds, learning from a conversation minutes."""

DATABASE_SECONDS: Final = 2.0
"""Time for the figures that are read from the database; the others are there without them."""

OTHER: Final = "other"

KINDS: Final = frozenset(
    name
    for name, one in vars(errors).items()
    if isinstance(one, type) and issubclass(one, Exception) and one.__module__ == errors.__name__
) | {ToolError.__name__}
"""The errors of the library by name. Wrong arguments of a call are a ``ToolError``."""


class Metrics:
    """Counts the requests and calls of one server process. Any thread may count.

    Args:
        catalogue: the tools that have a label of their own.
    """

    def __init__(self, catalogue: Catalogue, stores: Stores, readiness: Readiness) -> None:
        self._catalogue = catalogue
        self._stores = stores
        self._readiness = readiness
        self._threads = anyio.CapacityLimiter(1)
        self._reading = threading.Lock()
        self._figures: Figures | None = None
        # Not the global one, which counts what other libraries of the process register.
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        Info("memstore", "The program.", registry=registry).info({"version": __version__})
        self._requests = Counter(
            "memstore_http_requests",
            "Answered requests by endpoint and class of status.",
            ["endpoint", "status"],
            registry=registry,
        )
        self._running = Gauge(
            "memstore_http_requests_running",
            "Requests without a complete answer, those that queue for a thread included.",
            registry=registry,
        )
        self._calls = Counter(
            "memstore_tool_calls",
            "Calls of tools by outcome: ok, or error if the answer says so.",
            ["tool", "outcome"],
            registry=registry,
        )
        self._seconds = Histogram(
            "memstore_tool_seconds",
            "Time that calls of tools took in their thread.",
            ["tool"],
            buckets=BUCKETS,
            registry=registry,
        )
        self._errors = Counter(
            "memstore_tool_errors",
            "Errors that tools answered with, by kind.",
            ["kind"],
            registry=registry,
        )
        self._ready = Gauge(
            "memstore_ready", "1 while /readyz answers 200, otherwise 0.", registry=registry
        )
        for name in catalogue.tools:  # so that a rate is zero and not absent before the first call
            self._seconds.labels(name)
            for outcome in ("ok", "error"):
                self._calls.labels(name, outcome)
        registry.register(_FromDatabase(lambda: self._figures))

    @property
    def watch(self) -> Watch:
        return Watch(self.measure, self.count_error)

    def measure(self, tool: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Run the call of a tool, and return its result."""
        offered = self._catalogue.find(tool)
        name = OTHER if offered is None else offered.name
        began, outcome = clock.monotonic(), "error"
        try:
            result = work()
            outcome = "error" if result.get("isError") else "ok"
            return result
        finally:
            self._seconds.labels(name).observe(clock.monotonic() - began)
            self._calls.labels(name, outcome).inc()

    def count_error(self, error: BaseException) -> None:
        kind = type(error).__name__
        self._errors.labels(kind if kind in KINDS else OTHER).inc()

    def counting(self, app: ASGIApp) -> ASGIApp:
        """Return an application that counts the requests of another one."""

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            status = "none"  # the client was gone before the answer

            async def send_counted(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = f"{message['status'] // 100}xx"
                await send(message)

            with self._running.track_inprogress():
                try:
                    await app(scope, receive, send_counted)
                finally:
                    self._requests.labels(_endpoint(scope["path"]), status).inc()

        return counted

    def at(self, ports: Collection[int], app: ASGIApp) -> ASGIApp:
        """Return an application that shows the metrics on these ports, and another elsewhere."""

        async def divided(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["server"][1] in ports:
                await (await self._answer(scope))(scope, receive, send)
            else:
                await app(scope, receive, send)

        return divided

    async def _answer(self, scope: Scope) -> Response:
        if scope["path"] != METRICS:
            return PlainTextResponse(f"not found: the metrics are at {METRICS}\n", 404)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("use GET\n", 405, {"Allow": "GET, HEAD"})
        is_ready = await self._readiness.state() == OK
        found: Figures | None = None
        with anyio.move_on_after(DATABASE_SECONDS), suppress(MemstoreError, ValueError, TypeError):
            found = await anyio.to_thread.run_sync(
                self._read, limiter=self._threads, abandon_on_cancel=True
            )
        # From here on nothing waits, so that two scrapes at once do not mix.
        self._figures = found
        self._ready.set(is_ready)
        encode, kind = choose_encoder(Headers(scope=scope).get("accept", ""))
        return Response(encode(self.registry), headers={"Content-Type": kind})

    def _read(self) -> Figures | None:
        if not self._reading.acquire(blocking=False):
            return None  # an earlier reading has timed out and is still running
        try:
            file = self._stores.store().file
            return figures.figures(file.engine, file.searches)
        except (MemstoreError, ValueError, TypeError) as error:
            logger.info("metrics without the database: %s", wording.in_server(error))
            raise
        finally:
            self._reading.release()


class _FromDatabase:
    """Figures that are read when they are asked for; without the database they are absent."""

    def __init__(self, current: Callable[[], Figures | None]) -> None:
        self._current = current

    def collect(self) -> Iterator[Any]:
        found = self._current()
        pending = GaugeMetricFamily(
            "memstore_pending", "Items that wait for their embedding.", labels=["rows"]
        )
        quarantined = GaugeMetricFamily(
            "memstore_quarantined", "Items that could not be embedded.", labels=["rows"]
        )
        rows = GaugeMetricFamily(
            "memstore_index_rows", "Rows in the index; 0 while it is built.", labels=["rows"]
        )
        loose = GaugeMetricFamily(
            "memstore_index_loose_rows", "Rows that are in no file of the index.", labels=["rows"]
        )
        size = GaugeMetricFamily(
            "memstore_index_file_bytes", "Size of the index's files.", labels=["rows"]
        )
        builds = CounterMetricFamily(
            "memstore_index_builds", "How often all rows were indexed.", labels=["rows"]
        )
        pool = GaugeMetricFamily(
            "memstore_pool_connections", "Connections to the database server.", labels=["state"]
        )
        if found is not None:
            for kind, number in found.pending.items():
                pending.add_metric([kind], number)
            for kind, number in found.quarantined.items():
                quarantined.add_metric([kind], number)
            for index in found.indexes:
                rows.add_metric([index.name], index.rows)
                loose.add_metric([index.name], index.loose_rows)
                size.add_metric([index.name], index.file_bytes)
                builds.add_metric([index.name], index.builds)
            for state, number in found.connections.items():
                pool.add_metric([state], number)
        yield from (pending, quarantined, rows, loose, size, builds, pool)


def _endpoint(path: str) -> str:
    if path in PROBES:
        return "probe"
    if is_of_devices(path):
        return "files"
    return "mcp" if path.rstrip("/") == PATH else "pages"
