"""A process keeps the indexes that it used last, within a bound."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

import memstore
from memstore import InvalidArgument, Store, settings
from memstore.search.index import residents
from memstore.search.index.residents import BYTES_PER_ROW, Residents


class Held:
    def __init__(self) -> None:
        self.drops = 0

    def drop(self) -> None:
        self.drops += 1


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> Residents:
    monkeypatch.setenv("MEMSTORE_INDEX_MEMORY", "100B")
    return Residents()


def test_the_one_used_longest_ago_goes_first(bounded: Residents) -> None:
    first, second, third = Held(), Held(), Held()
    for one in (first, second, first, third):
        bounded.use(one, 40)
    assert [one.drops for one in (first, second, third)] == [0, 1, 0]
    assert bounded.bytes == 80


def test_one_that_is_larger_than_the_bound_stays_alone(bounded: Residents) -> None:
    small, large = Held(), Held()
    bounded.use(small, 40)
    bounded.use(large, 400)
    bounded.use(large, 400)
    assert (small.drops, large.drops, bounded.bytes) == (1, 0, 400)


def test_what_is_gone_takes_nothing(bounded: Residents) -> None:
    closed, dead = Held(), Held()
    bounded.use(closed, 40)
    bounded.use(dead, 40)
    bounded.forget(closed)
    del dead
    gc.collect()
    assert bounded.bytes == 0


@pytest.mark.parametrize(
    ("text", "size"), [("", 10**9), ("500MB", 5 * 10**8), ("1.5 gb", 15 * 10**8), ("2000", 2000)]
)
def test_the_bound_is_a_size(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTORE_INDEX_MEMORY", text)
    assert settings.max_index_bytes() == size


def test_a_bound_that_is_no_size_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTORE_INDEX_MEMORY", "much")
    with pytest.raises(InvalidArgument, match="must be a size such as 500MB"):
        settings.max_index_bytes()


def test_memories_are_found_above_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_store: Callable[..., Store]
) -> None:
    monkeypatch.setattr(residents.RESIDENTS, "_sizes", {})
    monkeypatch.setenv("MEMSTORE_INDEX_MEMORY", str(3 * BYTES_PER_ROW))
    stores = [memstore.open(tmp_path / f"{name}.db", embedder=None) for name in "abc"]
    for number, store in enumerate(stores):
        store.add(f"boat {number}", subject="s")
        store.add(f"mast {number}", subject="s")
    for _ in range(2):
        for number, store in enumerate(stores):
            assert [hit.fact.content for hit in store.search("boat")] == [f"boat {number}"]
            status = store.status()
            assert status.index_bytes == 2 * BYTES_PER_ROW
            assert status.max_index_bytes == 3 * BYTES_PER_ROW
    kept = [store.file.searches.facts.index._current is not None for store in stores]
    assert kept == [False, False, True]
    for store in stores:
        store.close()
    assert residents.RESIDENTS.bytes == 0
