"""One-time codes and sessions of those who are signed in to the pages, held in memory."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections import OrderedDict
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

CODE_LIFE: Final = timedelta(minutes=2)
IDLE: Final = timedelta(hours=12)
"""A session that is not used for so long ends."""

MAX_SESSIONS: Final = 256
"""The one that was not used for longest ends first."""

MAX_USED_CODES: Final = 64
MAX_QUESTIONS: Final = 200
"""How many searches and choices of filters are kept for a session."""

MAX_OPENED: Final = 5
"""How many of the facts and sessions that were opened last are offered again."""

MAX_UNDOS: Final = 5
"""How many changes of a session its pages offer to undo."""

SECRET_BYTES: Final = 32
TICKET_BYTES: Final = 16


class SignInRefused(Exception):
    """A code or token that opens no session; the text is for the person who gave it."""


class Codes:
    """Codes that sign in once, within two minutes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._issued: dict[bytes, datetime] = {}
        self._used: OrderedDict[bytes, None] = OrderedDict()

    def make(self) -> str:
        """Return a new code; those made earlier stay valid for their time."""
        code = secrets.token_urlsafe(TICKET_BYTES)
        with self._lock:
            now = clock.utc_now()
            self._issued = {one: at for one, at in self._issued.items() if now - at < CODE_LIFE}
            self._issued[_hash(code)] = now
        return code

    def redeem(self, code: str) -> None:
        """Use a code.

        Raises:
            SignInRefused: it was used, has expired, or was never made.
        """
        name = _hash(code.strip())
        with self._lock:
            if name in self._used:
                raise SignInRefused(
                    "This code was already used; each one works once. If it was not you who used "
                    "it, end the program in the terminal with Ctrl-C."
                )
            at = self._issued.pop(name, None)
            if at is None or clock.utc_now() - at >= CODE_LIFE:
                raise SignInRefused("This code is unknown, or older than two minutes.")
            self._used[name] = None
            if len(self._used) > MAX_USED_CODES:
                self._used.popitem(last=False)


@frozen
class Undo:
    """A change of this session that its pages offer to undo."""

    act: int
    """The number of the act, as in the log."""
    text: str
    """What was done, without any stored text."""
    fact_id: int | None = None


class Session:
    """One signed-in person, in one browser.

    Args:
        actor: who the journal says made the changes.
        origin: the scheme, host and port that the pages were signed in at.
        zone: the name of the browser's time zone; blank if it did not say.
        token: the id of the access token that it rests on; ``None`` for the machine's own user.
    """

    def __init__(self, actor: str, origin: str, zone: str = "", token: int | None = None) -> None:
        self.actor = actor
        self.origin = origin
        self.zone = zone
        self.token = token
        self.secret = secrets.token_urlsafe(SECRET_BYTES)
        self.run = clock.new_run()
        self.used_at = clock.utc_now()
        self.namespace: str | None = None
        """The namespace that was chosen; ``None`` for the store's own."""
        self.since: dict[str, int | None] = {}
        """By namespace, the line of the journal at the visit before this one, if there was one."""
        self._key = secrets.token_bytes(SECRET_BYTES)
        self._lock = threading.Lock()
        self._questions: OrderedDict[int, Mapping[str, str]] = OrderedDict()
        self._numbers = 0
        self._undos: OrderedDict[int, Undo] = OrderedDict()
        self._opened: OrderedDict[tuple[str, str, int], None] = OrderedDict()

    @property
    def port(self) -> str:
        """The port of its address, by which its cookie is named."""
        scheme, _, host = self.origin.partition("://")
        _, colon, port = host.rpartition(":")
        named = colon and port.isdecimal()
        return port if named else {"https": "443"}.get(scheme, "80")

    @property
    def is_secure(self) -> bool:
        """Whether the browser reached it through TLS."""
        return self.origin.startswith("https://")

    # -- form tokens -------------------------------------------------------------------------------

    def ticket(self) -> str:
        """Return a token for forms: another one each time, so that compression tells nothing."""
        chance = secrets.token_hex(TICKET_BYTES)
        return f"{chance}.{self._signed(chance)}"

    def knows(self, ticket: str) -> bool:
        """Whether a form's token is of this session."""
        chance, _, signature = ticket.partition(".")
        return hmac.compare_digest(signature.encode(), self._signed(chance).encode())

    def _signed(self, chance: str) -> str:
        return hmac.new(self._key, chance.encode(), hashlib.sha256).hexdigest()

    # -- what was posted, by number ----------------------------------------------------------------

    def keep(self, fields: Mapping[str, str]) -> int:
        """Keep what was asked, and return the number that stands for it in addresses."""
        with self._lock:
            for number, known in self._questions.items():
                if known == fields:
                    self._questions.move_to_end(number)
                    return number
            self._numbers += 1
            self._questions[self._numbers] = dict(fields)
            if len(self._questions) > MAX_QUESTIONS:
                self._questions.popitem(last=False)
            return self._numbers

    def kept(self, number: int) -> Mapping[str, str] | None:
        """Return what was asked under a number; ``None`` if it is not kept any more."""
        with self._lock:
            return self._questions.get(number)

    # -- what was opened ---------------------------------------------------------------------------

    def note_opened(self, namespace: str, kind: str, number: int) -> None:
        """Note that a page was opened: ``kind`` is ``fact`` or ``session``."""
        key = namespace, kind, number
        with self._lock:
            self._opened[key] = None
            self._opened.move_to_end(key)
            own = [one for one in self._opened if one[0] == namespace]
            for one in own[:-MAX_OPENED]:
                del self._opened[one]

    def opened(self, namespace: str) -> list[tuple[str, int]]:
        """Return the kind and number of what was opened in a namespace, the last first."""
        with self._lock:
            return [one[1:] for one in reversed(self._opened) if one[0] == namespace]

    # -- undo --------------------------------------------------------------------------------------

    def offer_undo(self, undo: Undo) -> None:
        with self._lock:
            self._undos[undo.act] = undo
            if len(self._undos) > MAX_UNDOS:
                self._undos.popitem(last=False)

    def drop_undo(self, act: int) -> None:
        with self._lock:
            self._undos.pop(act, None)

    @property
    def undos(self) -> tuple[Undo, ...]:
        """What may be undone, the newest first."""
        with self._lock:
            return tuple(reversed(self._undos.values()))


class Sessions:
    """The sessions of one server; they end with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[bytes, Session] = OrderedDict()

    def begin(self, session: Session) -> None:
        with self._lock:
            self._open[_hash(session.secret)] = session
            if len(self._open) > MAX_SESSIONS:
                self._open.popitem(last=False)

    def find(self, secret: str, *, is_use: bool = True) -> Session | None:
        """Return the session of a cookie; ``None`` if there is none.

        Args:
            is_use: whether a person did something, so that it stays open.
        """
        name, now = _hash(secret), clock.utc_now()
        with self._lock:
            session = self._open.get(name)
            if session is None:
                return None
            if now - session.used_at >= IDLE:
                del self._open[name]
                return None
            if is_use:
                session.used_at = now
                self._open.move_to_end(name)
            return session

    def end(self, session: Session) -> None:
        with self._lock:
            self._open.pop(_hash(session.secret), None)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
