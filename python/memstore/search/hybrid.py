"""Search: words and meaning, one order.

A query is embedded, SQL says which facts may be seen and how near they are by words, the kernel
says how near they are by meaning, the two are merged by id, and only the winners are read whole.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from memstore.database.sqlite import full_text
from memstore.database.tables import facts as fact_table
from memstore.database.tables import vectors as vector_table
from memstore.domain.arguments import MAX_NUMBER, checked_limit, checked_text
from memstore.domain.records import SearchHit, SearchHits
from memstore.domain.results import WordsOnly
from memstore.embedding.vectors import Near, ResidentVectors
from memstore.errors import (
    EmbedderError,
    EmbedderMismatch,
    EmbedderRejected,
    InvalidArgument,
    Reason,
)
from memstore.search import ranking
from memstore.search.resident import Resident

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from memstore.database.engine import Engine, Transaction
    from memstore.database.filters import FactFilter
    from memstore.embedding.current import Following
    from memstore.embedding.embedding import Embedding

WORD_WEIGHT: Final = 0.6
VECTOR_WEIGHT: Final = 0.4

HALF_LIVES_SECONDS: Final[Mapping[str, float]] = {"note": 30 * 86_400.0}
"""What decays unless a search says otherwise. Preferences, identities and the rest do not."""

MAX_LIMIT: Final = 1000

MIN_CANDIDATES: Final = 200
"""Each pass brings twice the limit, and at least these: a fact that both passes rate well, or a
fresh one among many that have decayed, must not be lost because a small limit cut it from one."""

NO_EMBEDDER: Final = WordsOnly("no_embedder", Reason("this store has no embedder"))
NO_VECTORS: Final = WordsOnly("nothing_embedded", Reason("nothing is embedded yet"))


@dataclass(frozen=True, slots=True)
class Ask:
    """What one search wants, apart from its query."""

    wanted: FactFilter
    limit: int = 10
    word_weight: float = WORD_WEIGHT
    vector_weight: float = VECTOR_WEIGHT
    half_lives_seconds: Mapping[str, float] = field(default_factory=lambda: HALF_LIVES_SECONDS)

    def __post_init__(self) -> None:
        checked_limit(self.limit)
        if self.limit is None or self.limit > MAX_LIMIT:
            raise InvalidArgument(f"must be 1 to {MAX_LIMIT}, not {self.limit}", argument="limit")
        for name in ("word_weight", "vector_weight"):
            weight = getattr(self, name)
            if not 0 <= weight < math.inf:
                raise InvalidArgument(f"must be 0 or more, not {weight}", argument=name)
        for category, life in self.half_lives_seconds.items():
            checked_text(category, "a category in half_lives_seconds", MAX_NUMBER)
            if not life >= 0:
                raise ValueError(
                    f"half_lives_seconds of {category!r} must be 0 or more, not {life}"
                )
        if self.word_weight == self.vector_weight == 0:
            raise InvalidArgument("are both 0", argument="weights")

    @property
    def candidates(self) -> int:
        """How many facts each pass brings."""
        return max(2 * self.limit, MIN_CANDIDATES)


class QueryVectors(NamedTuple):
    """The vectors of queries, and what made them."""

    rows: NDArray[np.float32]
    """``float32[q, d]``."""
    embedding: Embedding


class Search:
    """Finds facts in one file."""

    def __init__(self, engine: Engine, following: Following | None) -> None:
        self._engine = engine
        self._following = following
        self._resident = Resident(vector_table.FACTS)

    def batch(self, queries: Sequence[str], ask: Ask) -> list[SearchHits]:
        """Return the hits for each query; one call embeds them all."""
        texts = [_cleaned(query) for query in queries]
        asked = list(dict.fromkeys(filter(None, texts)))  # a blank one means nothing
        vectors, why_not = self._embed(asked, ask)
        try:
            return self._batch(texts, asked, vectors, ask, why_not)
        except EmbedderMismatch as error:
            # The file went over to another model: so do we, if we can, and ask that one.
            if self._following is not None and self._following.follow(error.stored):
                vectors, why_not = self._embed(asked, ask)
                with suppress(EmbedderMismatch):
                    return self._batch(texts, asked, vectors, ask, why_not)
            return self._batch(texts, asked, None, ask, WordsOnly("other_model", Reason.of(error)))

    def _batch(
        self,
        texts: Sequence[str],
        asked: Sequence[str],
        vectors: QueryVectors | None,
        ask: Ask,
        why_not: WordsOnly | None,
    ) -> list[SearchHits]:
        with self._engine.read() as transaction:
            meanings: dict[str, Meaning] = {}
            if vectors is not None:
                resident, why_not = self._comparable(transaction, vectors, ask)
                if resident is not None:
                    found = _meanings(transaction, resident, vectors.rows, ask)
                    meanings = dict(zip(asked, found, strict=True))
            return [_hits(transaction, text, meanings.get(text), ask, why_not) for text in texts]

    def warm(self, namespace: str) -> None:
        """Load the model and a namespace's vectors now rather than at the first search."""
        if self._following is not None:
            with suppress(EmbedderError):
                self._following.current.embed(["memory"])
            with self._engine.read() as transaction:
                self._resident.current(transaction, [namespace])

    def _comparable(
        self, transaction: Transaction, vectors: QueryVectors, ask: Ask
    ) -> tuple[ResidentVectors | None, WordsOnly | None]:
        """Return the file's vectors, or why there are none.

        Raises:
            EmbedderMismatch: they are not of the queries' model.
        """
        if vectors.embedding.is_of_file(transaction, vectors.rows.shape[1]):
            return self._resident.current(transaction, ask.wanted.namespaces), None
        return None, NO_VECTORS

    def _embed(
        self, texts: Sequence[str], ask: Ask
    ) -> tuple[QueryVectors | None, WordsOnly | None]:
        """Return the queries' vectors, or why there are none."""
        if self._following is None:
            return None, NO_EMBEDDER
        if not texts or not ask.vector_weight:
            return None, None
        embedding = self._following.current
        try:
            return QueryVectors(embedding.embed(texts), embedding), None
        except EmbedderError as error:
            return None, failed(error)


