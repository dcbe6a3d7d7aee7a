"""Each statement is answered by one partition, when the tables are divided by the tenant.

So it would be by one shard of a distributed server: the plans of the statements that are sent name
the parts of one partition only. ``pytest --engine postgres --partitions`` runs other tests so.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support import postgres
from tests.support.postgres import psycopg

import memstore
from memstore.database.postgres import checks
from memstore.database.postgres.address import DatabaseAddress

partitions = pytest.importorskip("tests.support.partitions", reason="needs psycopg")

pytestmark = pytest.mark.process


@pytest.fixture
def divided() -> Iterator[str]:
    """A database whose tables are divided by a hash of the tenant."""
    with postgres.database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(partitions.schema(connection.info.server_version))
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
        store.sources.distrust("web:a.org")
        store.sources.trust("web:a.org")
        store.file.tokens.create("t", namespace=namespace, access="read")
        store.graph.build()
        assert store.search("quay")
        assert store.episodes.search("quay")
        assert store.list(filters={"n": 1.5}, active_only=False)
        store.history(old.id)
        store.ledger.support(new.id)
        store.ledger.explain(new.id)
        store.recall("the quay", max_tokens=100)
        store.status()
        assert store.as_of("op:2").list()
        lines = list(store.file.export())
        assert store.ledger.verify() == []
        assert store.file.doctor(deep=True) == []
        store.file.write_use_counts()
    return lines


def test_each_statement_is_answered_by_one_partition(divided: str) -> None:
    plans = partitions.Plans()
    with plans.collected():
        lines = use(divided, "a")
        with memstore.open(divided, namespace="b", embedder=None) as store:
            store.file.import_(lines, namespace="b")
            assert store.ledger.verify() == []
        checks.run(DatabaseAddress(divided))
    plans.close()
    assert len(plans.parts) > 100
    assert any(text.startswith("WITH now AS (INSERT INTO memstore_facts") for text in plans.parts)
    assert plans.scattered == {}
    many = {text for text, parts in plans.parts.items() if len(parts) > 1}
    assert many == partitions.ADMINISTRATORS.keys()
    assert plans.unexplained == {}
