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
    facts = {fact.id for fact in filled.of("all").list() if theirs(fact.scope, ids)}
    assert {fact.id for fact in filled.of(scope).list()} == facts
    assert filled.of(scope).count() == len(facts)
    assert filled.of(scope).count(subject="s1") == len(filled.of(scope).list(subject="s1"))
    hits = filled.of(scope).search("coffee", limit=100)
    assert {hit.fact.id for hit in hits} == facts
    assert filled.of(scope).counts().active == len(facts)
    turns = {one.id for one in filled.of("all").episodes.list() if theirs(one.scope, ids)}
    assert {one.id for one in filled.of(scope).episodes.list()} == turns
    assert filled.of(scope).episodes.count() == len(turns)
    found = filled.of(scope).episodes.search("coffee", limit=100)
    assert {hit.episode.id for hit in found} == turns
    told = filled.of(scope).recall("coffee", max_tokens=20_000)
    assert set(told.facts) <= facts


def test_a_user_finds_what_was_stored_in_a_run_and_nobody_elses() -> None:
    with memstore.open(":memory:") as store:
        store.add("Ana likes green tea.", subject="ana", user_id="ana", run_id="r1")
        store.add("Ben likes green tea.", subject="ben", user_id="ben", run_id="r1")
        assert not store.of(user_id="ana").search("green tea")
        [hit] = store.of(AtLeast(user_id="ana")).search("green tea")
        assert hit.fact.subject == "ana"
        then = store.as_of("now")
        assert [hit.fact.subject for hit in then.of(AtLeast(user_id="ana")).search("tea")] == [
            "ana"
        ]


def test_deleting_all_of_at_least_these_owners_is_taken_back_at_once() -> None:
    with memstore.open(":memory:", embedder=None) as store:
        fill(store)
        store.of(user_id="ana").tasks.create("call Ana")
        before = store.of("all").count()
        gone = store.of(AtLeast(user_id="ana")).list(tasks=False)
        assert store.of(AtLeast(user_id="ana")).delete_all() == len(gone) == 12
        assert store.of("all").count() == before - 12
        assert len(store.of("all").tasks.list()) == 1
        assert store.of(AtLeast(user_id="ana")).delete_all() == 0
        [at] = {store.get(fact.id).deleted_at for fact in gone}
        assert at is not None
        assert store.of("all").ledger.restore_deleted(at) == 12
        assert store.of("all").count() == before


def test_at_least_nobody_is_refused_and_so_is_all_for_deletion() -> None:
    with pytest.raises(ValueError, match=r'needs one of user_id, .* pass "all"'):
        AtLeast()
    with pytest.raises(ValueError, match="user_id is empty"):
        AtLeast(user_id=" ")
    with memstore.open(":memory:", embedder=None) as store:
        for one in (store, store.of("all")):
            with pytest.raises(ValueError, match="owners are needed"):
                one.delete_all()


def test_what_is_stored_for_at_least_some_owners_names_its_own() -> None:
    with memstore.open(":memory:", embedder=None) as store:
        anas = store.of(AtLeast(user_id="ana"))
        with pytest.raises(ValueError, match=r"owners must be named: .* at least user_id 'ana'"):
            anas.add("likes tea", subject="ana")
        with pytest.raises(ValueError, match=r"owners contradict .* user_id 'ana'"):
            anas.add_many([NewFact(content="likes tea", subject="ana", user_id="ben")])
        [fact] = anas.add_many(
            [NewFact(content="likes tea", subject="ana", user_id="ana", run_id="r1")]
        )
        assert anas.get(fact.id).run_id == "r1"
        assert [act.changes[0].facts for act in anas.ledger.log()] == [(fact.id,)]
