"""Searches of one process that find the index taken: they wait without a connection."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.support.clock import wait_until
from tests.support.postgres import psycopg  # noqa: F401 - skips these tests without it
from tests.support.programs import Letters
from tests.support.sent import asked, watched

import memstore
from memstore import Store
from memstore.database.postgres.connection import Sent
from memstore.database.postgres.tenant_cache import Confidence
from memstore.search.index.index import SharedLock

pytestmark = pytest.mark.process

THREADS = 3


@pytest.fixture
def store(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A memory with an index; each of its searches begins with asking the server."""
    monkeypatch.setattr(Confidence, "pays", lambda _: False)
    with memstore.open(url, embedder=Letters()) as store:
        store.add_many([{"content": f"thing {n}", "subject": "s"} for n in range(20)])
        assert not store.search("thing 3").provisional
        yield store


@pytest.fixture
def waiting(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[SharedLock]:
    """Has a note for each search that waits at the index."""
    lock, enter = store.file.searches.facts.index._lock, SharedLock.enter
    found: list[SharedLock] = []

    def entering(self: SharedLock, *, at_once: bool = False) -> None:
        if self is lock and not at_once:
            found.append(self)
        enter(self, at_once=at_once)

    monkeypatch.setattr(SharedLock, "enter", entering)
    return found


def used(store: Store) -> int:
    return store.file.engine.connections["used"]


def nobody_is_inside(store: Store) -> bool:
    with store.file.searches.facts.index._lock.alone(at_once=True):
        return used(store) == 0


def test_they_go_on_together(store: Store, waiting: list[SharedLock]) -> None:
    together = threading.Barrier(THREADS)

    def look(_: Any, statements: Sequence[Sent]) -> None:
        if any(asked(one.text).startswith("SELECT f.id, f.uuid") for one in statements):
            together.wait(20)  # all of them are inside

    with watched(before=look), ThreadPoolExecutor(THREADS) as threads:
        with store.file.searches.facts.index._lock.alone():
            found = [threads.submit(store.search, "thing 3") for _ in range(THREADS)]
            assert wait_until(lambda: len(waiting) == THREADS and used(store) == 0)
        answers = [one.result(30)[0].fact.content for one in found]
    assert answers == ["thing 3"] * THREADS
    assert nobody_is_inside(store)


def test_they_find_what_was_added_meanwhile(
    store: Store, url: str, waiting: list[SharedLock]
) -> None:
    with memstore.open(url, embedder=Letters()) as other, ThreadPoolExecutor(THREADS) as threads:
        with store.file.searches.facts.index._lock.alone():
            found = [threads.submit(store.search, "zebra") for _ in range(THREADS)]
            assert wait_until(lambda: len(waiting) == THREADS and used(store) == 0)
            other.add("the zebra came", subject="s")
        answers = [one.result(30)[0].fact.content for one in found]
    assert answers == ["the zebra came"] * THREADS
    assert nobody_is_inside(store)


def test_one_that_fails_leaves_nobody_inside(
    store: Store, waiting: list[SharedLock], monkeypatch: pytest.MonkeyPatch
) -> None:
    index = store.file.searches.facts.index
    span = index._span

    def failing(transaction: Any) -> Any:
        found = span(transaction)
        if waiting:
            raise ZeroDivisionError
        return found

    monkeypatch.setattr(index, "_span", failing)
    with ThreadPoolExecutor(1) as threads:
        with index._lock.alone():
            found = threads.submit(store.search, "thing 3")
            assert wait_until(lambda: waiting and used(store) == 0)
        with pytest.raises(ZeroDivisionError):
            found.result(20)
    assert nobody_is_inside(store)
