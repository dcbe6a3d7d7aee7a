"""The tables of the original memstore, in its schema versions 1 to 16."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.database.foreign import sqlite_file
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Transaction, Value

FACTS: Final = "memstore_facts"
TEXTS: Final = (
    "namespace", "content", "subject", "category", "metadata", "created_at", "superseded_at",
    "last_confirmed_at", "last_used_at", "kind", "subsystem", "screen_state",
)  # fmt: skip
NUMBERS: Final = ("id", "superseded_by", "confirmed_count", "use_count", "user_id")
CARRIED: Final = frozenset({FACTS, "memstore_users", "memstore_version", "memstore_meta"})
"""Tables that are imported or describe only the file; the others are reported as left out."""
VECTORS: Final = "memstore_fact_chunks"


class Original(NamedTuple):
    version: int
    """0 if the file names none."""
    family: str | None
    """Set only in files of this memstore."""
    columns: frozenset[str]


def look(transaction: Transaction) -> Original:
    version = 0
    if sqlite_file.columns(transaction, "memstore_version"):
        row = transaction.one("SELECT max(version) FROM memstore_version")
        version = int(row[0]) if row and isinstance(row[0], int) else 0
    family = None
    if sqlite_file.columns(transaction, "memstore_meta"):
        row = transaction.one("SELECT value FROM memstore_meta WHERE key = 'schema_family'")
        family = str(row[0]) if row else None
    return Original(version, family, frozenset(sqlite_file.columns(transaction, FACTS)))


def successors(transaction: Transaction) -> dict[int, int | None]:
    """Return the fact that supersedes each fact, ordered by id."""
    rows = transaction.rows(f"SELECT id, superseded_by FROM {FACTS} ORDER BY id")
    return {int(fact_id or 0): by if isinstance(by, int) else None for fact_id, by in rows}


def homes(transaction: Transaction, original: Original) -> dict[int, str]:
    if "namespace" not in original.columns:
        return {}
    rows = transaction.rows(f"SELECT id, CAST(namespace AS BLOB) FROM {FACTS}")
    return {int(fact_id or 0): _text(name)[0] for fact_id, name in rows}


def facts(
    transaction: Transaction, original: Original, ids: Sequence[int]
) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Yield facts ordered by id: the columns, and the names of those that were invalid UTF-8."""
    numbers = [name for name in NUMBERS if name in original.columns]
    texts = [name for name in TEXTS if name in original.columns]
    vector = "embedding IS NOT NULL" if "embedding" in original.columns else "0"
    selected = ", ".join([*numbers, vector, *(f"CAST({name} AS BLOB)" for name in texts)])
    rows = transaction.rows(
        f"SELECT {selected} FROM {FACTS}"
        f" WHERE id IN {transaction.dialect.listed('ids')} ORDER BY id",
        {"ids": ids},
    )
    for row in rows:
        values: dict[str, Any] = dict(zip([*numbers, "embedded"], row, strict=False))
        mended = []
        for name, raw in zip(texts, row[len(numbers) + 1 :], strict=True):
            values[name], is_valid = _text(raw) if raw is not None else (None, True)
            if not is_valid:
                mended.append(name)
        yield values, tuple(mended)


def users(transaction: Transaction) -> dict[int, str]:
    if not sqlite_file.columns(transaction, "memstore_users"):
        return {}
    rows = transaction.rows("SELECT id, CAST(name AS BLOB) FROM memstore_users")
    return {int(user_id or 0): _text(name)[0] for user_id, name in rows}


def _text(raw: Value) -> tuple[str, bool]:
    """Return a text, and whether it was valid UTF-8, which the original does not check."""
    data = raw if isinstance(raw, bytes) else b""
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), False
