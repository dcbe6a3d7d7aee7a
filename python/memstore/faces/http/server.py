"""The HTTP server: it serves many clients at once, and stops within a time limit."""

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
from memstore.faces.http.address import AcceptedNames, Address, listen, reachable
from memstore.faces.http.connection import Connection, Connections
from memstore.faces.http.endpoint import McpEndpoint
from memstore.faces.http.gate import MAX_BODY_BYTES, PATH, Gate, Patience, for_pages
from memstore.faces.http.stores import Stores
from memstore.faces.mcp import prompts
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
"""For calls that are running at shutdown; then they are dropped."""

END_SECONDS: Final = 6.0
"""The longest time from a signal to the end of the process."""

KEEP_ALIVE_SECONDS: Final = 75
"""For an idle connection: longer than reverse proxies use, so that they close first."""

CONNECTIONS_AT_ONCE: Final = 512
"""More would use too much memory: idle ones are closed to admit new ones."""

UNTRUSTED_OF_A_PEER: Final = 64
"""Connections from one address without an accepted request."""

FIRST_TOKEN: Final = "first"  # noqa: S105 - a name
"""The name of the token that is created if a file never had one."""

CONNECTION: Final = "memstore.connection"
"""The key of a request's state for its connection."""


def run(
    catalogue: Catalogue,
    opening: Opening,
    address: Address,
    names: AcceptedNames,
    *,
    generator: Callable[[], JSONGenerator | None] = lambda: None,
    no_token: bool = False,
    patience: Patience = Patience(),  # noqa: B008 (frozen)
) -> NoReturn:
    """Serve until a signal comes, close the store, and end the process.

    Every request needs a token. If the file never had one, one is created and shown on standard
    error.

    Args:
        no_token: serve without a token, on this machine only and only while the file has none.
    """
    status = 1
    # Set before the file is opened, which may take long: as process 1 of a container, the server
    # would otherwise ignore signals.
    on_signals(lambda _number, _frame: end(opening, 0))
    try:
        sockets = listen(address)
        public = reachable(sockets) or not names.local
        if public and no_token:
            raise ValueError(
                f"other machines may reach {address}, and --no-token serves this one only: omit it"
            )
        bound = [Address(*opened.getsockname()[:2]) for opened in sockets]
        # In a thread, because signals are not handled while SQLite works in this one.
        with ThreadPoolExecutor(1) as pool:
            told = pool.submit(_prepare_tokens, opening, bound[0], public, no_token).result()
        for line in (*told, *(f"memstore-mcp: serving http://{one}{PATH}" for one in bound)):
            print(line, file=sys.stderr, flush=True)
        stores = Stores(opening)
        endpoint = McpEndpoint(catalogue, stores, generator, largest_body=MAX_BODY_BYTES)
        gate = Gate(
            endpoint,
            stores,
            names=names,
            writing=catalogue.writing() | prompts.WRITING,
            needs_token=not no_token,
            patience=patience,
            on_admitted=_trust,
        )
        _serve(opening, sockets, endpoint, for_pages(gate, names), patience.head_seconds)
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
    """Make sure that a token exists if one is needed; return the lines that show a new one."""
    try:
        store = opening.store()
        has_tokens = store.file.tokens.required()
    except (MemstoreError, ValueError, TypeError) as error:
        if public:
            raise
        # Serve anyway: each call reports the error, and the file may be repaired in the meantime.
        logger.warning("the store did not open: %s", wording.in_server(error))
        return ()
    create = "create one with `memstore token create NAME`"
    if has_tokens:
        if no_token:
            raise ValueError(f"{store.path} holds tokens, so requests need one: omit --no-token")
        if not store.file.tokens.usable():
            raise ValueError(f"{store.path} has no valid token: {create}")
        return ()
    if no_token:
        return ()
    try:
        token, secret = store.file.tokens.create(FIRST_TOKEN, namespace=store.namespace)
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
    """Return an address for connecting from this machine, even if the server listens on all."""
    return bound._replace(host={"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bound.host, bound.host))  # noqa: S104


def _serve(
    opening: Opening,
    sockets: Sequence[socket.socket],
    endpoint: McpEndpoint,
    app: ASGIApp,
    head_seconds: float,
) -> None:
    connections = Connections(CONNECTIONS_AT_ONCE, UNTRUSTED_OF_A_PEER)

    class Protocol(Connection):
        """The protocol class for uvicorn: our connection around its parser."""

        def __init__(
            self,
            config: uvicorn.Config,
            server_state: ServerState,
            app_state: dict[str, Any],
            _loop: asyncio.AbstractEventLoop | None = None,
        ) -> None:
            parser = H11Protocol(config, server_state, {**app_state, CONNECTION: self}, _loop)
            super().__init__(parser, connections, head_seconds)

    server = uvicorn.Server(
        uvicorn.Config(
            _Application(app, lambda: on_signals(stop)),
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
    """The ASGI application for uvicorn; notifies each connection when a request was answered.

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
    """Close the connection after the answer, because we do not track the end of a chunked body."""

    async def send_last(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [one for one in message.get("headers", ()) if one[0].lower() != b"connection"]
            message = {**message, "headers": [*headers, (b"connection", b"close")]}
        await send(message)

    return send_last


def _trust(scope: Scope) -> None:
    scope["state"][CONNECTION].trusted = True
