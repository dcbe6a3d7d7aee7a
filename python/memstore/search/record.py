"""The record of searches, buffered in memory and written when no other writer is active."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from memstore.database import journal
from memstore.database.background_writes import BackgroundWrites
from memstore.database.tables import searches as search_table
from memstore.domain import clock
from memstore.domain.searches import MAX_DAYS, MAX_SEARCHES
from memstore.errors import StorageError
from memstore.frozen import replace

if TYPE_CHECKING:
    from memstore.database.engine import Engine
    from memstore.domain.searches import RecordedSearch

MAX_WAITING: Final = 200
MAX_WAIT_SECONDS: Final = 10.0
"""Searches are written when this many have gathered, or when the oldest is this old."""


class SearchRecord:
    """Notes what was asked and given; best effort, so that searches neither wait nor fail."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._gathering = threading.Lock()
        self._waiting: list[RecordedSearch] = []
        self._since = 0.0
        self._line = 0
        """The last line of the journal before the oldest search that waits."""
        self._behind = BackgroundWrites(engine, self._write, "memstore-search-record")

    def note(self, search: RecordedSearch) -> None:
        with self._gathering:
            if not self._waiting:
                self._since = clock.monotonic()
                self._line = self._last_line()
            self._waiting.append(search)
            due = (
                len(self._waiting) >= MAX_WAITING
                or clock.monotonic() - self._since >= MAX_WAIT_SECONDS
            )
        if due:
            self._behind.start()

    def flush(self) -> None:
        """Write the buffered searches, or keep them for later if another writer holds the lock."""
        self._behind.finish()

    def _write(self) -> None:
        with self._gathering:
            waiting, self._waiting = self._waiting, []
            line = self._line
        if not waiting:
            return
        try:
            with self._engine.write(wait_seconds=0) as transaction:
                # What was erased in the meantime is not known any more, so no query is kept.
                is_erased = journal.erased_since(transaction, line)
                for search in waiting:
                    search_table.insert(
                        transaction, replace(search, query=None) if is_erased else search
                    )
                oldest = clock.utc_now() - timedelta(days=MAX_DAYS)
                search_table.prune(transaction, MAX_SEARCHES, oldest)
        except StorageError:
            with self._gathering:
                self._line = line
                self._waiting = [*waiting, *self._waiting][-MAX_SEARCHES:]

    def _last_line(self) -> int:
        with self._engine.read() as transaction:
            return journal.last_id(transaction)
