"""A database in a file: opening it, and noticing that the file or its log was replaced."""

from __future__ import annotations

import os
import re
import stat
import threading
import time
import weakref
from contextlib import nullcontext, suppress
from typing import IO, TYPE_CHECKING, Final, TypeAlias

import apsw

from memstore._kernel.locks import OpenFiles, file_created
from memstore.database.sqlite import locks
from memstore.database.sqlite.transaction import Translated
from memstore.errors import FileMissing, FileReplaced, Remedy, StorageError
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import pathlib
    import tempfile
    from contextlib import AbstractContextManager

    from memstore.database.sqlite import copying, foreign_log
    from memstore.database.sqlite.transaction import SqliteTransaction
    from memstore.database.sqlite.writer import Writer
else:
    copying = lazy_import("memstore.database.sqlite.copying")
    foreign_log = lazy_import("memstore.database.sqlite.foreign_log")
    pathlib = lazy_import("pathlib")
    tempfile = lazy_import("tempfile")


URL: Final = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
"""What is no path, though it could be read as one, of a folder named after the scheme."""

Identity: TypeAlias = "tuple[int, int, int | None]"
"""The device of a file, its number there, and when it was created, if the system says that."""

Names: TypeAlias = "frozenset[str]"
"""The absolute path of a file, and the same without links."""

_noting: Final = threading.RLock()  # a store may be collected while this thread has it
_open: Final[dict[int, tuple[Names, Identity | None]]] = {}
"""The files that this process has open."""
_missed: Final[dict[str, Identity | None]] = {}
"""Those that were no longer at their paths when this process closed them."""


