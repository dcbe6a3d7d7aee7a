"""One key on several devices: who keeps it, whatever came first, also after an erasure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.support.random_calls import SECRETS
from tests.support.syncing import Shelf, all_facts, device_of, differences, sync

from memstore import Store
from memstore.errors import IdempotencyConflict

KEY = "key"
SECRET = "the safe opens with 8431"


def meet(shelf: Shelf, *stores: Store) -> None:
    for store in stores:
        sync(store, shelf.view().own(device_of(store)))


@pytest.fixture(params=["abc", "cab", "cba"])
def ordered(
    request: pytest.FixtureRequest, open_store: Callable[..., Store], tmp_path: Path
) -> Sequence[Store]:
    """Three devices, in the order in which they act; they meet in that of their names."""
    stores = {
        name: open_store(tmp_path / f"{name}.db", embedder=None, durability="normal")
        for name in "abc"
    }
    return [stores[name] for name in request.param]


def all_meet(shelf: Shelf, stores: Sequence[Store]) -> None:
    by_name = sorted(stores, key=lambda store: store.path)
    meet(shelf, *by_name, *by_name)
    assert [*differences(by_name)] == []
    assert all(store.ledger.verify() == [] for store in stores)


def test_an_episode_that_was_recorded_first_keeps_its_key(ordered: Sequence[Store]) -> None:
    shelf, texts = Shelf(), ["a turn", "a turn", "another turn"]
    for store, text in zip(ordered, texts, strict=True):
        store.episodes.add(text, source="chat", idempotency_key=KEY)
    first = ordered[0].episodes.by_keys([KEY])[KEY]
    all_meet(shelf, ordered)
    for store in ordered:
        assert store.episodes.by_keys([KEY])[KEY].uuid == first.uuid
        found = {one.content for one in store.episodes.list()}
        assert (len(store.episodes.list()), found) == (2, {"a turn", "another turn"})
        with pytest.raises(IdempotencyConflict):
            store.episodes.add("another turn", source="chat", idempotency_key=KEY)


def test_an_episode_has_the_key_of_one_that_was_erased(ordered: Sequence[Store]) -> None:
    shelf = Shelf()
    for number, store in enumerate(ordered):
        store.episodes.add(f"turn {number}", source="chat", idempotency_key=KEY)
    second = ordered[1].episodes.by_keys([KEY])[KEY]
    all_meet(shelf, ordered)
    ordered[2].episodes.erase(ordered[2].episodes.by_keys([KEY])[KEY].id)
    all_meet(shelf, ordered)
    for store in ordered:
        assert store.episodes.by_keys([KEY])[KEY].uuid == second.uuid


def test_a_fact_has_the_key_of_one_that_was_erased(ordered: Sequence[Store]) -> None:
    shelf = Shelf()
    for number, store in enumerate(ordered):
        store.add(f"event {number}", subject="s", idempotency_key=KEY)
    all_meet(shelf, ordered)
    ordered[2].erase(ordered[2].add("event 0", subject="s", idempotency_key=KEY).id)
    all_meet(shelf, ordered)
    for store in ordered:
        assert store.add("event 1", subject="s", idempotency_key=KEY).content == "event 1"
        assert store.count() == 2


def test_of_facts_of_one_key_that_say_the_same_the_first_stands(ordered: Sequence[Store]) -> None:
    shelf = Shelf()
    for store in ordered:
        store.add("an event", subject="s", idempotency_key=KEY)
    [first] = ordered[0].list()
    all_meet(shelf, ordered)
    assert [[one.uuid for one in store.list()] for store in ordered] == [[first.uuid]] * 3
    ordered[1].erase(ordered[1].list()[0].id)
    all_meet(shelf, ordered)
    assert [store.count() for store in ordered] == [0, 0, 0]


@pytest.mark.parametrize("is_planned", [False, True])
def test_what_was_heard_on_several_devices_is_erased_as_one(
    ordered: Sequence[Store], is_planned: bool
) -> None:
    shelf = Shelf()
    for store in ordered:
        store.add(SECRET, subject="safe")
        store.episodes.add(SECRET, source="chat", idempotency_key=KEY)
    all_meet(shelf, ordered)
    by = ordered[1]
    [fact], [episode] = by.list(), by.episodes.list()
    if is_planned:
        by.ledger.erasure(facts=[fact.id]).apply()
        by.ledger.erasure(episode=episode.id).apply()
    else:
        by.erase(fact.id)
        by.episodes.erase(episode.id)
    all_meet(shelf, ordered)
    for store in ordered:
        assert [fact.status for fact in all_facts(store)] == ["erased"] * 3
        assert store.episodes.list() == []


@pytest.mark.parametrize("key", [None, KEY])
def test_what_was_said_with_a_secret_stays_where_it_was_said(
    ordered: Sequence[Store], key: str | None
) -> None:
    shelf = Shelf()
    for store, secret in zip(ordered, (SECRETS[0], SECRETS[0], SECRETS[1]), strict=True):
        store.add(f"the token is {secret}", subject="token", idempotency_key=key)
        store.episodes.add(f"take {secret}", source="chat", idempotency_key=key)
    all_meet(shelf, ordered)
    for store, secret in zip(ordered, (SECRETS[0], SECRETS[0], SECRETS[1]), strict=True):
        for found in (store.list(), store.episodes.list()):
            texts = [one.content for one in found]
            assert len([one for one in texts if "[redacted github-pat]" in one]) == 2
            assert len([one for one in texts if secret in one]) == 1
