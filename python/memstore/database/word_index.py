"""The full-text index over facts (FTS5): asking it, checking it, rebuilding it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database import fact_table
from memstore.database.words import match_expression
from memstore.errors import StorageError

if TYPE_CHECKING:
    from memstore.database.engine import Transaction, Value
    from memstore.database.filters import FactFilter

NEARNESS = "bm25(memstore_facts_fts)"
"""More negative is nearer; all columns weigh the same."""


def search(
    transaction: Transaction, query: str, wanted: FactFilter, limit: int
) -> list[tuple[int, float]]:
    """Return ``(id, bm25)`` of the best facts by words; more negative is better.

    Of equals the newer come first: the older ones may have decayed, and the cut comes before that.
    The filter applies before the limit, so facts that may not be seen take nobody's place.
    """
    expression = match_expression(query)
    where, values = wanted.where()
    if expression is None:
        return _containing(transaction, query.strip(), where, values, limit)
    if wanted.is_plain:
        asked = limit * 3 // 2  # where nearly all may be seen, so many nearly always hold enough
        best = _best(transaction, expression, asked)
        seen = set(fact_table.visible(transaction, [fact_id for fact_id, _ in best], wanted))
        found = [place for place in best if place[0] in seen][:limit]
        if len(found) == limit or len(best) < asked:
            return found
    rows = transaction.rows(
        f"SELECT f.id, {NEARNESS} AS nearness"
        " FROM memstore_facts_fts JOIN memstore_facts f ON f.id = memstore_facts_fts.rowid"
        f" WHERE memstore_facts_fts MATCH ? AND {where} ORDER BY nearness, f.id DESC LIMIT ?",
        (expression, *values, limit),
    )
    return [(int(row[0] or 0), float(row[1] or 0.0)) for row in rows]


def _best(transaction: Transaction, expression: str, limit: int) -> list[tuple[int, float]]:
    """Ask the index alone, whoever may see what it finds: a quarter of the time of a join."""
    rows = transaction.rows(
        f"SELECT rowid, {NEARNESS} AS nearness FROM memstore_facts_fts"
        " WHERE memstore_facts_fts MATCH ? ORDER BY nearness, rowid DESC LIMIT ?",
        (expression, limit),
    )
    return [(int(row[0] or 0), float(row[1] or 0.0)) for row in rows]


def _containing(
    transaction: Transaction, text: str, where: str, values: list[Value], limit: int
) -> list[tuple[int, float]]:
    """Find what holds a text that has no words in it, such as an emoji or ``->``."""
    if not text:
        return []
    rows = transaction.rows(
        f"SELECT f.id FROM memstore_facts f WHERE instr(f.content, ?) AND {where}"
        " ORDER BY f.id DESC LIMIT ?",
        (text, *values, limit),
    )
    return [(int(row[0] or 0), -1.0) for row in rows]


def refresh(transaction: Transaction) -> None:
    """Let this connection see how the index lies now.

    FTS5 remembers the layout, looks anew when it is searched, and takes a merge made by another
    process for damage when it is checked without having been searched.
    """
    transaction.one("SELECT 1 FROM memstore_facts_fts WHERE memstore_facts_fts MATCH 'memstore'")


def check(transaction: Transaction) -> str | None:
    """Compare the index with the rows, entry by entry; return what is wrong, or ``None``."""
    try:
        refresh(transaction)
        transaction.run(
            "INSERT INTO memstore_facts_fts (memstore_facts_fts, rank)"
            " VALUES ('integrity-check', 1)"
        )
    except StorageError as error:
        return str(error)
    return None


def forget_deleted(transaction: Transaction) -> None:
    """Merge the index into one segment, so that nothing of what was deleted is left in it.

    FTS5's own ``secure-delete`` would do it at each delete, and make the file unreadable to
    programs with a SQLite before 3.42.
    """
    transaction.run("INSERT INTO memstore_facts_fts (memstore_facts_fts) VALUES ('optimize')")


def rebuild(transaction: Transaction) -> None:
    """Make the index anew from the rows."""
    transaction.run("INSERT INTO memstore_facts_fts (memstore_facts_fts) VALUES ('rebuild')")
