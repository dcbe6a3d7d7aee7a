"""Words that a second connection looks up in parallel with the vectors, in the same snapshot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from tests.database.postgres.test_row_security import guarded
from tests.support import pgbouncer
from tests.support.clock import wait_until
from tests.support.embedders import WordEmbedder
from tests.support.postgres import psycopg, with_option
from tests.support.sent import watched

import memstore
from memstore import NewFact, Store
from memstore.database.postgres import parallel
from memstore.database.postgres.address import POOL_SIZE
from memstore.database.postgres.connection import Sent
from memstore.search.index import index as module
from memstore.search.index.index import Index
from memstore.search.lookups.database import DatabaseLookup

pytestmark = pytest.mark.process

__all__ = ["guarded"]

QUERY = "the blue boat 33"


@pytest.fixture(autouse=True)
def provisional(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every search answered by the server."""
    monkeypatch.setattr(module, "AT_ONCE", 0)
    monkeypatch.setattr(Index, "_work_behind", lambda _: None)


@contextmanager
def opened(url: str) -> Iterator[Store]:
    with memstore.open(url, embedder=WordEmbedder()) as store:
        store.add_many(
            [NewFact(content=f"The boat {n} is blue", subject=f"boat {n}") for n in range(40)]
        )
        yield store


class Seen(NamedTuple):
    """The connections of a search."""

    second: list[Any]
    """Those that took a snapshot, to answer in parallel."""
    words: list[Any]
    """Those over which words were asked for."""


@contextmanager
def before_words(act: Callable[[Any], object] = lambda _: None) -> Iterator[Seen]:
    """Do something just before a second connection takes the snapshot.

    The vectors, however few, are only looked up when it has been asked, or when it failed.
    """
    seen = Seen([], [])
    asked = threading.Event()

    def look(connection: Any, statements: Sequence[Sent]) -> None:
        if any(one.text.startswith("SET TRANSACTION SNAPSHOT") for one in statements):
            seen.second.append(connection)
            act(connection)
        if any("nearness" in one.text for one in statements):
            seen.words.append(connection)
            asked.set()

    near = DatabaseLookup.near

    def later(self: DatabaseLookup[Any], *given: Any) -> Any:
        assert wait_until(lambda: asked.is_set() or not running())
        return near(self, *given)

    with watched(before=look), pytest.MonkeyPatch.context() as patched:
        patched.setattr(DatabaseLookup, "near", later)
        yield seen


def running() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == parallel.THREAD]


def found(store: Store, query: str = QUERY) -> list[str]:
    hits = store.search(query)
    assert hits.provisional
    return [hit.fact.content for hit in hits]


def test_the_answer_is_the_same_as_one_after_the_other(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(url) as store, before_words() as seen:
        together = found(store)
        assert seen.words == seen.second != []
        monkeypatch.setattr(DatabaseLookup, "words_in_parallel", lambda *_: None)
        assert found(store) == together
        assert len(seen.second) == 1
        assert len(seen.words) == 2


def test_both_connections_see_the_same_snapshot(url: str) -> None:
    new = [NewFact(content=f"The {QUERY} came", subject=f"new {n}") for n in range(5)]
    with opened(url) as store:
        was = found(store)
        with (
            memstore.open(url, embedder=WordEmbedder()) as other,
            before_words(lambda _: other.add_many(new)) as seen,
        ):
            assert found(store) == was
            assert seen.words == seen.second != []
        assert found(store) != was


def test_several_queries_are_one_message(url: str) -> None:
    queries = ["the blue boat 3", "boat 17", "->", "boat 17"]
    with opened(url) as store:
        with before_words() as seen:
            together = store.search_batch(queries)
        assert seen.words == seen.second
        assert len(seen.second) == 1
        assert [[h.fact.id for h in hits] for hits in together] == [
            [h.fact.id for h in store.search(query)] for query in queries
        ]


def test_a_connection_that_breaks_costs_no_answer(url: str) -> None:
    with opened(url) as store:
        was = found(store)

        def cut(connection: Any) -> None:
            with psycopg.connect(url, autocommit=True) as administrator:
                administrator.execute(
                    "SELECT pg_terminate_backend(%s)", [connection.info.backend_pid]
                )

        with before_words(cut) as seen:
            assert found(store) == was
        assert len(seen.second) == 1
        assert seen.words[-1] not in seen.second
        assert found(store) == was


def test_a_search_does_not_wait_for_a_second_connection(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "WAIT_SECONDS", 3600.0)  # a search that waits does not end
    seen: list[str] = []
    with (
        opened(with_option(url, "pool_size=1")) as store,
        watched(before=lambda _, statements: seen.extend(one.text for one in statements)),
    ):
        assert found(store)
        assert found(store)
    assert seen.count(parallel.EXPORT) == 2
    assert not any(text.startswith("SET TRANSACTION SNAPSHOT") for text in seen)


def test_a_search_does_not_wait_for_a_connection_of_a_pooler(url: str) -> None:
    with opened(url) as store:
        was = found(store)
    with (
        pgbouncer.before(url, size=1) as (host, port),
        memstore.open(pgbouncer.through(url, host, port), embedder=WordEmbedder()) as store,
    ):
        assert found(store) == was
        assert found(store) == was


def test_a_search_does_not_wait_for_a_lock_of_a_table(url: str) -> None:
    with (
        opened(url) as store,
        psycopg.connect(url) as owner,
        psycopg.connect(url, autocommit=True) as administrator,
        ThreadPoolExecutor(1) as threads,
    ):
        was = found(store)
        locked = []

        def lock(_: Any) -> None:
            locked.append(threads.submit(owner.execute, "LOCK TABLE memstore_facts"))
            waiting = "SELECT 1 FROM pg_locks WHERE NOT granted"
            assert wait_until(lambda: administrator.execute(waiting).fetchone() is not None)

        with before_words(lock) as seen:
            assert found(store) == was
        assert len(seen.second) == 1
        assert seen.words[-1] not in seen.second
        locked[0].result(20)


def test_without_another_thread_the_read_asks_itself(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start
    refused = []

    def refuse(thread: threading.Thread) -> None:
        if thread.name == parallel.THREAD:
            refused.append(thread)
            raise RuntimeError("can't start new thread")
        start(thread)

    with opened(url) as store:
        was = found(store)
        monkeypatch.setattr(threading.Thread, "start", refuse)
        assert found(store) == was
        assert len(refused) == 1


def test_a_failure_in_the_thread_costs_no_answer_and_prints_nothing(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: Any) -> Any:
        raise OverflowError("not a number of the server")

    with opened(url) as store:
        was = found(store)
        with before_words(failing) as seen:
            assert found(store) == was
        assert len(seen.second) == 1
        assert seen.words[-1] not in seen.second
    assert "Traceback" not in capsys.readouterr().err


def test_what_is_not_asked_leaves_nothing_behind(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> Any:
        raise ZeroDivisionError

    with opened(url) as store:
        was = found(store)
        with monkeypatch.context() as patched:
            patched.setattr(DatabaseLookup, "near", failing)
            for _ in range(POOL_SIZE + 1):
                with pytest.raises(ZeroDivisionError):
                    store.search(QUERY)
        for thread in running():
            thread.join(20)
        assert wait_until(lambda: store.file.engine.connections["used"] == 0)
        assert found(store) == was


def test_a_server_with_policies_answers_it(guarded: str) -> None:
    with before_words() as seen, opened(guarded) as store:
        hits = found(store)
        assert hits[0] == "The boat 33 is blue"
    assert seen.words == seen.second != []
