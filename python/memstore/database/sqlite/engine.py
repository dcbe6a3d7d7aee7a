"""SQLite behind the engine's seam. The one module that imports the driver.

One connection writes, guarded by a lock; readers take a connection from a pool, so a search in
one thread never waits for a write in another. Between processes SQLite's own locks decide: with
a write-ahead log readers never block, and writers queue for up to ``wait_seconds``.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import apsw

from memstore.database.engine import NO_PARAMETERS, Transaction
from memstore.database.sqlite import integrity, locks, migrations
from memstore.database.sqlite.dialect import DIALECT
from memstore.database.sqlite.full_text import INDEXES
from memstore.domain.arguments import checked_choice
from memstore.errors import InvalidArgument, Remedy, StorageError, StoreBusy, StoreClosed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Parameters, Progress, Row

WAIT_SECONDS: Final = 30.0
"""How long a write waits for another process's. Longer than any write of ours but a huge import;
five seconds, the usual choice, is short enough that users met "database is locked"."""

MOST_WAIT_SECONDS: Final = 86_400
"""SQLite counts milliseconds in 32 bits."""

IDLE_READERS: Final = 4
"""Reader connections kept open between reads; more are opened when more threads read at once."""

BACKUP_PAGES: Final = 1024
"""Pages copied a step; 4 MB keep the progress bar moving and other writers unharmed."""

COMPACT_WAIT_MILLISECONDS: Final = 1000
"""How long compacting waits for writers and readers to finish."""

IN_MEMORY: Final = ":memory:"

LISTS: Final = (list, tuple)

PARAMETERS: Final = re.compile(r"'[^']*'|:(\w+)")
"""Finds the parameters of a statement, and passes over texts in it."""

MINIMUM_SQLITE: Final = (3, 51, 3)
"""Older ones can corrupt the file when the write-ahead log is reset while another writes."""

SYNCHRONOUS: Final = ("NORMAL", "FULL")


class SqliteTransaction(Transaction):
    """The three verbs over one connection, with the driver's errors translated."""

    dialect = DIALECT
    full_text = INDEXES

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def rows(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> Iterator[Row]:
        with _TRANSLATED:
            yield from self.connection.execute(sql, _bindings(sql, parameters))

    def one(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> Row | None:
        with _TRANSLATED:
            # Run to the end: an INSERT … RETURNING takes effect only when its cursor is spent.
            found = self.connection.execute(sql, _bindings(sql, parameters)).fetchall()
        return found[0] if found else None

    def run(self, sql: str, parameters: Parameters = NO_PARAMETERS) -> int:
        with _TRANSLATED:
            # Spent, or the statements after one that returns a row would not run.
            self.connection.execute(sql, _bindings(sql, parameters)).fetchall()
            return self.connection.changes()


def _bindings(sql: str, parameters: Parameters) -> apsw.Bindings:
    """Return what the driver binds: a list as the JSON array that the dialect reads.

    By place: for the driver to look names up takes three times as long.
    """
    if not parameters:
        return ()
    values = [parameters[name] for name in _names(sql)]
    return [json.dumps(value) if isinstance(value, LISTS) else value for value in values]


@lru_cache(maxsize=1024)
def _names(sql: str) -> tuple[str, ...]:
    """Return the names of a statement's parameters, in SQLite's order: by first appearance."""
    return tuple(dict.fromkeys(name for name in PARAMETERS.findall(sql) if name))


class SqliteEngine:
    """One SQLite file, open; it is created with its folder when missing.

    ``NORMAL`` survives the death of the process, ``FULL`` that of the machine.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        synchronous: str = "NORMAL",
        wait_seconds: float = WAIT_SECONDS,
        read_only: bool = False,
    ) -> None:
        checked_choice(synchronous, SYNCHRONOUS, "synchronous")
        if not 0 <= wait_seconds <= MOST_WAIT_SECONDS:
            raise InvalidArgument(
                f"must be 0 to {MOST_WAIT_SECONDS}, not {wait_seconds!r}", argument="wait_seconds"
            )
        if tuple(map(int, apsw.sqlite_lib_version().split("."))) < MINIMUM_SQLITE:
            raise StorageError(
                f"apsw brings SQLite {apsw.sqlite_lib_version()}, and"
                f" {'.'.join(map(str, MINIMUM_SQLITE))} or newer is needed"
            )
        self._path = os.fspath(path)
        self._folder: TemporaryDirectory[str] | None = None
        self._synchronous = synchronous
        self._wait_seconds = wait_seconds
        self._read_only = read_only
        self._process = os.getpid()
        self._closed = False
        self._logging = read_only
        self._idle: list[apsw.Connection] = []
        self._pool = threading.Lock()
        self._writing = threading.Lock()
        if self._path == IN_MEMORY:
            # A database in memory belongs to one connection, and readers would wait for writers.
            self._folder = TemporaryDirectory(prefix="memstore-")
            self._path = str(Path(self._folder.name) / "memory.db")
        self._path = str(Path(self._path).expanduser().absolute())
        self._prepare_file()
        locks.install(self._path)
        self._locks_checked = read_only
        self._writer: apsw.Connection | None = None

    @property
    def path(self) -> str:
        return self._path

    @property
    def locks(self) -> str:
        return locks.in_force()

    @contextmanager
    def read(self) -> Iterator[SqliteTransaction]:
        connection = self._borrow()
        try:
            with _TRANSLATED:
                connection.execute("BEGIN")
            yield SqliteTransaction(connection)
        finally:
            self._give_back(connection)

    @contextmanager
    def write(
        self, *, wait_seconds: float | None = None, check_links: bool = True
    ) -> Iterator[SqliteTransaction]:
        self._check_usable()
        wait = self._wait_seconds if wait_seconds is None else wait_seconds
        started = time.monotonic()
        if not self._writing.acquire(timeout=wait):
            raise _busy(wait)
        try:
            self._check_usable()
            connection = self._connected_writer()
            if not check_links:
                connection.pragma("foreign_keys", False)  # has no effect inside a transaction
            try:
                self._begin(connection, wait, started + wait)
                yield SqliteTransaction(connection)
                with _TRANSLATED:
                    connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise
            finally:
                if not check_links:
                    connection.pragma("foreign_keys", True)
        finally:
            self._writing.release()

    def take_step(self, transaction: Transaction, version: int) -> None:
        migrations.take_step(transaction, version)

    def damage(self, transaction: Transaction) -> list[str]:
        return integrity.page_troubles(transaction)

    def dangling_rows(self, transaction: Transaction) -> dict[str, list[int]]:
        return integrity.dangling_rows(transaction)

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        with self.read() as source, _TRANSLATED, _whole_file(target):
            # One state from here on: without it SQLite starts again at every write of others.
            source.one("SELECT count(*) FROM sqlite_schema")
            copy = apsw.Connection(str(target))
            try:
                with copy.backup("main", source.connection, "main") as task:
                    while not task.done:
                        task.step(BACKUP_PAGES)
                        if progress is not None:
                            progress(task.page_count - task.remaining, task.page_count)
            finally:
                copy.close()

    def compact(self) -> bool:
        with self._writing:
            self._check_usable()
            writer = self._connected_writer()
            writer.set_busy_timeout(COMPACT_WAIT_MILLISECONDS)
            try:
                # The copy it makes may be as large as the file, and is no matter for the memory.
                writer.pragma("temp_store", "FILE")
                writer.execute("VACUUM")
                writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.Error:  # in use, or no room for a copy; what was committed stays so
                return False
            finally:
                writer.pragma("temp_store", "MEMORY")
            return True

    def size_bytes(self) -> int:
        files = (Path(self._path), Path(self._path + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        if self._process != os.getpid():
            return  # the parent's; and a lock another thread of it held stays held here for ever
        with self._writing, self._pool:
            if self._closed:
                return
            self._closed = True
            while self._idle:
                self._idle.pop().close()
            if self._writer is not None:
                with suppress(apsw.Error):
                    # The last one to close empties the log and removes it; this starts earlier.
                    self._writer.set_busy_timeout(0)
                    self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                self._writer.close()
            if self._folder is not None:
                self._folder.cleanup()

    def _connected_writer(self) -> apsw.Connection:
        """Return the connection that writes; only a store that writes opens one.

        Most of what opening a store takes is SQLite reading the schema, for each connection.
        """
        if self._writer is None:
            self._writer = self._connect()
        return self._writer

    def _begin(self, connection: apsw.Connection, wait: float, deadline: float) -> None:
        try:
            self._use_log(connection, deadline)
            connection.set_busy_timeout(max(0, int((deadline - time.monotonic()) * 1000)))
            connection.execute("BEGIN IMMEDIATE")
            if not self._locks_checked:  # the first locks of this file are taken
                self._locks_checked = True
                locks.check(self._path)
        except apsw.BusyError:
            raise _busy(wait) from None
        except apsw.Error as error:
            raise _storage_error(error) from error

    def _use_log(self, connection: apsw.Connection, deadline: float) -> None:
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

    def _prepare_file(self) -> None:
        file = Path(self._path)
        if self._read_only and not file.exists():
            raise StorageError(
                f"{self._path!r} does not exist, and a read-only store creates no file"
            )
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists():
                with suppress(FileExistsError):
                    _create(file)
        except OSError as error:
            raise _not_created(self._path, error) from error

    def _connect(self) -> apsw.Connection:
        name, flags = self._path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        if self._read_only and not _is_writable(Path(self._path)):
            # The file cannot be written, so nothing changes, and no log is needed or possible.
            name = f"{Path(self._path).as_uri()}?immutable=1"
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        try:
            connection = apsw.Connection(name, flags=flags)
        except apsw.Error as error:
            raise StorageError(f"cannot open {self._path!r}: {error}") from error
        try:
            connection.set_busy_timeout(int(self._wait_seconds * 1000))
            # One plan per statement: else it is prepared again for nearly every value bound to it.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            # A fact names the fact that superseded it; the database holds that to be true.
            connection.pragma("foreign_keys", True)
            # In WAL mode NORMAL loses nothing when a process dies; FULL adds an fsync a commit.
            connection.pragma("synchronous", self._synchronous)
            # What is erased is overwritten, not just forgotten.
            connection.pragma("secure_delete", True)
            # Sorting and grouping need no files beside the user's.
            connection.pragma("temp_store", "MEMORY")
            if self._read_only:
                connection.pragma("query_only", True)
        except apsw.BusyError:
            connection.close()
            raise _busy(self._wait_seconds) from None
        except apsw.Error as error:
            connection.close()
            raise StorageError(f"cannot use {self._path!r}: {error}") from error
        return connection

    def _borrow(self) -> apsw.Connection:
        self._check_usable()
        with self._pool:
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _give_back(self, connection: apsw.Connection) -> None:
        _roll_back(connection)
        with self._pool:
            if not self._closed and len(self._idle) < IDLE_READERS:
                self._idle.append(connection)
                return
        connection.close()

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreClosed("the store is closed", remedy=Remedy.OPEN_AGAIN)
        if self._process != os.getpid():
            raise StorageError(
                "this store was opened before the process forked, and SQLite connections cannot "
                "cross a fork; the child process needs a store of its own",
                remedy=Remedy.OPEN_AGAIN,
            )


@contextmanager
def reading(name: str) -> Iterator[SqliteTransaction]:
    """Open a database of another program, named by a URI, for reading one state of it."""
    with _TRANSLATED:
        connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        with _TRANSLATED:
            connection.set_busy_timeout(int(WAIT_SECONDS * 1000))
            # What the file says of itself may not call anything.
            connection.pragma("trusted_schema", False)
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        yield SqliteTransaction(connection)
    finally:
        connection.close()


def _is_writable(file: Path) -> bool:
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)


def _create(file: Path) -> None:
    """Create an empty file that what an agent remembers may go into: its user's alone."""
    os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))


