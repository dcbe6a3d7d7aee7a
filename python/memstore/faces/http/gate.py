"""Checks on every HTTP request before a tool runs: host, origin, token, size.

No body is read before its sender is known, and the answer to a refused request contains only the
reason. The probes (``/livez``, ``/readyz``, ``/health``) need no token and disclose nothing.
"""

from __future__ import annotations

import json
import logging
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio
import anyio.to_thread
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse

from memstore import __version__
from memstore.domain import zones
from memstore.domain.tokens import Access
from memstore.errors import AccessDenied, MemstoreError, Remedy
from memstore.faces import wording
from memstore.faces.http.callers import Caller
from memstore.faces.http.device_files import METHODS, is_of_devices
from memstore.faces.http.endpoint import CALLER, requested_form
from memstore.faces.http.hooks import HOOK_PATH
from memstore.faces.http.identity import WELL_KNOWN, NotGranted
from memstore.faces.mcp.catalogue import ANSWERS
from memstore.faces.mcp.wire import HALF, mended
from memstore.faces.serving.bodies import BodyRefused, IncomingRequest, Patience, read, refuse
from memstore.faces.serving.readiness import HEALTH, LIVE, OK, PROBES, RETRY_SECONDS, Readiness
from memstore.lazy import lazy_import
from memstore.plain_http import TIMEZONE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from memstore.faces.http import provider_tokens
    from memstore.faces.http.provider_tokens import ProviderTokens
    from memstore.faces.serving.address import AcceptedNames
    from memstore.faces.serving.stores import Stores
    from memstore.file.file import File
else:  # only servers with an identity provider need it
    provider_tokens = lazy_import("memstore.faces.http.provider_tokens")

logger = logging.getLogger(__name__)

T = TypeVar("T")

PATH: Final = "/mcp"
CALLS: Final = ("tools/call", "prompts/get")
"""The methods whose ``name`` says whether they write."""

SMALL_BODY_BYTES: Final = 256 * 1024
"""A smaller body is read quickly, whatever it is made of."""

MAX_VALUES: Final = 200_000
"""Commas and brackets of a body outside of its texts: reading so many takes a tenth of a second."""

TEXTS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
"""Also one that does not end, so that none is looked through twice."""

MAX_BODY_BYTES: Final = 16 * 1024 * 1024
"""Bytes of one request: a fact of JSON escapes alone takes 6 MB; a conversation takes more."""

LOOK_SECONDS: Final = 10.0
"""Time for the database to answer the look-up of a token."""

LOOKS_AT_ONCE: Final = 4
"""Threads for looking up tokens, separate from those for calls."""

HANDED_ON: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers of a proxy or a tunnel. A forwarded request is remote, whatever its Host says."""

REALM: Final = 'Bearer realm="memstore"'

PROVIDER_RETRY_SECONDS: Final = 30
"""When a token of an identity provider that is away may be tried again."""

INVALID_REQUEST: Final = -32600
"""JSON-RPC's code for a request that is not answered."""


class Rejected(Exception):
    """A request that is refused; its sender gets the reason."""

    def __init__(
        self,
        status: int,
        reason: str,
        headers: Mapping[str, str] | None = None,
        request_id: str | int | None = None,
    ) -> None:
        super().__init__(reason)
        self.response = JSONResponse(
            {
                "jsonrpc": "2.0",
                "id": request_id,
                "error": {"code": INVALID_REQUEST, "message": reason},
            },
            status,
            headers,
        )


