"""Runs ``VACUUM`` and a rough ``ANALYZE`` after large writes, in a thread.

Autovacuum does the same within a minute or two. Until then the planner knows no row counts, an
index-only scan visits the table for every row, and new words are read from a list.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memstore.database.postgres.connection import Sent
from memstore.database.postgres.failures import Translated
from memstore.errors import MemstoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memstore.database.postgres.connection import Connection

MIN_ROWS: Final = 500
"""How many rows are a large write, whatever the tables have."""

SHARE: Final = 20
"""It is due once the rows of large writes are one in so many of the table."""

COUNTED: Final = (
    "SELECT max(reltuples) FROM pg_catalog.pg_class WHERE oid IN"
    " (to_regclass('memstore_facts'), to_regclass('memstore_episodes'))"
)
"""The planner's estimate of the rows of the larger table; -1 if it was never analyzed."""

TABLES: Final = {
    "memstore_facts": "",
    "memstore_fact_members": "",
    "memstore_journal": " (tenant, id)",
    "memstore_fact_vectors": " (tenant, generation_id, fact_id, embed_attempts)",
    "memstore_episodes": "",
    "memstore_pieces": "",
    "memstore_piece_vectors": " (tenant, generation_id, piece_id, embed_attempts)",
}
"""What large writes fill, with the columns that plans depend on; of facts and episodes any column
may be filtered."""

VACUUM: Final = f"VACUUM (SKIP_LOCKED, TRUNCATE off) {', '.join(TABLES)}"
"""Waits for no lock, and takes none that others wait for."""

ROUGHLY: Final = "SELECT set_config('default_statistics_target', '30', true)"
"""Has ``ANALYZE`` sample a third of the usual number of rows, in a third of the time."""

ANALYZE: Final = f"ANALYZE (SKIP_LOCKED) {', '.join(map(''.join, TABLES.items()))}"


class Tidying:
    """See the module. One for each database of a process; any thread may use it.

    Args:
        take, give_back: of the pool whose connections it uses.
    """

    def __init__(
        self, take: Callable[[], Connection], give_back: Callable[[Connection], None]
    ) -> None:
        self._take, self._give_back = take, give_back
        self._lock = threading.Lock()
        self._inserted = 0
        """How many rows large writes have inserted since it was done last."""
        self._is_asked = self._is_running = False

    def note(self, inserted: int) -> None:
        """Note a committed write of so many rows; return at once."""
        if inserted < MIN_ROWS:
            return
        with self._lock:
            self._inserted += inserted
            self._is_asked = True
            if self._is_running:
                return
            self._is_running = True
        threading.Thread(target=self._run, name="memstore-tidying", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._is_asked:
                    self._is_running = False
                    return
                self._is_asked, inserted = False, self._inserted
            # What was written is committed, and autovacuum does it later.
            with suppress(MemstoreError), Translated():
                if self._tidied_after(inserted):
                    with self._lock:
                        self._inserted -= inserted

    def _tidied_after(self, inserted: int) -> bool:
        """Vacuum and analyze if it is due; return whether it was."""
        connection = self._take()
        try:
            (counted,) = connection.run(COUNTED).row or (None,)
            is_due = inserted * SHARE > (counted or 0)
            if is_due:
                connection.execute(VACUUM)  # alone: what is sent together is a transaction
                connection.together(Sent(ROUGHLY), Sent(ANALYZE))
            return is_due
        finally:
            self._give_back(connection)
