"""Ranking: what words and vectors found, put into one order by the Rust kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memstore._kernel import rank
from memstore.domain.results import NO_PARTS, ScoreParts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memstore.search.requests import Weights


class Ranked(NamedTuple):
    id: int
    score: float
    word_score: float = 0.0
    vector_score: float = 0.0
    decay: float = 1.0
    parts: ScoreParts = NO_PARTS


class Ageing(NamedTuple):
    """How old a row is, and in what time its score halves; both in seconds."""

    id: int
    age_seconds: float
    half_life_seconds: float


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
    ranked = rank(
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
