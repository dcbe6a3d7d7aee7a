"""The protocol's endpoint over HTTP: the SDK's Streamable HTTP around our tools, stateless."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from memstore.domain.tokens import Access
from memstore.faces.http.runs import Runs
from memstore.faces.http.sdk_server import SdkServer, Watch
from memstore.faces.mcp import clients
from memstore.faces.mcp.catalogue import ANSWERS
from memstore.faces.mcp.methods import Methods
from memstore.faces.serving.stores import Confined

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp.server.context import ServerRequestContext
    from starlette.types import Receive, Scope, Send

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.http.callers import Caller
    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.faces.serving.stores import Stores

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

    def _source_of(self, context: ServerRequestContext[Any]) -> clients.Through:
        assert context.request is not None  # the SDK's HTTP transports always set it
        caller: Caller | None = context.request.scope[CALLER]
        client = client_of(context)
        if caller is None:
            return clients.Through(self._stores, client, self._runs.of(None, client))
        source = Confined(self._stores, caller.namespace, caller.owners)
        return clients.Through(source, client, self._runs.of(caller.name, client), caller.owners)


def client_of(context: ServerRequestContext[Any]) -> str | None:
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
