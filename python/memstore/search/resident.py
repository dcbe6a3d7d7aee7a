"""The vectors of a file, resident in memory and kept in step with its journal.

Every change that matters to a search by meaning writes a line to the journal, whichever process
made it. So the newest line says whether anything changed, and the lines since then say what. When
another generation of vectors becomes the active one, everything is loaded again.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from memstore.database import journal
from memstore.database.tables import generations as generation_table
from memstore.database.tables import vectors as vector_table
from memstore.domain.records import BYTES_PER_NUMBER
from memstore.embedding.vectors import ResidentVectors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memstore.database.engine import Transaction
    from memstore.database.tables.vectors import VectorTable


class Resident:
    """Loads a namespace at the first search there, and follows the file from then on."""

    def __init__(self, table: VectorTable) -> None:
        self._table = table
        self._following = threading.Lock()
        self._vectors: ResidentVectors | None = None
        self._generation_id = 0
        self._loaded: set[str | None] = set()
        """Namespaces; ``None``: all of them, also those that are yet to come."""
        self._seen = 0

    def current(
        self, transaction: Transaction, namespaces: Iterable[str] | None
    ) -> ResidentVectors | None:
        """Return the vectors as the transaction sees them; ``None`` before the first embedding."""
        with self._following:
            newest = journal.last_id(transaction)
            active = generation_table.active(transaction)
            if self._vectors is None or active.id != self._generation_id:
                if active.dimension is None:
                    return None
                # A new object: other threads may still be scanning the old one.
                self._vectors, self._seen = ResidentVectors(active.dimension), newest
                self._generation_id = active.id
                self._loaded.clear()
            elif newest > self._seen:
                self._follow(self._vectors, transaction, newest)
            if None not in self._loaded:
                wanted = {None} if namespaces is None else {*namespaces} - self._loaded
                self._load(self._vectors, transaction, wanted)
                # This transaction may be older than what was seen: then look at that again.
                self._seen = min(self._seen, newest)
            return self._vectors

    def _load(
        self, vectors: ResidentVectors, transaction: Transaction, wanted: Iterable[str | None]
    ) -> None:
        size = vectors.dimension * BYTES_PER_NUMBER
        for namespace in wanted:
            vectors.put(
                vector_table.resident(
                    transaction, self._table, self._generation_id, size, namespace=namespace
                )
            )
            self._loaded.add(namespace)

    def _follow(self, vectors: ResidentVectors, transaction: Transaction, newest: int) -> None:
        changed = journal.changed_since(transaction, self._seen, self._table.journalled)
        size = vectors.dimension * BYTES_PER_NUMBER
        everywhere = None in self._loaded
        found = vector_table.resident(
            transaction, self._table, self._generation_id, size, changed=changed
        )
        kept = vectors.put(row for row in found if everywhere or row[1][0] in self._loaded)
        owners = vector_table.owners_of(transaction, self._table, changed)
        vectors.drop(owners.difference(kept))
        self._seen = newest
