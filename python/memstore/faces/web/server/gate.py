"""Checks on every request before a page is made: host, sign-in, origin, form token, size.

No body is read before its sender is known, except that of the sign-in itself. Without a sign-in
every address below the root gets the same answer, so that none tells whether it exists.
"""

from __future__ import annotations

import logging
import re
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import parse_qsl

import anyio
import anyio.to_thread
from starlette.datastructures import Headers

from memstore.database.engine import waiting_at_most
from memstore.domain import zones
from memstore.errors import Explained
from memstore.faces.serving.bodies import BodyRefused, IncomingRequest, Patience, read, refuse
from memstore.faces.web import files, problems, templating, twin
from memstore.faces.web.problems import ChangedSince
from memstore.faces.web.reply import Reply, plain, redirect
from memstore.faces.web.server import sections
from memstore.faces.web.server.sign_in import ENTER, ENTER_PATHS
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from starlette.types import Receive, Scope, Send

    from memstore.faces.serving.address import AcceptedNames
    from memstore.faces.web.problems import Problem
    from memstore.faces.web.server.sign_in import SignIn
    from memstore.faces.web.sessions import Session
    from memstore.faces.web.visit import Visit

logger = logging.getLogger(__name__)

T = TypeVar("T")

MAX_BODY_BYTES: Final = 1024 * 1024
MAX_FIELDS: Final = 5000
"""Fields of a form."""

LOCK_SECONDS: Final = 3.0
"""How long a page waits for other programs that use the memory, before it says that it is busy."""

PAGES_AT_ONCE: Final = 8
"""Threads in which pages are made; further requests queue."""

POLL: Final = "pulse"
"""The address that open pages ask now and then, whether anybody looks or not."""

METHODS: Final = ("GET", "HEAD", "POST")

REPLACEMENT: Final = "\ufffd"
"""Stands for NUL, which no text of a memory has, as for what is no UTF-8."""

MAX_QUERY: Final = 2000

NAME: Final = re.compile("[a-z]{1,20}")
NUMBER: Final = re.compile("[0-9]{1,18}")
"""A name and a value that are read from a query."""

ISOLATED: Final = ("same-origin", "none")
"""What ``Sec-Fetch-Site`` may say of a request that is no navigation."""


