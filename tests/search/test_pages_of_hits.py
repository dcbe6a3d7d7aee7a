"""Scores fall along every answer, and pages of an answer are parts of one order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.random_memories import ACTS, Memory

import memstore
from memstore import Store

QUERIES = ("tea in Rome", "the harbour", "what about rain and milk?", "door")
RANKINGS: list[dict[str, Any]] = [
    {},
    {"ranking": "classic"},
    {"active_only": False},
    {"word_weight": 1.0, "vector_weight": 0.2},
]


def falls(scores: list[float]) -> bool:
    return scores == sorted(scores, reverse=True)


@pytest.mark.model
@given(acts=ACTS, query=st.sampled_from(QUERIES), asked=st.sampled_from(RANKINGS))
def test_scores_fall_and_pages_are_parts_of_one_order(
    acts: list[tuple[int, ...]], query: str, asked: dict[str, Any]
) -> None:
    with memstore.open(":memory:") as store:
        Memory(store, acts)
        hits = store.of("all").search(query, limit=20, **asked)
        assert falls([hit.score for hit in hits])
        whole = store.of("all").search(query, limit=1000, offset=0, half_lives_seconds={}, **asked)
        assert falls([hit.score for hit in whole])
        pages = [
            store.of("all").search(query, limit=3, offset=offset, half_lives_seconds={}, **asked)
            for offset in range(0, len(whole) + 3, 3)
        ]
        assert [(hit.fact.id, hit.score) for page in pages for hit in page] == [
            (hit.fact.id, hit.score) for hit in whole
        ]
        turns = store.of("all").episodes.search(query, limit=1000, offset=0)
        assert falls([hit.score for hit in turns])
        parts = [
            store.of("all").episodes.search(query, limit=2, offset=offset)
            for offset in range(0, len(turns) + 2, 2)
        ]
        assert [hit.episode.id for page in parts for hit in page] == [
            hit.episode.id for hit in turns
        ]


def test_pages_of_the_newest_episodes_and_of_boosted_ones(store: Store) -> None:
    tags = [("k",) if number % 3 == 0 else () for number in range(20)]
    for number, each in enumerate(tags):
        store.episodes.add(f"tea number {number}", source="chat", tags=each)
    for asked in ({"query": ""}, {"query": "tea", "tags": ["k"], "tag_boost": 0.1}):
        whole = store.episodes.search(**asked, limit=100, offset=0)
        pages = [store.episodes.search(**asked, limit=7, offset=first) for first in (0, 7, 14, 21)]
        assert [hit.episode.id for page in pages for hit in page] == [
            hit.episode.id for hit in whole
        ]
        assert len(whole) == 20
        assert falls([hit.score for hit in whole])


@pytest.mark.parametrize("offset", [-1, 1000, True, "1"])
def test_an_offset_beyond_the_order_is_refused(store: Store, offset: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="offset"):
        store.search("tea", offset=offset)
