"""Between the SDK's transport and its server: keeps requests that either of them would lose."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import anyio
from anyio.abc import ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCRequest, JSONRPCResponse
from pydantic import ValidationError

if TYPE_CHECKING:
    from anyio.abc import ObjectReceiveStream

GRACE_SECONDS: Final = 1.0
"""Time for requests that are unanswered when the input ends: their sender may still be reading."""


class Answers(ObjectSendStream[SessionMessage]):
    """Passes on what the server says, and knows how many requests it still owes an answer."""

    def __init__(self, outgoing: ObjectSendStream[SessionMessage]) -> None:
        self._outgoing = outgoing
        self._owed = 0
        self._settled = anyio.Event()

    def owe(self) -> None:
        if not self._owed:
            self._settled = anyio.Event()
        self._owed += 1

    async def settled(self) -> None:
        """Wait until every request is answered."""
        if self._owed:
            await self._settled.wait()

    async def send(self, item: SessionMessage) -> None:
        await self._outgoing.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._owed -= 1
            if self._owed <= 0:
                self._settled.set()

    async def aclose(self) -> None:
        await self._outgoing.aclose()


async def relay(
    incoming: ObjectReceiveStream[SessionMessage | Exception],
    server: ObjectSendStream[SessionMessage | Exception],
    answers: Answers,
) -> None:
    """Pass on what the client says; hold its end back while answers are owed.

    The SDK drops the calls that are running when the input ends.
    """
    async with server:
        async for item in incoming:
            message = repaired(item) if isinstance(item, ValidationError) else item
            if isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCRequest):
                answers.owe()
            await server.send(message)
        with anyio.move_on_after(GRACE_SECONDS):
            await answers.settled()


def repaired(error: ValidationError) -> SessionMessage | ValidationError:
    """Read a request that was refused for half a character, such as an emoji cut in two.

    The SDK would leave it unanswered, and its client waiting. The half becomes U+FFFD.
    """
    fault = error.errors(include_url=False)[0]
    if fault["type"] != "json_invalid":
        return error
    try:
        text = mended(fault["input"])
        return SessionMessage(JSONRPCRequest.model_validate_json(text, by_name=False))
    except (ValueError, RecursionError):
        return error


def mended(text: str | bytes) -> str:
    """Return JSON with U+FFFD for each half of a character, such as an emoji cut in two.

    Raises ValueError if it is not JSON, and RecursionError if it is nested too deeply.
    """
    whole = json.dumps(json.loads(text), ensure_ascii=False)
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
