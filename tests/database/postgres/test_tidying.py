"""What the server does after large writes, while the program goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.clock import wait_until
from tests.support.postgres import psycopg
from tests.support.sent import watched

import memstore
from memstore import NewFact, Store
from memstore.database.postgres import pools
from memstore.database.postgres.pools import MIN_ROWS, SHARE

pytestmark = pytest.mark.process

TIDY = """
SELECT c.reltuples, c.relallvisible >= c.relpages AND c.relpages > 0, s.vacuum_count
FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid WHERE c.relname = 'memstore_facts'
"""
"""How many facts the server expects, whether it knows all pages to be visible, and how often
somebody but its autovacuum had it look at them."""


@pytest.fixture
def connection(url: str) -> Iterator[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE memstore_facts SET (autovacuum_enabled = off)")
        connection.execute("VACUUM ANALYZE memstore_facts, memstore_episodes")
        yield connection
        connection.execute("ALTER TABLE memstore_facts RESET (autovacuum_enabled)")


def facts(number: int, start: int = 0) -> list[NewFact]:
    return [
        NewFact(content=f"thing {n} was seen", subject="s") for n in range(start, start + number)
    ]


def is_idle(store: Store) -> bool:
    pool = store.file.engine._pool  # type: ignore[attr-defined]
    return not pool.tidying._is_running


def test_a_large_write_is_tidied_up_and_a_small_one_is_not(url: str, connection: Any) -> None:
    # Rows are known to be visible when their commit is on the disk.
    synced = f"{url}{'&' if '?' in url else '?'}options=-c%20synchronous_commit%3Don"
    with memstore.open(synced) as store:
        store.add_many(facts(MIN_ROWS - 1))
        assert is_idle(store)
        [(_, _, before)] = connection.execute(TIDY).fetchall()
        store.add_many(facts(MIN_ROWS, MIN_ROWS))
        assert wait_until(lambda: is_idle(store))
        [(expected, is_visible, times)] = connection.execute(TIDY).fetchall()
        assert (expected, is_visible, times) == (2 * MIN_ROWS - 1, True, before + 1)


def test_writes_that_are_small_beside_the_table_are_added_up(url: str, connection: Any) -> None:
    with memstore.open(url) as store:
        store.add_many(facts(MIN_ROWS * (SHARE + 1)))
        assert wait_until(lambda: is_idle(store))
        [(_, _, before)] = connection.execute(TIDY).fetchall()
        counted = []
        for start in (100_000, 200_000):
            store.add_many(facts(MIN_ROWS, start))
            assert wait_until(lambda: is_idle(store))
            counted.append(connection.execute(TIDY).fetchall()[0][2] - before)
        assert counted == [0, 1]


def test_nobody_waits_for_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on = threading.Event()
    began = []

    def waiting(_: Any, inserted: int) -> bool:
        began.append(inserted)
        return may_go_on.wait(30)

    monkeypatch.setattr(pools.Tidying, "_tidied_after", waiting)
    with memstore.open(url) as store:
        store.add_many(facts(MIN_ROWS))
        assert wait_until(lambda: began == [MIN_ROWS])
        store.add_many(facts(MIN_ROWS, 1000))
        assert store.search("thing 7")
        may_go_on.set()
        assert wait_until(lambda: is_idle(store))
        assert began[1:] == [MIN_ROWS]  # the first write's rows were tidied up


def test_a_server_that_refuses_keeps_what_was_written(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "VACUUM", "VACUUM memstore_nothing")
    with memstore.open(url) as store:
        ids = [fact.id for fact in store.add_many(facts(MIN_ROWS))]
        assert wait_until(lambda: is_idle(store))
        assert store.get(ids[-1]).content == f"thing {MIN_ROWS - 1} was seen"
        assert store.add("another", subject="s")


@pytest.mark.usefixtures("connection")
def test_closing_does_not_wait_for_it(url: str) -> None:
    asked, may_go_on = threading.Event(), threading.Event()

    def waiting(connection: Any, statements: Any) -> None:
        if statements[0].text.startswith("VACUUM"):
            asked.set()
            assert may_go_on.wait(30)

    threads = [one for one in threading.enumerate() if one.name == "memstore-tidying"]
    with watched(before=waiting):
        with memstore.open(url) as store:
            store.add_many(facts(MIN_ROWS))
            assert asked.wait(30)
        assert not pools._pools
        may_go_on.set()
        assert wait_until(
            lambda: (
                [one for one in threading.enumerate() if one.name == "memstore-tidying"] == threads
            )
        )
