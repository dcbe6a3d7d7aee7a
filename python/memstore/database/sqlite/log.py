"""The write-ahead log, kept short.

SQLite copies the log into the file by itself, but starts the log again only in a moment without
readers, which on a busy file never comes: the log grew to a gigabyte in ten minutes. So from a
certain size on, readers are waited for. Writers wait as long, so it is done seldom.
"""

from __future__ import annotations

import time
from typing import Final

import apsw

COPIED_PAGES: Final = 1000
"""From so many pages on a commit copies them into the file: SQLite's own default."""

BOUND_PAGES: Final = 4096
"""From so many pages on, 16 MB, the log is started again."""

PATIENCE_MILLISECONDS: Final = 200
"""How long readers are waited for. Shorter waits seldom succeed while searches overlap."""

PAUSES_SECONDS: Final = (1.0, 5.0)
"""After readers that did not leave: the first pause, and the longest; each is twice the last."""

SIZE_LIMIT_BYTES: Final = 16 * 1024 * 1024
"""What is left of the log's file when it is started again."""


class Log:
    """Checkpoints after commits of one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._pages = 0
        self._pause = 0.0
        self._not_before = 0.0
        connection.pragma("journal_size_limit", SIZE_LIMIT_BYTES)
        connection.set_wal_hook(self._note)

    def _note(self, _connection: apsw.Connection, _database: str, pages: int) -> int:
        # Nothing may fail in here: what is committed already would look as if it were not.
        self._pages = pages
        return apsw.SQLITE_OK

    def keep_short(self) -> None:
        """Copy the log into the file, if it has grown; never fails."""
        if self._pages < COPIED_PAGES:
            return
        pages, self._pages = self._pages, 0
        try:
            if pages < BOUND_PAGES or time.monotonic() < self._not_before:
                self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                return
            self._connection.set_busy_timeout(PATIENCE_MILLISECONDS)
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._pause = 0.0
        except apsw.BusyError:
            shortest, longest = PAUSES_SECONDS
            self._pause = min(max(2 * self._pause, shortest), longest)
            self._not_before = time.monotonic() + self._pause
        except apsw.Error:  # no room, or a failing disk: the next write says so
            pass
