"""Use counts, buffered in memory and written when no other writer is active."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Final

from memstore.database.background_writes import BackgroundWrites
from memstore.database.tables import facts as fact_table
from memstore.domain import clock
from memstore.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memstore.database.engine import Engine

MAX_WAITING: Final = 500
MAX_WAIT_SECONDS: Final = 10.0
"""Uses are written when this many have gathered, or when the oldest is this old."""


class UseCounts:
    """Counts how often facts were found; best effort, so that searches neither wait nor fail."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._gathering = threading.Lock()
        self._uses: Counter[int] = Counter()
        self._since = 0.0
        self._behind = BackgroundWrites(engine, self._write, "memstore-use-counts")

    def note(self, fact_ids: Iterable[int]) -> None:
        with self._gathering:
            if not self._uses:
                self._since = clock.monotonic()
            self._uses.update(fact_ids)
            due = (
                len(self._uses) >= MAX_WAITING
                or clock.monotonic() - self._since >= MAX_WAIT_SECONDS
            )
        if due:
            self._behind.start()

    def flush(self) -> None:
        """Write the buffered uses, or keep them for later if another writer holds the lock."""
        self._behind.finish()

    def _write(self) -> None:
        with self._gathering:
            uses, self._uses = self._uses, Counter()
        if not uses:
            return
        try:
            with self._engine.write(wait_seconds=0) as transaction:
                fact_table.touch(transaction, uses, None, clock.utc_now())
        except StorageError:
            with self._gathering:
                self._uses.update(uses)