class Disk:
    """One file with its write-ahead log; a missing file and its folder are created.

    Except for one that this process has had open: opening it again is not opening it first. It was
    moved away, or its disk was unmounted, and what was written into a new one would be lost when
    it is back. A file that was at its path when it was closed is not remembered.
    """

    copies_in: Final = "FILE"
    """Where compacting puts its copy, which may be as large as the file."""

    def __init__(self, path: str, *, read_only: bool, create: bool = True) -> None:
        if URL.match(path):
            raise StorageError(f"{path!r} is a URL, and SQLite opens files only")
        self.path = _absolute(os.path.expanduser(path))
        self._read_only = read_only
        self._create = create
        self._logging = read_only
        self.is_immutable = False
        """Whether connections are opened with ``immutable=1``: SQLite assumes no changes."""
        self._prepare_file()
        locks.install(self.path)
        # Also before reading: the last to close a file copies the log into it.
        if os.path.lexists(f"{os.path.realpath(self.path)}-shm") and _is_writable(self.path):
            foreign_log.move_aside(self.path)
        self.had_log = self.log_bytes() > 0
        self._files = OpenFiles(self.path)
        self._identity = _identity(self.path)
        self._has_log = False
        """Whether a connection has used the log, which it then keeps open."""
        self._remember()
        names, number = _names(self.path), id(self)
        with _noting:
            _open[number] = names, self._identity
        self._end = weakref.finalize(self, _note_end, number, self.path)
        self._end.atexit = False

    def connect(self, wait_seconds: float) -> apsw.Connection:
        if self._read_only and not _is_writable(self.path):
            return self._connect_without_permission(wait_seconds)
        # Never created here: the file may have been moved away since it was opened.
        return apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE)

    def check_reader(self, connection: apsw.Connection) -> None:
        """Check that a new connection reads the same file as the others.

        Raises:
            FileReplaced: it reads another file.
        """
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        self.note_log(connection)
        self.check()

    def own_write(self, _: Writer) -> SqliteTransaction | None:
        """Return ``None``: a read inside the thread's own write has its own snapshot."""
        return None

    def reading(
        self, connection: apsw.Connection, _: Writer, __: float
    ) -> AbstractContextManager[None]:
        """Begin a read; the caller ends it with a rollback."""
        with Translated(self.path):
            connection.execute("BEGIN")
        return nullcontext()

    def refuse_own_reader(self) -> None:
        """Do nothing: in a file, writes do not wait for reads."""

    def prepare_write(self, connection: apsw.Connection, deadline: float) -> None:
        """Switch to write-ahead logging, so that readers do not wait for a writer.

        The mode is stored in the file, so it is set before the first write and not on opening: a
        file that is refused must not be changed. SQLite's busy timeout has no effect here.
        """
        while not self._logging:
            try:
                connection.pragma("journal_mode", "WAL")
                self._logging = True
            except apsw.BusyError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.01)

    def note_writer(self, connection: apsw.Connection) -> None:
        """Check the locks and the log when the writing connection has taken its first locks."""
        locks.check(self.path)
        self.note_log(connection)

    def note_log(self, connection: apsw.Connection) -> None:
        """Start watching the log when a connection has used it.

        Raises:
            FileReplaced: another store in this process uses a log that was removed or replaced, or
                the file or its log was moved in this moment.
        """
        if self._has_log or connection.pragma("journal_mode") != "wal" or self.changed():
            return
        self._remember()
        changed: dict[str, str] = dict(self._files.changed())
        if changed:
            if "file" in changed:
                raise gone(self.path, changed)
            raise FileReplaced(
                f"another store in this process has {self.path!r} open with a log that was "
                "removed or replaced, or the log was moved while it was opened",
                remedy=Remedy.CLOSE_OTHERS,
            )
        self._has_log = True

    def changed(self) -> dict[str, str]:
        """Return which files are no longer the ones that were opened, and what happened to them.

        A log that none of our connections has open may be created and removed at any time.
        """
        if not (changed := self._files.changed()):
            return {}
        return {part: fate for part, fate in changed if part == "file" or self._has_log}

    def await_log(self, seconds: float) -> None:
        """Wait until a file that is back has its log again: they are moved one after the other.

        Also if this program had no log open, because another may have had one.
        """
        deadline = time.monotonic() + seconds
        log = f"{self.path}-wal"
        while not os.path.lexists(log) and time.monotonic() < deadline:
            time.sleep(0.01)

    def begin_anew(self) -> None:
        """Forget the log: nobody here has it open, and the file is at its path again.

        Raises:
            FileReplaced: another file is there.
        """
        self._has_log = False
        self._logging = self._read_only
        self._remember()

    def _remember(self) -> None:
        """Record the file, its log and the log's index.

        Raises:
            FileReplaced: the file is not the one that was opened.
        """
        self._files.remember()
        if (found := _identity(self.path)) != self._identity:
            raise gone(self.path, {"file": "removed" if found is None else "replaced"})

    def part_from_log(self) -> None:
        """Move the log aside if another file is in the place of the one that it belongs to.

        The caller writes, so nobody adds to the log meanwhile. A log that another program has
        already opened with the other file stays.
        """
        changed = self.changed()
        if "file" in changed and "log" not in changed and not locks.is_used(self.path):
            foreign_log.rename(self.path)

    def forget_finished_logs(self) -> None:
        foreign_log.remove_finished(self.path)

    def check(self) -> None:
        """Raise :class:`FileReplaced` if the file or its log was removed or replaced."""
        if changed := self.changed():
            raise gone(self.path, changed)

    def scratch(self) -> AbstractContextManager[IO[bytes]]:
        return tempfile.TemporaryFile()

    def exposed(self) -> dict[str, int]:
        if os.name != "posix":
            return {}
        files = [file for file in (self.path, f"{self.path}-wal") if os.path.exists(file)]
        modes = {file: stat.S_IMODE(os.stat(file).st_mode) for file in files}
        open_ = {file: mode for file, mode in modes.items() if mode & 0o077}
        folder = os.path.dirname(self.path)
        mode = stat.S_IMODE(os.stat(folder).st_mode)
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            open_[folder] = mode  # others can put a file of theirs in place of this one
        return open_

    def size_bytes(self) -> int:
        return _size(self.path) + self.log_bytes()

    def log_bytes(self) -> int:
        return _size(self.path + "-wal")

    def close(self, *, untouched: bool = False) -> None:
        """Note whether the file is at its path; the connections are the engine's.

        Args:
            untouched: it was not used, but refused.
        """
        if untouched:
            self._end.detach()
            with _noting:
                _open.pop(id(self), None)
        else:
            self._end()

    def _prepare_file(self) -> None:
        # The file last: another thread or process may be creating it, and then its log.
        known, log_bytes = _known(self.path), self.log_bytes()
        exists = os.path.exists(self.path)
        if known and not exists:
            raise FileMissing(
                f"{self.path!r} is missing: it was moved or removed, or its disk was unmounted, "
                "while this program had it open; nothing was created",
                remedy=Remedy.PUT_BACK,
            )
        if known and _size(self.path) == 0 and _identity(self.path) not in known:
            raise FileMissing(
                f"{self.path!r} is empty, and not the file that this program had open there; "
                "nothing was created in it",
                remedy=Remedy.PUT_BACK,
            )
        if log_bytes and not exists:
            raise FileMissing(
                f"{self.path!r} is missing, but its write-ahead log is there, with {log_bytes:,} "
                "bytes that may be nowhere else; nothing was created",
                remedy=Remedy.PUT_BACK_OR_MOVE_LOG,
            )
        if self._read_only and not exists:
            raise StorageError(
                f"{self.path!r} does not exist, and a read-only store creates no file"
            )
        if not exists and not self._create:
            raise StorageError(f"{self.path!r} does not exist", remedy=Remedy.CREATE_FILE)
        if exists:
            return
        if os.path.islink(self.path):
            # SQLite would create the link's target, readable by everyone.
            raise StorageError(
                f"{self.path!r} is a link to {os.readlink(self.path)!r}, which does not exist",
                remedy=Remedy.NAME_FILE,
            )
        try:
            file = pathlib.Path(self.path)
            _create_folder(file.parent)
            with suppress(FileExistsError):
                copying.create(file)
        except OSError as error:
            raise copying.not_created(self.path, error, Remedy.NAME_FILE) from error

    def _connect_without_permission(self, wait_seconds: float) -> apsw.Connection:
        """Open the file for reading if nothing may be written, not even the log's index."""
        name = pathlib.Path(self.path).as_uri()
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(f"{name}?mode=ro", flags=flags)
        try:
            connection.set_busy_timeout(int(wait_seconds * 1000))
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
            connection.close()
            if log_bytes := self.log_bytes():
                raise StorageError(
                    f"{self.path!r} cannot be read: its write-ahead log has {log_bytes} bytes "
                    "that are not in the file yet, and SQLite needs an index of the log, which "
                    "this user may not read or create",
                    remedy=Remedy.RELEASE_FILE,
                ) from error
            # Without a log, the file is complete. One may appear later, so this is for one read.
            self.is_immutable = True
            return apsw.Connection(f"{name}?immutable=1", flags=flags)
        except BaseException:
            connection.close()
            raise
        return connection


