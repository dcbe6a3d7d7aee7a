"""The SDK's server around our tools, for every transport."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    TextContent,
)
from mcp.types import Tool as Declaration

from memstore import __version__
from memstore.faces.mcp.answers import to_text
from memstore.faces.mcp.tool import ToolError
from memstore.faces.mcp.tools import instructions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.server.context import ServerRequestContext

    from memstore.faces.mcp.answers import Answer
    from memstore.faces.mcp.tool import Tool
    from memstore.store.store import Store

CALLS_AT_ONCE: Final = 8
"""Threads for tool calls, apart from those that read and write the protocol."""


class StoreSource(Protocol):
    """Where a call gets its store from."""

    def start(self) -> None:
        """Begin opening it, without waiting."""

    def store(self) -> Store:
        """Return it, waiting until it is open; or raise why it is not."""
        ...


class ToolServer:
    """Offers tools, and runs each call in a thread, so many at once; the rest wait."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        source_of: Callable[[ServerRequestContext[Any]], StoreSource],
        calls_at_once: int = CALLS_AT_ONCE,
    ) -> None:
        self._tools = tools
        self._source_of = source_of
        self._threads = anyio.CapacityLimiter(calls_at_once)
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

    async def _initialized(
        self, context: ServerRequestContext[Any], params: NotificationParams
    ) -> None:
        self._source_of(context).start()

    async def _list(
        self, context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        self._source_of(context).start()  # newer clients begin here, without a handshake
        return ListToolsResult(
            tools=[Declaration.model_validate(tool.declaration) for tool in self._tools.values()]
        )

    async def _call(
        self, context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        try:
            source = self._source_of(context)
            answer = await self._answer(source, params.name, params.arguments or {})
        except ToolError as error:
            return CallToolResult(content=[_text(str(error))], is_error=True)
        # Twice the same, as the protocol asks for: some hosts show the model only the one, some
        # only the other.
        return CallToolResult(content=[_text(to_text(answer))], structured_content=answer)

    async def _answer(self, source: StoreSource, name: str, arguments: Mapping[str, Any]) -> Answer:
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError(
                f"there is no tool {name[:60]!r} here: use one of {', '.join(self._tools)}"
            )
        # A client that goes away ends the waiting only: what has begun to be stored is stored.
        return await anyio.to_thread.run_sync(
            partial(tool.call, source.store, arguments),
            limiter=self._threads,
            abandon_on_cancel=True,
        )


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)
