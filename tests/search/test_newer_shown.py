"""What is newer, end to end: what the library, the tools and the command line show of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

import memstore
from memstore import Memory, Store
from memstore.providers.local import tokens_at_most

pytestmark = pytest.mark.model

Open = Callable[..., Store]

OLD = "Ana works at Initech"
NEW = "Ana no longer works at Initech"
QUERY = "Ana works at Initech"


def moment(day: int) -> datetime:
    return datetime(2024, 3, day, tzinfo=UTC)


@pytest.fixture
def store(open_store: Open) -> Store:
    store = open_store(embedder="local")
    store.add(OLD, subject="Ana", created_at=moment(1))
    store.add("Ana plays the cello", subject="Ana", created_at=moment(1))
    store.add("Ben works at Initech", subject="Ben", created_at=moment(2))
    store.add(NEW, subject="Ana", created_at=moment(3))
    return store


def shown(hits: memstore.SearchHits) -> list[tuple[int, tuple[int, ...]]]:
    return [(hit.fact.id, hit.newer) for hit in hits]


def test_a_hit_names_the_fact_that_retires_it_which_follows(store: Store) -> None:
    found = shown(store.search(QUERY))
    flagged = found.index((1, (4,)))
    assert found[flagged + 1] == (4, ())
    assert all(not newer for fact_id, newer in found if fact_id != 1)
    scores = [hit.score for hit in store.search(QUERY)]
    assert scores == sorted(scores, reverse=True)


def test_the_limit_holds_and_the_flag_names_what_finds_no_room(store: Store) -> None:
    for limit in (1, 2, 3):
        hits = store.search(QUERY, limit=limit)
        assert len(hits) <= limit
    assert shown(store.search(QUERY, limit=1, created_before=moment(2))) == [(1, ())]


def test_a_newer_fact_that_was_not_found_is_one_more_hit(open_store: Open) -> None:
    store = open_store(embedder="local")
    store.add(OLD, subject="Ana", created_at=moment(1))
    for place in range(8):
        store.add(f"{OLD} on floor {place}", subject=f"Ana {place}", created_at=moment(1))
    store.add("Ana quit Initech", subject="Ana", created_at=moment(3))
    hits = store.search(QUERY, limit=3)
    assert len(hits) == 3
    ids = [hit.fact.id for hit in hits]
    assert hits[ids.index(1)].newer == (10,)
    assert ids.index(10) <= ids.index(1) + 1


def test_other_rankings_of_that_time_and_days_name_nothing(store: Store) -> None:
    assert all(not hit.newer for hit in store.search(QUERY, ranking="classic"))
    assert all(not hit.newer for hit in store.search(QUERY, valid_on=moment(2)))


def test_a_view_names_what_was_stored_by_then(open_store: Open) -> None:
    store = open_store(embedder="local")
    store.add(OLD, subject="Ana", valid_at=moment(1))
    store.add(NEW, subject="Ana", valid_at=moment(3))
    assert shown(store.as_of("op:1").search(QUERY)) == [(1, ())]
    assert (1, (2,)) in shown(store.as_of("op:2").search(QUERY))
    store.supersede(1, 2)
    assert (1, (2,)) in shown(store.as_of("op:2").search(QUERY))
    assert shown(store.search(QUERY)) == [(2, ())]
    assert shown(store.search(QUERY, active_only=False)) == [(2, ()), (1, ())]


def test_a_recall_marks_it_with_few_tokens_and_within_the_budget(store: Store) -> None:
    found = store.recall(QUERY, max_tokens=300)
    assert "#1[newer #4] Ana works at Initech" in found.text.splitlines()
    assert 4 in found.facts
    assert tokens_at_most("#1[newer #4]") - tokens_at_most("#1") <= 6
    for tokens in range(4, 60, 3):
        part = store.recall(QUERY, max_tokens=tokens, counter=lambda text: len(text.split()))
        assert len(part.text.split()) <= tokens


def test_a_recall_shows_the_newer_day_right_after(open_store: Open) -> None:
    store = open_store(embedder="local")
    store.add(OLD, subject="Ana", valid_at=moment(1))
    store.add("Ana likes the canteen at Initech", subject="Ana", valid_at=moment(1))
    store.add(NEW, subject="Ana", valid_at=moment(3))
    lines = store.recall("where does Ana work", max_tokens=300).text.splitlines()
    first = lines.index("#1[newer #3] Ana works at Initech")
    below = lines.index(f"#3 {NEW}")
    assert below == first + 2 or below < first


def test_a_recall_says_what_is_over_and_what_ends(open_store: Open) -> None:
    store = open_store(embedder="local")
    store.add(OLD, subject="Ana", valid_at=moment(1))
    store.add("Ana works at Globex", subject="Ana", supersedes=1, valid_at=moment(5))
    store.add("Ana rents at Initech", subject="Ana", expired_at="2999-01-02T00:00:00Z")
    text = store.recall(QUERY, max_tokens=300, active_only=False).text
    assert "#1[superseded by #2 2024-03-05] Ana works at Initech" in text
    assert "#3[ends 2999-01-02] Ana rents at Initech" in text


def test_a_reminder_names_it_but_never_text_of_others(store: Store) -> None:
    assert "#1[newer #4]" in store.remind("where does Ana work, at Initech?").text
    store.delete(4)
    store.add(NEW, subject="Ana", source="web:a.org", created_at=moment(4))
    assert "newer" not in store.remind("where does Ana work, at Initech?").text


def test_a_memory_shows_it(open_store: Open) -> None:
    store = open_store(embedder="local")
    store.add(OLD, subject="Ana", user_id="u", created_at=moment(1))
    store.add(NEW, subject="Ana", user_id="u", created_at=moment(3))
    named = [one.get("newer") for one in Memory(store).search(QUERY, user_id="u")]
    assert [2] in named


def test_what_a_new_fact_may_replace_is_named(store: Store) -> None:
    assert [fact.id for fact in store.may_replace(4)] == [1]
    assert store.may_replace(1) == []
    assert store.may_replace(3) == []
    store.supersede(1, 4)
    assert store.may_replace(4) == []
    with pytest.raises(memstore.NotFound):
        store.may_replace(99)


def test_what_may_be_replaced_is_the_owners_own(store: Store) -> None:
    own = store.add("Ana left Initech", subject="Ana", user_id="u")
    assert store.may_replace(own.id) == []


def test_json_keeps_the_ids(store: Store) -> None:
    [flagged] = [hit for hit in store.search(QUERY) if hit.newer]
    assert json.dumps(flagged.newer) == "[4]"
