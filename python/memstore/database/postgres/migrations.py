"""The schema: created once for a database, and a tenant in it for each memory.

A tenant has a version of its own, so that one is created like a new file. All of it happens under
one lock of the database, so that any number of processes may begin at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.postgres.schema import tables
from memstore.database.tables import meta as meta_table
from memstore.database.writes import Insert
from memstore.domain import clock

if TYPE_CHECKING:
    from memstore.database.postgres.transaction import PostgresTransaction

LOCK: Final = 0x6D656D73746F7265
"""The advisory lock of the schema: "memstore"."""


NAMESPACE: Final = Insert("memstore_namespaces", ("namespace", "tenant"), unique=("namespace",))


def create(transaction: PostgresTransaction) -> None:
    """Create the tables, unless they are there, and the transaction's tenant."""
    tenant = {"tenant": transaction.tenant}
    if not transaction.scalar("SELECT count(to_regclass('memstore_tenants'))"):
        transaction.connection.execute(tables.text())
    transaction.run(Insert("memstore_tenants", ("tenant",)), tenant)
    transaction.run(NAMESPACE, {**tenant, "namespace": transaction.tenant})
    meta_table.put(transaction, "schema_family", meta_table.FAMILY)
    transaction.run(
        Insert("memstore_generations", ("id", "state", "created_at"), ("1", "'active'", ":at")),
        {"at": clock.to_text(clock.utc_now())},
    )
