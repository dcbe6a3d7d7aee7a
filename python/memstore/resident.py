"""The embeddings of a file, resident in memory and kept in step with its journal.

Every change that matters to a search by meaning leaves a line in the journal, whichever process
made it. So a look at the newest line says whether anything changed, and the lines since say what.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from memstore.database import fact_table, journal, meta_table
from memstore.vectors import BYTES_PER_NUMBER, ResidentVectors

if TYPE_CHECKING:
    from memstore.database.engine import Transaction


class Resident:
    """Loads the vectors at the first search and follows the file from then on."""

    def __init__(self) -> None:
        self._following = threading.Lock()
        self._vectors: ResidentVectors | None = None
        self._seen = 0

    def current(self, transaction: Transaction) -> ResidentVectors | None:
        """Return the vectors as the transaction sees them; ``None`` before the first embedding."""
        with self._following:
            newest = journal.last_id(transaction)
            if self._vectors is None:
                self._load(transaction, newest)
            elif newest > self._seen:
                self._follow(self._vectors, transaction, newest)
            return self._vectors

    def _load(self, transaction: Transaction, newest: int) -> None:
        _, dimension = meta_table.embedding_model(transaction)
        if dimension is None:
            return
        vectors = ResidentVectors(dimension)
        vectors.put(fact_table.embeddings(transaction, dimension * BYTES_PER_NUMBER))
        self._vectors, self._seen = vectors, newest

    def _follow(self, vectors: ResidentVectors, transaction: Transaction, newest: int) -> None:
        changed = journal.facts_changed_since(transaction, self._seen)
        size = vectors.dimension * BYTES_PER_NUMBER
        kept = vectors.put(fact_table.embeddings(transaction, size, changed))
        vectors.drop(set(changed).difference(kept))
        self._seen = newest
