"""Records what each session of a host was given, in small files that outlive a hook.

A hook is a process of its own, and what it gave at one prompt is still in the model's context at
the next. So for each session there is a file with the names of the facts and turns that it was
given, and the time of the last compaction, which emptied its context: nothing counts as given then.
A session that was forked from others has their turns in its context, too.
The files have ids, times and hashes, no texts. Nothing depends on them: without its file, a session
may be told something twice.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.domain import clock
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Iterable
    from datetime import datetime
else:
    hashlib = lazy_import("hashlib")

MAX_FILES: Final = 200
"""Sessions, and notes of prompts, that are kept."""

NOTES: Final = "-prompts.json"
"""How the names of files end in which the prompts of a session are noted."""

MAX_NAMES: Final = 1000
"""The oldest are forgotten first."""

KEPT_SECONDS: Final = 14 * 86_400.0

PLAIN_NAME: Final = re.compile(r"[0-9a-z-]{1,64}")
"""A session's name that can be part of a file's name on any system, as UUIDs can."""


OURS: Final = re.compile(
    rf"(?:[0-9a-f]{{8}}-{PLAIN_NAME.pattern}(?:-prompts)?|[0-9a-f]{{32}})\.json"
    r"|[0-9a-z-]{1,90}\.[0-9]+"
)
"""The name of such a file, complete or (with the number of a process) being written."""


MOMENTS: Final = ("emptied_at", "began_at")


class Inherited(NamedTuple):
    """What a session that was forked has in its context of the sessions before it."""

    turns: tuple[str, ...] = ()
    """The turns that its transcript repeats, each by its id and the hash of its text, with a colon
    between."""
    sessions: tuple[tuple[str, str | None], ...] = ()
    """Sessions whose turns it has up to a time; ``None`` for all of them."""

    @classmethod
    def of(cls, known: object) -> Inherited | None:
        """Read it from JSON.

        Raises:
            TypeError: it has another form; so do the two below.
            ValueError: a session without a time.
            LookupError: something is missing.
        """
        if not isinstance(known, dict):
            return None
        sessions = ((name, until) for name, until in known["sessions"])
        return cls(
            tuple(map(str, known["turns"]))[-MAX_NAMES:],
            tuple((str(name), None if until is None else str(until)) for name, until in sessions),
        )

    def __add__(self, other: object) -> Inherited:
        """Return both."""
        if other is None:
            return self
        if not isinstance(other, Inherited):
            return NotImplemented
        turns = tuple(dict.fromkeys([*other.turns, *self.turns]))[-MAX_NAMES:]
        return Inherited(turns, tuple(dict.fromkeys([*self.sessions, *other.sessions])))


class HostSession(NamedTuple):
    """A session, and what its context holds."""

    name: str | None
    file: str | None
    given: tuple[str, ...] = ()
    emptied_at: datetime | None = None
    """When its context was last emptied."""
    began_at: datetime | None = None
    """When the first hook of it ran."""
    is_fork: bool = False
    """Whether the host says that its context is that of another session."""
    inherited: Inherited | None = None
    """What it has in its context of other sessions; ``None`` while that is not known."""

    @property
    def knows_its_context(self) -> bool:
        """Whether it is known whose turns are in its context."""
        return not self.is_fork or self.inherited is not None

    @classmethod
    def of(cls, name: str | None, database: str) -> HostSession:
        """Read a session; ``database`` is the file whose ids it was given."""
        if not name:
            return cls(None, None)
        file = os.path.join(folder(), f"{_of_database(database)}-{_plain(name)}.json")
        return cls(name, file, **_read(file))

    def with_given(self, names: Iterable[str]) -> HostSession:
        """Remember that the session was given these."""
        all_given = tuple(dict.fromkeys([*self.given, *names]))[-MAX_NAMES:]
        return self._replace(given=all_given)._written()

    def emptied(self) -> HostSession:
        """Remember that the session's context has been emptied."""
        now = clock.utc_now()
        return self._replace(given=(), emptied_at=now, inherited=Inherited())._written()

    def began(self, *, is_fork: bool = False) -> HostSession:
        """Remember that the session has begun, unless that is known."""
        if self.file is None or self.began_at is not None:
            return self
        return self._replace(began_at=clock.utc_now(), is_fork=is_fork)._written()

    def with_inherited(self, inherited: Inherited) -> HostSession:
        """Remember what the session has in its context of other sessions."""
        return self._replace(inherited=inherited)._written()

    def _written(self) -> HostSession:
        if self.file is not None:
            held: dict[str, Any] = {"given": self.given}
            for name in MOMENTS:
                at = getattr(self, name)
                held[name] = None if at is None else clock.to_text(at)
            if self.is_fork:
                held["is_fork"] = True
            if self.inherited is not None:
                held["inherited"] = self.inherited._asdict()
            with suppress(OSError):  # a full or read-only disk: it may be told something twice
                write(self.file, held)
        return self


def folder() -> str:
    return os.path.join(settings.data_folder(), "sessions")


def _of_database(path: str) -> str:
    return f"{zlib.crc32(os.fsencode(os.path.abspath(path))):08x}"


def _plain(name: str) -> str:
    """Return a session's name, or a hash of one that is no file name everywhere."""
    if PLAIN_NAME.fullmatch(name):
        return name
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()


def _read(file: str) -> dict[str, Any]:
    """Return what is known of a session, by the names of the fields."""
    try:
        with open(file, "rb") as handle:
            held = json.load(handle)
        moments = {name: held.get(name) for name in MOMENTS}
        return {
            "given": tuple(map(str, held["given"])),
            **{name: None if at is None else clock.from_text(at) for name, at in moments.items()},
            "is_fork": held.get("is_fork") is True,
            "inherited": Inherited.of(held.get("inherited")),
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}  # there is none yet, or somebody damaged it


def append(file: str, line: str, most: int) -> None:
    """Add a line to a small file that nobody else may read, unless it has so many bytes."""
    _prepare(file)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(file, flags, 0o600), "a", encoding="utf-8") as handle:
        if handle.tell() < most:
            handle.write(f"{line}\n")


def _prepare(file: str | os.PathLike[str]) -> None:
    """Make the folder of a file that is to be written, and forget those of old sessions."""
    where = os.path.dirname(file)
    os.makedirs(os.path.dirname(where), exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(where, mode=0o700)
    if not os.path.exists(file):
        _make_room(where, for_notes=os.fspath(file).endswith(NOTES))


def write(file: str | os.PathLike[str], contents: dict[str, Any]) -> None:
    """Write a small file that nobody else may read, and forget those of old sessions."""
    _prepare(file)
    part = f"{os.fspath(file).removesuffix('.json')}.{os.getpid()}"
    # Nobody else may read it, and nobody's link is followed.
    opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(opened, "w", encoding="utf-8") as handle:
            json.dump(contents, handle)
        os.replace(part, file)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(part)
        raise


def _make_room(where: str, *, for_notes: bool) -> None:
    """Delete the files of old sessions, and the oldest of too many."""
    now = clock.utc_now().timestamp()
    with os.scandir(where) as files:
        ages = sorted(
            (now - file.stat(follow_symlinks=False).st_mtime, file.path)
            for file in files
            if OURS.fullmatch(file.name) and file.is_file(follow_symlinks=False)
        )
    places = {True: 0, False: 0}
    for age, file in ages:
        is_notes = file.endswith(NOTES)
        places[is_notes] += 1
        most = MAX_FILES - (is_notes == for_notes)  # with the one that is to be written
        if age > KEPT_SECONDS or places[is_notes] > most:
            with suppress(FileNotFoundError):
                os.unlink(file)
