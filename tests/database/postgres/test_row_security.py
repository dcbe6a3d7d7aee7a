"""With row-level security, the server itself keeps tenants apart, whatever statement is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.embedders import WordEmbedder
from tests.support.postgres import a_role, as_user, psycopg

import memstore
from memstore import Conflict
from memstore.database.postgres import row_security
from memstore.database.postgres.schema import tables
from memstore.store import servers

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    """A database with policies, as the program's role opens it, and two memories in it."""
    from tests.support import postgres

    with postgres.database() as url, a_role(url) as (owner, app):
        servers.init(url, roles=(owner, app), row_level_security=True)
        servers.init(url, roles=(owner, app), row_level_security=True)
        yield as_user(url, app)


def test_the_library_works_with_it(guarded: str) -> None:
    with (
        memstore.open(guarded, namespace="a", embedder=WordEmbedder()) as a,
        memstore.open(guarded, namespace="b", embedder=None) as b,
    ):
        old = a.add("The quay is closed", subject="quay", metadata={"n": 1})
        a.add("The quay is open", subject="quay", supersedes=old.id)
        for number in range(4):  # then an addition is one statement, without a transaction block
            a.add(f"boat {number}", subject="boats")
        a.add_many(
            [memstore.NewFact(content=f"mast {number}", subject="masts") for number in range(3)]
        )
        a.episodes.add("said at the quay", source="chat", tags=["t"])
        a.erase(a.add("to be erased", subject="gone").id)
        b.add("of b", subject="quay")
        assert [hit.fact.content for hit in a.search("quay open")][:1] == ["The quay is open"]
        assert [fact.content for fact in b.list()] == ["of b"]
        for store in (a, b):
            assert store.ledger.verify() == []
            assert store.file.doctor() == []
        with pytest.raises(Conflict, match="belongs to the memory 'b'"):
            a.within("b").list()
        with pytest.raises(Conflict, match="belongs to the memory 'b'"):
            a.within("b").add("not stored", subject="s")
    with memstore.open(guarded, namespace="a", embedder=None) as again:
        assert len(again.list()) == 8


def name_tenant(connection: Any, tenant: str) -> None:
    naming = row_security.naming(tenant)
    psycopg.RawCursor(connection).execute(naming.text, naming.values)


def test_no_statement_reaches_the_rows_of_another_tenant(guarded: str) -> None:
    with memstore.open(guarded, namespace="c", embedder=None) as store:
        store.add("of c", subject="s", metadata={"k": 1})
    with psycopg.connect(guarded) as connection:
        for name in (*tables.rows(), *tables.views()):
            seen = connection.execute(f"SELECT count(*) FROM {name}").fetchone()
            assert seen == (0,), f"{name} without a tenant"
        name_tenant(connection, "d")
        for name in (*tables.rows(), *tables.views()):
            seen = connection.execute(f"SELECT count(*) FROM {name}").fetchone()
            assert seen == (0,), name
        changed = connection.execute("UPDATE memstore_facts SET content = 'x' WHERE tenant = 'c'")
        assert changed.rowcount == 0
        assert connection.execute("DELETE FROM memstore_counts").rowcount == 0
        for statement in (
            "INSERT INTO memstore_meta (tenant, key, value) VALUES ('c', 'k', 'v')",
            "INSERT INTO memstore_namespaces (namespace, tenant) VALUES ('mine', 'c')",
        ):
            with (
                pytest.raises(psycopg.errors.InsufficientPrivilege),
                connection.transaction(),
            ):
                connection.execute(statement)
        name_tenant(connection, "c")
        assert connection.execute("SELECT content FROM memstore_facts").fetchall() == [("of c",)]


def test_a_connection_of_a_pool_keeps_no_tenant(guarded: str) -> None:
    with psycopg.connect(guarded) as connection:
        name_tenant(connection, "c")
        connection.commit()
        assert connection.execute("SELECT count(*) FROM memstore_facts").fetchone() == (0,)
