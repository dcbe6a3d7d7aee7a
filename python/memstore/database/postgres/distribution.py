"""The tables distributed over the servers of a Citus cluster, by tenant.

Every statement names one tenant, so one server answers it. Whose a namespace is has to be known
before its tenant is, so that table is on every server.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from memstore.database.postgres import pools
from memstore.database.postgres.failures import PostgresErrors
from memstore.database.postgres.schema import tables
from memstore.errors import Remedy, StorageError

if TYPE_CHECKING:
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


def statements() -> list[str]:
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


def run(address: DatabaseAddress) -> None:
    """Distribute the tables in one transaction; rows that are there move with them.

    Raises:
        StorageError: something is missing, or they are distributed already; nothing was changed.
    """
    with pools.connect(address) as connection, PostgresErrors():
        _check(connection)
        connection.execute("\n".join(["BEGIN;", *statements(), "COMMIT;"]))


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
