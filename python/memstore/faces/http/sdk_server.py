"""Adapts our methods to the protocol's SDK, which serves them over HTTP."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from memstore.faces.mcp import methods, protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.server.context import ServerRequestContext

    from memstore.faces.mcp.methods import Methods, StoreSource

    Context = ServerRequestContext[Any]


class SdkServer:
    """Offers methods, and runs each call in a thread; calls beyond the limit queue.

    Args:
        source_of: returns the source of a request's store.
    """

    def __init__(
        self,
        methods_: Methods,
        source_of: Callable[[Context], StoreSource],
        calls_at_once: int,
    ) -> None:
        self._methods = methods_
        self._source_of = source_of
        self._threads = anyio.CapacityLimiter(calls_at_once)
        self.server: Server[Any] = Server(
            methods.NAME,
            version=methods_.server_info["version"],
            instructions=methods_.instructions,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_completion=self._complete,
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

    async def _list_prompts(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult.model_validate(self._methods.list_prompts())

    async def _get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        result = await self._in_thread(context, self._methods.get_prompt, params)
        return types.GetPromptResult.model_validate(result)

    async def _list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult.model_validate(self._methods.list_resources())

    async def _list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult.model_validate(self._methods.list_templates())

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        result = await self._in_thread(context, self._methods.call_tool, params)
        return types.CallToolResult.model_validate(result)

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        older = context.protocol_version in protocol.HANDSHAKE_REVISIONS
        read = partial(self._methods.read_resource, older=older)
        return types.ReadResourceResult.model_validate(await self._in_thread(context, read, params))

    async def _complete(
        self, context: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        result = await self._in_thread(context, self._methods.complete, params)
        return types.CompleteResult.model_validate(result)

    async def _in_thread(
        self,
        context: Context,
        method: Callable[[StoreSource, Mapping[str, Any]], dict[str, Any]],
        params: types.RequestParams,
    ) -> dict[str, Any]:
        # If the client disconnects, only the wait ends: a write that has begun is completed.
        with _Errors():
            return await anyio.to_thread.run_sync(
                partial(method, self._source_of(context), _given(params)),
                limiter=self._threads,
                abandon_on_cancel=True,
            )


class _Errors:
    """Turns our refusals into the SDK's errors."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, protocol.Refused):
            raise MCPError(error.code, error.message, error.data) from error


def _given(params: types.RequestParams) -> dict[str, Any]:
    return params.model_dump(by_alias=True, mode="json", exclude_none=True)
