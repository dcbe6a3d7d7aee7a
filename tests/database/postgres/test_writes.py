"""A write is one statement if it reads nothing, and locks its memory with its first query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from tests.support.clock import wait_until
from tests.support.postgres import psycopg, with_option
from tests.support.sent import watched

import memstore
from memstore import Store, StoreBusy
from memstore.database.writes import Insert

pytestmark = pytest.mark.process

LAST = 4
"""The id of the last fact of the fixture."""

JOINED = "WITH checked AS"
"""How a write begins that is one statement."""


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with memstore.open(url, embedder=None) as opened:
        first = opened.add("the quay is closed", subject="quay")
        opened.episodes.add("somebody said so", source="test")
        # What rarely changes is remembered from now on.
        opened.delete(opened.add("the quay is wet", subject="quay", supersedes=first.id).id)
        opened.tasks.create("look for the quay")
        opened.add("the quay is long", subject="quay")
        yield opened


@contextmanager
def sent() -> Iterator[list[list[str]]]:
    """Yield the statements of each round trip, by how they begin."""
    found: list[list[str]] = []
    with watched(before=lambda _, sent: found.append([one.text[: len(JOINED)] for one in sent])):
        yield found


WHOLE: dict[str, Callable[[Store], object]] = {
    "a fact without a vector": lambda store: store.add("a boat", subject="quay"),
    "an unsearched fact": lambda store: store.add("a boat", subject="quay", unsearched=True),
    "a task": lambda store: store.tasks.create("look for the boat"),
    "an episode": lambda store: store.episodes.add("the boat is gone", source="test"),
    "an episode with tags": lambda store: store.episodes.add("x", source="test", tags=["a", "b"]),
}


def pending(url: str) -> int:
    """Return how many vectors are waited for."""
    with psycopg.connect(url) as connection:
        return sum(
            connection.execute(
                f"SELECT count(*) FROM memstore_{owner}_vectors WHERE embedding IS NULL"
                " AND embed_attempts = 0"
            ).fetchone()[0]
            for owner in ("fact", "piece")
        )


@pytest.mark.parametrize("name", WHOLE)
def test_what_reads_nothing_is_one_statement(store: Store, url: str, name: str) -> None:
    before = pending(url)
    with sent() as trips:
        WHOLE[name](store)
    assert trips == [[JOINED]]
    assert store.ledger.verify() == []
    assert pending(url) == before + (name != "an unsearched fact")


READING: dict[str, Callable[[Store], object]] = {
    "a supersession": lambda store: store.add("the quay is open", subject="quay", supersedes=LAST),
    "a deletion": lambda store: store.delete(LAST),
    "a confirmation": lambda store: store.confirm(LAST),
    "metadata": lambda store: store.update_metadata(LAST, {"depth": 3}),
    "tags": lambda store: store.episodes.update(1, tags=["quay"]),
    "an idempotency key": lambda store: store.add("x", subject="quay", idempotency_key="x"),
    "a turn of a thread": lambda store: store.episodes.add("x", source="test", thread="talk"),
}


def test_nothing_is_kept_from_others_if_a_first_query_fails(url: str) -> None:
    with memstore.open(with_option(url, "pool_size=1"), embedder=None) as store:
        store.add("the quay is closed", subject="quay")
        engine = store.file.engine
        for _ in range(3):
            with pytest.raises(UnicodeEncodeError), engine.write() as transaction:
                transaction.one("SELECT id FROM memstore_facts WHERE content = :x", {"x": "\ud800"})
            with pytest.raises(UnicodeEncodeError), engine.read() as reading:
                reading.one("SELECT id FROM memstore_facts WHERE content = :x", {"x": "\ud800"})
        assert engine.connections["used"] == 0
        assert store.add("a boat", subject="quay").id == 2


@pytest.mark.parametrize("returning", ["", "id"])
def test_ids_that_a_first_statement_chooses_are_not_given_again(url: str, returning: str) -> None:
    with memstore.open(url, embedder=None) as store:
        first = store.add("the quay is closed", subject="quay")
        columns = {
            "id": 3,
            "uuid": first.uuid[:-4] + "0000",
            "namespace": store.namespace,
            "content": "a boat",
            "subject": "quay",
            "category": "note",
            "created_at": "2026-01-01T00:00:00.000000Z",
        }
        form = Insert("memstore_facts", tuple(columns), returning=returning)
        with store.file.engine.write() as transaction:
            assert (
                transaction.returned(form, columns) == [(3,)]
                if returning
                else (transaction.run(form, columns) == 1)
            )
        assert store.add("another boat", subject="quay").id == 4


@pytest.mark.parametrize("name", READING)
def test_what_reads_locks_with_its_first_query(store: Store, name: str) -> None:
    with sent() as trips:
        READING[name](store)
    lock = [one.startswith("SELECT version") for one in trips[0]].index(True)
    assert len(trips[0]) == lock + 2, "the query comes after the lock"
    assert sum(one.startswith("SELECT version") for trip in trips for one in trip) == 1
    assert trips[-1][-1] == "COMMIT"
    assert store.ledger.verify() == []


def test_a_supersession_waits_for_two_round_trips(store: Store) -> None:
    with sent() as trips:
        READING["a supersession"](store)
    assert len(trips) == 2


def test_a_query_sees_what_was_committed_while_its_lock_was_waited_for(
    store: Store, url: str
) -> None:
    """It is sent with the lock, and runs once the lock is held."""
    with (
        memstore.open(with_option(url, "application_name=other"), embedder=None) as other,
        psycopg.connect(url) as holder,
        ThreadPoolExecutor(1) as threads,
    ):
        other.add("a boat", subject="quay")  # it knows that the memory is there
        holder.execute("SELECT FROM memstore_tenants FOR UPDATE")
        deleted = threads.submit(other.delete, LAST)
        waiting = "SELECT 1 FROM pg_locks WHERE NOT granted"
        wait_until(lambda: holder.execute(waiting).fetchone() is not None)
        holder.execute("UPDATE memstore_facts SET content = 'the quay is open' WHERE id = 4")
        holder.commit()
        assert deleted.result().content == "the quay is open"


def test_a_busy_memory_is_waited_for_once(url: str) -> None:
    with memstore.open(url, embedder=None, wait_seconds=0.3) as store:
        store.add("the quay is closed", subject="quay")
        with psycopg.connect(url) as holder:
            holder.execute("SELECT FROM memstore_tenants FOR UPDATE")
            for change in (
                lambda: store.add("x", subject="y", supersedes=1),
                lambda: store.delete(1),
                lambda: store.episodes.add("x", source="test", thread="talk"),
                lambda: store.add_many([{"content": text, "subject": "y"} for text in "ab"]),
            ):
                with sent() as trips, pytest.raises(StoreBusy, match="another process"):
                    change()
                locks = [one for trip in trips for one in trip if one.startswith("SELECT version")]
                assert len(locks) == 1
        assert store.add("a boat", subject="quay").id == 2
