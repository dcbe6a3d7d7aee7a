"""The server over HTTP: it listens, serves many clients at once, and ends in bounded time."""

from __future__ import annotations

import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, NoReturn

import anyio
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from memstore.errors import MemstoreError
from memstore.faces import wording
from memstore.faces.http.address import Address, Names, listen, reachable
from memstore.faces.http.endpoint import Endpoint
from memstore.faces.http.gate import LARGEST_BODY, PATH, Gate, Patience, for_pages
from memstore.faces.http.stores import Stores
from memstore.faces.mcp.opening import end, on_signals

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Mapping, Sequence
    from types import FrameType

    from memstore.faces.mcp.opening import Opening
    from memstore.faces.mcp.tool import Tool

logger = logging.getLogger(__name__)

GRACE_SECONDS: Final = 3
"""For calls that run when the server is told to end; then they are dropped."""

END_SECONDS: Final = 6.0
"""From a signal to the end of the process, whatever happens."""

KEEP_ALIVE_SECONDS: Final = 75
"""For an idle connection: longer than reverse proxies keep theirs, so that they close first."""

CONNECTIONS_AT_ONCE: Final = 512
"""More are told 503 rather than filling the memory."""


class _Server(uvicorn.Server):
    """Uvicorn's server, with a limit on how long shutdown may take."""

    def __init__(self, config: uvicorn.Config, opening: Opening) -> None:
        super().__init__(config)
        self._opening = opening

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            watchdog = threading.Timer(END_SECONDS, end, (self._opening, 0))
            watchdog.daemon = True
            watchdog.start()
        super().handle_exit(sig, frame)


class _Connection(H11Protocol):
    """Uvicorn's connection, closed when the head of a request takes too long."""

    head_seconds = Patience.head_seconds
    _giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read on; what does not complete the head gains no time."""
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        """Wait for the next request, for as long as the connection may be idle."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        answering = self.cycle is not None and not self.cycle.response_complete
        if answering or self.timeout_keep_alive_task is not None:
            self._stop_waiting()
        elif self._giving_up is None:
            self._giving_up = self.loop.call_later(self.head_seconds, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None


def run(
    tools: Mapping[str, Tool],
    opening: Opening,
    address: Address,
    names: Names,
    *,
    patience: Patience = Patience(),  # noqa: B008 (frozen)
) -> NoReturn:
    """Serve until a signal comes, close the store, and end the process.

    What other machines may reach is not served to them without a token: while there is none, the
    server refuses to start.
    """
    status = 1
    # While the file is opened, too, which may take long; as process 1 of a container there would
    # be no other end.
    on_signals(lambda _number, _frame: end(opening, 0))
    try:
        sockets = listen(address)
        public = reachable(sockets) or not names.local
        if public:
            # In a thread, since signals are not heard while SQLite works in this one.
            with ThreadPoolExecutor(1) as pool:
                pool.submit(_want_token, opening, address).result()
        _serve(tools, opening, sockets, names, public=public, patience=patience)
        status = 0
    except (MemstoreError, OSError, ValueError) as error:
        print(f"memstore-mcp: {wording.in_server(error)}", file=sys.stderr)
    except Exception:
        logger.exception("the server failed")
    finally:
        end(opening, status)


def _want_token(opening: Opening, address: Address) -> None:
    """Refuse to serve other machines while there is no valid token."""
    store = opening.store()
    if not store.tokens.usable():
        raise ValueError(
            f"others may reach {address}, and {store.path} holds no token that is good: create "
            "one with `memstore token create NAME`, or listen on 127.0.0.1 without --allow-host "
            "and --allow-origin"
        )


def _serve(
    tools: Mapping[str, Tool],
    opening: Opening,
    sockets: Sequence[socket.socket],
    names: Names,
    *,
    public: bool,
    patience: Patience,
) -> None:
    class Connection(_Connection):
        head_seconds = patience.head_seconds

    stores = Stores(opening)
    endpoint = Endpoint(tools, stores, largest_body=LARGEST_BODY)
    writing = {name for name, tool in tools.items() if not tool.reads}
    gate = Gate(endpoint, stores, names=names, writing=writing, public=public, patience=patience)
    server = _Server(
        uvicorn.Config(
            for_pages(gate, names),
            http=Connection,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=CONNECTIONS_AT_ONCE,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        ),
        opening,
    )

    on_signals(server.handle_exit)

    async def serve() -> None:
        async with endpoint.running():
            opening.start()
            await server.serve(sockets=list(sockets))

    for opened in sockets:
        bound = Address(*opened.getsockname()[:2])
        print(f"memstore-mcp: serving http://{bound}{PATH}", file=sys.stderr, flush=True)
    anyio.run(serve)
