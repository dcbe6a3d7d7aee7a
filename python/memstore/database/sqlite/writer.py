"""The one connection that writes, and how threads share it and its commits.

Threads that wait for their turn join the transaction that is open, each with a savepoint of its
own, and the last of them commits for all: then many writes cost one sync of the disk. None of
them returns before that commit has. No lock of the caller's that the body of another write might
wait for may be held around a write.
"""

from __future__ import annotations

import copy
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import apsw

from memstore.database.sqlite.log import Log
from memstore.database.sqlite.transaction import (
    TRANSLATED,
    SqliteTransaction,
    busy,
    roll_back,
    storage_error,
)
from memstore.database.sqlite.turns import Turns
from memstore.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GROUP_SECONDS: Final = 0.02
"""How long others may join a transaction. Other processes wait in the meantime."""


class _Group:
    """Writes of several threads in one transaction."""

    def __init__(self, *, alone: bool) -> None:
        self.alone = alone
        self.until = time.monotonic() + GROUP_SECONDS
        self.members = 0
        """Writes that are to be committed."""
        self.ended = threading.Event()
        self.failure: StorageError | None = None


class Writer:
    """Begins and commits transactions on the connection that writes.

    Only a store that writes opens it: most of what that takes is SQLite reading the schema.

    Args:
        connect: opens it.
        begin: begins a transaction, by a deadline of ``time.monotonic()``.
        verify: called after each commit and before it is acknowledged.
    """

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        begin: Callable[[apsw.Connection, float], None],
        verify: Callable[[], None],
    ) -> None:
        self._connect = connect
        self._begin = begin
        self._verify = verify
        self._connection: apsw.Connection | None = None
        self._log: Log | None = None
        self._turns = Turns()
        self._thread: int | None = None
        self._left: _Group | None = None
        """The group whose transaction is open while the turn passes."""

    @property
    def connection(self) -> apsw.Connection:
        """The connection, for who has the turn."""
        if self._connection is None:
            self._connection = self._connect()
            self._log = Log(self._connection)
        return self._connection

    @property
    def is_open(self) -> bool:
        """Whether there is a connection, because something was written."""
        return self._connection is not None

    @property
    def is_mine(self) -> bool:
        """Whether this thread is within a transaction."""
        return self._thread == threading.get_ident()

    @contextmanager
    def alone(self, wait_seconds: float = threading.TIMEOUT_MAX) -> Iterator[None]:
        """Wait until no transaction is open, and let none begin."""
        if not self._turns.take(wait_seconds, shares=False):
            raise busy(wait_seconds)
        try:
            yield
        finally:
            self._turns.release()

    @contextmanager
    def transaction(
        self, wait_seconds: float, *, check_links: bool = True
    ) -> Iterator[SqliteTransaction]:
        deadline = time.monotonic() + wait_seconds
        if not self._turns.take(wait_seconds, shares=check_links):
            raise busy(wait_seconds)
        left, self._left = self._left, None
        group = left or self._begun(wait_seconds, deadline, alone=not check_links)
        if left:
            self._join(group)
        try:
            self._thread = threading.get_ident()
            try:
                yield SqliteTransaction(self.connection)
            finally:
                self._thread = None
            if left:
                with TRANSLATED:
                    self.connection.execute("RELEASE member")
        except BaseException as error:
            self._undo(group, error)
            self._leave(group)
            raise
        group.members += 1
        if not self._leave(group):
            group.ended.wait()
        if group.failure is not None:
            raise copy.copy(group.failure) from group.failure

    def _begun(self, wait_seconds: float, deadline: float, *, alone: bool) -> _Group:
        group = _Group(alone=alone)
        try:
            if alone:
                # Without effect inside a transaction.
                self.connection.pragma("foreign_keys", False)
            self._begin(self.connection, deadline)
        except BaseException as error:
            if self._connection is not None:
                roll_back(self._connection)
            self._end(group)
            if isinstance(error, apsw.BusyError):
                raise busy(wait_seconds) from None
            if isinstance(error, apsw.Error):
                raise storage_error(error) from error
            raise
        return group

    def _join(self, group: _Group) -> None:
        try:
            with TRANSLATED:
                self.connection.execute("SAVEPOINT member")
        except BaseException as error:
            self._undo_all(group, error)
            self._end(group)
            raise

    def _undo(self, group: _Group, error: BaseException) -> None:
        """Undo what one member did, and nothing of the others'."""
        if not group.members:
            roll_back(self.connection)
        elif not self.connection.in_transaction:  # SQLite has undone it all
            self._undo_all(group, error)
        else:
            try:
                self.connection.execute("ROLLBACK TO member; RELEASE member")
            except apsw.Error:
                self._undo_all(group, error)

    def _undo_all(self, group: _Group, error: BaseException) -> None:
        roll_back(self.connection)
        group.failure = StorageError(f"a write that shared the transaction failed: {error}")

    def _leave(self, group: _Group) -> bool:
        """Leave the transaction to the next thread, or commit it; return whether it ended."""
        if self.connection.in_transaction and not group.alone and time.monotonic() < group.until:
            self._left = group
            if self._turns.hand_over():
                return False
            self._left = None
        try:
            if group.members and group.failure is None:
                self._commit(group)
        finally:
            self._end(group)
        return True

    def _commit(self, group: _Group) -> None:
        try:
            with TRANSLATED:
                self.connection.execute("COMMIT")
            self._verify()
        except BaseException as error:
            roll_back(self.connection)
            if isinstance(error, StorageError):
                group.failure = error
            else:
                group.failure = StorageError("the commit was interrupted, and may have succeeded")
                raise

    def _end(self, group: _Group) -> None:
        """Tell the members, and give the turn back."""
        group.ended.set()
        try:
            if group.alone and self._connection is not None:
                self._connection.pragma("foreign_keys", True)
            if group.failure is None and self._log is not None:
                self._log.keep_short()
        finally:
            self._turns.release()
