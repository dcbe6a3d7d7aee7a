"""Looking rows up in the database: full-text search, and a comparison with every vector."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Final

from memstore.database.tables import generations as generation_table
from memstore.database.tables import vectors as vector_table
from memstore.embedding.vectors import similarities
from memstore.lazy import cached_property, lazy_import
from memstore.search.lookups.base import (
    F,
    Lookup,
    Terms,
    best,
    best_by_words,
    cosines_of_rows,
    parts_by_word,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memstore._kernel.words import Words
    from memstore.database.engine import FullText, Transaction, Value
    from memstore.domain.generations import Generation
    from memstore.embedding.vectors import Vector
    from memstore.search.index import contents
    from memstore.search.index.index import RowKind
else:
    contents = lazy_import("memstore.search.index.contents")


COMPARED: Final = 1000
"""How many vectors are compared if a search may leave some out. Of 100,000 facts they hold 99.3% of
the ten nearest, and 97.2% of the fifty; twice as many, 99.8% and 99.0%, in twice the time."""


class DatabaseLookup(Lookup[F]):
    """What can be looked up without an index."""

    has_contexts = False

    def __init__(self, transaction: Transaction, kind: RowKind) -> None:
        self._transaction = transaction
        self._kind = kind
        self._table = kind.vectors
        self._full_text: FullText = getattr(transaction.full_text, kind.name)

    @property
    def generation(self) -> Generation:
        return generation_table.active(self._transaction)

    def terms(self, query: str) -> Terms:
        return Terms.of(query, self._transaction)

    def words(self, query: str, wanted: F, k: int) -> dict[int, float]:
        asked = self.terms(query) if self.until is not None else None
        if asked is None or not asked.written:
            return self._full_text.search(self._transaction, query, wanted, k)
        visible = self._kind.visible(self._transaction, None, wanted)
        return best_by_words(self._words_of_then, asked, k, visible)

    def words_in_parallel(self, queries: Iterable[str], passes: Iterable[F], k: int) -> None:
        if self.until is None:
            self._full_text.search_in_parallel(self._transaction, product(queries, passes), k)

    def near(self, vectors: Sequence[Vector], wanted: F, k: int) -> list[dict[int, float]]:
        if self.approximates:
            codes = [self._transaction.code(vector.tobytes()) for vector in vectors]
            if None not in codes:
                pairs = zip(vectors, codes, strict=True)
                return [self._roughly_near(vector, code, wanted, k) for vector, code in pairs]
        batches = vector_table.batches(self._transaction, self._table, wanted)
        return self._nearest(vectors, batches, k)

    def _roughly_near(self, vector: Vector, code: Value, wanted: F, k: int) -> dict[int, float]:
        """Compare the vectors whose codes differ least from the query's.

        They are chosen before the filter, which costs less, unless few of them pass it.
        """
        near = partial(
            vector_table.of_nearest_codes,
            self._transaction, self._table, self.generation.id, code, COMPARED,
        )  # fmt: skip
        ids = near()
        found = self._vectors(wanted, ids)
        if len(ids) == COMPARED and len(found) < COMPARED // 2:
            found = self._vectors(wanted, near(wanted))
        return self._nearest([vector], [found], k)[0]

    def _vectors(self, wanted: F, ids: Sequence[int]) -> list[vector_table.Vector]:
        return vector_table.of_owners(self._transaction, self._table, wanted, ids)

    def _nearest(
        self, vectors: Sequence[Vector], batches: Iterable[Sequence[vector_table.Vector]], k: int
    ) -> list[dict[int, float]]:
        found: list[dict[int, float]] = [{} for _ in vectors]
        for batch in batches:
            for nearest, vector in zip(found, vectors, strict=True):
                cosines = similarities(vector, [one.blob for one in batch])
                for one, cosine in zip(batch, cosines, strict=True):
                    if cosine > nearest.get(one.row_id, 0.0):
                        nearest[one.row_id] = cosine
            found = [best(nearest, k, self._kind) for nearest in found]
        return found

    def word_parts(self, query: str, ids: Sequence[int]) -> Mapping[int, Mapping[str, float]]:
        asked = self.terms(query) if self.until is not None else None
        if asked is None or not asked.written:
            return self._full_text.parts(self._transaction, query, ids)
        return parts_by_word(self._words_of_then, asked, ids)

    @cached_property
    def _words_of_then(self) -> Words:
        """The words of the rows up to ``until``: full-text search knows only the weights of now."""
        return contents.words_until(self._transaction, self._kind.source, self.until or 0)

    def cosines(self, vector: Vector, ids: Sequence[int]) -> dict[int, float]:
        return cosines_of_rows(self._transaction, self._table, vector, ids)

    def has_vectors(self, namespaces: Sequence[str] | None) -> bool:
        return vector_table.has_any(self._transaction, self._table, namespaces)
