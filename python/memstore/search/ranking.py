"""Ranking: words and meaning merged into one order, by the Rust kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memstore._kernel import rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Ranked(NamedTuple):
    """One fact's place: its score and the parts it is made of."""

    fact_id: int
    score: float
    word_score: float
    vector_score: float
    decay: float


class Ageing(NamedTuple):
    """How old a fact is, and in what time its score halves; both in seconds."""

    fact_id: int
    age_seconds: float
    half_life_seconds: float


def merge(
    by_words: Sequence[tuple[int, float]],
    near_ids: NDArray[np.int64],
    cosines: NDArray[np.float32],
    ageing: Sequence[Ageing],
    *,
    word_weight: float,
    vector_weight: float,
    limit: int,
) -> list[Ranked]:
    """Return the best facts, best first, ties by id.

    ``score = (word_weight * bm25 / max(bm25) + vector_weight * max(cosine, 0)) * decay``,
    ``decay = 0.5 ** (age / half-life)``.

    Args:
        by_words: ``(id, bm25)`` as FTS5 gives it, more negative is better.
        near_ids: ``int64[m]``.
        cosines: ``float32[m]``, one for each of ``near_ids``.
        ageing: the facts whose score decays; the others keep theirs.
        word_weight: what the words count.
        vector_weight: what the meaning counts.
        limit: how many to return.
    """
    columns = rank(
        np.array([fact_id for fact_id, _ in by_words], dtype=np.int64),
        np.array([bm25 for _, bm25 in by_words], dtype=np.float64),
        near_ids,
        cosines,
        np.array([item.fact_id for item in ageing], dtype=np.int64),
        np.array([item.age_seconds for item in ageing], dtype=np.float64),
        np.array([item.half_life_seconds for item in ageing], dtype=np.float64),
        word_weight=word_weight,
        vector_weight=vector_weight,
        limit=limit,
    )
    return [Ranked(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
