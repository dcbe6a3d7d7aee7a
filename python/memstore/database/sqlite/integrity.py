"""SQLite's own checks of a file."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memstore.database.sqlite import full_text
from memstore.errors import StorageError

if TYPE_CHECKING:
    from memstore.database.engine import Transaction

MAX_TROUBLES: Final = 20


def page_troubles(transaction: Transaction) -> list[str]:
    """Return the problems that SQLite finds in the pages of the file.

    Problems of the full-text indexes are left out, because those can be rebuilt; see
    :meth:`memstore.database.sqlite.full_text.Fts5.check`.
    """
    with suppress(StorageError):
        full_text.refresh(transaction)
    return _check(transaction, "integrity_check")


def quick_troubles(transaction: Transaction) -> list[str]:
    """Return the problems that SQLite finds without comparing its indexes with the rows."""
    return _check(transaction, "quick_check")


def _check(transaction: Transaction, check: str) -> list[str]:
    found = [str(row[0]) for row in transaction.rows(f"PRAGMA {check}({MAX_TROUBLES})")]
    return [trouble for trouble in found if trouble != "ok" and "fts5" not in trouble.lower()]


def dangling_rows(transaction: Transaction) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for table, row_id, *_ in transaction.rows("PRAGMA foreign_key_check"):
        found.setdefault(str(table), []).append(int(row_id or 0))
    return found
