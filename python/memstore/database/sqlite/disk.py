"""A database in a file: opening it, and noticing that the file or its log is another one by now."""

from __future__ import annotations

import os
import stat
import time
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import apsw

from memstore._kernel import OpenFiles
from memstore.database.sqlite import locks
from memstore.database.sqlite.transaction import TRANSLATED
from memstore.errors import FileReplaced, Remedy, StorageError
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import tempfile
    from contextlib import AbstractContextManager

    from memstore.database.sqlite import copying
    from memstore.database.sqlite.transaction import SqliteTransaction
    from memstore.database.sqlite.writer import Writer
else:
    copying = lazy_import("memstore.database.sqlite.copying")
    tempfile = lazy_import("tempfile")


class Disk:
    """One file with its write-ahead log; it is created with its folder when missing."""

    copies_in: Final = "FILE"
    """Where compacting puts its copy: it may be as large as the file."""

    def __init__(self, path: str, *, read_only: bool) -> None:
        self.path = str(Path(path).expanduser().absolute())
        self._read_only = read_only
        self._logging = read_only
        self.is_immutable = False
        """Whether connections assume that the file does not change."""
        self._prepare_file()
        locks.install(self.path)
        self.had_log = self.log_bytes() > 0
        self._files = OpenFiles(self.path)
        self._files.remember()
        self._has_log = False
        """Whether a connection has used the log, so that it is open, and stays."""

    def connect(self, wait_seconds: float) -> apsw.Connection:
        if self._read_only and not _is_writable(Path(self.path)):
            return self._connect_without_permission(wait_seconds)
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        return apsw.Connection(self.path, flags=flags)

    def check_reader(self, connection: apsw.Connection) -> None:
        """Check that a connection that was just opened reads the file that the others have.

        Raises:
            FileReplaced: it does not.
        """
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        self.note_log(connection)
        self.check()

    def own_write(self, _: Writer) -> SqliteTransaction | None:
        """Return what a read within the thread's own write reads, if no snapshot of its own."""
        return None

    def reading(
        self, connection: apsw.Connection, _: Writer, __: float
    ) -> AbstractContextManager[None]:
        """Begin a read; the caller ends it by rolling back."""
        with TRANSLATED:
            connection.execute("BEGIN")
        return nullcontext()

    def refuse_own_reader(self) -> None:
        """Refuse a write that would wait for a read of the same thread; here none does."""

    def prepare_write(self, connection: apsw.Connection, deadline: float) -> None:
        """Switch to write-ahead logging, so that readers go on while one writes.

        It stays set in the file, so it is done before the first write and not on opening: a file
        that is refused must be left as it was. SQLite does not wait by itself here.
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
        """Note that the connection that writes has taken its first locks."""
        locks.check(self.path)
        self.note_log(connection)

    def note_log(self, connection: apsw.Connection) -> None:
        """Watch the log, once a connection has used it.

        Raises:
            FileReplaced: another store in this process uses one that is gone.
        """
        if self._has_log or connection.pragma("journal_mode") != "wal" or self.changed():
            return
        self._files.remember()
        if self._files.changed():
            raise FileReplaced(
                f"another store in this process has {self.path!r} open with a log that was "
                "removed or replaced",
                remedy=Remedy.CLOSE_OTHERS,
            )
        self._has_log = True

    def changed(self) -> dict[str, str]:
        """Return what became of the files that are no longer the ones that were opened.

        A log that no connection of ours keeps open may come and go.
        """
        if not (changed := self._files.changed()):
            return {}
        return {part: fate for part, fate in changed if part == "file" or self._has_log}

    def check(self) -> None:
        """Raise :class:`FileReplaced` if the files are others by now."""
        if changed := self.changed():
            raise FileReplaced(told(self.path, changed), remedy=Remedy.OPEN_REPLACED)

    def scratch(self) -> AbstractContextManager[IO[bytes]]:
        return tempfile.TemporaryFile()

    def exposed(self) -> dict[str, int]:
        if os.name != "posix":
            return {}
        files = (Path(self.path), Path(f"{self.path}-wal"))
        modes = {str(file): stat.S_IMODE(file.stat().st_mode) for file in files if file.exists()}
        return {file: mode for file, mode in modes.items() if mode & 0o077}

    def size_bytes(self) -> int:
        return _size(self.path) + self.log_bytes()

    def log_bytes(self) -> int:
        return _size(self.path + "-wal")

    def close(self) -> None:
        """Nothing is left open here."""

    def _prepare_file(self) -> None:
        file = Path(self.path)
        if self._read_only and not file.exists():
            raise StorageError(
                f"{self.path!r} does not exist, and a read-only store creates no file"
            )
        if file.is_symlink() and not file.exists():
            # SQLite would create its target, wherever that is, and readable by everyone.
            raise StorageError(
                f"{self.path!r} is a link to {os.readlink(file)!r}, which does not exist",
                remedy=Remedy.NAME_FILE,
            )
        try:
            _create_folder(file.parent)
            if not file.exists():
                with suppress(FileExistsError):
                    copying.create(file)
        except OSError as error:
            raise copying.not_created(self.path, error) from error

    def _connect_without_permission(self, wait_seconds: float) -> apsw.Connection:
        """Open the file for reading where nothing may be written, not even the log's index."""
        name = Path(self.path).as_uri()
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
            # Without a log all is in the file. A log may come, so it is used for one read only.
            self.is_immutable = True
            return apsw.Connection(f"{name}?immutable=1", flags=flags)
        except BaseException:
            connection.close()
            raise
        return connection


def told(path: str, changed: dict[str, str]) -> str:
    """Return in words what :meth:`Disk.changed` found."""
    if "file" in changed:
        return f"{path!r} was {changed['file']} while it was open"
    return (
        f"the log of {path!r} was removed or replaced while it was open; what was not copied into "
        "the file yet may be lost"
    )


def _is_writable(file: Path) -> bool:
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)


def _create_folder(folder: Path) -> None:
    """Create a folder and those above it that are missing, each for its user alone."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)
        copying.sync(one.parent)  # its name must survive a power cut, too


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        return 0