def failed(error: EmbedderError) -> WordsOnly:
    """Return why there is no vector for a query."""
    rejected = isinstance(error, EmbedderRejected)
    return WordsOnly("embedder_rejected" if rejected else "embedder_unavailable", Reason.of(error))


class Meaning(NamedTuple):
    """What the vectors say of one query."""

    query: NDArray[np.float32]
    near: Near
    resident: ResidentVectors

    def cosines(self, by_words: Sequence[tuple[int, float]]) -> Near:
        """Return the near facts, and the true cosine of those that only the words found."""
        known = set(self.near.ids.tolist())
        others = [fact_id for fact_id, _ in by_words if fact_id not in known]
        return Near(
            np.concatenate([self.near.ids, np.array(others, dtype=np.int64)]),
            np.concatenate([self.near.cosines, self.resident.similarity(self.query, others)]),
        )


NOTHING_NEAR: Final = Near(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))


def _meanings(
    transaction: Transaction, resident: ResidentVectors, vectors: NDArray[np.float32], ask: Ask
) -> list[Meaning]:
    """Scan once for all queries, among the facts that may be seen and no others."""
    wanted = ask.wanted
    plain = wanted.is_plain
    near = resident.nearest(
        vectors,
        ask.candidates,
        namespaces=wanted.namespaces,
        active_only=wanted.active_only,
        only=None if plain else fact_table.select_ids(transaction, wanted),
        excluding=fact_table.expired_ids(transaction, wanted.now)
        if plain and wanted.active_only
        else None,
    )
    return [Meaning(*found, resident) for found in zip(vectors, near, strict=True)]


def _hits(
    transaction: Transaction,
    query: str,
    meaning: Meaning | None,
    ask: Ask,
    why_not: WordsOnly | None,
) -> SearchHits:
    by_words = (
        [*full_text.FACTS.search(transaction, query, ask.wanted, ask.candidates).items()]
        if ask.word_weight
        else []
    )
    near = NOTHING_NEAR if meaning is None else meaning.cosines(by_words)
    ranked = ranking.merge(
        by_words,
        near.ids,
        near.cosines,
        _ageing(transaction, {*near.ids.tolist(), *(fact_id for fact_id, _ in by_words)}, ask),
        word_weight=ask.word_weight,
        vector_weight=ask.vector_weight,
        limit=ask.limit,
    )
    facts = fact_table.get_many(transaction, [place.fact_id for place in ranked])
    hits = (
        SearchHit(facts[place.fact_id], *place[1:]) for place in ranked if place.fact_id in facts
    )
    return SearchHits(hits, words_only=why_not)


def _ageing(transaction: Transaction, fact_ids: set[int], ask: Ask) -> list[ranking.Ageing]:
    """Return the candidates that decay: those of a category that does, but never an open task."""
    lives = {name: life for name, life in ask.half_lives_seconds.items() if 0 < life < math.inf}
    if not lives:
        return []
    born = fact_table.births(transaction, sorted(fact_ids), tuple(lives))
    return [
        ranking.Ageing(fact_id, (ask.wanted.now - created_at).total_seconds(), lives[category])
        for fact_id, category, created_at in born
    ]


def _cleaned(query: str) -> str:
    if not isinstance(query, str):
        raise TypeError(f"a query must be text, not {type(query).__name__}")
    return query.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ").strip()
