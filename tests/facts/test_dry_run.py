"""A dry run tells what a change would do, and writes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples
from tests.support.random_memories import ACTS, Memory
from tests.support.raw import raw

from memstore import Act, AsyncStore, Conflict, MemstoreError, NotFound, Store


def test_a_dry_run_tells_the_act_and_writes_nothing(store: Store, path: Path) -> None:
    old = store.add("lives in Lisbon", subject="ana")
    new = store.add("lives in Rome", subject="ana")
    before = dump(path)
    would = store.delete(old.id, dry_run=True)
    assert isinstance(would, Act)
    assert would.text == "deleted fact 1: ana: lives in Lisbon"
    assert store.supersede(old.id, new.id, dry_run=True).text == (
        "replaced fact 1 by 2: ana: lives in Rome"
    )
    assert dump(path) == before
    assert store.get(old.id) == old
    assert store.search("Lisbon")[0].fact.id == old.id
    store.delete(old.id)
    assert store.ledger.log(limit=1)[0].text == would.text
    again = store.delete(old.id, dry_run=True)
    assert (again.changes, again.text) == ((), "")


def dump(path: Path) -> list[str]:
    with raw(path) as file:
        return [line for line in file.iterdump() if "memstore_facts_fts" not in line]


def test_a_dry_run_refuses_what_would_be_refused(store: Store) -> None:
    one = store.add("one", subject="s")
    other = store.add("other", subject="t")
    with pytest.raises(Conflict, match="is about"):
        store.supersede(one.id, other.id, dry_run=True)
    with pytest.raises(Conflict, match="itself"):
        store.supersede(one.id, one.id, dry_run=True)
    with pytest.raises(NotFound):
        store.delete(99, dry_run=True)
    assert store.supersede(one.id, other.id, any_subject=True, dry_run=True).changes


def test_a_dry_run_tells_that_a_fact_that_counts_less_is_only_proposed(store: Store) -> None:
    agent = store.within(source="mcp")
    one = store.add("said by a person", subject="s")
    two = agent.add("read on a page", subject="s", source="web:a.org")
    agent._facts._author = agent._facts._author._replace(actor="agent")
    assert agent.supersede(one.id, two.id, dry_run=True).text.startswith("proposed to replace")
    assert store.proposals.list() == []


def test_a_dry_run_is_awaited(store: Store) -> None:
    fact = store.add("one", subject="s")
    would: Any = asyncio.run(AsyncStore(store).delete(fact.id, dry_run=True))
    assert would.changes[0].kind == "delete"


@settings(max_examples=examples(30))
@given(ACTS, st.integers(0, 99), st.integers(0, 99))
def test_a_dry_run_tells_what_then_happens(
    fresh: Callable[[], Store], acts: list[tuple[int, ...]], which: int, other: int
) -> None:
    memory = Memory(fresh(), acts)
    store = memory.store
    ids = [*memory.ids, memory.last + 1]
    one, two = ids[which % len(ids)], ids[other % len(ids)]
    calls: list[Callable[[bool], Any]] = [
        lambda dry: store.supersede(one, two, any_subject=True, dry_run=dry),
        lambda dry: store.delete(one, dry_run=dry),
    ]
    for call in calls:
        line = store.file.head()
        would, error = outcome(call, True)
        assert store.file.head() == line
        _, done = outcome(call, False)
        if would is None:
            assert str(error) == str(done)
        elif would.changes:
            (act,) = store.of("all").ledger.log(limit=1)
            assert (act.changes, act.actor) == (would.changes, would.actor)
        else:
            assert store.file.head() == line


def outcome(call: Callable[[bool], Any], dry: bool) -> tuple[Any, Exception | None]:
    try:
        return call(dry), None
    except MemstoreError as error:
        return None, error
