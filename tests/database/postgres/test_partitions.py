"""Each statement is answered by one partition, when the tables are divided by the tenant.

So it would be by one shard of a distributed server: the plans of the statements that are sent name
the parts of one partition only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support import postgres
from tests.support.postgres import psycopg

import memstore
from memstore.database.postgres import pools
from memstore.database.postgres.schema import tables

pytestmark = pytest.mark.process

PARTS = 4
TABLE = re.compile(r"CREATE TABLE (memstore_\w+) \(.*?\n\);", re.DOTALL)
EXPLAINED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")


@pytest.fixture
def divided() -> Iterator[str]:
    """A database whose tables are divided by a hash of the tenant."""

    def parted(found: re.Match[str]) -> str:
        if found[1] in tables.SHARED:
            return found[0]
        parts = (
            f"CREATE TABLE {found[1]}_part_{number} PARTITION OF {found[1]}"
            f" FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {number});"
            for number in range(PARTS)
        )
        return "\n".join([f"{found[0][:-1]} PARTITION BY HASH (tenant);", *parts])

    with postgres.database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            if connection.info.server_version < 170000:
                pytest.skip("divided tables have no identity columns before PostgreSQL 17")
            connection.execute(TABLE.sub(parted, tables.text()))
        yield url


def use(url: str, namespace: str) -> list[str]:
    """Do something of nearly everything; return the memory as an export."""
    with memstore.open(url, namespace=namespace, embedder=None) as store:
        old = store.add("The quay is closed", subject="quay", metadata={"n": 1.5, "ok": True})
        new = store.add("The quay is open", subject="quay", supersedes=old.id)
        store.add("tea", subject="ana", category="preference", user_id="ana", valid_at="2026-01-01")
        store.episodes.add("We met at the quay. It rained.", source="web:a.org", tags=["a", "b"])
        gone = store.add("erased words", subject="gone", idempotency_key="k")
        store.delete(gone.id)
        store.restore(gone.id)
        store.erase(gone.id)
        store.confirm(new.id)
        store.pin(new.id)
        store.tasks.create("paint the boat")
        store.distrust("web:a.org")
        store.trust("web:a.org")
        store.file.tokens.create("t", namespace=namespace, access="read")
        store.graph.build()
        assert store.search("quay")
        assert store.episodes.search("quay")
        assert store.list(filters={"n": 1.5}, active_only=False)
        store.history(old.id)
        store.support(new.id)
        store.explain(new.id)
        store.recall("the quay", max_tokens=100)
        store.status()
        assert store.as_of("op:2").list()
        lines = list(store.file.export())
        assert store.verify() == []
        assert store.file.examine(deep=True) == []
        store.file.write_use_counts()
    return lines


def test_each_statement_is_answered_by_one_partition(
    divided: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = psycopg.Cursor.execute
    explained: dict[str, set[str]] = {}
    with psycopg.connect(divided, autocommit=True) as apart:
        pools.configure(apart)

        def explain(cursor: Any, query: Any, params: Any = None, **options: Any) -> Any:
            text = str(query)
            if text.startswith(EXPLAINED) and "memstore_" in text:
                plan = run(type(cursor)(apart), f"EXPLAIN {text}", params).fetchall()
                explained.setdefault(text, set()).update(re.findall(r"_part_(\d)", str(plan)))
            return run(cursor, query, params, **options)

        monkeypatch.setattr(psycopg.Cursor, "execute", explain)
        lines = use(divided, "a")
        with memstore.open(divided, namespace="b", embedder=None) as store:
            store.file.import_(lines, namespace="b")
            assert store.verify() == []
        monkeypatch.undo()
    assert len(explained) > 100
    assert any(text.startswith("WITH now AS (INSERT INTO memstore_facts") for text in explained)
    assert {text: parts for text, parts in explained.items() if len(parts) > 1} == {}
