"""Selecting by at least these owners: the same as reading every row."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memstore
from memstore import AtLeast, NewEpisode, NewFact, Scope, Store

USERS, AGENTS, RUNS = (None, "ana", "ben"), (None, "coder"), (None, "r1", "r2")
EVERY = [
    Scope(user_id=user, agent_id=agent, run_id=run)
    for user, agent, run in itertools.product(USERS, AGENTS, RUNS)
]

selections = st.builds(
    dict,
    user_id=st.sampled_from(USERS),
    agent_id=st.sampled_from(AGENTS),
    run_id=st.sampled_from(RUNS),
).filter(lambda ids: any(ids.values()))


def fill(store: Store) -> None:
    store.add_many(
        [
            NewFact(content=f"coffee number {number}", subject=f"s{number % 2}", **scope.ids)
            for number, scope in enumerate(EVERY * 2)
        ]
    )
    for scope in EVERY:
        store.episodes.add_many(
            [NewEpisode(content=f"we drank coffee {scope.ids}", source="chat", **scope.ids)]
        )


@pytest.fixture(scope="module")
def filled() -> Store:
    store = memstore.open(":memory:", embedder=None)
    fill(store)
    return store


def theirs(owners: Scope, ids: dict[str, str | None]) -> bool:
    return all(getattr(owners, name) == owner for name, owner in ids.items() if owner is not None)


@given(ids=selections)
def test_every_call_selects_what_reading_all_selects(
    filled: Store, ids: dict[str, str | None]
) -> None:
    scope = AtLeast(**ids)
    facts = {fact.id for fact in filled.list(scope="all") if theirs(fact.scope, ids)}
    assert {fact.id for fact in filled.list(scope=scope)} == facts
    assert filled.count(scope=scope) == len(facts)
    assert filled.count(scope=scope, subject="s1") == len(filled.list(scope=scope, subject="s1"))
    hits = filled.search("coffee", scope=scope, limit=100)
    assert {hit.fact.id for hit in hits} == facts
    assert filled.counts(scope=scope).active == len(facts)
    turns = {one.id for one in filled.episodes.list(scope="all") if theirs(one.scope, ids)}
    assert {one.id for one in filled.episodes.list(scope=scope)} == turns
    assert filled.episodes.count(scope=scope) == len(turns)
    found = filled.episodes.search("coffee", scope=scope, limit=100)
    assert {hit.episode.id for hit in found} == turns
    told = filled.recall("coffee", scope=scope, max_tokens=20_000)
    assert set(told.facts) <= facts


def test_a_user_finds_what_was_stored_in_a_run_and_nobody_elses() -> None:
    with memstore.open(":memory:") as store:
        store.add("Ana likes green tea.", subject="ana", user_id="ana", run_id="r1")
        store.add("Ben likes green tea.", subject="ben", user_id="ben", run_id="r1")
        assert not store.search("green tea", scope=Scope(user_id="ana"))
        [hit] = store.search("green tea", scope=AtLeast(user_id="ana"))
        assert hit.fact.subject == "ana"
        then = store.as_of("now")
        assert [hit.fact.subject for hit in then.search("tea", scope=AtLeast(user_id="ana"))] == [
            "ana"
        ]


def test_deleting_all_of_at_least_these_owners_is_taken_back_at_once() -> None:
    with memstore.open(":memory:", embedder=None) as store:
        fill(store)
        store.tasks.create("call Ana", owners=Scope(user_id="ana"))
        before = store.count(scope="all")
        gone = store.list(scope=AtLeast(user_id="ana"), tasks=False)
        assert store.delete_all(scope=AtLeast(user_id="ana")) == len(gone) == 12
        assert store.count(scope="all") == before - 12
        assert len(store.tasks.list(owners="all")) == 1
        assert store.delete_all(scope=AtLeast(user_id="ana")) == 0
        [at] = {store.get(fact.id).deleted_at for fact in gone}
        assert at is not None
        assert store.restore_deleted(at, scope="all") == 12
        assert store.count(scope="all") == before


def test_at_least_nobody_is_refused_and_so_is_all_for_deletion() -> None:
    with pytest.raises(ValueError, match=r'needs one of user_id, .* pass "all"'):
        AtLeast()
    with pytest.raises(ValueError, match="user_id is empty"):
        AtLeast(user_id=" ")
    with (
        memstore.open(":memory:", embedder=None) as store,
        pytest.raises(TypeError, match="must be a Scope or AtLeast, not str"),
    ):
        store.delete_all(scope="all")  # type: ignore[arg-type]


def test_calls_about_exact_owners_refuse_it() -> None:
    with (
        memstore.open(":memory:", embedder=None) as store,
        pytest.raises(TypeError, match='scope must be a Scope, "all" or None, not AtLeast'),
    ):
        store.log(scope=AtLeast(user_id="ana"))  # type: ignore[arg-type]
