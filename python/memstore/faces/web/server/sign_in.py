"""Signing in: a one-time code on this machine, or an access token over HTTP; and out again."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from memstore.domain.tokens import Access, AccessToken
from memstore.errors import AccessDenied, Explained
from memstore.faces import wording
from memstore.faces.web import kept_path, templating
from memstore.faces.web.reply import Reply, redirect
from memstore.faces.web.server.sections import MENU
from memstore.faces.web.sessions import Codes, Session, Sessions, SignInRefused
from memstore.faces.web.visit import Visit
from memstore.store.store import by_actor, file_of, in_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memstore.domain.protocols import JSONGenerator
    from memstore.faces.serving.stores import Stores
    from memstore.faces.web.menu import MenuItem
    from memstore.faces.web.problems import Problem
    from memstore.store.store import Store


MAX_VISITS: Final = 500
"""Memories and persons that are remembered."""

NAME: Final = "visits.json"


class LastVisits:
    """The last visit of each person to each namespace, kept for the user of this machine.

    Nothing of a memory is in the file: its keys are hashes. If it cannot be written, visits are
    remembered until the server ends.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: dict[str, int] = {}
        with suppress(OSError, ValueError):
            known = json.loads((kept_path.folder() / NAME).read_text("ascii"))
            if isinstance(known, dict):
                self._lines = {key: one for key, one in known.items() if isinstance(one, int)}

    def begin(self, store: Store, actor: str, line: int) -> int | None:
        """Note a visit at a line of the journal; return that of the last one, if there was one."""
        named = "\0".join((store.path, store.namespace, actor))
        key = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()
        with self._lock:
            last = self._lines.pop(key, None)
            self._lines[key] = line
            while len(self._lines) > MAX_VISITS:
                del self._lines[next(iter(self._lines))]
            self._write()
        return last if last is None or last <= line else None  # another file is in its place

    def _write(self) -> None:
        with suppress(OSError):
            file = kept_path.folder() / NAME
            draft = file.with_name(f"{NAME}.{os.getpid()}")
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            with os.fdopen(os.open(draft, flags, 0o600), "w", encoding="ascii") as written:
                json.dump(self._lines, written)
            os.replace(draft, file)


ENTER: Final = "/enter"
ENTER_PATHS: Final = ("/", ENTER)

SOURCE: Final = "web"
"""What the journal names as the program that changes are made through."""

USER: Final = "user"
"""Who it says made them, on the user's own machine."""

MAX_ZONE: Final = 60


