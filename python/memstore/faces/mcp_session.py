"""One session over standard input and output: the SDK's server around our tools."""

from __future__ import annotations

import logging
import os
import signal
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    TextContent,
)

from memstore import __version__
from memstore.faces.mcp_answers import to_text
from memstore.faces.mcp_relay import Answers, relay
from memstore.faces.mcp_tools import instructions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from mcp.server.context import ServerRequestContext

    from memstore.faces.mcp_answers import Answer
    from memstore.faces.mcp_calls import Tool
    from memstore.faces.mcp_opening import Opening

logger = logging.getLogger(__name__)

CALLS_AT_ONCE: Final = 8
"""Threads for tool calls, apart from those that read and write the protocol."""

CLOSING_SECONDS: Final = 0.8
"""For the store to close; what was acknowledged is on disk whether it does or not."""


class Session:
    """Answers one client."""

    def __init__(self, tools: Mapping[str, Tool], opening: Opening) -> None:
        self._tools = tools
        self._opening = opening
        self._threads = anyio.CapacityLimiter(CALLS_AT_ONCE)
        self.server: Server[Any] = Server(
            "memstore",
            version=__version__,
            instructions=instructions(tools),
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        # Not before: opening imports what would take its time from the handshake.
        self.server.add_notification_handler(
            "notifications/initialized", NotificationParams, self._initialized
        )

    async def serve(self) -> None:
        """Answer until the input ends and what was asked is answered."""
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
            send, receive = anyio.create_memory_object_stream[SessionMessage | Exception]()
            answers = Answers(outgoing)
            group.start_soon(relay, incoming, send, answers)
            await self.server.run(receive, answers, self.server.create_initialization_options())
            group.cancel_scope.cancel()

    async def _initialized(
        self, context: ServerRequestContext[Any], params: NotificationParams
    ) -> None:
        self._opening.start()

    async def _list(
        self, context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        self._opening.start()  # newer clients begin here, without a handshake
        return ListToolsResult(tools=[tool.declaration for tool in self._tools.values()])

    async def _call(
        self, context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        try:
            answer = await self._answer(params.name, params.arguments or {})
        except ToolError as error:
            return CallToolResult(content=[_text(str(error))], is_error=True)
        # Twice the same, as the protocol asks for: some hosts show the model only the one, some
        # only the other.
        return CallToolResult(content=[_text(to_text(answer))], structured_content=answer)

    async def _answer(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError(
                f"there is no tool {name[:60]!r} here: use one of {', '.join(self._tools)}"
            )
        return await anyio.to_thread.run_sync(
            partial(tool.call, self._opening.store, arguments),
            limiter=self._threads,
            abandon_on_cancel=True,
        )


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def run(tools: Mapping[str, Tool], opening: Opening) -> NoReturn:
    """Serve until the input ends or a signal comes, close the store, and end the process."""

    def stop(signal_number: int, frame: FrameType | None) -> None:
        _end(opening, 0)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):  # Windows knows fewer
            signal.signal(getattr(signal, name), stop)
    status = 1
    try:
        anyio.run(Session(tools, opening).serve)
        status = 0
    except Exception:
        logger.exception("the session broke off")
    finally:
        _end(opening, status)


def _end(opening: Opening, status: int) -> NoReturn:
    """Close the store and leave.

    Not by returning: the interpreter would first wait for threads that read an input which never
    comes, or talk to a server which never answers.
    """
    closing = threading.Thread(target=opening.close, daemon=True)
    closing.start()
    closing.join(CLOSING_SECONDS)
    os._exit(status)
