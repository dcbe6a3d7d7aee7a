"""What the file knows of itself: schema version, and whose schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memstore.database.engine import Transaction

FAMILY = "pymemstore"
"""Marks files from V7 on as ours; another program's history takes other steps after V6."""


def schema_version(transaction: Transaction) -> int:
    """Return the schema version of the file; 0 for one that holds nothing of ours."""
    if not _has_table(transaction, "memstore_version"):
        return 0
    row = transaction.one("SELECT max(version) FROM memstore_version")
    return int(row[0]) if row and row[0] is not None else 0


def holds_only_others(transaction: Transaction) -> bool:
    """Whether the file has tables, and none of them is memstore's."""
    row = transaction.one(
        "SELECT count(*), count(*) FILTER (WHERE name LIKE 'memstore\\_%' ESCAPE '\\')"
        " FROM sqlite_schema"
    )
    return row is not None and bool(row[0]) and not row[1]


def record_version(transaction: Transaction, version: int) -> None:
    """Record the schema version, in the transaction that brings the schema there."""
    if not transaction.run("UPDATE memstore_version SET version = ?", (version,)):
        transaction.run("INSERT INTO memstore_version (version) VALUES (?)", (version,))


def get(transaction: Transaction, key: str) -> str | None:
    """Return what is recorded under a key."""
    if not _has_table(transaction, "memstore_meta"):
        return None
    row = transaction.one("SELECT value FROM memstore_meta WHERE key = ?", (key,))
    return str(row[0]) if row else None


def put(transaction: Transaction, key: str, value: str) -> None:
    """Record a value under a key."""
    transaction.run(
        "INSERT INTO memstore_meta (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def _has_table(transaction: Transaction, name: str) -> bool:
    found = transaction.one(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (name,)
    )
    return found is not None
