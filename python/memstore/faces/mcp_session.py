"""One session over standard input and output: the SDK's server around our tools."""

from __future__ import annotations

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
from memstore.faces.mcp_tools import instructions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from anyio.abc import ObjectReceiveStream, ObjectSendStream
    from mcp.server.context import ServerRequestContext

    from memstore.faces.mcp_calls import Tool
    from memstore.faces.mcp_opening import Opening

CALLS_AT_ONCE: Final = 8
"""Threads for tool calls, apart from those that read and write the protocol."""

GRACE_SECONDS: Final = 1.0
"""For calls still running when the input ends: their answers may still be wanted."""

CLOSING_SECONDS: Final = 0.8
"""For the store to close; what was acknowledged is on disk whether it does or not."""


class Session:
    """Answers one client, and knows which of its calls are still running."""

    def __init__(self, tools: Mapping[str, Tool], opening: Opening) -> None:
        self._tools = tools
        self._opening = opening
        self._threads = anyio.CapacityLimiter(CALLS_AT_ONCE)
        self._running = 0
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
        """Answer until the input ends and the running calls are answered."""
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
            send, receive = anyio.create_memory_object_stream[SessionMessage | Exception]()
            group.start_soon(self._relay, incoming, send)
            await self.server.run(receive, outgoing, self.server.create_initialization_options())
            group.cancel_scope.cancel()

    async def _relay(
        self,
        incoming: ObjectReceiveStream[SessionMessage | Exception],
        send: ObjectSendStream[SessionMessage | Exception],
    ) -> None:
        """Pass messages on. The SDK drops running calls when the input ends, so hold the end back.

        A client that pipes its requests in and closes still gets its answers.
        """
        async with send:
            async for message in incoming:
                await send.send(message)
            with anyio.move_on_after(GRACE_SECONDS):
                await anyio.sleep(0.05)  # the last message may not have become a call yet
                while self._running:
                    await anyio.sleep(0.01)
                await anyio.sleep(0.05)  # nor the last answer a line

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
        self._running += 1
        try:
            return _result(await self._answer(params.name, params.arguments or {}))
        except ToolError as error:
            return _result(str(error), is_error=True)
        finally:
            self._running -= 1

    async def _answer(self, name: str, arguments: Mapping[str, Any]) -> str:
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


def _result(text: str, *, is_error: bool = False) -> CallToolResult:
    # Text alone: of hosts given structured content too, some show the model both.
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)


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
