"""Checks whether a database can keep memories, from this machine and as this user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from psycopg import sql

from memstore.database.migrations import VERSION
from memstore.database.postgres import pools, row_security, structure
from memstore.database.postgres.failures import PostgresErrors
from memstore.database.postgres.schema import tables
from memstore.domain import clock
from memstore.errors import StorageError
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from memstore.database.postgres.address import DatabaseAddress

State: TypeAlias = Literal["right", "weak", "wrong"]
"""``weak`` works, with a danger that the operator should know."""

MAX_CLOCK_SECONDS: Final = 2.0
"""How far the clocks may be apart: machines compare times of each other, for leases and expiry."""

RIGHTS: Final = ("SELECT", "INSERT", "UPDATE", "DELETE")


@frozen
class Checked:
    """One thing that was checked."""

    name: str
    """What was checked, such as ``clock``."""
    state: State
    text: str
    """What was found."""


def run(address: DatabaseAddress) -> list[Checked]:
    """Check a database; nothing is changed. After a failure that hides the rest, it ends."""
    try:
        connection = pools.connect(address)
    except StorageError as error:
        return [Checked("address", "wrong", str(error))]
    with connection, PostgresErrors():
        found = [Checked("address", "right", f"{address.shown} answers")]
        found += [*_server(connection)]
        if any(one.state == "wrong" for one in found):
            return found
        has_tables = _scalar(connection, "SELECT to_regclass('memstore_tenants') IS NOT NULL")
        found += _schema(connection) if has_tables else [_no_schema(connection)]
        found.append(_clock(connection))
        found += _durability(connection)
        found.append(_connections(connection, address.pool_size))
        if has_tables:
            found += _row_security(connection)
        seen = _scalar(connection, "SELECT pg_backend_pid()")
        found.append(pooler(connection.info.backend_pid == seen, address.prepare_threshold))
    return found


def _server(connection: psycopg.Connection[Any]) -> Iterator[Checked]:
    version = connection.info.server_version
    yield Checked(
        "version",
        "right" if version >= pools.MIN_VERSION else "wrong",
        f"PostgreSQL {version // 10000}; {pools.MIN_VERSION // 10000} or newer is needed",
    )
    encoding = connection.info.parameter_status("server_encoding")
    yield Checked(
        "encoding", "right" if encoding == "UTF8" else "wrong", f"{encoding}; UTF8 is needed"
    )


def _no_schema(connection: psycopg.Connection[Any]) -> Checked:
    where = _scalar(connection, "SELECT current_schema()")
    if where is None:
        return Checked("schema", "wrong", "no schema of the search path exists, or may be used")
    may = _scalar(
        connection, "SELECT has_schema_privilege(current_schema(), 'CREATE') AND NOT"
        " pg_is_in_recovery()"
    )  # fmt: skip
    does = "may" if may else "may not"
    text = f"there are no tables yet, and this user {does} create them in {where}"
    return Checked("schema", "wrong", text)


def _schema(connection: psycopg.Connection[Any]) -> Iterator[Checked]:
    if missing := structure.missing(connection):
        yield Checked("schema", "wrong", f"missing: {', '.join(missing)}")
        return
    yield Checked("schema", "right", "every table, view and index is there")
    yield from _versions(connection)
    yield from _rights(connection)


def _versions(connection: psycopg.Connection[Any]) -> Iterator[Checked]:
    if not _may(connection, "memstore_version", "SELECT") or _hides_rows(connection):
        return  # each memory is checked when it is opened
    rows = connection.execute("SELECT DISTINCT version FROM memstore_version").fetchall()
    others = sorted(version for (version,) in rows if version != VERSION)
    yield Checked(
        "migrations",
        "wrong" if others else "right",
        f"memories have schema version {', '.join(map(str, others or [VERSION]))}; this program "
        f"has {VERSION}",
    )


def _rights(connection: psycopg.Connection[Any]) -> Iterator[Checked]:
    kept: dict[str, tuple[str, ...]] = {"memstore_journal": ("SELECT", "INSERT")}
    kept |= dict.fromkeys(("memstore_facts", "memstore_episodes"), RIGHTS[:3])
    lacking = [
        f"{right} on {table}"
        for table in tables.rows()
        for right in kept.get(table, RIGHTS)
        if not _may(connection, table, right)
    ]
    if _scalar(connection, "SELECT pg_is_in_recovery()"):
        yield Checked("writing", "wrong", "the server is a replica, which takes no writes")
    elif lacking:
        yield Checked("writing", "wrong", f"this user lacks {', '.join(lacking)}")
    else:
        yield Checked("writing", "right", "this user may read and write")
    owns = _scalar(
        connection, "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class"
        " WHERE oid = to_regclass('memstore_journal')"
    )  # fmt: skip
    rewrites = owns or _scalar(
        connection, "SELECT has_table_privilege('memstore_journal', 'DELETE') OR"
        " has_column_privilege('memstore_journal', 'hash', 'UPDATE')"
    )  # fmt: skip
    if not rewrites:
        yield Checked("rights", "right", "this user can neither change the schema nor the journal")
        return
    may = "change the schema and rewrite the journal" if owns else "rewrite the journal"
    yield Checked("rights", "weak", f"this user may {may}, and so may whoever takes over a program")


def _clock(connection: psycopg.Connection[Any]) -> Checked:
    before = clock.utc_now()
    there = _scalar(connection, "SELECT clock_timestamp()")
    after = clock.utc_now()
    apart = max((before - there).total_seconds(), (there - after).total_seconds(), 0.0)
    return Checked(
        "clock",
        "right" if apart <= MAX_CLOCK_SECONDS else "wrong",
        f"the server's and this machine's are {apart:.1f} s apart; at most "
        f"{MAX_CLOCK_SECONDS:g} s are allowed",
    )


def _durability(connection: psycopg.Connection[Any]) -> Iterator[Checked]:
    commit = _scalar(connection, "SELECT current_setting('synchronous_commit')")
    is_weak = commit in pools.WEAKER
    lost = "; a confirmed write may be lost" if is_weak else ""
    state: State = "weak" if is_weak else "right"
    yield Checked("durability", state, f"synchronous_commit = {commit}{lost}")
    if _scalar(connection, "SELECT current_setting('fsync')") == "off":
        yield Checked("disk", "weak", "fsync = off: a power failure may destroy the database")


def _connections(connection: psycopg.Connection[Any], needed: int) -> Checked:
    row = connection.execute(
        "SELECT current_setting('max_connections')::int"
        " - current_setting('superuser_reserved_connections')::int"
        " - current_setting('reserved_connections')::int,"
        " (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user)"
    ).fetchone()
    allowed, own = row or (0, -1)
    allowed = min(allowed, own) if own is not None and own >= 0 else allowed
    return Checked(
        "connections",
        "right" if allowed >= needed else "weak",
        f"the server allows {allowed}, and each process opens up to {needed} as its threads need",
    )


def _row_security(connection: psycopg.Connection[Any]) -> Iterator[Checked]:
    if not _scalar(connection, row_security.IS_ON):
        return
    hides = _hides_rows(connection)
    text = "applies to this user" if hides else "is on, but this user owns the tables or is exempt"
    yield Checked("row_security", "right" if hides else "weak", f"row-level security {text}")


def _hides_rows(connection: psycopg.Connection[Any]) -> bool:
    return bool(_scalar(connection, "SELECT row_security_active('memstore_facts')"))


def pooler(is_direct: bool, prepare_threshold: int | None) -> Checked:
    """Judge whether what stands between may lose prepared statements.

    A pooler gives out connections of its own: the number of the process that it names to the client
    is not that of the process which answers.
    """
    if is_direct:
        return Checked("pooler", "right", "the connection goes to the server itself")
    text = "the connection goes through a pooler, such as PgBouncer"
    if prepare_threshold is None:
        return Checked("pooler", "right", f"{text}, and statements are not prepared")
    return Checked("pooler", "weak", f"{text}, which may lose prepared statements")


def _may(connection: psycopg.Connection[Any], table: str, right: str) -> bool:
    asking = sql.SQL("SELECT has_table_privilege({}, {})").format(table, right)
    return bool(connection.execute(asking).fetchone()[0])  # type: ignore[index]


def _scalar(connection: psycopg.Connection[Any], text: str) -> Any:
    row = connection.execute(text).fetchone()
    return None if row is None else row[0]
