"""What the server reads for a memory that its statistics do not know, as it is newer than they."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.postgres import psycopg

import memstore
from memstore import NewFact
from memstore.database.postgres import pools
from memstore.database.postgres.transaction import PostgresTransaction
from memstore.search.index import index
from memstore.search.lookups import database

pytestmark = pytest.mark.process

FACTS = 300

COUNTED = """
INSERT INTO memstore_facts
    (tenant, id, content, subject, category, created_at, namespace, uuid)
SELECT 'counted ' || n % {0}, n, '', 's', 'note', '2026-01-01T00:00:00.000000Z', 'counted', n
FROM generate_series(1, 2000) AS n;
INSERT INTO memstore_fact_vectors (tenant, generation_id, fact_id, embedding, code)
SELECT 'counted ' || n % {0}, 1, n, '', B'' FROM generate_series(1, 2000) AS n;
ANALYZE
"""
"""Memories that the server's statistics know."""


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def looked_at(node: dict[str, Any]) -> float:
    """Return how many rows a part of a plan had before it."""
    removed = sum(number for key, number in node.items() if key.startswith("Rows Removed"))
    return float((node["Actual Rows"] + removed) * node["Actual Loops"])


@pytest.mark.parametrize("builds", [True, False], ids=["indexed", "provisional"])
def test_the_first_search_of_a_new_memory_pairs_no_row_with_each(
    url: str, monkeypatch: pytest.MonkeyPatch, builds: bool
) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(COUNTED.format(1))
    with memstore.open(url, namespace="new") as store:
        store.add_many([NewFact(content=f"thing {n} was seen", subject="s") for n in range(FACTS)])
    sent: list[tuple[str, list[object]]] = []
    bound_of = PostgresTransaction._bound_of

    def noting(self: Any, statement: Any, text: Any, parameters: Any) -> list[object]:
        values = bound_of(self, statement, text, parameters)
        sent.append((statement.text, values))
        return values

    with memstore.open(url, namespace="new") as store:
        monkeypatch.setattr(PostgresTransaction, "_bound_of", noting)
        if not builds:
            monkeypatch.setattr(index, "AT_ONCE", 0)
            monkeypatch.setattr(index.Index, "_work_behind", lambda _: None)
            monkeypatch.setattr(database, "COMPARED", FACTS // 2)
        assert store.search("thing 7 was seen").provisional is not builds
        monkeypatch.undo()
    with psycopg.connect(url, autocommit=True) as connection:
        pools.configure(connection)
        most = []
        for query, params in sent:
            cursor = psycopg.RawCursor(connection)
            explained = cursor.execute(f"EXPLAIN (ANALYZE, FORMAT json) {query}", params or None)
            [(found,)] = explained.fetchall()
            most.append((max(map(looked_at, nodes(found[0]["Plan"]))), query))
    assert max(most)[0] >= FACTS
    times = 2 if builds else 4  # each word's rows are read
    assert [found for found in most if found[0] > times * FACTS] == []


def test_the_server_expects_a_new_memory_to_be_like_others(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(COUNTED.format(10))
        for table in ("memstore_facts", "memstore_fact_vectors"):
            [(found,)] = connection.execute(
                f"EXPLAIN (FORMAT json) SELECT * FROM {table} WHERE tenant = 'new'"
            ).fetchall()
            assert 100 < found[0]["Plan"]["Plan Rows"] < 400
