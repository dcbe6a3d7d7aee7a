"""The file's schema version, schema family and other settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.engine import Statement
from memstore.database.writes import Delete, Insert, Update, settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction

FAMILY = "pymemstore"
"""Marks our files from V7 on; the original memstore has different versions after V6."""

PUT: Final = Insert(
    "memstore_meta", ("key", "value"), unique=("key",), instead="value = excluded.value"
)
REMOVAL: Final = Delete("memstore_meta", "key = :key")
VERSION: Final = Statement("SELECT max(version) FROM memstore_version")

SYNCED = "sync_written"
"""The key that says how far the files of this device reach, and of which namespaces they are."""

TRUST = "trust"
"""The key of the levels of sources (:class:`memstore.domain.trust.TrustTable`)."""


def schema_version(transaction: Transaction, *, then: Sequence[Statement] = ()) -> int:
    """Return the schema version of the file; 0 if it has no memstore tables.

    Args:
        then: what will be read next, if it has the newest schema.
    """
    if not transaction.has_table("memstore_version"):
        return 0
    if then:
        transaction.prefetch(VERSION, *then)
    return transaction.scalar(*VERSION)


def holds_only_others(transaction: Transaction) -> bool:
    """Return whether the file has tables, but none of memstore's."""
    names = [str(row[0]) for row in transaction.rows(transaction.dialect.tables)]
    return bool(names) and not any(name.startswith("memstore_") for name in names)


def versions(transaction: Transaction) -> set[int]:
    """Return every schema version that the file names."""
    return {*transaction.ints("SELECT version FROM memstore_version")}


def record_version(transaction: Transaction, version: int) -> None:
    value = {"version": version}
    if not transaction.run(Update("memstore_version", settings("version")), value):
        transaction.run(Insert("memstore_version", ("version",)), value)


def get(transaction: Transaction, key: str) -> str | None:
    if not transaction.has_table("memstore_meta"):
        return None
    row = transaction.one(*selecting(key))
    return str(row[0]) if row else None


def selecting(key: str) -> Statement:
    """Return the query of :func:`get`."""
    return Statement("SELECT value FROM memstore_meta WHERE key = :key", {"key": key})


def is_set(transaction: Transaction, key: str) -> bool:
    """Return whether a file with the newest schema has a setting."""
    query = "SELECT EXISTS (SELECT 1 FROM memstore_meta WHERE key = :key)"
    return bool(transaction.scalar(query, {"key": key}))


def put(transaction: Transaction, key: str, value: str) -> None:
    transaction.run(PUT, {"key": key, "value": value})


def beginning_with(transaction: Transaction, prefix: str) -> dict[str, str]:
    """Return the settings whose keys begin so, by key."""
    rows = transaction.rows(
        "SELECT key, value FROM memstore_meta WHERE substr(key, 1, :length) = :prefix",
        {"length": len(prefix), "prefix": prefix},
    )
    return {str(key): str(value) for key, value in rows}


def remove(transaction: Transaction, key: str) -> None:
    transaction.run(REMOVAL, {"key": key})
