"""The acts of an administrator on a database, each over a connection of its own.

On a Citus cluster, the tables are distributed over the servers by tenant. Every statement names one
tenant, so one server answers it. Whose a namespace is has to be known before its tenant is, so that
table is on every server.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from memstore.database.postgres import pools, row_security
from memstore.database.postgres.failures import PostgresErrors
from memstore.database.postgres.schema import tables
from memstore.errors import InvalidArgument, Remedy, StorageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

    from memstore.database.postgres.address import DatabaseAddress


EVERYWHERE: Final = "memstore_namespaces"
FIRST: Final = "memstore_tenants"

PREPARATION: Final = (
    "SET LOCAL citus.multi_shard_modify_mode TO 'sequential';",
    # A table that is everywhere cannot refer to one that is divided.
    f"ALTER TABLE {EVERYWHERE} DROP CONSTRAINT IF EXISTS {EVERYWHERE}_tenant_fkey;",
    f"SELECT create_reference_table('{EVERYWHERE}');",
    f"SELECT create_distributed_table('{FIRST}', 'tenant');",
)

NODES: Final = (
    "SELECT count(*) FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND shouldhaveshards"
)
DONE: Final = "SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = to_regclass(%s)"


def distribution() -> list[str]:
    """Return the statements, in the order in which each table's links lead to distributed ones."""
    named = re.findall(r"^CREATE TABLE (memstore_\w+)", tables.text(), re.MULTILINE)
    return [
        *PREPARATION,
        *(
            f"SELECT create_distributed_table('{name}', 'tenant', colocate_with => '{FIRST}');"
            for name in named
            if name not in tables.SHARED
        ),
    ]


def distribute(address: DatabaseAddress) -> None:
    """Distribute the tables in one transaction; rows that are there move with them.

    Raises:
        StorageError: something is missing, or they are distributed already; nothing was changed.
    """
    with pools.connect(address) as connection, PostgresErrors():
        _check(connection)
        connection.execute("\n".join(["BEGIN;", *distribution(), "COMMIT;"]))


def _check(connection: psycopg.Connection[Any]) -> None:
    if _scalar(connection, "SELECT to_regclass('memstore_tenants') IS NULL"):
        raise StorageError("there are no tables yet", remedy=Remedy.SET_UP_SERVER)
    installed = "SELECT count(*) FROM pg_extension WHERE extname = 'citus'"
    if not _scalar(connection, installed):
        raise StorageError("the extension citus is not in this database", remedy=Remedy.ADD_CITUS)
    if not _scalar(connection, NODES):
        raise StorageError("no server of the cluster takes shards", remedy=Remedy.ADD_NODES)
    if _scalar(connection, DONE, FIRST):
        raise StorageError("the tables are distributed already")


def _scalar(connection: psycopg.Connection[Any], text: str, *values: str) -> Any:
    row = connection.execute(text, values or None).fetchone()
    return None if row is None else row[0]


OWNER: Final = "memstore_owner"
APP: Final = "memstore_app"

NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
"""Names that need no quotes."""

BLANKED: Final = ("before", "after", "evidence", "salt", "erased")
"""The columns of the journal that erasing empties."""

KEPT: Final = ("memstore_journal", "memstore_facts", "memstore_episodes")
"""The tables whose rows are never removed."""

CREATION: Final = """\
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '{owner}') THEN
        CREATE ROLE {owner} NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '{app}') THEN
        CREATE ROLE {app} LOGIN;
    END IF;
    IF NOT pg_has_role(current_user, '{owner}', 'SET') THEN
        GRANT {owner} TO CURRENT_USER;
    END IF;
    EXECUTE format('GRANT USAGE, CREATE ON SCHEMA %I TO {owner}', current_schema());
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO {app}', current_schema());
END $$;"""
"""Makes the roles that are missing, without passwords, and lets them into the schema."""

COUNTING: Final = """\
DO $$ BEGIN
    IF current_setting('server_version_num')::int >= 170000 THEN
        EXECUTE 'GRANT MAINTAIN ON {tables} TO {app}';
    END IF;
END $$;"""
"""Lets the program have the rows counted after a large write. Older servers let only the owner."""


def roles_sql(owner: str = OWNER, app: str = APP) -> str:
    """Return the statements that give each table to one role and the use of it to another.

    An administrator runs them in the database, after the tables were created. They create the
    roles, if they are missing, and may be run again.

    Raises:
        InvalidArgument: a name that would need quotes.
    """
    for argument, name in (("owner", owner), ("app", app)):
        if not NAME.fullmatch(name):
            raise InvalidArgument(
                f"must be lower-case letters, digits and _, not {name!r}", argument=argument
            )
    lines = [CREATION.format(owner=owner, app=app)]
    for name in tables.rows():
        lines.append(f"ALTER TABLE {name} OWNER TO {owner};")
        lines.append(f"REVOKE ALL ON {name} FROM {app}, PUBLIC;")
        granted = ["SELECT", "INSERT"]
        if name == "memstore_journal":
            granted.append(f"UPDATE ({', '.join(BLANKED)})")
        else:
            granted.append("UPDATE")
        if name not in KEPT:
            granted.append("DELETE")
        lines.append(f"GRANT {', '.join(granted)} ON {name} TO {app};")
    lines.append(COUNTING.format(tables=", ".join(tables.rows()), app=app))
    # A copy passes the ids that it brings.
    lines += [f"GRANT USAGE ON SEQUENCE {name}_id_seq TO {app};" for name in tables.numbered()]
    for name in tables.views():
        lines.append(f"ALTER VIEW {name} OWNER TO {owner};")
        lines.append(f"GRANT SELECT ON {name} TO {app};")
    return "\n".join(lines)


def sql(names: Sequence[str] | None, *, row_level_security: bool) -> str:
    """Return the statements for the roles, if their names are given, and for the policies."""
    parts = [] if names is None else [roles_sql(*names)]
    if row_level_security:
        parts.append(row_security.policies())
    return "\n".join(parts)


def run(address: DatabaseAddress, statements: str) -> None:
    """Run statements in one transaction.

    Raises:
        StorageError: the server cannot be reached, or refuses one; nothing was changed.
    """
    with pools.connect(address) as connection, PostgresErrors():
        connection.execute(f"BEGIN; {statements}; COMMIT")
