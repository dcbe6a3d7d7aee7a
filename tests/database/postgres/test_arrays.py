"""Columns of many rows are sent as binary arrays, and ahead of the others."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support import postgres
from tests.support.postgres import psycopg

import memstore
from memstore import NewFact
from memstore.database.postgres import pools, transaction
from memstore.database.postgres.arrays import array

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgres.database() as found:
        yield found


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("text", ["", 'say "hi", {ok}', "back\\slash", None, "日本 😀", "NULL"]),
        ("bigint", [0, -1, 2**63 - 1, -(2**63)]),
        ("bigint", [1, None, True]),
        ("bytea", [b"", None, bytes(range(256))]),
        ("double precision", [0.5, None, -1e300]),
        ("double precision", [0.5, 2]),
    ],
)
def test_an_array_arrives_as_it_was(url: str, type_: str, values: list[Any]) -> None:
    with psycopg.connect(url) as connection:
        pools.configure(connection)
        found = connection.execute(
            f"SELECT element FROM unnest(%s::{type_}[]) AS element", [array(values, type_)]
        ).fetchall()
    assert [row[0] for row in found] == values


def test_facts_that_are_sent_ahead_are_stored_or_not_as_one(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "AHEAD", 3)
    facts = [NewFact(content=f"fact {i}", subject="s", metadata={"n": i}) for i in range(10)]
    taken = NewFact(content="other", subject="s", idempotency_key="k")
    with memstore.open(url, embedder=None) as store:
        store.add("first", subject="s", idempotency_key="k")
        added = store.add_many(facts)
        assert [store.get(fact.id).content for fact in added] == [fact.content for fact in facts]
        assert len(store.list(filters={"n": 7})) == 1
        with pytest.raises(memstore.IdempotencyConflict):
            store.add_many([*facts, taken])
        assert len(store.list(limit=100)) == 11
        store.add("last", subject="s")
        assert store.ledger.verify() == []
        assert store.file.doctor(deep=True) == []


def test_what_the_server_refuses_of_facts_sent_ahead_stores_none(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "AHEAD", 3)
    facts = [NewFact(content=f"fact {i}", subject="s", thread="t", seq=i) for i in range(20)]
    chance = random.Random(1)
    long = {
        name: "".join(chr(chance.randrange(0x4E00, 0x9FA6)) for _ in range(500))
        for name in ("thread", "user_id", "agent_id", "run_id")
    }
    refused = NewFact(content="long", subject="s", seq=1, **long)
    with memstore.open(url, embedder=None, namespace="refused") as store:
        store.add("first", subject="s")
        for place in (0, 4, 19):
            with pytest.raises(memstore.StorageError):
                store.add_many([*facts[:place], refused, *facts[place:]])
        assert store.count() == 1
        store.add_many(facts)
        assert store.count() == 21
        assert store.ledger.verify() == []
