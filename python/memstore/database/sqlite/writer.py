"""The one connection that writes, and how threads share it and its commits.

Waiting threads join the open transaction, each with its own savepoint, and the last of them
commits for all, so that many writes cost one sync of the disk. None of them returns before that
commit. A caller must not hold a lock around a write if the body of another write could wait for it.
"""

from __future__ import annotations

import copy
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import apsw

from memstore.database.sqlite.transaction import (
    Left,
    SqliteTransaction,
    Translated,
    busy,
    is_of_the_disk,
    roll_back,
    storage_error,
)
from memstore.errors import Remedy, StorageError, StoreBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class WriterTurn:
    """The turn of one thread: not requested yet, waiting, held, or given back."""

    def __init__(self, *, shares: bool) -> None:
        self.shares = shares
        """Whether the thread can join the transaction that the previous one left open."""
        self.thread = threading.get_ident()
        self.called: threading.Lock | None = None
        """Released when the turn has come, if the thread had to wait."""
        self.is_over = False


class WriteQueue:
    """A queue of turns; at most one is held."""

    def __init__(self) -> None:
        self._deciding = threading.Lock()
        self._holder: WriterTurn | None = None
        self._waiting: deque[WriterTurn] = deque()

    def take(self, turn: WriterTurn, wait_seconds: float) -> bool:
        """Wait for the turn, and return whether the thread got it.

        A thread that already holds a turn does not get another. After an exception (Ctrl-C) the
        turn may be held or waiting, so the caller must always give it back.
        """
        with self._deciding:
            if self._holder is None:
                self._holder = turn
                return True
            if wait_seconds <= 0 or self._holder.thread == turn.thread:
                return False
            called = turn.called = threading.Lock()
            called.acquire()
            self._waiting.append(turn)
        called.acquire(timeout=wait_seconds)
        with self._deciding:
            if self._holder is not turn:
                self._waiting.remove(turn)
            return self._holder is turn

    @property
    def are_waited_for(self) -> bool:
        """Whether any thread is waiting."""
        return bool(self._waiting)

    def has(self, turn: WriterTurn) -> bool:
        return self._holder is turn

    def is_mine(self) -> bool:
        """Return whether this thread holds the turn."""
        holder = self._holder
        return holder is not None and holder.thread == threading.get_ident()

    def hand_over(self) -> bool:
        """Pass the turn to the next thread if that one shares; return whether it was passed."""
        with self._deciding:
            if not self._waiting or not self._waiting[0].shares:
                return False
            self._holder = self._waiting[0]
            self._call_holder()
            return True

    def give_back(self, turn: WriterTurn) -> None:
        """Pass the turn to the next thread if this one holds it, or stop waiting for it.

        If a call is interrupted, the next call completes it.
        """
        with self._deciding:
            if turn in self._waiting:
                self._waiting.remove(turn)
            if self._holder is turn:
                self._holder = self._waiting[0] if self._waiting else None
            self._call_holder()
        turn.is_over = True

    def _call_holder(self) -> None:
        """Wake the thread that holds the turn, if it is still waiting."""
        if self._waiting and self._waiting[0] is self._holder:
            self._waiting.popleft()
        called = None if self._holder is None else self._holder.called
        if called is not None and called.locked():
            called.release()


COPIED_PAGES: Final = 3000
"""The size from which a commit copies the log into the file. Three times SQLite's default: single
facts change the same pages again and again, and each page is copied once (decision 192)."""

BOUND_PAGES: Final = 4096
"""The size, 16 MB, from which the log is restarted."""

PATIENCE_SECONDS: Final = (0.2, 0.5)
"""How long to wait for readers: for a log at the bound, and at most for a longer one. Shorter waits
seldom succeed while searches overlap."""

RETRY_SECONDS: Final = 0.001
"""The pause between attempts to get a lock: other writers free theirs only for a moment."""

PAUSES_SECONDS: Final = (1.0, 5.0)
"""The first and the longest pause after a failed attempt; each is twice the previous one."""

GROWTH: Final = 1.2
"""From a log this many times as long as at the last wait on, readers are waited for again, pause or
not: writers that fill some ten megabytes a second wait oftener, and are slowed down by it."""

SIZE_LIMIT_BYTES: Final = 16 * 1024 * 1024
"""The size to which SQLite truncates the log's file when the log is restarted."""


