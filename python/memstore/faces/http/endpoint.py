"""The protocol's endpoint over HTTP: the SDK's Streamable HTTP around our tools, stateless."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from urllib.parse import parse_qs

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from memstore.domain.tokens import Access
from memstore.faces.http.callers import Runs
from memstore.faces.mcp import clients, protocol
from memstore.faces.mcp.catalogue import ANSWERS
from memstore.faces.mcp.methods import NAME, Methods
from memstore.faces.serving.stores import Confined
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from mcp.server.context import ServerRequestContext
    from starlette.types import Receive, Scope, Send

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.http.callers import Caller
    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.faces.mcp.clients import Through
    from memstore.faces.mcp.methods import StoreSource
    from memstore.faces.serving.stores import Stores

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
        methods: Methods,
        source_of: Callable[[Context], Through],
        calls_at_once: int,
        measure: Measure,
    ) -> None:
        self._methods = methods
        self._source_of = source_of
        self._measure = measure
        self._threads = anyio.CapacityLimiter(calls_at_once)
        self.server: Server[Any] = Server(
            NAME,
            version=methods.server_info["version"],
            instructions=methods.instructions,
            on_list_tools=self._list_tools,
            on_call_tool=self._in_thread(types.CallToolResult, self._call_tool),
            on_list_prompts=_at_once(types.ListPromptsResult, methods.list_prompts),
            on_get_prompt=self._in_thread(types.GetPromptResult, Methods.get_prompt),
            on_list_resources=_at_once(types.ListResourcesResult, methods.list_resources),
            on_list_resource_templates=_at_once(
                types.ListResourceTemplatesResult, methods.list_templates
            ),
            on_read_resource=self._read_resource,
            on_completion=self._in_thread(types.CompleteResult, Methods.complete),
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
        read = partial(Methods.read_resource, older=older)
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


CALLER: Final = "memstore.caller"
"""The key of a request's scope for who sent it; the value is ``None`` if no token is needed."""

CALLS_AT_ONCE: Final = 32
"""Threads for the tool calls of all clients: some wait for a language model for minutes."""


class McpEndpoint:
    """Answers accepted requests; each is complete in itself.

    Answers are plain JSON, not streams, because no tool sends partial results. So a call that is
    running at shutdown is still answered, and proxies need not turn off buffering.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        stores: Stores,
        generator: Callable[[], JSONGenerator | None],
        *,
        largest_body: int,
        watch: Watch = Watch(),  # noqa: B008 (frozen)
    ) -> None:
        self._stores = stores
        self._runs = Runs()
        self._form = catalogue.answers
        # One for each access and form, because the handshake lists the tools that this token may
        # use, and their schemas.
        self._managers = {
            (access, form): StreamableHTTPSessionManager(
                SdkServer(
                    Methods(offered._replace(answers=form), generator, on_error=watch.on_error),
                    self._source_of,
                    CALLS_AT_ONCE,
                    watch.measure,
                ).server,
                json_response=True,
                stateless=True,
                max_request_body_size=largest_body,
            )
            for access, offered in ((Access.WRITE, catalogue), (Access.READ, catalogue.reading()))
            for form in ANSWERS
        }

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Accept requests; those still running at the end are cancelled."""
        async with AsyncExitStack() as stack:
            for manager in self._managers.values():
                await stack.enter_async_context(manager.run())
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope[CALLER]
        access = Access.WRITE if caller is None else Access(caller.access)
        form = requested_form(scope) or self._form
        await self._managers[access, form].handle_request(scope, receive, send)

    def _source_of(self, context: Context) -> clients.Through:
        assert context.request is not None  # the SDK's HTTP transports always set it
        caller: Caller | None = context.request.scope[CALLER]
        client = client_of(context)
        if caller is None:
            return clients.Through(self._stores, client, self._runs.of(None, client))
        source = Confined(self._stores, caller.namespace, caller.owners)
        return clients.Through(source, client, self._runs.of(caller.name, client), caller.owners)


def client_of(context: Context) -> str | None:
    """Return the name of the client: its requests have it, or since the handshake only a header."""
    introduced = context.session.client_params
    if introduced is not None:
        return clients.named(introduced.client_info.name)
    assert context.request is not None
    return clients.of_agent(context.request.headers.get("user-agent"))


def requested_form(scope: Scope) -> str | None:
    """Return the form of answers that the address asks for, as ``/mcp?answers=json``."""
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("answers")
    return asked[0] if asked else None
