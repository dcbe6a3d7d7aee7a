"""The searches: facts and episodes, with the ranking, the classic one, and words alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from memstore import EpisodeHit, SearchHit, Store
from memstore.search.requests import VECTOR_WEIGHT, WORD_WEIGHT

Hit = SearchHit | EpisodeHit
Ask = Callable[[Store, str, int], Sequence[Hit]]


def _facts(**options: Any) -> Ask:
    return lambda store, query, limit: store.search(query, limit=limit, touch=False, **options)


def _episodes(**options: Any) -> Ask:
    return lambda store, query, limit: store.episodes.search(query, limit=limit, **options)


FACTS: dict[str, Ask] = {
    "facts": _facts(),
    "facts, classic": _facts(word_weight=WORD_WEIGHT, vector_weight=VECTOR_WEIGHT),
    "facts, FTS5": _facts(word_weight=1.0, vector_weight=0.0),
}
EPISODES: dict[str, Ask] = {
    "episodes": _episodes(),
    "episodes, classic": _episodes(alpha=VECTOR_WEIGHT),
    "episodes, FTS5": _episodes(mode="words"),
}


def unit_of(hit: Hit) -> str:
    """Return the unit that a hit was made from."""
    row = hit.fact if isinstance(hit, SearchHit) else hit.episode
    assert row.idempotency_key is not None
    return row.idempotency_key
