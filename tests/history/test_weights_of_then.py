"""A search of then is one in a copy of the file made at that moment: weights of words, and ages."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.test_index import without_index
from tests.support.clock import ManualClock
from tests.support.examples import examples

import memstore
from memstore import MemstoreError, Store
from memstore.domain import clock

OpenStore = Callable[..., Store]

WORDS = "tea tea tea harbour harbour rain boat lisbon".split()
QUERIES = ("tea", "harbour rain", "the boat of lisbon", "rain rain tea", "nothing", "->")
DAY = 24 * 3600
CLASSIC: dict[str, Any] = {"ranking": "classic", "limit": 5}
NO_AGES: dict[str, Any] = {"half_lives_seconds": {}}
LIVES: dict[str, Any] = {"half_lives_seconds": {"note": 20 * DAY}}


def act(store: Store, number: int, kind: int, place: int, words: list[str]) -> None:
    """Store, confirm, retire or change something; a task may be completed."""
    facts = store.list(tasks=True)
    old = facts[place % len(facts)].id if facts else 1
    text = f"{' '.join(words)} {number}"
    with suppress(MemstoreError):  # such as a deleted fact that is to be confirmed
        if kind < 4 or not facts:
            store.add(text, subject="ana")
        elif kind == 4:
            store.add(text, subject="ana", supersedes=old)
        elif kind == 5:
            store.confirm(old)
        elif kind == 6:
            store.delete(old)
        elif kind == 7:
            store.episodes.add(text, source="chat")
        elif kind == 8:
            store.tasks.create(text)
        else:
            store.tasks.update(store.tasks.list()[0].id, "completed") if store.tasks.list() else 0


def told(one: Any) -> list[Any]:
    """Return what is found, with scores, in a view or in a store."""
    found: list[Any] = []
    for query in QUERIES:
        hits = one.search(query, **CLASSIC, **NO_AGES)
        found.append([(hit.fact.id, hit.score, hit.word_score) for hit in hits])
        said = one.episodes if isinstance(one, Store) else one._log
        turns = said.search(query, **CLASSIC)
        found.append([(hit.episode.id, hit.score, hit.word_score) for hit in turns])
    return found


def decays(one: Any) -> list[dict[int, float]]:
    """Return how fresh facts are in the contextual ranking."""
    hits = [one.search(query, limit=50, **LIVES) for query in QUERIES]
    assert {found.ranking for found in hits} == {"contextual"}
    return [freshness(found) for found in hits]


@pytest.mark.hypothesis
@settings(max_examples=examples(40), deadline=None)
@given(
    acts=st.lists(
        st.tuples(
            st.integers(0, 9),
            st.integers(0, 9),
            st.lists(st.sampled_from(WORDS), min_size=1, max_size=5),
        ),
        min_size=4,
        max_size=24,
    ),
    share=st.floats(0.2, 0.8),
)
def test_a_search_of_then_is_one_in_a_copy_of_then(
    acts: list[tuple[int, int, list[str]]], share: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder: Path = tmp_path_factory.mktemp("then")
    now = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    with clock.use(now), memstore.open(folder / "now.db", embedder=None) as store:
        before = max(1, int(len(acts) * share))
        for number, each in enumerate(acts[:before]):
            act(store, number, *each)
            now.advance(DAY)
        then = store.as_of("now")
        store.file.backup(folder / "then.db")
        copy = memstore.open(folder / "then.db", embedder=None)
        with clock.use(ManualClock(then.at)), copy:  # an act may be some microseconds ahead
            expected, aged = told(copy), decays(copy)
        for number, each in enumerate(acts[before:], before):
            act(store, number, *each)
            now.advance(DAY)
        assert told(then) == expected
        assert decays(then) == aged
        assert without_index(store, lambda: told(then)) == expected


def test_a_fact_that_was_confirmed_since_is_as_old_as_it_was(open_store: OpenStore) -> None:
    now = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    with clock.use(now):
        store = open_store(embedder=None)
        store.add("tea in the harbour", subject="ana")
        task = store.tasks.create("buy tea")
        now.advance(20 * DAY)
        then = store.as_of("now")
        now.advance(20 * DAY)
        store.confirm(1)
        store.tasks.update(task.id, "completed")
        asked = {**LIVES, "tasks": True}
        assert freshness(then.search("tea", **asked)) == {1: 0.5, 2: 1.0}
        assert freshness(store.search("tea", **asked)) == {1: 1.0, 2: 0.25}


def freshness(hits: memstore.SearchHits) -> dict[int, float]:
    return {hit.fact.id: round(hit.decay, 6) for hit in hits}
