"""The clock is set 400 days ahead and back: nothing is lost, and every order holds."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

import memstore

from tests.support.embedders import WordEmbedder  # isort: skip
from memstore import Fact, Store
from memstore.domain import clock

from tests.support.clock import ManualClock  # isort: skip

DAYS_400 = 400 * 86_400.0


def links_of(facts: list[Fact]) -> bool:
    """Return whether each fact comes before the one that supersedes it."""
    places = {fact.id: place for place, fact in enumerate(facts)}
    return all(places[f.superseded_by] > places[f.id] for f in facts if f.superseded_by)


def act(store: Store, chance: random.Random, number: int) -> None:
    held = store.list(subject="ana", limit=50)
    one = chance.choice(held) if held else None
    what = chance.random()
    if one is None or what < 0.4:
        store.add(f"Ana likes tea {number}", subject="ana", category=chance.choice(["note", "x"]))
    elif what < 0.7:
        store.add(f"Ana likes tea {number}", subject="ana", supersedes=one.id)
    elif what < 0.8:
        store.confirm(one.id)
    elif what < 0.9:
        store.delete(one.id)
        store.restore(one.id)
    else:
        soon = clock.utc_now() + timedelta(hours=1)
        store.add(f"Ana is away {number}", subject="ana", expired_at=soon)
    store.episodes.add(f"Ana said tea {number}", source="chat", thread="t")


def test_a_chain_is_in_the_order_of_its_links_after_the_clock_was_set_back(
    store: Store, manual_clock: ManualClock
) -> None:
    oldest = store.add("Ana lives in Oslo", subject="ana")
    manual_clock.advance(DAYS_400)
    middle = store.add("Ana lives in Rome", subject="ana", supersedes=oldest.id)
    manual_clock.advance(-DAYS_400)
    newest = store.add("Ana lives in Bonn", subject="ana", supersedes=middle.id)
    for fact in (oldest, middle, newest):
        assert [one.id for one in store.history(fact.id)] == [oldest.id, middle.id, newest.id]


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_while_the_clock_jumps(
    seed: int, store: Store, embedder: WordEmbedder, manual_clock: ManualClock
) -> None:
    chance = random.Random(seed)
    jump = 0.0
    for number in range(60):
        act(store, chance, number)
        if chance.random() < 0.2:
            manual_clock.advance(-jump)
            jump = chance.choice([DAYS_400, -DAYS_400, 0.0])
            manual_clock.advance(jump)
    manual_clock.advance(-jump)
    store.file.embed_pending()
    assert store.file.doctor(deep=True) == []
    every = store.list(active_only=False, include_deleted=True, limit=1000)
    assert len({fact.uuid for fact in every}) == len(every)
    for fact in every:
        assert links_of(store.history(fact.id))
    said = [one.content for one in sorted(store.episodes.list(limit=1000), key=lambda e: e.seq)]
    assert said == [f"Ana said tea {number}" for number in range(60)]
    held = {fact.id for fact in store.list(limit=1000)}
    assert {hit.fact.id for hit in store.search("tea", limit=1000)} <= held
    assert store.file.reembed(embedder, again=True).generation.state == "active"
    with memstore.open(":memory:", embedder=None) as other:
        other.transfer.import_(store.transfer.export())
        assert other.file.doctor(deep=True) == []
        assert other.count() == store.count()
