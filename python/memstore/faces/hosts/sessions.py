"""What each session of a host was given, in small files that survive from one hook to the next.

A hook is a process of its own, and what it gave at one prompt is still in the model's context at
the next. So for each session there is a file with the names of the facts and turns that it was
given, and the time of the last compaction, which emptied its context: nothing counts as given then.
The files have ids and times, no texts. Nothing depends on them: without its file, a session may be
told something twice.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memstore import settings
from memstore.domain import clock
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Iterable
    from datetime import datetime
else:
    hashlib = lazy_import("hashlib")

MAX_FILES: Final = 200
MAX_NAMES: Final = 1000
"""The oldest are forgotten first."""

KEPT_SECONDS: Final = 14 * 86_400.0

PLAIN_NAME: Final = re.compile(r"[0-9a-z-]{1,64}")
"""A session's name that can be part of a file's name on any system, as UUIDs can."""


class HostSession(NamedTuple):
    """A session, and what its context holds."""

    name: str | None
    file: str | None
    given: tuple[str, ...] = ()
    emptied_at: datetime | None = None
    """When its context was last emptied."""

    @classmethod
    def of(cls, name: str | None, database: str) -> HostSession:
        """Read a session; ``database`` is the file whose ids it was given."""
        if not name:
            return cls(None, None)
        file = os.path.join(folder(), f"{_of_database(database)}-{_plain(name)}.json")
        given, emptied_at = _read(file)
        return cls(name, file, given, emptied_at)

    def with_given(self, names: Iterable[str]) -> HostSession:
        """Remember that the session was given these."""
        all_given = tuple(dict.fromkeys([*self.given, *names]))[-MAX_NAMES:]
        return self._replace(given=all_given)._written()

    def emptied(self) -> HostSession:
        """Remember that the session's context has been emptied."""
        return self._replace(given=(), emptied_at=clock.utc_now())._written()

    def _written(self) -> HostSession:
        if self.file is not None:
            emptied = None if self.emptied_at is None else clock.to_text(self.emptied_at)
            with suppress(OSError):  # a full or read-only disk: it may be told something twice
                write(self.file, {"given": self.given, "emptied_at": emptied})
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


def _read(file: str) -> tuple[tuple[str, ...], datetime | None]:
    try:
        with open(file, "rb") as handle:
            held = json.load(handle)
        at = held["emptied_at"]
        return tuple(map(str, held["given"])), None if at is None else clock.from_text(at)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return (), None  # there is none yet, or somebody damaged it


def write(file: str | os.PathLike[str], contents: dict[str, Any]) -> None:
    """Write a small file that nobody else may read, and forget those of old sessions."""
    where = os.path.dirname(file)
    os.makedirs(os.path.dirname(where), exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(where, mode=0o700)
    if not os.path.exists(file):
        _make_room(where)
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


def _make_room(where: str) -> None:
    """Delete the files of old sessions, and the oldest of too many."""
    now = clock.utc_now().timestamp()
    with os.scandir(where) as files:
        ages = sorted((now - file.stat().st_mtime, file.path) for file in files)
    for place, (age, file) in enumerate(ages):
        if age > KEPT_SECONDS or place >= MAX_FILES - 1:
            with suppress(FileNotFoundError):
                os.unlink(file)
