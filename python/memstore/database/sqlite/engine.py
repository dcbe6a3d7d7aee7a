"""The engine for SQLite.

Threads take turns with one connection for writing. Readers take connections from a pool, so a
search in one thread never waits for a write in another. Between processes, SQLite's own locks
apply: with a write-ahead log, readers never block, and writers wait up to ``wait_seconds``.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Final, TypeVar

import apsw

from memstore.database import journal
from memstore.database.engine import longest_wait, taken_back
from memstore.database.migrations import usable_version
from memstore.database.sqlite import locks
from memstore.database.sqlite.disk import Disk, describe, gone
from memstore.database.sqlite.transaction import (
    SqliteTransaction,
    busy,
    is_of_the_disk,
    refuses_locks,
    roll_back,
    storage_error,
)
from memstore.database.sqlite.writer import Writer
from memstore.domain.arguments import checked_choice, checked_real
from memstore.errors import FileReplaced, Remedy, StorageError, StoreBusy, StoreClosed
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from memstore.database.engine import (
        Cancelled,
        Durability,
        Mended,
        Progress,
        SchemaTroubles,
        Statement,
        Transaction,
    )
    from memstore.database.sqlite import copying, integrity, memory, migrations, objects, pages
else:
    copying = lazy_import("memstore.database.sqlite.copying")
    integrity = lazy_import("memstore.database.sqlite.integrity")
    memory = lazy_import("memstore.database.sqlite.memory")
    migrations = lazy_import("memstore.database.sqlite.migrations")
    objects = lazy_import("memstore.database.sqlite.objects")
    pages = lazy_import("memstore.database.sqlite.pages")

T = TypeVar("T")

IN_MEMORY: Final = ":memory:"
"""The path of a database in memory."""

WAIT_SECONDS: Final = 30.0
"""How long a write waits for other processes. No write of ours except a huge import takes as long;
with the usual five seconds, users saw "database is locked"."""

MAX_WAIT_SECONDS: Final = 86_400
"""SQLite counts milliseconds in 32 bits."""

IDLE_READERS: Final = 4
"""Reader connections kept open between reads; more are opened if more threads read at once."""

PARTING_MILLISECONDS: Final = 1000
"""How long to wait for other users of a file that is no longer at its path."""

COMPACT_WAIT_MILLISECONDS: Final = 1000
"""How long compacting waits for writers and readers to finish."""

LOG_WAIT_MILLISECONDS: Final = 100
"""How long emptying the write-ahead log waits for readers to finish."""

MINIMUM_SQLITE: Final = (3, 51, 3)
"""Older versions can corrupt the file if the log is reset while another connection writes."""

SYNCHRONOUS: Final[dict[str, str]] = {"full": "FULL", "normal": "NORMAL"}
"""The value of ``PRAGMA synchronous`` for each durability."""

LOG_PAUSES: Final = (0.01, 0.05, 0.2, 0.8)
"""How long to wait, in seconds, before what was moved while it was opened is opened again."""

LOG_FOLLOWS_SECONDS: Final = 1.0
"""How long to wait for the log of a file that is back: a new one would be overwritten by it."""

READ_CHECK_SECONDS: Final = 1.0
"""A read checks whether the file was replaced if the last check is at least this old."""


def _unchanged(_: Transaction) -> None:
    pass


class SqliteEngine:
    """An open SQLite database; a missing file and its folder are created, or refused."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durability: Durability = "full",
        wait_seconds: float = WAIT_SECONDS,
        read_only: bool = False,
        create: bool = True,
    ) -> None:
        checked_choice(durability, tuple(SYNCHRONOUS), "durability")
        checked_real(wait_seconds, "wait_seconds", 0, MAX_WAIT_SECONDS)
        if tuple(map(int, apsw.sqlite_lib_version().split("."))) < MINIMUM_SQLITE:
            raise StorageError(
                f"apsw brings SQLite {apsw.sqlite_lib_version()}, and"
                f" {'.'.join(map(str, MINIMUM_SQLITE))} or newer is needed"
            )
        name = os.fspath(path)
        in_memory = name == IN_MEMORY and not read_only
        self._place = (
            memory.MemoryPlace() if in_memory else (Disk(name, read_only=read_only, create=create))
        )
        self._durability: Durability = durability
        self._opened_to_wait = wait_seconds
        self._read_only = read_only
        self._process = os.getpid()
        self._closed = False
        self._idle: list[apsw.Connection] = []
        self._borrowed = 0
        """The connections of reads that have not ended."""
        self._pool = threading.RLock()  # closing notices a replaced file while it holds it
        self._lost: str | None = None
        """What happened to the file, if it is no longer the one that was opened."""
        self._changed: dict[str, str] = {}
        """The same by the part that changed, as :meth:`Disk.changed` returns it."""
        self._keeps_log = False
        """Whether the log of a file that is gone could not be copied into it: it is kept open."""
        self._checked = time.monotonic()
        self._changed_by_others: object = None
        """The changes by others that the check of the version has seen."""
        self._committed: int | None = None
        """The number of changes, our own too, that the writing connection knew of when it had last
        committed."""
        self._version: object = None
        """The schema version of the file at the last write."""
        self._has_written = False
        """Whether the writing connection has used the file."""
        self._opens_anew = False
        """Whether the connections have a log open that is no longer at its path.

        Only before the first write, which then fails.
        """
        self.before_commit: Callable[[Transaction], object] = _unchanged
        self._writer = Writer(
            self._connect_writer,
            self._begin,
            self._check_file,
            self._verify_commit,
            self._close_lost,
        )

    @property
    def _wait_seconds(self) -> float:
        return longest_wait(self._opened_to_wait)

    @property
    def path(self) -> str:
        return self._place.path

    @property
    def derived_path(self) -> str | None:
        return None if self.path == IN_MEMORY else self.path

    @property
    def is_remote(self) -> bool:
        return False

    @property
    def locks(self) -> str:
        return locks.in_force()

    @contextmanager
    def read(self, *, may_repeat: bool = False) -> Iterator[SqliteTransaction]:
        if (own := self._place.own_write(self._writer)) is not None:
            yield own
            return
        connection = self._borrow()
        try:
            with self._place.reading(connection, self._writer, self._wait_seconds):
                yield SqliteTransaction(connection)
        except StorageError as error:
            if is_of_the_disk(error):
                self.check_file()
            raise
        finally:
            self._give_back(connection)

    def write(
        self, *, wait_seconds: float | None = None, check_links: bool = True
    ) -> AbstractContextManager[Transaction]:
        self._check_usable()
        self._place.refuse_own_reader()
        wait = self._wait_seconds if wait_seconds is None else wait_seconds
        return self._writer.transaction(wait, self.before_commit, check_links=check_links)

    def claim(self, *, wait_seconds: float | None = None) -> AbstractContextManager[Transaction]:
        return self.write(wait_seconds=wait_seconds)

    def perform(self, work: Callable[[Transaction], T]) -> T:
        with self.write() as transaction:
            return work(transaction)

    def create_schema(self, transaction: Transaction) -> None:
        migrations.create(transaction)

    def schema_troubles(self, transaction: Transaction) -> SchemaTroubles:
        return objects.troubles(transaction)

    def mend_schema(self, transaction: Transaction) -> Mended:
        return objects.mend(transaction)

    def take_step(self, transaction: Transaction, version: int) -> None:
        migrations.take_step(transaction, version)

    @property
    def parts_to_ask(self) -> Sequence[Statement]:
        return ()

    def is_complete(self, transaction: Transaction) -> bool:
        # Here, not in migrations: each opening asks, and few have anything to upgrade.
        return bool(
            transaction.scalar(
                "SELECT count(*) = 5 AND (SELECT count(*) FROM sqlite_master WHERE name IN ("
                "  'memstore_episodes_words', 'idx_memstore_most_used', 'memstore_line_counts',"
                "  'memstore_newer', 'memstore_taken', 'idx_memstore_threads',"
                "  'memstore_device_files', 'memstore_facts_counted_added',"
                "  'memstore_episodes_lasting', 'memstore_mention_blocks',"
                "  'idx_memstore_journal_confirmed')) = 11"
                " FROM pragma_table_info('memstore_facts') WHERE name IN"
                " ('pinned_at', 'slots', 'external_key', 'unsearched', 'category_key')"
                # migrations.LATER_COLUMNS, LATER_OBJECTS
            )
        )

    def complete(self, transaction: Transaction) -> None:
        migrations.complete(transaction)

    def damage(self, transaction: Transaction) -> list[str]:
        return integrity.page_troubles(transaction)

    def dangling_rows(self, transaction: Transaction) -> dict[str, list[int]]:
        return integrity.dangling_rows(transaction)

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        with self.read() as source:
            copying.write_copy(source, target, progress)

    def is_backup(self, file: Path) -> bool:
        end = copying.head_of(file)
        if end is None:
            return False
        with self.read() as transaction:
            return journal.head(transaction, end.line) == end

    def remove_unfinished_backup(self, part: Path) -> None:
        if not copying.remove_unfinished(part) and self.is_backup(part):
            part.unlink(missing_ok=True)  # complete, but not renamed

    @contextmanager
    def aside(self, cancelled: Cancelled | None = None) -> Iterator[SqliteTransaction]:
        with self.read() as source:
            copy = copying.private_copy(source.connection, self._place.copies_in, cancelled)
            if copy is None:
                with _cancelling(source.connection, cancelled):
                    yield source
                return
        try:
            with _cancelling(copy, cancelled):
                yield SqliteTransaction(copy)
        finally:
            copy.close()

    @contextmanager
    def trial(self) -> Iterator[Transaction]:
        with self.read() as source:
            copy = copying.private_copy(source.connection, self._place.copies_in)
        if copy is None:
            with taken_back(self.write()) as transaction:
                yield transaction
            return
        try:
            copy.execute("BEGIN")
            yield SqliteTransaction(copy)
        finally:
            copy.close()

    def empty_log(self) -> bool:
        self._check_usable()
        with self._writer.alone():
            connection = self._writer.connection
            try:
                connection.set_busy_timeout(LOG_WAIT_MILLISECONDS)
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.Error:  # somebody reads what is in it
                return False
            return True

    def compact(self) -> bool:
        self._check_usable()
        with self._writer.alone():
            connection = self._writer.connection
            try:
                self._begin(connection, time.monotonic() + COMPACT_WAIT_MILLISECONDS / 1000)
                connection.execute("ROLLBACK")
                connection.set_busy_timeout(COMPACT_WAIT_MILLISECONDS)
                connection.pragma("temp_store", self._place.copies_in)
                connection.execute("VACUUM")
                self._verify()
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.Error:  # in use, or no room for a copy; committed data is not affected
                return False
            finally:
                roll_back(connection)
                connection.pragma("temp_store", "MEMORY")
            return True

    @property
    def durability(self) -> Durability:
        return self._durability

    @property
    def weakened_by(self) -> str | None:
        return None  # what it promises, the caller chose

    @property
    def connections(self) -> Mapping[str, int]:
        return {}  # readers are opened as needed, and limited by the threads that use them

    @property
    def is_lost(self) -> bool:
        return self._lost is not None and self._changed.get("file") != "removed"

    def check_file(self) -> None:
        self._check_usable()
        try:
            self._place.check()
        except FileReplaced:
            self._notice_change()
            raise

    def scratch(self) -> AbstractContextManager[IO[bytes]]:
        return self._place.scratch()

    def divided(self, file: IO[bytes], texts: Collection[bytes]) -> Iterator[tuple[bytes, int]]:
        return pages.divided(file, texts)

    def exposed(self) -> dict[str, int]:
        return self._place.exposed()

    def size_bytes(self) -> int:
        return self._place.size_bytes()

    def log_bytes(self) -> int:
        return self._place.log_bytes()

    def close(self, *, untouched: bool = False) -> None:
        """Close every connection. A second call does nothing.

        Args:
            untouched: leave a log that existed before as it is, instead of copying it into the
                file, because this program must not change the file.
        """
        if self._process != os.getpid():
            return  # a forked child: the connections and turns belong to the parent
        with self._writer.alone(), self._pool:
            if self._closed:
                return
            self._closed = True
            if self._lost is None:
                self._holds_commits()
            is_ours = self._lost is None and not (untouched and self._place.had_log)
            if is_ours and self._writer.is_open:
                connection = self._writer.connection
                with suppress(apsw.Error):
                    # Closing the last connection empties and removes the log; this does most of it.
                    connection.set_busy_timeout(0)
                    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            self._close_all(is_ours)
            self._place.close(untouched=untouched)

    def _close_all(self, is_ours: bool) -> None:
        """Close every unused connection. The caller holds the turn and the pool."""
        self._committed = None  # each connection counts for itself
        while self._idle:
            self._close(self._idle.pop(), is_ours)
        if self._writer.is_open:
            self._close(self._writer.connection, is_ours)
            self._writer.forget()

    def _close_lost(self) -> None:
        """Close the connections to a file or a log that is no longer at its path.

        The caller holds the turn.

        All connections of a process share the log index that the first one opened. So while a
        connection to a removed log is open, no new connection can use the file.
        """
        if self._opens_anew:
            self._opens_anew = False
            with self._pool:
                self._close_all(is_ours=False)
        if self._lost is None or self._keeps_log:
            return
        with self._pool:
            if self._lost is not None:  # else the file came back in the meantime
                self._close_all(is_ours=False)

    def _close(self, connection: apsw.Connection, is_ours: bool) -> None:
        # Nothing from a replaced file may be written into the file that replaced it.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, not is_ours)
        connection.close()

    def _begin(self, connection: apsw.Connection, deadline: float) -> object:
        self._check_usable()
        self._place.prepare_write(connection, deadline)
        connection.set_busy_timeout(max(0, int((deadline - time.monotonic()) * 1000)))
        connection.execute("BEGIN IMMEDIATE")
        if not self._has_written:  # these are the first locks on this file
            try:
                self._place.note_writer(connection)
            except FileReplaced:
                self._opens_anew = True
                raise
            self._verify()
            self._has_written = True
        return self._check_version(connection)

    def _check_version(self, connection: apsw.Connection) -> object:
        """Refuse to write if a newer program has upgraded the file since it was opened.

        Returns a value that changes with every change by another connection.

        Raises:
            SchemaError: it has, and nothing was written.
        """
        if connection.data_version() == self._committed:
            return self._changed_by_others
        changed: object = connection.execute("PRAGMA data_version").get
        if changed == self._changed_by_others:
            return changed
        try:
            version = connection.execute("SELECT max(version) FROM memstore_version").get
        except apsw.SQLError:  # a file that is being created
            version = None
        if version != self._version:
            usable_version(SqliteTransaction(connection), self.path)
            self._version = version
        self._changed_by_others = changed
        return changed

    def _check_file(self) -> None:
        """Check, before a commit, that the file is at its path: it may come back with the commit.

        Raises:
            FileReplaced: it is not.
        """
        if "file" in self._place.changed():
            self._verify()

    def _verify(self) -> None:
        """Check, before anything is stored, that the file and its log are the ones of the path.

        Raises:
            FileReplaced: the file or its log was replaced.
        """
        if not self._holds_commits():
            raise gone(self._place.path, self._changed, "; nothing was stored")

    def _verify_commit(self) -> None:
        """Check, before a commit is acknowledged, that it is in the file that the path names.

        Raises:
            FileReplaced: the file or its log was replaced.
        """
        self._committed = self._writer.connection.data_version()
        if not self._holds_commits():
            is_elsewhere = "file" in self._changed
            outcome = "; it may hold this write" if is_elsewhere else "; nothing was stored"
            raise gone(self._place.path, self._changed, outcome)

    def _holds_commits(self) -> bool:
        """Return whether the commits are in the file; note if it was replaced."""
        self._checked = time.monotonic()
        if not (changed := self._place.changed()):
            return True
        self._changed = changed
        self._keeps_log &= "file" in changed
        is_saved = "file" not in changed and "replaced" not in changed.values() and self._saved()
        if is_saved:
            self._lost = (
                f"the log of {self._place.path!r} was removed while it was open; all acknowledged "
                "writes were saved"
            )
        else:
            self._lost = describe(self._place.path, changed)
            if "file" in changed and not self._read_only:
                self._take_log_along()
        return is_saved

    def _take_log_along(self) -> None:
        """Copy the log into the file that it belongs to, which is no longer at the path.

        Otherwise the next program would copy it into the file that is there now. The caller holds
        the turn.
        """
        if self._writer.is_open:
            self._take_log_along_by(self._writer.connection)
            return
        with self._pool:
            connection = self._idle.pop() if self._idle else None
        if connection is None:  # nothing here uses the log
            self._keeps_log = False
            return
        self._take_log_along_by(connection)
        if self._keeps_log:
            with self._pool:
                self._idle.append(connection)
        else:
            self._close(connection, is_ours=False)

    def _take_log_along_by(self, connection: apsw.Connection) -> None:
        roll_back(connection)
        connection.set_busy_timeout(0 if self._keeps_log else PARTING_MILLISECONDS)
        self._keeps_log = self._changed.get("file") == "removed"
        with suppress(apsw.Error, OSError):
            if self._keeps_log:
                # An empty log stays: it harms no other file, and this one may come back to it.
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                self._keeps_log = False
                return
            connection.execute("BEGIN IMMEDIATE")
            self._place.part_from_log()
            is_gone = "log" in self._place.changed()
            connection.execute("ROLLBACK")
            if is_gone:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                self._place.forget_finished_logs()
        roll_back(connection)

    def _saved(self) -> bool:
        """Copy a removed log, which is still open, into the file; return whether that succeeded."""
        if not self._has_written:  # the log may belong to another store
            return False
        connection = self._writer.connection
        connection.set_busy_timeout(int(WAIT_SECONDS * 1000))
        try:
            length, copied = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
        except apsw.Error:
            return False
        return copied == length and "replaced" not in self._place.changed().values()

    def _connect_writer(self) -> apsw.Connection:
        self._check_usable()
        try:
            return _patiently(self._connected)
        except FileReplaced:
            self._verify()
            raise

    def _connected(self) -> apsw.Connection:
        try:
            connection = self._place.connect(self._wait_seconds)
        except apsw.Error as error:
            self._place.check()
            raise StorageError(f"cannot open {self._place.path!r}: {error}") from error
        try:
            connection.set_busy_timeout(int(self._wait_seconds * 1000))
            # For example, a fact's superseded_by must be the id of a fact.
            connection.pragma("foreign_keys", True)
            # In WAL mode, NORMAL loses nothing if the process dies; FULL syncs at each commit.
            connection.pragma("synchronous", SYNCHRONOUS[self._durability])
            if sys.platform == "darwin" and self._durability == "full":
                # On macOS, fsync alone does not empty the disk's own cache.
                connection.pragma("fullfsync", True)
                connection.pragma("checkpoint_fullfsync", True)
            # Overwrite erased data instead of only marking its space as free.
            connection.pragma("secure_delete", True)
            # Sort and group in memory, without temporary files.
            connection.pragma("temp_store", "MEMORY")
            # A plan that ignores bound values: otherwise most values cause a new preparation.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            if self._read_only:
                connection.pragma("query_only", True)
        except apsw.BusyError:
            connection.close()
            raise busy(self._wait_seconds) from None
        except apsw.Error as error:
            connection.close()
            if isinstance(error, apsw.CorruptError | apsw.NotADBError) or refuses_locks(error):
                raise storage_error(error, self._place.path) from error
            self._place.check()
            raise StorageError(f"cannot use {self._place.path!r}: {error}") from error
        return connection

    def _connect_reader(self) -> apsw.Connection:
        """Connect, and check that it is the file and the log that the others here use.

        Raises:
            FileReplaced: it is another file, or a store in this process keeps a log that is gone.
        """
        return _patiently(self._checked_reader)

    def _checked_reader(self) -> apsw.Connection:
        connection = self._connected()
        try:
            self._place.check_reader(connection)
        except BaseException:
            self._close(connection, is_ours=False)
            raise
        return connection

    def _borrow(self) -> apsw.Connection:
        self._check_usable()
        with self._pool:
            connection = self._idle.pop() if self._idle else None
            self._borrowed += 1
        try:
            if connection is None:
                connection = self._connect_reader()
            else:
                connection.set_busy_timeout(int(self._wait_seconds * 1000))
                if time.monotonic() - self._checked >= READ_CHECK_SECONDS:
                    self._place.check()
                    self._checked = time.monotonic()
        except BaseException as error:
            if connection is not None:
                self._close(connection, is_ours=False)
            with self._pool:
                self._borrowed -= 1
            if isinstance(error, FileReplaced):
                self._notice_change()
            if isinstance(error, apsw.Error):
                if is_of_the_disk(error):
                    self.check_file()
                raise storage_error(error, self._place.path) from error
            raise
        return connection

    def _notice_change(self) -> None:
        """Save what can be saved, unless another thread is writing, which does this itself."""
        with suppress(StoreBusy), self._writer.alone(wait_seconds=0):
            self._holds_commits()
        self._check_usable()

    def _give_back(self, connection: apsw.Connection) -> None:
        roll_back(connection)
        with self._pool:
            is_usable = not (self._closed or self._place.is_immutable or self._lost)
            if is_usable and len(self._idle) < IDLE_READERS:
                self._idle.append(connection)
                self._borrowed -= 1
                return
        self._close(connection, is_ours=self._lost is None and not self._place.changed())
        with self._pool:
            self._borrowed -= 1

    def _check_usable(self) -> None:
        if self._lost is not None and "file" in self._changed and not self._closed:
            self._look_again()
        if (lost := self._lost) is not None:
            if "file" in self._changed:
                raise gone(self._place.path, self._changed)
            raise FileReplaced(lost, remedy=Remedy.OPEN_REPLACED)
        if self._closed:
            raise StoreClosed("the store is closed", remedy=Remedy.OPEN_AGAIN)
        if self._process != os.getpid():
            raise StorageError(
                "this store was opened before the process forked, and SQLite connections cannot "
                "cross a fork; the child process needs a store of its own",
                remedy=Remedy.OPEN_AGAIN,
            )

    def _look_again(self) -> None:
        """Go on if the file that was opened is at its path again; note if another one is now.

        Raises:
            StoreBusy: it is back without its log, which a read from before has still open.
        """
        fate = self._place.changed().get("file")
        if fate is None:
            self._place.await_log(LOG_FOLLOWS_SECONDS)
            if self._has_resumed():
                return
        if self._keeps_log or fate not in (None, self._changed.get("file")):
            with suppress(StoreBusy), self._writer.alone(wait_seconds=0):
                self._holds_commits()
        elif fate is None:
            raise StoreBusy(
                f"{self._place.path!r} is back, and can be used when the reads that began before "
                "it was moved have ended",
                remedy=Remedy.WAIT,
            )

    def _has_resumed(self) -> bool:
        """Go on with the file that is at its path again; return whether that was possible.

        With the connections that are open, if the log is the one that they use, or with new ones.
        """
        with self._pool:
            if self._lost is None:
                return True
            if self._writer.is_open or self._idle or self._borrowed:
                if self._place.changed():
                    return False
            else:
                self._place.begin_anew()
                self._has_written = False
            self._lost, self._changed, self._keeps_log = None, {}, False
            self._version = self._changed_by_others = None
            return True


STEPS: Final = 10_000
"""Steps of SQLite's machine, a fraction of a millisecond, after which it asks whether to go on."""


@contextmanager
def _cancelling(connection: apsw.Connection, cancelled: Cancelled | None) -> Iterator[None]:
    """Let a statement end, as interrupted, when the caller cancels."""
    if cancelled is None:
        yield
        return
    connection.set_progress_handler(cancelled, STEPS)
    try:
        yield
    finally:
        connection.set_progress_handler(None)


def _patiently(connect: Callable[[], apsw.Connection]) -> apsw.Connection:
    """Connect, again if the file or its log seems to be moved just then.

    The file may be away for a moment and come back. Another program may take along the log of a
    former file, which was in the place of this one.
    """
    pauses = iter(LOG_PAUSES)
    while True:
        try:
            return connect()
        except (StorageError, apsw.Error) as error:
            if not _may_pass(error) or (pause := next(pauses, None)) is None:
                raise
            time.sleep(pause)


def _may_pass(error: Exception) -> bool:
    if isinstance(error, FileReplaced):
        return error.remedy is Remedy.CLOSE_OTHERS
    cause = error.__cause__ or error
    return isinstance(cause, apsw.IOError) and not refuses_locks(cause)
