"""What waits on this machine to be sent to a server: conversations, in files that only their user
may read.

There is a folder for each server and a file for each request, named by the time; a request is sent
again until the server has answered, and its turns have ids by which the server stores each once.
A file is written beside its place, synced and then renamed, so that a killed process leaves a whole
request or none. No token is in them.

Above 64 MiB or 1,000 files the oldest are dropped, and so is what the server refuses for good. The
turns that were dropped are counted, for ``memstore spool`` and ``memstore status``.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.domain import clock, zones
from memstore.errors import MemstoreError
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Iterable, Iterator

    from memstore.faces.hosts import files, locking, private, sessions
else:  # most hooks only look whether anything waits
    hashlib = lazy_import("hashlib")
    files = lazy_import("memstore.faces.hosts.files")
    locking = lazy_import("memstore.faces.hosts.locking")
    private = lazy_import("memstore.faces.hosts.private")
    sessions = lazy_import("memstore.faces.hosts.sessions")

MAX_BYTES: Final = 64 * 1024 * 1024
MAX_FILES: Final = 1_000
MAX_REQUEST_BYTES: Final = 1 << 30
"""Far above what 100 turns have."""
MAX_MARKS: Final = 20_000
"""Turns of a session that are remembered as spooled; of others the server says that it has them."""

PATIENCE_SECONDS: Final = 30.0
"""How long to wait for another process that writes, or sends."""

OVERFLOW: Final = "the spool was full"
REFUSED: Final = "the server refused them"

REQUEST: Final = re.compile(r"\d{17}-\d{10}-\d{6}\.json")
PART: Final = ".part"
WRITTEN: Final = re.compile(
    rf"(?:{REQUEST.pattern}|server\.json|dropped\.json)\.\d+{re.escape(PART)}"
)
"""The name of a file that is being written."""
PART_SECONDS: Final = 86_400.0
"""A file that was not completed in a day was being written by a process that was killed."""


class SpoolUnusable(MemstoreError):
    """The spool cannot be read or written, or another user could read it."""


class Waiting(NamedTuple):
    """What waits for a server, and what was dropped."""

    url: str
    requests: int
    turns: int
    size: int
    """In bytes."""
    since: str | None
    """When the oldest request was written."""
    dropped: dict[str, int]
    """How many turns, by the reason."""


class Spool:
    """The requests that wait for one server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.folder = folder_of(url)
        self._written = 0

    def is_empty(self) -> bool:
        return not self._names()

    def put(self, request: dict[str, Any]) -> None:
        """Write a request to be sent later; the oldest are dropped if there is no room."""
        body = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
        self._make_folder()
        with self._locked("writing"):
            self._sweep()
            self._make_room(len(body))
            now = clock.utc_now()
            self._written += 1
            moment = int(now.timestamp() * 1_000_000)
            name = f"{moment:017d}-{os.getpid():010d}-{self._written:06d}.json"
            self._write(name, body)

    def requests(self) -> Iterator[tuple[str, bytes]]:
        """Yield the names and texts of the requests, oldest first."""
        for name in self._names():
            body = self._read(name)
            if body is not None:
                yield name, body

    def remove(self, name: str) -> None:
        """Remove a request that the server has answered."""
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(self.folder, name))

    def drop(self, name: str, reason: str) -> None:
        """Remove a request that was not sent, and count its turns."""
        with self._locked("writing"):
            self._drop(name, reason)

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Let no other process send what waits, so that all of it arrives in order."""
        self._make_folder()
        with self._locked("sending"):
            yield

    def marks(self, session: str) -> set[str]:
        """Return the marks of a session's turns that have been spooled."""
        try:
            with open(self._marks_file(session), "rb") as file:
                return {str(one) for one in json.load(file)["marks"]}
        except (OSError, ValueError, LookupError, TypeError):
            return set()

    def note(self, session: str, marks: Iterable[str]) -> None:
        """Remember which turns of a session have been spooled."""
        with suppress(OSError):  # they are sent once more, and stored once
            sessions.write(self._marks_file(session), {"marks": sorted(marks)[:MAX_MARKS]})

    def waiting(self) -> Waiting:
        """Return what waits and what was dropped."""
        names = self._names()
        turns = size = 0
        for _, body in self.requests():
            turns += _turns_in(body)
            size += len(body)
        since = None
        if names:
            moment = clock.EPOCH + int(names[0].partition("-")[0]) * (clock.MILLISECOND / 1000)
            since = clock.to_text(moment)
        return Waiting(self.url, len(names), turns, size, since, dict(self._dropped()))

    # -- files -------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        with suppress(FileNotFoundError), os.scandir(self.folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if REQUEST.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            )
        return []

    def _make_folder(self) -> None:
        """Make the folder, and check that no other user can read what is in it."""
        try:
            for folder in (os.path.dirname(self.folder), self.folder):
                private.make_folder(folder)
            named = os.path.join(self.folder, "server.json")
            if not os.path.exists(named):
                self._write("server.json", json.dumps({"url": self.url}).encode())
        except OSError as error:
            raise SpoolUnusable(f"{self.folder!r} cannot be used: {error.strerror}") from None

    def _read(self, name: str) -> bytes | None:
        """Return a request; ``None`` if it was dropped meanwhile, or nobody wrote it here.

        What somebody else put into the folder is not followed, waited for or sent.
        """
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            with open(os.open(os.path.join(self.folder, name), flags), "rb") as file:
                found = os.fstat(file.fileno())
                is_request = stat.S_ISREG(found.st_mode) and found.st_size <= MAX_REQUEST_BYTES
                return file.read() if is_request else None
        except OSError:
            return None

    def _write(self, name: str, body: bytes) -> None:
        place = os.path.join(self.folder, name)
        part = f"{place}.{os.getpid()}{PART}"
        try:
            with suppress(FileNotFoundError):
                os.unlink(part)  # of a killed process that had the same number
            opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(opened, "wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, place)
            files.sync_folder(self.folder)
        except OSError as error:
            with suppress(OSError):
                os.unlink(part)
            raise SpoolUnusable(f"{place!r} cannot be written: {error.strerror}") from None

    def _sweep(self) -> None:
        now = clock.utc_now().timestamp()
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if not WRITTEN.fullmatch(entry.name) or not entry.is_file(follow_symlinks=False):
                    continue
                if now - entry.stat(follow_symlinks=False).st_mtime > PART_SECONDS:
                    os.unlink(entry.path)

    def _make_room(self, size: int) -> None:
        names = self._names()
        sizes = {}
        for name in names:
            with suppress(FileNotFoundError):  # sent in the meantime
                sizes[name] = os.path.getsize(os.path.join(self.folder, name))
        while sizes and (len(sizes) >= MAX_FILES or sum(sizes.values()) + size > MAX_BYTES):
            oldest = next(iter(sizes))
            self._drop(oldest, OVERFLOW)
            del sizes[oldest]

    def _drop(self, name: str, reason: str) -> None:
        body = self._read(name)
        if body is None:
            return
        turns = _turns_in(body)
        dropped = self._dropped()
        dropped[reason] += turns
        # First: a process that is killed in between counts some twice, and forgets none.
        self._write("dropped.json", json.dumps(dropped).encode())
        self.remove(name)

    def _dropped(self) -> Counter[str]:
        try:
            with open(os.path.join(self.folder, "dropped.json"), "rb") as file:
                return Counter({str(k): int(v) for k, v in json.load(file).items()})
        except (OSError, ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return Counter()

    def _marks_file(self, session: str) -> str:
        digest = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:32]
        return os.path.join(self.folder, "sessions", f"{digest}.json")

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        with locking.locked(os.path.join(self.folder, f"{name}.lock"), PATIENCE_SECONDS) as ours:
            if not ours:
                raise SpoolUnusable(f"another process has been {name} for too long")
            yield


def everything() -> list[Waiting]:
    """Return what waits for each server, and what was dropped."""
    root = settings.spool_folder()
    found = []
    with suppress(FileNotFoundError):
        for name in sorted(os.listdir(root)):
            with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
                found.append(Spool(_url_of(os.path.join(root, name))).waiting())
    return found


def _url_of(folder: str) -> str:
    with open(os.path.join(folder, "server.json"), "rb") as file:
        return str(json.load(file)["url"])


def sentences() -> list[str]:
    """Return what waits and what was dropped, in sentences."""
    told = []
    for one in everything():
        if one.requests:
            when = zones.minute(clock.from_text(one.since)) if one.since else ""
            told.append(f"{one.turns:,} turns wait for {one.url} since {when}")
        if one.dropped:
            listed = ", ".join(f"{number:,} because {why}" for why, number in one.dropped.items())
            told.append(f"turns for {one.url} were dropped: {listed}")
    return told


def folder_of(url: str) -> str:
    digest = hashlib.sha256(url.encode()).hexdigest()[:16]
    return os.path.join(settings.spool_folder(), digest)


def _turns_in(body: bytes) -> int:
    try:
        return len(json.loads(body)["turns"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return 0
