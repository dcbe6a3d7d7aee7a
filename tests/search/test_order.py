"""Hits are in the order of their scores: what is shown is what was sorted by."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

import memstore
from memstore import NewEpisode, NewFact, Store
from memstore.domain.results import RANKINGS

CITIES = ["Oslo", "Rome", "Bonn", "Ghent"]
spoken = st.one_of(
    st.sampled_from(CITIES).map("Ana lives in {}".format),
    st.sampled_from(CITIES).map("Ana moved to {} in spring".format),
    st.sampled_from(["tea?", "tea in the harbour", "Otto plays the violin", "rain"]),
)
rows = st.lists(
    st.tuples(
        spoken,
        st.sampled_from(["Ana", "Otto", "note"]),
        st.sampled_from([None, "one", "two"]),
        st.integers(0, 900),
        st.sampled_from(["note", "event"]),
    ),
    min_size=1,
    max_size=24,
)
QUERIES = ["Where does Ana live?", "tea", "Ana in Rome", "rain in spring", "violin"]


def falling(hits: Sequence[Any]) -> bool:
    scores = [hit.score for hit in hits]
    return scores == sorted(scores, reverse=True)


def fill(store: Store, said: Sequence[tuple[Any, ...]]) -> None:
    now = datetime.now(UTC)
    facts, episodes = [], []
    for place, (content, speaker, thread, days, category) in enumerate(said):
        at, seq = now - timedelta(days=days), place if thread else None
        facts.append(NewFact(content=content, subject=speaker, thread=thread, seq=seq,
                             created_at=at, category=category))  # fmt: skip
        episodes.append(NewEpisode(content=content, source="s", speaker=speaker, thread=thread,
                                   seq=seq, valid_at=at, tags=[category]))  # fmt: skip
    store.add_many(facts)
    store.episodes.add_many(episodes)
    store.file.embed_pending()


@pytest.mark.model
@settings(deadline=None, max_examples=examples(40),
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(said=rows, limit=st.integers(1, 30), has_index=st.booleans())
def test_scores_fall_along_every_list(said: list[Any], limit: int, has_index: bool) -> None:
    with memstore.open(":memory:") as store:
        fill(store, said)
        if not has_index:
            store.file.searches.facts.index._unfit = True
            store.file.searches.episodes.index._unfit = True
        for ranking in RANKINGS:
            for hits in store.search_batch(QUERIES, limit=limit, ranking=ranking, context=1):
                assert falling(hits)
            for query in QUERIES:
                options: dict[str, Any] = {"limit": limit, "ranking": ranking, "context": 1}
                assert falling(store.episodes.search(query, **options))
                boosted = store.episodes.search(query, tags=["event"], tag_boost=0.01, **options)
                assert falling(boosted)


def test_competing_facts_exchange_their_scores(open_store: Any) -> None:
    store = open_store(embedder="local")
    for day, city in ((1, "Oslo"), (3, "Rome"), (2, "Bonn")):
        store.add(f"lives in {city}", subject="Ana", valid_at=f"2024-01-0{day}T00:00:00Z")
    hits = store.search("Where does Ana live?")
    assert [hit.fact.content for hit in hits] == ["lives in Rome", "lives in Bonn", "lives in Oslo"]
    assert falling(hits)
    assert any(hit.parts.age > 0.001 for hit in hits), "one moved up"
    assert sum(hit.parts.age for hit in hits) == pytest.approx(0, abs=1e-4)