class PageRequest(NamedTuple):
    """A request whose host is ours, before anything is known of its sender."""

    method: str
    """``GET`` or ``POST``."""
    path: str
    headers: Headers
    query: str

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins that our own pages have, if this request came from one."""
        host = self.headers.get("host", "").lower()
        return f"http://{host}", f"https://{host}"

    @property
    def swaps(self) -> bool:
        """Whether the answer is put into a page that is open."""
        return self.headers.get("hx-request") == "true"

    def is_from(self, origins: Collection[str]) -> bool:
        """Whether the browser says that a page of one of these origins sent it."""
        if self.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return False
        return self.headers.get("origin", "").lower() in origins


class PagesGate:
    """The ASGI application of the pages.

    Args:
        sign_in: knows the sessions, and which memory each may reach.
        names: the accepted hosts.
        ports: those that the server listens on.
        patience: how long a request may take to arrive.
        on_admitted: called with the scope of each request of a signed-in person.
    """

    def __init__(
        self,
        sign_in: SignIn,
        *,
        names: AcceptedNames,
        ports: Collection[int],
        patience: Patience = Patience(),  # noqa: B008 (frozen)
        on_admitted: Callable[[Scope], object] = lambda _scope: None,
    ) -> None:
        self._sign_in = sign_in
        self._names = names
        self._ports = ports
        self._patience = patience
        self._on_admitted = on_admitted
        self._threads = anyio.CapacityLimiter(PAGES_AT_ONCE)
        templating.prepare()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        incoming = IncomingRequest(receive)
        headers = Headers(scope=scope)
        try:
            reply = await self._answer(scope, headers, incoming)
        except BodyRefused as error:
            reply = plain(error.status, str(error), ("Connection", "close"))
        if reply is None:
            return  # the client is gone
        compressed = reply.compressed(headers.get("accept-encoding", ""))
        body = reply.body if compressed is None else compressed
        sent = [
            *reply.sent_headers(is_compressed=compressed is not None),
            (b"content-length", str(len(body)).encode()),
        ]

        async def respond(_scope: Scope, _receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": reply.status, "headers": sent})
            await send({"type": "http.response.body", "body": body})

        if incoming.ended or scope["method"] != "POST":
            await respond(scope, incoming, send)
        else:
            await refuse(respond, scope, incoming, send)

    async def _answer(
        self, scope: Scope, headers: Headers, incoming: IncomingRequest
    ) -> Reply | None:
        if not self._names.are_site(headers.get("host"), self._ports):
            return plain(421, "This server does not answer to that name and port.")
        if scope["method"] not in METHODS:
            return plain(405, "Pages are read with GET and changed with POST.")
        method = "POST" if scope["method"] == "POST" else "GET"
        request = PageRequest(
            method, scope["path"], headers, scope["query_string"].decode("latin-1")
        )
        if request.path.startswith(files.PREFIX) and method == "GET":
            return files.answer(request.path) or plain(404, "There is no such file.")
        if request.path in ENTER_PATHS:
            return await self._enter(request, incoming)
        session = await self._in_thread(partial(self._session, request))
        if isinstance(session, Reply):
            return session
        self._on_admitted(scope)
        if method == "GET":
            if not _is_isolated(headers):
                return plain(403, "Other pages may not load this.")
            return await self._in_thread(partial(self._visit, request, session, []))
        if not request.is_from((session.origin,)):
            return plain(403, "Only our own pages may send this. Nothing was changed.")
        fields = await self._fields(headers, incoming)
        if fields is None:
            return None
        return await self._in_thread(partial(self._visit, request, session, fields))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        def limited() -> T:
            with waiting_at_most(LOCK_SECONDS):
                return work()

        # If the browser disconnects, only the wait ends: a write that has begun is completed.
        return await anyio.to_thread.run_sync(
            limited, limiter=self._threads, abandon_on_cancel=True
        )

    async def _fields(self, headers: Headers, incoming: Receive) -> list[tuple[str, str]] | None:
        body = await read(
            headers, incoming, most=MAX_BODY_BYTES, seconds=self._patience.body_seconds
        )
        if body is None:
            return None
        try:
            pairs = parse_qsl(
                body.decode("utf-8", "replace"),
                keep_blank_values=True,
                max_num_fields=MAX_FIELDS,
                errors="replace",
            )
        except ValueError as error:
            raise BodyRefused(400, "The form has too many fields.") from error
        return [(name, value.replace("\x00", REPLACEMENT)) for name, value in pairs]

    # -- without a sign-in -------------------------------------------------------------------------

    async def _enter(self, request: PageRequest, incoming: IncomingRequest) -> Reply | None:
        if request.method == "GET":
            if request.path != ENTER:
                return redirect(ENTER)
            return self._sign_in.page()
        if not request.is_from(request.origins):
            return self._sign_in.page("Only this page may send the form: sign in again.", 403)
        fields = await self._fields(request.headers, incoming)
        if fields is None:
            return None
        origin = request.headers["origin"].lower()
        return await self._in_thread(partial(self._sign_in.enter, dict(fields), origin))

    def _session(self, request: PageRequest) -> Session | Reply:
        """Return the session of a request below the path of the pages, or what to say instead."""
        if request.path.startswith(self._sign_in.base):
            try:
                is_use = request.path != f"{self._sign_in.base}{POLL}"
                for secret in self._secrets(request):
                    session = self._sign_in.session(secret, is_use=is_use)
                    if session is not None:
                        return session
            except (Explained, ValueError, TypeError) as error:
                return self._sign_in.problem(problems.of(error))
        return self._signed_out(request)

    def _secrets(self, request: PageRequest) -> list[str]:
        """Return the values of our cookie: another program of this host may set it, too."""
        names = {self._sign_in.cookie_name(origin) for origin in request.origins}
        pairs = (part.partition("=") for part in request.headers.get("cookie", "").split(";"))
        return [value.strip() for name, _, value in pairs if name.strip() in names]

    def _signed_out(self, request: PageRequest) -> Reply:
        if request.swaps:
            return self._sign_in.signed_out(swaps=True)
        return redirect(ENTER) if request.method == "GET" else self._sign_in.signed_out()

    # -- with one ----------------------------------------------------------------------------------

    def _visit(
        self, request: PageRequest, session: Session, fields: list[tuple[str, str]]
    ) -> Reply:
        """Return the page of a request. Blocks."""
        path = request.path.removeprefix(self._sign_in.base)
        page = twin.page_of(path) if request.method == "GET" else None
        is_twin = page is not None
        path = path if page is None else page
        found = sections.find(request.method, path)
        section, route, numbers = found or (sections.SECTIONS[0], None, {})
        query = _numbers(request.query)
        try:
            visit = self._sign_in.visit(
                session,
                section.entry,
                path=path if found else "",  # what is no page of ours is not repeated
                numbers={**query, **numbers},
                query=query,
                fields=fields,
                swaps=request.swaps and not is_twin,
                is_twin=is_twin,
            )
        except (Explained, ValueError, TypeError) as error:
            return self._sign_in.problem(problems.of(error))
        if route is None:
            return self._problem(visit, problems.NOTHING_HERE)
        if request.method == "POST" and not session.knows(visit.field("ticket")):
            return self._problem(visit, problems.STALE_FORM)
        if route.writes and not visit.may_write:
            return self._problem(visit, problems.READ_ONLY)
        try:
            with zones.use(visit.zone):
                return route.answer(visit)
        except ChangedSince as error:
            return problems.changed_since(visit, error)
        except (Explained, ValueError, TypeError) as error:
            return self._problem(visit, problems.of(error))
        except BaseException as error:  # a panic of the kernel, too
            logger.error("a page failed: %s", type(error).__name__)  # its text may quote a memory
            logger.debug("the page %s", route.pattern, exc_info=True)
            return self._problem(visit, problems.FAILED)

    def _problem(self, visit: Visit, problem: Problem) -> Reply:
        """Return a page with a problem; without the menu, if the memory fails for that, too."""
        try:
            return problems.reply(visit, problem)
        except (Explained, ValueError, TypeError):  # the menu counts what waits
            return self._sign_in.problem(problem)


def _is_isolated(headers: Headers) -> bool:
    """Whether a page of another origin did not load this: it may only lead to it."""
    if headers.get("sec-fetch-site", "none") in ISOLATED:
        return True
    navigation = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return navigation == ("navigate", "document")


def _numbers(query: str) -> Mapping[str, int]:
    """Return the numbers of a query; everything else in it is ignored."""
    pairs = parse_qsl(query[:MAX_QUERY])
    return {
        name: int(value)
        for name, value in pairs
        if NAME.fullmatch(name) and NUMBER.fullmatch(value)
    }
