"""The protocol's endpoint over HTTP: the SDK's Streamable HTTP around our tools, stateless."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from memstore.domain.tokens import Access, AccessToken
from memstore.faces.http.sdk_server import SdkServer
from memstore.faces.http.stores import Confined
from memstore.faces.mcp.methods import Methods

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from mcp.server.context import ServerRequestContext
    from starlette.types import Receive, Scope, Send

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.http.stores import Stores
    from memstore.faces.mcp.catalogue import Catalogue
    from memstore.faces.mcp.methods import StoreSource

TOKEN: Final = "memstore.token"  # noqa: S105 - a key of the request's scope
"""Where a request's scope holds the token it came with; ``None`` where none is needed."""

CALLS_AT_ONCE: Final = 32
"""Threads for tool calls of all clients: some wait for a language model for minutes."""


class Endpoint:
    """Answers requests that have been let in; each is complete in itself.

    Answers are JSON and not streams, since no tool speaks before its end: then a call that runs
    when the server is told to end is still answered, and no proxy has to be told to hold nothing
    back.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        stores: Stores,
        generator: Callable[[], JSONGenerator | None],
        *,
        largest_body: int,
    ) -> None:
        self._stores = stores
        # Two, because the handshake tells the model what it can do here.
        self._managers = {
            access: StreamableHTTPSessionManager(
                SdkServer(Methods(offered, generator), self._source_of, CALLS_AT_ONCE).server,
                json_response=True,
                stateless=True,
                max_request_body_size=largest_body,
            )
            for access, offered in ((Access.WRITE, catalogue), (Access.READ, catalogue.reading()))
        }

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Be ready for requests; what still runs at the end is cancelled."""
        async with AsyncExitStack() as stack:
            for manager in self._managers.values():
                await stack.enter_async_context(manager.run())
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        token: AccessToken | None = scope[TOKEN]
        access = Access.WRITE if token is None else Access(token.access)
        await self._managers[access].handle_request(scope, receive, send)

    def _source_of(self, context: ServerRequestContext[Any]) -> StoreSource:
        assert context.request is not None  # the SDK's HTTP transports always hand it over
        token: AccessToken | None = context.request.scope[TOKEN]
        return self._stores if token is None else Confined(self._stores, token.namespace)
