"""Slow queries of a read, which a second connection has answered while it asks the next ones.

Both connections see the same snapshot. What is not answered there is asked in the read itself, so
that it only saves time, as long as the server can export a snapshot. A read waits for the second
connection only while the server works there: never for a connection, which a pooler may not have,
nor for a table lock, because whoever is waiting for that lock may be waiting for the read.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memstore.database.postgres.connection import Sent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memstore.database.engine import Row
    from memstore.database.postgres.connection import Connection, StatementResult

THREAD: Final = "memstore-parallel"

EXPORT: Final = "SELECT pg_export_snapshot()"

FEW_WORKERS: Final = "SET LOCAL min_parallel_index_scan_size = '32MB'"
"""What the read sets, as its workers would compete with the second connection; and to start them
takes longer than they save of an index of 8 MB."""

NO_LOCKS: Final = Sent("SET LOCAL lock_timeout = '50ms'")
"""What the second connection sets."""

WAIT_SECONDS: Final = 1.0
"""How long the second connection is waited for, in a thread; later it would save nothing."""


def sharing(connection: Connection) -> Sent:
    """Return the statement by which another connection takes the snapshot of this one's read.

    Raises:
        psycopg.Error: the connection is lost.
    """
    _, exported = connection.together(Sent(FEW_WORKERS), Sent(EXPORT))
    (snapshot,) = exported.rows[0]
    return Sent(f"SET TRANSACTION SNAPSHOT '{snapshot}'")  # it takes no parameter


class ParallelQueries:
    """Queries that a thread has answered over a connection of its own.

    Args:
        take, give_back: of the pool that has the connection.
        beginning: what is sent before the queries, in the same transaction.
    """

    def __init__(
        self,
        take: Callable[[float], Connection],
        give_back: Callable[[Connection], None],
        beginning: Sequence[Sent],
        queries: Sequence[Sent],
    ) -> None:
        self._take, self._give_back = take, give_back
        self._beginning, self._queries = beginning, queries
        self._answers: list[StatementResult] = []
        self._lock = threading.Lock()
        self._has_begun = self._is_needless = False
        self._thread = threading.Thread(target=self._run, name=THREAD, daemon=True)
        with suppress(RuntimeError):  # no more threads can be started
            self._thread.start()

    def rows(self, text: str, values: Sequence[object]) -> list[Row] | None:
        """Return the rows of one of the queries; ``None`` if it is to be asked in the read."""
        for place, query in enumerate(self._queries):
            if query.text == text and query.values == values:
                return self._answers[place].rows if self._has_answers() else None
        return None

    def _has_answers(self) -> bool:
        with self._lock:
            self._is_needless = not self._has_begun
        if not self._is_needless:
            self._thread.join()
        return bool(self._answers)

    def _begins(self) -> bool:
        """Return whether the queries are still needed, for whose answers the read waits then."""
        with self._lock:
            self._has_begun = not self._is_needless
        return self._has_begun

    def _run(self) -> None:
        with suppress(Exception):  # what is wrong is said when the read asks itself
            connection = self._take(WAIT_SECONDS)
            try:
                if not self._is_needless:
                    connection.together(*self._beginning, NO_LOCKS)
                    if self._begins():
                        self._answers = connection.together(*self._queries)
            finally:
                self._give_back(connection)