@contextmanager
def _whole_file(file: Path) -> Iterator[None]:
    """Create a file, and remove it again where what should fill it does not come to its end."""
    try:
        _create(file)
    except OSError as error:
        raise _not_created(str(file), error) from error
    try:
        yield
    except BaseException:
        for half in (file, Path(f"{file}-journal")):
            half.unlink(missing_ok=True)
        raise


def _roll_back(connection: apsw.Connection) -> None:
    """End a transaction that may have ended itself already (SQLite does so on some errors)."""
    with suppress(apsw.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


class _Translated:
    """Raises the driver's errors as ours. A class, for a generator costs as much as a statement."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, apsw.Error):
            raise _storage_error(error) from error
        if isinstance(error, UnicodeDecodeError):
            raise StorageError(
                f"a row holds text that is not UTF-8 ({error}), written by another program",
                remedy=Remedy.RESTORE_BACKUP,
            ) from error


_TRANSLATED: Final = _Translated()


def _storage_error(error: apsw.Error) -> StorageError:
    if isinstance(error, apsw.BusyError):
        return StoreBusy(
            "another process keeps the file locked; nothing was stored", remedy=Remedy.WAIT
        )
    if isinstance(error, apsw.FullError):
        return StorageError("the disk is full; nothing of this change was stored")
    if isinstance(error, apsw.ReadOnlyError):
        return StorageError(
            "the database is open for reading only, or its file or folder cannot be written; "
            "nothing was stored",
            remedy=Remedy.OPEN_WRITABLE,
        )
    if isinstance(error, apsw.CorruptError) and "fts5" in str(error):
        return StorageError(f"the full-text index is damaged: {error}", remedy=Remedy.REBUILD)
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return StorageError(
            f"the file is damaged or not a memstore database: {error}", remedy=Remedy.RESTORE_BACKUP
        )
    return StorageError(f"the database refused: {error}")


def _busy(seconds: float) -> StoreBusy:
    return StoreBusy(
        f"another process or thread has been writing for {seconds:g} s; nothing was stored",
        remedy=Remedy.WAIT,
    )


def _not_created(path: str, error: OSError) -> StorageError:
    return StorageError(
        f"cannot create {path!r}: {error.strerror or error}", remedy=Remedy.NAME_FILE
    )
