"""Adapts our methods to the protocol's SDK, which serves them over HTTP."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from memstore.faces.mcp import methods, protocol
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server.context import ServerRequestContext

    from memstore.faces.mcp.clients import Through
    from memstore.faces.mcp.methods import Methods, StoreSource

    Context = ServerRequestContext[Any]

Result = TypeVar("Result", bound=types.Result)
Measure: TypeAlias = "Callable[[str, Callable[[], dict[str, Any]]], dict[str, Any]]"
"""Runs the call of a tool and returns its result, given the tool's name."""


def _unmeasured(_tool: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    return work()


@frozen
class Watch:
    """What is told of the calls of tools; by default nothing."""

    measure: Measure = _unmeasured
    on_error: Callable[[BaseException], object] = lambda _error: None
    """Called with each error that a tool answers with, as it was raised."""


class SdkServer:
    """Offers methods, and runs each call in a thread; calls beyond the limit queue.

    Args:
        source_of: returns the source of a request's store.
        measure: runs the call of a tool, by its name.
    """

    def __init__(
        self,
        methods_: Methods,
        source_of: Callable[[Context], Through],
        calls_at_once: int,
        measure: Measure,
    ) -> None:
        self._methods = methods_
        self._source_of = source_of
        self._measure = measure
        self._threads = anyio.CapacityLimiter(calls_at_once)
        self.server: Server[Any] = Server(
            methods.NAME,
            version=methods_.server_info["version"],
            instructions=methods_.instructions,
            on_list_tools=self._list_tools,
            on_call_tool=self._in_thread(types.CallToolResult, self._call_tool),
            on_list_prompts=_at_once(types.ListPromptsResult, methods_.list_prompts),
            on_get_prompt=self._in_thread(types.GetPromptResult, methods.Methods.get_prompt),
            on_list_resources=_at_once(types.ListResourcesResult, methods_.list_resources),
            on_list_resource_templates=_at_once(
                types.ListResourceTemplatesResult, methods_.list_templates
            ),
            on_read_resource=self._read_resource,
            on_completion=self._in_thread(types.CompleteResult, methods.Methods.complete),
        )
        # Not earlier: the imports for opening would delay the handshake.
        self.server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._initialized
        )

    async def _initialized(self, context: Context, params: types.NotificationParams) -> None:
        self._source_of(context).start()

    async def _list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        self._source_of(context).start()  # newer clients send no handshake before this
        return types.ListToolsResult.model_validate(self._methods.list_tools())

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        older = context.protocol_version in protocol.HANDSHAKE_REVISIONS
        read = partial(methods.Methods.read_resource, older=older)
        return await self._in_thread(types.ReadResourceResult, read)(context, params)

    def _call_tool(
        self, offered: Methods, source: StoreSource, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        work = partial(offered.tool_calls.answer, source.store, params)
        return self._measure(params["name"], work)

    def _in_thread(
        self,
        kind: type[Result],
        method: Callable[[Methods, StoreSource, Mapping[str, Any]], dict[str, Any]],
    ) -> Callable[[Context, types.RequestParams], Awaitable[Result]]:
        async def answer(context: Context, params: types.RequestParams) -> Result:
            given = params.model_dump(by_alias=True, mode="json", exclude_none=True)
            source = self._source_of(context)
            offered = self._methods
            if source.owners is not None:
                offered = offered.confined(source.owners)
            work = partial(method, offered, source, given)
            # If the client disconnects, only the wait ends: a write that has begun is completed.
            try:
                found = await anyio.to_thread.run_sync(
                    work, limiter=self._threads, abandon_on_cancel=True
                )
            except protocol.Refused as error:
                raise MCPError(error.code, error.message, error.data) from error
            return kind.model_validate(found)

        return answer


def _at_once(
    kind: type[Result], method: Callable[[], dict[str, Any]]
) -> Callable[[Context, types.PaginatedRequestParams | None], Awaitable[Result]]:
    async def answer(_context: Context, _params: types.PaginatedRequestParams | None) -> Result:
        return kind.model_validate(method())

    return answer
