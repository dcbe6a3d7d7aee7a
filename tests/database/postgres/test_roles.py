"""The role of the program reads, writes and erases, but cannot rewrite what was journalled."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from tests.support.clock import wait_until
from tests.support.postgres import psycopg

import memstore
from memstore.database.postgres import administration
from memstore.errors import StorageError

pytestmark = pytest.mark.process


@pytest.fixture
def app(url: str) -> Iterator[str]:
    """A role that has the rights of the program."""
    owner, app = (f"memstore_{which}_{secrets.token_hex(4)}" for which in ("owner", "app"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {owner}; CREATE ROLE {app} LOGIN")
        connection.execute(administration.roles_sql(owner, app))
        connection.execute(administration.roles_sql(owner, app))
    yield app
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f"REASSIGN OWNED BY {owner} TO CURRENT_USER; DROP OWNED BY {owner}, {app};"
            f"DROP ROLE {owner}, {app}"
        )


def test_the_program_does_everything_it_does(url: str, app: str) -> None:
    with memstore.open(url.replace("postgres:@", f"{app}@"), embedder=None) as store:
        old = store.add("old", subject="s", metadata={"a": 1})
        store.add("new", subject="s", supersedes=old.id)
        store.episodes.add("said", source="chat", tags=["t"])
        store.erase(old.id)
        assert [hit.fact.content for hit in store.search("new")] == ["new"]
        assert store.ledger.verify() == []
        assert store.file.doctor() == []
        assert [fact.content for fact in store.list()] == ["new"]


def test_the_program_has_the_rows_of_a_large_write_counted(url: str, app: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.info.server_version < 170000:
            pytest.skip("before PostgreSQL 17, only the owner of a table has it counted")
        with memstore.open(url.replace("postgres:@", f"{app}@"), embedder=None) as store:
            store.add_many(
                [memstore.NewFact(content=f"thing {n}", subject="s") for n in range(600)]
            )
        counted = (
            "SELECT bool_and(reltuples >= 600) FROM pg_class WHERE oid IN"
            " (to_regclass('memstore_facts'), to_regclass('memstore_journal'))"
        )
        assert wait_until(lambda: connection.execute(counted).fetchall() == [(True,)])


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM memstore_journal",
        "UPDATE memstore_journal SET actor = 'other'",
        "UPDATE memstore_journal SET hash = ''",
        "UPDATE memstore_journal SET id = id + 1",
        "DELETE FROM memstore_facts",
        "DELETE FROM memstore_episodes",
        "TRUNCATE memstore_journal",
        "DROP TABLE memstore_journal",
        "ALTER TABLE memstore_journal ADD COLUMN more text",
    ],
)
def test_the_program_cannot_rewrite_the_journal(url: str, app: str, statement: str) -> None:
    as_app = url.replace("postgres:@", f"{app}@")
    with memstore.open(as_app, embedder=None) as store:
        store.add("one", subject="s")
        with (
            psycopg.connect(as_app, autocommit=True) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(statement)
        assert store.ledger.verify() == []


def test_a_right_that_is_missing_is_named(url: str, app: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"REVOKE INSERT ON memstore_facts FROM {app}")
    with (
        memstore.open(url.replace("postgres:@", f"{app}@"), embedder=None) as store,
        pytest.raises(StorageError, match=r"lacks a right: .*memstore_facts"),
    ):
        store.add("one", subject="s")
