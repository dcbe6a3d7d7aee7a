"""The classic ranking: words and vectors, added and decayed by the Rust kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore._kernel import ranking
from memstore.domain.results import CLASSIC, ScoreParts
from memstore.frozen import frozen
from memstore.search.lookups.base import Order, Ranked
from memstore.search.ranking.base import Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memstore.search.lookups.base import Query
    from memstore.search.ranking.base import Ageing, Candidates, Weights


@frozen(kw_only=True)
class Classic(Ranking):
    name = CLASSIC
    compares_stored = True

    def rank(self, query: Query, found: Candidates[Any]) -> Order:
        by_words, near = found.by_words, dict(query.near)
        if query.vector is not None:
            # The true cosines of rows that only the words found.
            others = [id_ for id_ in by_words if id_ not in near]
            near |= found.lookup.cosines(query.vector, others)
        if (least := found.min_similarity) is not None:
            # What has no vector yet cannot be judged and stays.
            by_words = {i: bm25 for i, bm25 in by_words.items() if near.get(i, least) >= least}
            near = {id_: cosine for id_, cosine in near.items() if cosine >= least}
        ageing = found.ageing({*by_words, *near}, self.half_lives_seconds)
        weights = self.weights_for(query)
        every = len(by_words) + len(near)
        if not found.newest_of_equals:
            limit = every if found.keeps_all else found.limit
            return Order(merge(by_words, near, ageing, weights, limit))
        rows = merge(by_words, near, ageing, weights, every)
        return Order(sorted(rows, key=lambda place: (-place.score, -place.id)))


def merge(
    by_words: Mapping[int, float],
    near: Mapping[int, float],
    ageing: Sequence[Ageing],
    weights: Weights,
    limit: int,
) -> list[Ranked]:
    """Return the best rows, best first, ties by id.

    ``score = (weights.words * bm25 / max(bm25) + weights.vectors * max(cosine, 0)) * decay``,
    ``decay = 0.5 ** (age / half-life)``; FTS5's BM25 is more negative the better it is.
    """
    ranked = ranking.classic(
        [*by_words.items()],
        [*near.items()],
        ageing,
        word_weight=weights.words,
        vector_weight=weights.vectors,
        limit=limit,
    )
    return [
        Ranked(
            id_,
            score,
            word,
            vector,
            decay,
            _parts(weights.words * word, weights.vectors * vector, decay),
        )
        for id_, score, word, vector, decay in ranked
    ]


def _parts(words: float, meaning: float, decay: float) -> ScoreParts:
    return ScoreParts(words, meaning, age=(words + meaning) * (decay - 1), decay=decay)
