"""The loop of a server over HTTP: it serves many clients at once, and stops within a time limit."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

import anyio
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from memstore.faces.serving.connection import MAX_HEAD_BYTES, ClientConnection, Connections
from memstore.faces.serving.draining import Drain
from memstore.faces.serving.opening import end, on_signals

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Callable, Sequence
    from contextlib import AbstractAsyncContextManager
    from types import FrameType

    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from uvicorn.server import ServerState

    from memstore.faces.serving.opening import Opening

GRACE_SECONDS: Final = 3
"""For calls that are running at shutdown; then they are dropped."""

END_SECONDS: Final = 6.0
"""The longest time from the end of listening to the end of the process."""

KEEP_ALIVE_SECONDS: Final = 75
"""For an idle connection: longer than reverse proxies use, so that they close first."""

CONNECTIONS_AT_ONCE: Final = 512
"""More would use too much memory: idle ones are closed to admit new ones."""

UNTRUSTED_OF_A_PEER: Final = 64
"""Connections from one address without an accepted request."""

CONNECTION: Final = "memstore.connection"
"""The key of a request's state for its connection."""


def serve(
    app: ASGIApp,
    sockets: Sequence[socket.socket],
    opening: Opening,
    *,
    running: AbstractAsyncContextManager[object] | None = None,
    head_seconds: float,
    max_head_bytes: int = MAX_HEAD_BYTES,
    drain: Drain = Drain(),  # noqa: B008 (frozen)
) -> None:
    """Serve until a signal comes; a second one ends the process at once.

    Args:
        running: entered around the loop.
        head_seconds: the time limit for a request's head.
        max_head_bytes: the longest head that is read.
        drain: what happens between the signal and the end of listening.
    """
    connections = Connections(CONNECTIONS_AT_ONCE, UNTRUSTED_OF_A_PEER)

    class Protocol(ClientConnection):
        """The protocol class for uvicorn: our connection around its parser."""

        def __init__(
            self,
            config: uvicorn.Config,
            server_state: ServerState,
            app_state: dict[str, Any],
            _loop: asyncio.AbstractEventLoop | None = None,
        ) -> None:
            parser = _Parser(config, server_state, {**app_state, CONNECTION: self}, _loop)
            super().__init__(parser, connections, head_seconds, max_head_bytes)

    server = uvicorn.Server(
        uvicorn.Config(
            _Application(app, lambda: on_signals(stop), lambda: is_ending),
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

    is_ending = False

    def stop_listening() -> None:
        server.should_exit = True

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_ending
        if is_ending:
            end(opening, 0)
        is_ending = True
        watchdog = threading.Timer(drain.seconds + END_SECONDS, end, (opening, 0))
        watchdog.daemon = True
        watchdog.start()
        drain.begin(stop_listening)

    on_signals(stop)

    async def run() -> None:
        async with running or nullcontext():
            opening.start()
            await server.serve(sockets=list(sockets))

    anyio.run(run)


class _Parser(H11Protocol):
    """Uvicorn's parser. A body that turns out to be invalid has one answer, not two."""

    def send_400_response(self, msg: str) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # the application's answer is not sent any more
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self.transport.close()
                return
        super().send_400_response(msg)


class _Application:
    """The ASGI application for uvicorn; notifies each connection when a request was answered.

    Args:
        on_start: called once uvicorn has set its own signal handlers.
        is_ending: whether a signal came; connections then end with their next answer, so that a
            proxy does not send another request on one that is about to be closed.
    """

    def __init__(
        self, app: ASGIApp, on_start: Callable[[], None], is_ending: Callable[[], bool]
    ) -> None:
        self._app = app
        self._on_start = on_start
        self._is_ending = is_ending

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
            # We do not track the end of a chunked body.
            await self._app(scope, receive, _closing(send, lambda: chunked or self._is_ending()))
        finally:
            scope["state"][CONNECTION].answered()


def _closing(send: Send, is_last: Callable[[], bool]) -> Send:
    """Close the connection after the answer, if it is the last one when it begins."""

    async def send_last(message: Message) -> None:
        if message["type"] == "http.response.start" and is_last():
            headers = [one for one in message.get("headers", ()) if one[0].lower() != b"connection"]
            message = {**message, "headers": [*headers, (b"connection", b"close")]}
        await send(message)

    return send_last


def trust(scope: Scope) -> None:
    """Take a request's connection out of the limit for untrusted ones."""
    scope["state"][CONNECTION].trusted = True