class WriteAheadLog:
    """Checkpoints after commits of one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._pages = 0
        self._pause = 0.0
        self._not_before = 0.0
        self._long_pages = 0.0
        connection.pragma("journal_size_limit", SIZE_LIMIT_BYTES)
        connection.set_wal_hook(self._note)

    def _note(self, _connection: apsw.Connection, _database: str, pages: int) -> int:
        # This must not fail: a commit that succeeded would look as if it had failed.
        self._pages = pages
        return apsw.SQLITE_OK

    def keep_short(self) -> None:
        """Copy the log into the file, if it has grown; never fails."""
        if self._pages < COPIED_PAGES:
            return
        pages, self._pages = self._pages, 0
        is_paused = time.monotonic() < self._not_before and pages < self._long_pages
        with suppress(apsw.Error):  # disk full or failing: the next write reports it
            if pages < BOUND_PAGES or is_paused:
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            elif self._restart(pages):
                self._pause = self._not_before = 0.0
            else:
                self._long_pages = GROWTH * pages
                shortest, longest = PAUSES_SECONDS
                self._pause = min(max(2 * self._pause, shortest), longest)
                self._not_before = time.monotonic() + self._pause

    def _restart(self, pages: int) -> bool:
        """Copy the whole log and empty it; return whether its readers ended in time."""
        least, most = PATIENCE_SECONDS
        deadline = time.monotonic() + min(least * pages / BOUND_PAGES, most)

        def wait(_attempts: int = 0) -> bool:
            time.sleep(RETRY_SECONDS)
            return time.monotonic() < deadline

        self._connection.set_busy_handler(wait)
        while True:
            try:
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:  # at once, if another process is copying the log
                if not wait():
                    return False
            else:
                return True


GROUP_SECONDS: Final = 0.02
"""How long threads may join an open transaction. Other processes wait in the meantime."""

INTERRUPTED: Final = "the transaction was interrupted, and may have been committed"


class _Group:
    """Writes of several threads in one transaction."""

    def __init__(self, *, alone: bool) -> None:
        self.alone = alone
        self.until = time.monotonic() + GROUP_SECONDS
        self.members = 0
        """The number of writes to commit."""
        self.ended: threading.Event | None = None
        """Set when the transaction ends, if threads wait for that."""
        self.is_stored = False
        self.changed_by_others: object = None
        self.left: Left | None = None
        """What its writes leave for the next one, if all of them are committed."""
        self.failure: StorageError | None = None
        """Why it was not stored, if known."""


class Writer:
    """Begins and commits transactions on the connection that writes.

    The connection is opened for the first write, because SQLite takes long to read the schema.

    Args:
        connect: opens the connection.
        begin: begins a transaction, by a deadline of ``time.monotonic()``; returns a value that
            changes with every change by another connection.
        check: called before each commit.
        verify: called after each commit and before it is acknowledged.
        end: called before a turn is given back.
    """

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        begin: Callable[[apsw.Connection, float], object],
        check: Callable[[], None],
        verify: Callable[[], None],
        end: Callable[[], None],
    ) -> None:
        self._connect = connect
        self._begin = begin
        self._check = check
        self._verify = verify
        self._end_turn = end
        self._connection: apsw.Connection | None = None
        self._log: WriteAheadLog | None = None
        self._queue = WriteQueue()
        self._group: _Group | None = None
        """The group whose transaction is open."""
        self.current: SqliteTransaction | None = None
        """The current write, or the last one."""
        self._left: tuple[object, Left | None] = (None, None)
        """What the last group left, with the changes by others that it saw."""

    @property
    def connection(self) -> apsw.Connection:
        """The connection. The caller holds the turn."""
        if self._connection is None:
            self._connection = self._connect()
            self._log = WriteAheadLog(self._connection)
        return self._connection

    @property
    def is_open(self) -> bool:
        """Whether the connection is open, because something was written."""
        return self._connection is not None

    @property
    def is_mine(self) -> bool:
        """Whether this thread is within a transaction."""
        return self._queue.is_mine()

    def forget(self) -> None:
        """Drop the connection. The caller holds the turn and has closed it."""
        self._connection = self._log = None
        self._left = None, None

    @contextmanager
    def alone(self, wait_seconds: float = threading.TIMEOUT_MAX) -> Iterator[None]:
        """Wait until no transaction is open, and keep others from beginning.

        Raises:
            StoreBusy: a transaction did not end in time, or it is this thread's own.
        """
        turn = WriterTurn(shares=False)
        try:
            self._take(turn, wait_seconds)
            self._left = None, None
            yield
            self._give_back(turn)
        finally:
            self._give_back(turn)

    @contextmanager
    def transaction(
        self,
        wait_seconds: float,
        before_commit: Callable[[SqliteTransaction], object],
        *,
        check_links: bool = True,
    ) -> Iterator[SqliteTransaction]:
        deadline = time.monotonic() + wait_seconds
        turn = WriterTurn(shares=check_links)
        try:
            self._take(turn, wait_seconds)
            group = self._joined() or self._begun(wait_seconds, deadline, alone=not check_links)
            try:
                self.current = SqliteTransaction(
                    self.connection, changed_by_others=group.changed_by_others, left=group.left
                )
                group.left = None
                yield self.current
                before_commit(self.current)
                self.current.flush()
                group.left = self.current.leaves()
                if group.members:
                    with Translated(self.connection.filename):
                        self.connection.execute("RELEASE member")
            except BaseException as error:
                self._undo(group, error)
                self._leave(group)
                if is_of_the_disk(error):
                    self._check()
                raise
            group.members += 1
            ended = self._leave(group)
            self._give_back(turn)
        finally:  # again, because Ctrl-C may interrupt at any line
            if not turn.is_over:
                self._give_back(turn)
        if not ended and group.ended is not None:
            group.ended.wait()
        if not group.is_stored:
            failure = group.failure or StorageError(INTERRUPTED)
            raise copy.copy(failure) from failure

    def _take(self, turn: WriterTurn, wait_seconds: float) -> None:
        if self._queue.take(turn, wait_seconds):
            return
        if self.is_mine:
            raise StoreBusy("this thread is in the middle of a write", remedy=Remedy.WAIT)
        raise busy(wait_seconds)

    def _give_back(self, turn: WriterTurn) -> None:
        """Give the turn back, unless it was handed over."""
        if self._queue.has(turn):
            if self._group is not None:  # the write was interrupted
                self._abandon(self._group)
            self._end_turn()
        self._queue.give_back(turn)

    def _joined(self) -> _Group | None:
        """Join the transaction that another thread has left open, if there is one."""
        group = self._group
        if group is not None:
            with Translated(self.connection.filename):
                self.connection.execute("SAVEPOINT member")
        return group

    def _begun(self, wait_seconds: float, deadline: float, *, alone: bool) -> _Group:
        self._group = group = _Group(alone=alone)
        try:
            if alone:
                # Before BEGIN: it has no effect inside a transaction.
                self.connection.pragma("foreign_keys", False)
            (seen, left), self._left = self._left, (None, None)
            changed = group.changed_by_others = self._begin(self.connection, deadline)
            group.left = left if changed == seen else None
        except apsw.BusyError:
            raise busy(wait_seconds) from None
        except apsw.Error as error:
            if is_of_the_disk(error):
                self._check()
            raise storage_error(error, self.connection.filename) from error
        return group

    def _undo(self, group: _Group, error: BaseException) -> None:
        """Undo one member's writes, but not the others'."""
        group.left = None
        if not group.members:
            roll_back(self.connection)
        elif not self.connection.in_transaction:  # SQLite has rolled back the whole transaction
            self._undo_all(group, error)
        else:
            try:
                self.connection.execute("ROLLBACK TO member; RELEASE member")
            except apsw.Error:
                self._undo_all(group, error)

    def _undo_all(self, group: _Group, error: BaseException) -> None:
        roll_back(self.connection)
        group.failure = StorageError(f"a write that shared the transaction failed: {error}")

    def _abandon(self, group: _Group) -> None:
        """End a transaction that was interrupted, without a commit."""
        if self._connection is not None:
            roll_back(self._connection)
        self._end(group)

    def _leave(self, group: _Group) -> bool:
        """Leave the transaction to the next thread, or commit it; return whether it ended."""
        shared = self.connection.in_transaction and not group.alone
        if shared and self._queue.are_waited_for and time.monotonic() < group.until:
            group.ended = group.ended or threading.Event()
            if self._queue.hand_over():
                return False
        if group.members and group.failure is None:
            self._commit(group)
        self._end(group)
        return True

    def _commit(self, group: _Group) -> None:
        try:
            self._check()
            with Translated(self.connection.filename):
                self.connection.execute("COMMIT")
            self._verify()
        except StorageError as error:
            roll_back(self.connection)
            group.failure = self._named(error)
        else:
            group.is_stored = True
            self._left = group.changed_by_others, group.left

    def _named(self, error: StorageError) -> StorageError:
        """Return the error of a write, or that its file is no longer at its path."""
        if is_of_the_disk(error):
            try:
                self._check()
            except StorageError as moved:
                return moved
        return error

    def _end(self, group: _Group) -> None:
        """Wake the members, and shorten the log."""
        if group.ended is not None:
            group.ended.set()
        if group.alone and self._connection is not None:
            self._connection.pragma("foreign_keys", True)
        if group.is_stored and self._log is not None:
            self._log.keep_short()
        self._group = None
