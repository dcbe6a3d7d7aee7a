"""A search begins with what is remembered of the tenant, and is done again if that has changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from tests.support import postgres
from tests.support.postgres import psycopg

import memstore
from memstore import Store
from memstore.database.engine import Outdated, Transaction
from memstore.database.postgres.engine import PostgresEngine
from memstore.database.postgres.remembered import Guessing

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgres.database() as found:
        yield found


@pytest.fixture
def stores(url: str, request: pytest.FixtureRequest) -> Iterator[tuple[Store, Store]]:
    """Two stores of one memory, which share no connections and remember nothing of each other."""
    apart = f"{url}&application_name=other"
    name = request.node.name
    with (
        memstore.open(url, namespace=name, embedder=None) as one,
        memstore.open(apart, namespace=name, embedder=None) as other,
    ):
        one.add("the quay is closed", subject="quay")
        yield one, other


def texts(store: Store, query: str) -> list[str]:
    return [hit.fact.content for hit in store.search(query)]


def test_what_another_process_committed_is_found_by_the_next_search(
    stores: tuple[Store, Store],
) -> None:
    one, other = stores
    for number in range(8):
        assert one.search("quay")
        other.add(f"boat {number} is at the quay", subject="boats")
        assert f"boat {number} is at the quay" in texts(one, f"boat {number}")


@pytest.mark.model
def test_a_warm_search_takes_two_round_trips(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with memstore.open(url, namespace="warm") as one:
        one.add("the quay is closed", subject="quay")
        one.add("the quay is open", subject="quay")
        one.search("quay")
        assert round_trips(one, monkeypatch) == ["a pipeline", "SELECT f.id"]


def round_trips(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what a search waits for."""
    sent: list[str] = []
    execute, pipeline = psycopg.Cursor.execute, psycopg.Connection.pipeline

    def executed(cursor: Any, text: Any, *rest: Any, **options: Any) -> Any:
        if cursor.connection.info.pipeline_status == psycopg.pq.PipelineStatus.OFF:
            sent.append(str(text)[:11])
        return execute(cursor, text, *rest, **options)

    def piped(connection: Any) -> Any:
        sent.append("a pipeline")
        return pipeline(connection)

    monkeypatch.setattr(psycopg.Cursor, "execute", executed)
    monkeypatch.setattr(psycopg.Connection, "pipeline", piped)
    assert len(texts(store, "quay")) == 2
    return sent


def test_an_error_of_a_wrong_guess_is_not_told(url: str, stores: tuple[Store, Store]) -> None:
    _, other = stores
    with closing(PostgresEngine(url, other.namespace)) as engine:
        with engine.read():
            pass
        other.add("the quay is open", subject="quay")
        with pytest.raises(Outdated), engine.read(may_repeat=True):
            raise ValueError("of what was remembered")
        with engine.read() as transaction:
            assert transaction.scalar("SELECT count(*) FROM memstore_facts") == 2
        with pytest.raises(ValueError, match="sound"), engine.read(may_repeat=True) as guess:
            raise_after(guess)


def raise_after(transaction: Transaction) -> None:
    transaction.scalar("SELECT count(*) FROM memstore_facts")
    raise ValueError("sound")


def test_after_each_wrong_guess_twice_as_many_are_left_out() -> None:
    guessing = Guessing()
    assert guessing.pays()
    for missed in range(1, 4):
        guessing.note(was_right=False)
        assert [guessing.pays() for _ in range(2**missed)] == [False] * (2**missed - 1) + [True]
    guessing.note(was_right=True)
    assert guessing.pays()
