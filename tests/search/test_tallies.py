"""Counts by an index that is open equal those that are stored."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from tests.support.clock import ManualClock

from memstore import AtLeast, NewFact, Scope, Store
from memstore.domain import clock
from memstore.domain.records import is_among
from memstore.store.store import file_of

SUBJECTS = ("alice", "Alice", "bob", "Bob Smith", "böb", "todo", "zoë", "a", "x" * 40)
CATEGORIES = ("note", "Note", "preference", "identity")
OWNERS = (Scope(), Scope(user_id="ana"), Scope(user_id="bo"), Scope(user_id="ana", run_id="r"))
UNLIKE = ("index_bytes", "size_bytes", "log_bytes")
"""What a status says of the machine."""


def read(store: Store) -> list[Any]:
    owned = [store.of(one) for one in (*OWNERS, "all", AtLeast(user_id="ana"))]
    found: list[Any] = []
    for one in [*owned, store.within("other").of("all"), store.within("none")]:
        told = one.status().to_dict()
        found.append({name: value for name, value in told.items() if name not in UNLIKE})
        for order in ("name", "size", "changed"):
            after = None
            while page := one.subjects(order=order, limit=2, after=after):
                found += page
                after = page[-1]
            found += one.subjects("A", order=order)
        found.append(one.subjects("b", order="changed", changed_after="5d"))
    return found


def fill(store: Store, chance: Random, manual: ManualClock) -> None:
    """Write memories over weeks, of several owners; some expire, and some go in each way."""
    everybody = store.of("all")
    for place in range(80):
        manual.advance(chance.choice([0, 60, 3_600 * 7, 3_600 * 24 * 3]))
        where = store.within("other") if place % 11 == 0 else store
        where.of(chance.choice(OWNERS)).add_many(
            NewFact(
                content=f"text {place} {number}",
                subject=chance.choice(SUBJECTS),
                category=chance.choice(CATEGORIES),
                expired_at=clock.utc_now() + timedelta(days=chance.choice([1, 90]))
                if chance.random() < 0.3
                else None,
            )
            for number in range(chance.randint(1, 3))
        )
        ids = [fact.id for fact in everybody.list()]
        if not ids:
            continue
        match chance.randrange(12):
            case 0:
                everybody.delete(chance.choice(ids))
            case 1:
                everybody.erase(chance.choice(ids))
            case 2:
                everybody.ledger.revert(lines=[everybody.ledger.log(limit=1)[0].line]).apply()
            case 3:
                fact = everybody.get(chance.choice(ids))
                own = store.of(fact.scope)
                own.add(f"newer {place}", subject=fact.subject, supersedes=fact.id)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/New_York"])
def test_counts_of_an_open_index_equal_those_that_are_stored(
    open_store: Callable[..., Store],
    manual_clock: ManualClock,
    seed: int,
    zone: str,
) -> None:
    store = open_store(embedder=None, timezone=zone)
    fill(store, Random(seed), manual_clock)
    stored = read(store)
    store.search("text", touch=False)
    assert file_of(store).searches.facts.index.is_open
    assert read(store) == stored
    assert any(told["facts_by_day"] for told in stored if isinstance(told, dict))


@pytest.mark.parametrize("seed", range(8))
def test_the_first_owners_are_those_of_all(open_store: Callable[..., Store], seed: int) -> None:
    """Also where the largest by facts in any state have few that count."""
    store, chance = open_store(embedder=None), Random(seed)
    for place in range(60):
        owner = Scope(user_id=f"u{chance.randrange(9)}" if place % 5 else None)
        fact = store.of(owner).add(f"text {place}", subject="x")
        if chance.random() < 0.6:
            store.of(owner).delete(fact.id)
        if chance.random() < 0.2:
            store.of(owner).episodes.add(f"turn {place}", source="chat")
    pages, after = [], None
    while page := store.owners(limit=1, after=after):  # pages after the first read all
        pages += page
        after = page[-1]
    every = store.owners()
    assert sorted(every, key=lambda one: (-one.facts - one.episodes, str(one.scope))) == sorted(
        pages, key=lambda one: (-one.facts - one.episodes, str(one.scope))
    )
    for owners in (Scope(user_id="u1"), Scope(), AtLeast(user_id="u2")):
        own = store.of(owners).owners()
        assert own == [one for one in every if is_among(one.scope, owners)]
        assert store.of(owners).owners(after=own[-1]) == []
    for limit in range(1, len(every) + 2):
        assert store.owners(limit=limit) == every[:limit]
    held = [
        (-one.facts - one.episodes, *(owner or "" for owner in one.scope.ids.values()))
        for one in every
    ]
    assert held == sorted(held)


@pytest.mark.parametrize("seed", range(6))
def test_pages_of_a_thread_and_of_superseded_facts_are_parts_of_one_order(
    open_store: Callable[..., Store], manual_clock: ManualClock, seed: int
) -> None:
    """With an index and without, where some are erased, expired or distrusted."""
    store, chance = open_store(embedder=None), Random(seed)
    everybody = store.of("all")
    turns = []
    for place in range(70):
        owner, seq = store.of(chance.choice(OWNERS)), chance.randrange(40)
        turn = owner.episodes.add(f"turn {place}", source="chat", thread="t", seq=seq)
        if chance.random() < 0.2:
            owner.episodes.expire([turn.id])
        turns.append(turn)
        fact = owner.add(f"text {place}", subject=chance.choice(SUBJECTS[:3]))
        if chance.random() < 0.5:
            owner.add(f"newer {place}", subject=fact.subject, supersedes=fact.id)
    manual_clock.advance(7_200)
    for turn in chance.sample(turns, 8):
        everybody.episodes.erase(turn.id)
    retired = [fact.id for fact in everybody.list(states=["superseded"])]
    for fact_id in chance.sample(retired, 4):
        everybody.erase(fact_id)

    def pages() -> list[Any]:
        found: list[Any] = []
        for one in (store, everybody, store.of(user_id="ana")):
            every = one.episodes.list(thread="t")
            assert [(turn.seq, turn.id) for turn in every] == sorted(
                (turn.seq or 0, turn.id) for turn in every
            )
            facts = one.list(states=["superseded"])
            assert [fact.id for fact in facts] == sorted(fact.id for fact in facts)
            for offset in (0, 1, 5, 60):
                for page, rows in (
                    (one.episodes.list(thread="t", limit=7, offset=offset), every),
                    (one.list(states=["superseded"], limit=7, offset=offset), facts),
                ):
                    assert page == rows[offset : offset + 7]
            amid, old = every[len(every) // 2], facts[len(facts) // 2]
            after = [turn for turn in every if (turn.seq, turn.id) > (amid.seq, amid.id)]
            assert one.episodes.list(thread="t", limit=3, after_id=amid.id) == after[:3]
            before = [fact for fact in facts if fact.id < old.id]
            assert (
                one.list(states=["superseded"], limit=3, before_id=old.id, newest_first=True)
                == before[::-1][:3]
            )
            latest = one.episodes.list(thread="t", limit=5, newest_first=True)
            assert latest == every[::-1][:5]
            assert one.episodes.count(thread="t") == len(every)
            found += [every, facts]
        return found

    without = pages()
    store.search("text", touch=False)
    store.episodes.search("turn")
    assert file_of(store).searches.episodes.index.is_open
    assert pages() == without