class SignIn:
    """Opens sessions, and says which memory each may reach.

    Args:
        stores: the memory.
        base: the path that the pages live below, with a slash at both ends.
        codes: the one-time codes that are accepted; ``None`` if access tokens are, instead.
        owners: those that agents use if a call names none.
        generator: makes the language model that reads episodes again; it is called once.
    """

    def __init__(
        self,
        stores: Stores,
        base: str,
        codes: Codes | None,
        owners: Mapping[str, str] | None = None,
        generator: Callable[[], JSONGenerator | None] = lambda: None,
    ) -> None:
        self.base = base
        self._stores = stores
        self._codes = codes
        self._owners = owners or {}
        self._generator = cache(generator)
        self._sessions = Sessions()
        self._visits = LastVisits()
        self.on_entered: Callable[[], object] = lambda: None
        """Called after each sign-in."""

    # -- in ----------------------------------------------------------------------------------------

    def page(self, refusal: str = "", status: int = 200) -> Reply:
        """Return the form for a code or a token."""
        body = templating.render("enter.html", takes_code=self._codes is not None, refusal=refusal)
        return Reply(status, body)

    def signed_out(self, *, swaps: bool = False) -> Reply:
        """Return what a form gets that nobody is signed in for."""
        if swaps:
            where = (("HX-Retarget", "#problems"), ("HX-Reswap", "innerHTML"))
            part = templating.render("parts/signed_out.html", enter=ENTER)
            return Reply(401, part, headers=where)
        return self.page("You are signed out, so nothing was changed. Sign in, and repeat it.", 401)

    def problem(self, problem: Problem) -> Reply:
        """Return a problem with the memory itself, as a page without the menu."""
        return Reply(problem.status, templating.render("closed.html", problem=problem))

    def enter(self, fields: Mapping[str, str], origin: str) -> Reply:
        """Open a session for what was posted, or say why not. Blocks.

        Args:
            fields: ``code`` or ``token``, and the browser's ``zone``.
            origin: the scheme, host and port of the page that it was posted from.
        """
        zone = fields.get("zone", "")[:MAX_ZONE]
        try:
            if self._codes is not None:
                self._codes.redeem(fields.get("code", ""))
                session = Session(USER, origin, zone)
            else:
                token = self._checked(fields.get("token", "").strip())
                session = Session(token.name, origin, zone, token.id)
        except SignInRefused as refused:
            return self.page(str(refused), 403)
        self._sessions.begin(session)
        self.on_entered()
        return redirect(self.base, ("Set-Cookie", self._cookie(session, session.secret)))

    def _checked(self, secret: str) -> AccessToken:
        try:
            tokens = self._stores.store().file.tokens
            if not tokens.required():
                raise SignInRefused(
                    "This memory has no access token yet. Create one with memstore token create "
                    "NAME, or open it on its own machine with memstore web."
                )
            token = tokens.check(secret)
            tokens.note_use(token)
        except AccessDenied:
            raise SignInRefused("This token is unknown, revoked or expired.") from None
        except (Explained, ValueError, TypeError) as error:
            raise SignInRefused(
                f"The memory cannot be opened: {wording.in_pages(error)}"
            ) from error
        return token

    # -- and out -----------------------------------------------------------------------------------

    def leave(self, session: Session) -> Reply:
        """End a session and forget its cookie."""
        self._sessions.end(session)
        gone = f"{self._cookie(session, '')}; Max-Age=0"
        return redirect(ENTER, ("Set-Cookie", gone), ("Clear-Site-Data", '"cache"'))

    def cookie_name(self, origin: str) -> str:
        """Return the name of the cookie at an address: cookies ignore ports, so it has the port."""
        return f"memstore-{Session(USER, origin).port}"

    def _cookie(self, session: Session, value: str) -> str:
        secure = "; Secure" if session.is_secure else ""
        name = self.cookie_name(session.origin)
        return f"{name}={value}; Path={self.base}; HttpOnly; SameSite=Strict{secure}"

    # -- between -----------------------------------------------------------------------------------

    def session(self, secret: str, *, is_use: bool = True) -> Session | None:
        """Return the session of a cookie; ``None`` if it has ended, or its token has. Blocks.

        ``is_use`` is that of :meth:`Sessions.find`.
        """
        session = self._sessions.find(secret, is_use=is_use)
        if session is not None and session.token is not None and self._token(session) is None:
            self._sessions.end(session)
            return None
        return session

    def _stays(self, session: Session) -> bool:
        """Whether a session has not ended, nor its token; a memory that fails tells neither."""
        try:
            return self.session(session.secret, is_use=False) is session
        except Explained:
            return False

    def _token(self, session: Session) -> AccessToken | None:
        """Return the token of a session if it still gives access, looked up each time."""
        known = self._stores.store().file.tokens.list()
        found = next((one for one in known if one.id == session.token), None)
        return found if found is not None and found.status == "active" else None

    def visit(
        self,
        session: Session,
        entry: MenuItem,
        *,
        path: str,
        numbers: Mapping[str, int],
        query: Mapping[str, int],
        fields: list[tuple[str, str]],
        swaps: bool,
        is_twin: bool,
    ) -> Visit:
        """Return a visit, with the memory that its session may reach."""
        store, may_write = self._store(session)
        if store.namespace not in session.since:
            begun = self._visits.begin(store, session.actor, store.line)
            session.since[store.namespace] = begun
        many: dict[str, list[str]] = {}
        for name, value in fields:
            many.setdefault(name, []).append(value)
        return Visit(
            store,
            session,
            base=self.base,
            entry=entry,
            path=path,
            numbers=numbers,
            query=query,
            fields={name: values[0] for name, values in many.items()},
            many=many,
            swaps=swaps,
            is_twin=is_twin,
            may_write=may_write,
            menu=MENU,
            owners=self._owners,
            leave=partial(self.leave, session),
            stays=partial(self._stays, session),
            generator=self._generator,
        )

    def _store(self, session: Session) -> tuple[Store, bool]:
        may_write = True
        if session.token is None:
            store = self._stores.store()
            if session.namespace not in (None, store.namespace):
                store = store.within(session.namespace)
        else:
            token = self._token(session)
            if token is None:
                raise AccessDenied("the token is revoked or expired")
            store = self._stores.confined(token.namespace)
            may_write = token.access == Access.WRITE
        file_of(store).engine.check_file()
        store = in_run(by_actor(store.within(source=SOURCE), session.actor), session.run)
        return store, may_write and not file_of(store).read_only
