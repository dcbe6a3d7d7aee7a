"""The bodies of requests: read within limits of size and time, or refused without a lost answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import anyio

from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LENGTH_DIGITS: Final = 18
"""Of a length that a client declares; more would be a number that Python refuses to read."""
DRAINED_BYTES: Final = 32 * 1024 * 1024
DRAIN_SECONDS: Final = 2.0
"""How much of a refused body is read, and for how long. If the connection were closed while bytes
are still arriving, the sender would lose the answer."""


class BodyRefused(Exception):
    """A body that is too large or too slow; the connection should be closed after the answer."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@frozen
class Patience:
    """Time limits for a client, so that a slow one cannot hold a connection for ever."""

    head_seconds: float = 20.0
    """From the connection or the first byte."""
    body_seconds: float = 30.0


class IncomingRequest:
    """Receives a request and remembers whether it was complete."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.ended = False

    async def __call__(self) -> Message:
        message = await self._receive()
        self.ended = message["type"] != "http.request" or not message.get("more_body", False)
        return message


async def refuse(response: ASGIApp, scope: Scope, incoming: IncomingRequest, send: Send) -> None:
    """Send a complete answer, and read on for a while before the connection may be closed."""

    async def send_open(message: Message) -> None:
        more = {"more_body": True} if message["type"] == "http.response.body" else {}
        await send({**message, **more})

    await response(scope, incoming, send_open)
    drained = 0
    with anyio.move_on_after(DRAIN_SECONDS):
        while not incoming.ended and drained < DRAINED_BYTES:
            drained += len((await incoming()).get("body", b""))
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def read(
    headers: Mapping[str, str], receive: Receive, *, most: int, seconds: float
) -> bytes | None:
    """Return a request's body; ``None`` if the client is gone.

    Args:
        most: the most bytes that are read.
        seconds: the longest time that it may take to arrive.

    Raises:
        BodyRefused: it is too large or too slow.
    """
    declared = headers.get("content-length", "")
    is_long = len(declared) > LENGTH_DIGITS
    if declared.isdecimal() and (is_long or int(declared) > most):
        raise _too_large(most)
    body = bytearray()
    with anyio.move_on_after(seconds) as waiting:
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if len(body) > most:
                raise _too_large(most)
            if not message.get("more_body", False):
                return bytes(body)
    assert waiting.cancelled_caught
    raise BodyRefused(408, f"the request took longer than {seconds:g} s to arrive")


def _too_large(most: int) -> BodyRefused:
    return BodyRefused(413, f"a request is limited to {most // 1024**2} MiB")
