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
    from collections.abc import Iterable

    from memstore.database.engine import Transaction


class Resident:
    """Loads a namespace at the first search there, and follows the file from then on."""

    def __init__(self) -> None:
        self._following = threading.Lock()
        self._vectors: ResidentVectors | None = None
        self._loaded: set[str | None] = set()
        """Namespaces; ``None`` stands for all there are and will be."""
        self._seen = 0

    def current(
        self, transaction: Transaction, namespaces: Iterable[str] | None
    ) -> ResidentVectors | None:
        """Return the vectors as the transaction sees them; ``None`` before the first embedding.

        Args:
            transaction: what is looked at.
            namespaces: which have to be there; ``None`` for all.
        """
        with self._following:
            newest = journal.last_id(transaction)
            if self._vectors is None:
                _, dimension = meta_table.embedding_model(transaction)
                if dimension is None:
                    return None
                self._vectors, self._seen = ResidentVectors(dimension), newest
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
            vectors.put(fact_table.embeddings(transaction, size, namespace=namespace))
            self._loaded.add(namespace)

    def _follow(self, vectors: ResidentVectors, transaction: Transaction, newest: int) -> None:
        changed = journal.facts_changed_since(transaction, self._seen)
        size = vectors.dimension * BYTES_PER_NUMBER
        everywhere = None in self._loaded
        found = fact_table.embeddings(transaction, size, fact_ids=changed)
        kept = vectors.put(row for row in found if everywhere or row[1] in self._loaded)
        vectors.drop(set(changed).difference(kept))
        self._seen = newest