class Gate:
    """The server's ASGI application.

    Args:
        writing: the tools and prompts that a read-only token may not call.
        needs_token: whether a request needs a token even while the file has none. A request that
            was forwarded by a proxy always does.
        readiness: whether the database can be read; by default, one of the gate's own.
        on_admitted: called with the scope of each accepted request.
        provider: checks the tokens of the identity provider; ``None`` if there is none.
    """

    def __init__(
        self,
        endpoint: ASGIApp,
        stores: Stores,
        *,
        names: AcceptedNames,
        writing: Collection[str],
        needs_token: bool,
        patience: Patience = Patience(),  # noqa: B008 (frozen)
        readiness: Readiness | None = None,
        on_admitted: Callable[[Scope], object] = lambda _scope: None,
        provider: ProviderTokens | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._stores = stores
        self._names = names
        self._writing = writing
        self._needs_token = needs_token
        self._patience = patience
        self._on_admitted = on_admitted
        self._provider = provider
        self._lookers = anyio.CapacityLimiter(LOOKS_AT_ONCE)
        self._readiness = Readiness(stores) if readiness is None else readiness

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming = IncomingRequest(receive)
        try:
            if scope["path"] in PROBES:
                await (await self._probe(scope))(scope, receive, send)
                return
            if scope["path"].startswith(WELL_KNOWN):
                await self._metadata(scope)(scope, receive, send)
                return
            passed = await self._pass(scope, incoming)
        except Rejected as refused:
            await refuse(refused.response, scope, incoming, send)
            return
        if passed is not None:
            caller, body = passed
            # The client's days count, not those of the server.
            with zones.use(zones.first_known(Headers(scope=scope).get(TIMEZONE, ""))):
                await self._endpoint({**scope, CALLER: caller}, _Replay(body, receive), send)

    async def _pass(self, scope: Scope, receive: Receive) -> tuple[Caller | None, bytes] | None:
        """Return the caller and body of an accepted request; ``None`` if the client is gone."""
        headers = Headers(scope=scope)
        if not self._names.know_host(headers.get("host")):
            raise Rejected(421, "this server does not accept that Host: --allow-host adds a name")
        if not self._names.know_origin(headers.get("origin")):
            raise Rejected(403, "this Origin is not allowed: --allow-origin adds one")
        is_file = is_of_devices(scope["path"])
        if not is_file and scope["path"].rstrip("/") not in (PATH, HOOK_PATH):
            raise Rejected(404, f"not found: the endpoint is {PATH}")
        caller = await self._admit(headers)
        self._on_admitted(scope)
        # There is no session to end, and no stream to listen to.
        methods = METHODS if is_file else ("POST",)
        if scope["method"] not in methods:
            raise Rejected(405, f"use {' or '.join(methods)}", {"Allow": ", ".join(methods)})
        if requested_form(scope) not in (None, *ANSWERS):
            raise Rejected(400, f"answers in the address must be {' or '.join(ANSWERS)}")
        try:
            body = await read(
                headers, receive, most=MAX_BODY_BYTES, seconds=self._patience.body_seconds
            )
        except BodyRefused as error:
            raise Rejected(error.status, str(error), {"Connection": "close"}) from error
        if body is None:
            return None
        if is_file:
            return caller, body
        if len(body) > SMALL_BODY_BYTES and has_too_many_values(body):
            raise Rejected(413, f"the JSON has more than {MAX_VALUES:,} lists, objects and members")
        if HALF.search(body):
            body = await anyio.to_thread.run_sync(_whole, body)
        if caller is not None and caller.access == Access.READ:
            self._refuse_writing(body)
        return caller, body

    async def _admit(self, headers: Headers) -> Caller | None:
        given = headers.get("authorization")
        scheme, _, secret = (given or "").partition(" ")
        if given is not None and scheme.lower() != "bearer":
            raise self._unauthorized("give the token as: Authorization: Bearer TOKEN")
        if await self._readiness.is_away():
            raise self._database_away()
        if self._provider is not None and provider_tokens.is_jwt(secret.strip()):
            await self._in_thread(self._checked_file, given)
            return await self._identify(self._provider, secret.strip())
        # Looked up each time, so that revoking a token takes effect at once.
        look_up = partial(
            self._look_up,
            None if given is None else secret.strip(),
            needed=self._needs_token or any(name in headers for name in HANDED_ON),
        )
        return await self._in_thread(look_up, given)

    async def _in_thread(self, look: Callable[[], T], given: str | None) -> T:
        """Look something up in the file; refuse the request if that fails."""
        try:
            with anyio.fail_after(LOOK_SECONDS):
                return await anyio.to_thread.run_sync(
                    look, limiter=self._lookers, abandon_on_cancel=True
                )
        except AccessDenied as error:
            raise self._unauthorized(wording.in_server(error), given=given is not None) from error
        except (MemstoreError, ValueError, TypeError) as error:
            # The sender is unknown, so only the log gets the reason.
            logger.warning("a token could not be checked: %s", wording.in_server(error))
            self._readiness.note_failure(error)
            raise self._database_away() from error
        except TimeoutError as error:
            logger.warning("a token could not be checked within %g s", LOOK_SECONDS)
            self._readiness.note_failure()
            raise self._database_away() from error

    async def _identify(self, provider: ProviderTokens, token: str) -> Caller:
        """Return who has a token of the identity provider."""
        try:
            return await provider.caller(token)
        except AccessDenied as error:
            raise self._unauthorized(str(error)) from error
        except NotGranted as error:
            raise Rejected(403, str(error), self._insufficient()) from error
        except MemstoreError as error:
            logger.warning("a token of the identity provider could not be checked: %s", error)
            raise Rejected(
                503,
                "the identity provider does not answer; the server's log says why",
                {"Retry-After": str(PROVIDER_RETRY_SECONDS)},
            ) from error

    def _look_up(self, secret: str | None, *, needed: bool) -> Caller | None:
        tokens = self._checked_file().tokens
        if secret is not None:
            token = tokens.check(secret)
            tokens.note_use(token)
            return Caller.of(token)
        if needed or tokens.required():
            raise AccessDenied(
                "a token is needed, as Authorization: Bearer TOKEN", remedy=Remedy.CREATE_TOKEN
            )
        return None

    def _checked_file(self) -> File:
        """Return the file, after checking that it is at its path: a tool's error has status 200."""
        file = self._stores.store().file
        file.engine.check_file()
        return file

    def _database_away(self) -> Rejected:
        return Rejected(503, self._readiness.trouble, {"Retry-After": str(RETRY_SECONDS)})

    def _refuse_writing(self, body: bytes) -> None:
        try:
            message: Any = json.loads(body)
            name = message["params"]["name"] if message["method"] in CALLS else None
        except (ValueError, RecursionError, KeyError, TypeError):
            return  # no call: the endpoint reports what is wrong with it
        if isinstance(name, str) and name in self._writing:
            number = message.get("id")
            raise Rejected(
                403,
                f"the token is read-only, and {name} writes: use one made without --read-only",
                self._insufficient(),
                number if isinstance(number, str | int) else None,
            )

    def _unauthorized(self, reason: str, *, given: bool = True) -> Rejected:
        fault = f', error="invalid_token", error_description="{reason}"' if given else ""
        return Rejected(401, reason, {"WWW-Authenticate": f"{REALM}{fault}{self._where}"})

    def _insufficient(self) -> dict[str, str]:
        return {"WWW-Authenticate": f'{REALM}, error="insufficient_scope"{self._where}'}

    @property
    def _where(self) -> str:
        """Where to sign in, for a refused request."""
        return "" if self._provider is None else self._provider.identity.challenge

    def _metadata(self, scope: Scope) -> JSONResponse:
        """Return what clients have to know to sign in (RFC 9728); it is public."""
        identity = None if self._provider is None else self._provider.identity
        if identity is None or scope["path"].rstrip("/") not in identity.metadata_paths:
            raise Rejected(404, "not found: this server has no such metadata")
        if scope["method"] not in ("GET", "HEAD"):
            raise Rejected(405, "use GET", {"Allow": "GET, HEAD"})
        return JSONResponse(identity.metadata, headers={"Cache-Control": "max-age=3600"})

    async def _probe(self, scope: Scope) -> JSONResponse:
        if scope["method"] not in ("GET", "HEAD"):
            raise Rejected(405, "use GET", {"Allow": "GET, HEAD"})
        state = OK if scope["path"] == LIVE else await self._readiness.state()
        told = {"status": state} | ({"version": __version__} if scope["path"] == HEALTH else {})
        return JSONResponse(told, 200 if state == OK else 503, {"Cache-Control": "no-store"})


class _Replay:
    """Replays a body that was read already, and then continues with the connection."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def is_for_programs(path: str) -> bool:
    """Return whether a path is of this gate; all others are of the pages, if there are any."""
    return (
        path in PROBES
        or path.rstrip("/") in (PATH, HOOK_PATH)
        or path.startswith(WELL_KNOWN)
        or is_of_devices(path)
    )


def for_pages(app: ASGIApp, names: AcceptedNames) -> ASGIApp:
    """Let pages of the allowed origins call the server from a browser (CORS)."""
    if not names.origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=sorted(names.origins),
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
        expose_headers=["WWW-Authenticate"],
    )


def has_too_many_values(body: bytes) -> bool:
    """Return whether JSON has so many values that reading it would keep other requests waiting.

    What stands in texts does not count. While Python reads JSON, no other thread runs.
    """
    if _marks(body) <= MAX_VALUES:
        return False
    # A value has two texts at most, itself and its name. A quotation mark without a backslash
    # before it begins or ends one.
    if body.count(b'"') - body.count(b'\\"') > 4 * MAX_VALUES:
        return True
    return _marks(TEXTS.sub(b"", body)) > MAX_VALUES


def _marks(body: bytes) -> int:
    return sum(map(body.count, (b",", b"[", b"{")))


def _whole(body: bytes) -> bytes:
    try:
        return mended(body).encode()
    except (ValueError, RecursionError):
        return body  # the endpoint reports what is wrong with it
