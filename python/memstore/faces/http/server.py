"""The server over HTTP: it listens, serves many clients at once, and ends in bounded time."""

from __future__ import annotations

import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NoReturn

import anyio
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from memstore.errors import Conflict, MemstoreError, StorageError
from memstore.faces import wording
from memstore.faces.http.address import Address, Names, listen, reachable
from memstore.faces.http.connection import Connection, Connections
from memstore.faces.http.endpoint import Endpoint
from memstore.faces.http.gate import LARGEST_BODY, PATH, Gate, Patience, for_pages
from memstore.faces.http.stores import Stores
from memstore.faces.mcp.opening import end, on_signals

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable, Sequence
    from types import FrameType

    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from uvicorn.server import ServerState

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.faces.mcp.opening import Opening

logger = logging.getLogger(__name__)

GRACE_SECONDS: Final = 3
"""For calls that run when the server is told to end; then they are dropped."""

END_SECONDS: Final = 6.0
"""From a signal to the end of the process, whatever happens."""

KEEP_ALIVE_SECONDS: Final = 75
"""For an idle connection: longer than reverse proxies keep theirs, so that they close first."""

CONNECTIONS_AT_ONCE: Final = 512
"""More would fill the memory: idle ones are closed for new ones."""

UNTRUSTED_OF_A_PEER: Final = 64
"""Connections from one address on which no request was let in yet."""

FIRST_TOKEN: Final = "first"  # noqa: S105 - a name
"""The token that is created where a file has none."""

CONNECTION: Final = "memstore.connection"
"""Where a request's state holds the connection it came by."""


def run(
    catalogue: Catalogue,
    opening: Opening,
    address: Address,
    names: Names,
    *,
    generator: Callable[[], JSONGenerator | None] = lambda: None,
    no_token: bool = False,
    patience: Patience = Patience(),  # noqa: B008 (frozen)
) -> NoReturn:
    """Serve until a signal comes, close the store, and end the process.

    Every request needs a token. If the file never had one, one is created and shown on standard
    error.

    Args:
        no_token: serve without one, as long as the file has none, on this machine only.
    """
    status = 1
    # While the file is opened, too, which may take long; as process 1 of a container there would
    # be no other end.
    on_signals(lambda _number, _frame: end(opening, 0))
    try:
        sockets = listen(address)
        public = reachable(sockets) or not names.local
        if public and no_token:
            raise ValueError(
                f"others may reach {address}, and --no-token serves this machine only: leave it out"
            )
        bound = [Address(*opened.getsockname()[:2]) for opened in sockets]
        # In a thread, since signals are not heard while SQLite works in this one.
        with ThreadPoolExecutor(1) as pool:
            told = pool.submit(_prepare_tokens, opening, bound[0], public, no_token).result()
        for line in (*told, *(f"memstore-mcp: serving http://{one}{PATH}" for one in bound)):
            print(line, file=sys.stderr, flush=True)
        _serve(
            catalogue,
            opening,
            sockets,
            names,
            generator=generator,
            needs_token=not no_token,
            patience=patience,
        )
        status = 0
    except (MemstoreError, OSError, ValueError) as error:
        print(f"memstore-mcp: {wording.in_server(error)}", file=sys.stderr)
    except Exception:
        logger.exception("the server failed")
    finally:
        end(opening, status)


def _prepare_tokens(
    opening: Opening, bound: Address, public: bool, no_token: bool
) -> tuple[str, ...]:
    """See to it that there is a token where one is needed; return the lines that show a new one."""
    try:
        store = opening.store()
        has_tokens = store.tokens.required()
    except (MemstoreError, ValueError, TypeError) as error:
        if public:
            raise
        # Calls say so too, and the file may be repaired in the meantime.
        logger.warning("the store did not open: %s", wording.in_server(error))
        return ()
    create = "create one with `memstore token create NAME`"
    if has_tokens:
        if no_token:
            raise ValueError(f"{store.path} holds tokens, so requests need one: omit --no-token")
        if not store.tokens.usable():
            raise ValueError(f"{store.path} holds no token that is good: {create}")
        return ()
    if no_token:
        return ()
    try:
        token, secret = store.tokens.create(FIRST_TOKEN)
    except Conflict:  # another server was first, and has shown it
        return ()
    except StorageError as error:
        raise ValueError(
            f"{store.path} holds no token, and none can be created ({error}): {create}, or serve "
            "this machine only with --no-token"
        ) from error
    return (
        f"memstore-mcp: token {token.id} ({token.name}) reads and writes in {token.namespace}; its "
        "secret is shown this once, and stored nowhere:",
        secret,
        f"memstore-mcp: for Claude Code: claude mcp add --transport http memstore "
        f'http://{_local(bound)}{PATH} --header "Authorization: Bearer {secret}"',
    )


def _local(bound: Address) -> Address:
    """Return an address to connect to on this machine, where the server listens on all."""
    return bound._replace(host={"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bound.host, bound.host))  # noqa: S104


def _serve(
    catalogue: Catalogue,
    opening: Opening,
    sockets: Sequence[socket.socket],
    names: Names,
    *,
    generator: Callable[[], JSONGenerator | None],
    needs_token: bool,
    patience: Patience,
) -> None:
    connections = Connections(CONNECTIONS_AT_ONCE, UNTRUSTED_OF_A_PEER)

    class Protocol(Connection):
        """A connection as uvicorn makes it: its own parser within ours."""

        def __init__(
            self,
            config: uvicorn.Config,
            server_state: ServerState,
            app_state: dict[str, Any],
            _loop: asyncio.AbstractEventLoop | None = None,
        ) -> None:
            parser = H11Protocol(config, server_state, {**app_state, CONNECTION: self}, _loop)
            super().__init__(parser, connections, patience.head_seconds)

    stores = Stores(opening)
    endpoint = Endpoint(catalogue, stores, generator, largest_body=LARGEST_BODY)
    gate = Gate(
        endpoint,
        stores,
        names=names,
        writing=catalogue.writing(),
        needs_token=needs_token,
        patience=patience,
        on_admitted=_trust,
    )
    server = uvicorn.Server(
        uvicorn.Config(
            _Application(for_pages(gate, names), lambda: on_signals(stop)),
            http=Protocol,
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )

    def stop(_number: int, _frame: FrameType | None) -> None:
        if not server.should_exit:
            watchdog = threading.Timer(END_SECONDS, end, (opening, 0))
            watchdog.daemon = True
            watchdog.start()
        server.should_exit = True

    on_signals(stop)

    async def serve() -> None:
        async with endpoint.running():
            opening.start()
            await server.serve(sockets=list(sockets))

    anyio.run(serve)


class _Application:
    """The application as uvicorn calls it; tells each connection when a request was answered.

    Args:
        on_start: called once uvicorn has set its own signal handlers.
    """

    def __init__(self, app: ASGIApp, on_start: Callable[[], None]) -> None:
        self._app = app
        self._on_start = on_start

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await receive()
            self._on_start()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        chunked = any(name == b"transfer-encoding" for name, _ in scope["headers"])
        try:
            await self._app(scope, receive, _closing(send) if chunked else send)
        finally:
            scope["state"][CONNECTION].answered()


def _closing(send: Send) -> Send:
    """Let each answer end its connection: nobody here counts where a body in chunks ends."""

    async def send_last(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [one for one in message.get("headers", ()) if one[0].lower() != b"connection"]
            message = {**message, "headers": [*headers, (b"connection", b"close")]}
        await send(message)

    return send_last


def _trust(scope: Scope) -> None:
    scope["state"][CONNECTION].trusted = True
