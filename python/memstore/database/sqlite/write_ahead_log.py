"""Checkpoints that keep the write-ahead log short.

SQLite copies the log into the file by itself, but it can only restart the log while nobody reads.
On a busy file that never happens: the log grew to a gigabyte in ten minutes. So above a certain
size, a checkpoint waits for readers. Writers wait for it, so this happens seldom.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Final

import apsw

COPIED_PAGES: Final = 1000
"""The size from which a commit copies the log into the file: SQLite's own default."""

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