def describe(path: str, changed: dict[str, str]) -> str:
    """Return the result of :meth:`Disk.changed` as text."""
    if changed.get("file") == "removed":
        return f"{path!r} was moved or removed, or its disk was unmounted, while it was open"
    if "file" in changed:
        return f"{path!r} was replaced while it was open"
    return (
        f"the log of {path!r} was removed or replaced while it was open; changes that were only in "
        "the log may be lost"
    )


def gone(path: str, changed: dict[str, str], outcome: str = "") -> FileReplaced:
    """Return the error for a result of :meth:`Disk.changed`, and for what became of a write."""
    text = describe(path, changed) + outcome
    if changed.get("file") == "removed":
        return FileMissing(text, remedy=Remedy.PUT_BACK)
    return FileReplaced(text, remedy=Remedy.OPEN_REPLACED)


def _known(path: str) -> set[Identity | None]:
    """Return the identities of a path's files that this process has open, or missed."""
    names = _names(path)
    with _noting:
        found = {identity for others, identity in _open.values() if others & names}
        return found | {_missed[name] for name in names if name in _missed}


def _note_end(number: int, path: str) -> None:
    """Note that a file was closed, and whether it is at its path."""
    is_there = _identity(path)
    with _noting:
        names, identity = _open.pop(number)
        for name in names:
            if identity is not None and is_there == identity:
                _missed.pop(name, None)
            else:
                _missed[name] = identity


def _names(path: str) -> Names:
    return frozenset((path, os.path.realpath(path)))


def _identity(path: str) -> Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    # A removed file's number is given to another one, created later.
    return found.st_dev, found.st_ino, file_created(path)


def _absolute(path: str) -> str:
    """Return a path from the root; ``..`` is kept, because a link may come before it."""
    return os.path.join(os.getcwd(), path) if ".." in path else os.path.abspath(path)


def _is_writable(file: str) -> bool:
    return os.access(file, os.W_OK) and os.access(os.path.dirname(file), os.W_OK)


def _create_folder(folder: pathlib.Path) -> None:
    """Create a folder and its missing parents, accessible only to their user."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)
        copying.sync(one.parent)  # so that its name survives a power failure too


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0
