"""The full-text index over facts: asking it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.sqlite.full_text import FullText
from memstore.database.tables import facts as fact_table
from memstore.text.words import match_expression

if TYPE_CHECKING:
    from memstore.database.engine import Transaction, Value
    from memstore.database.filters import FactFilter

INDEX = FullText("memstore_facts_fts")


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
        best = INDEX.best(transaction, expression, asked)
        seen = set(fact_table.visible(transaction, [fact_id for fact_id, _ in best], wanted))
        found = [place for place in best if place[0] in seen][:limit]
        if len(found) == limit or len(best) < asked:
            return found
    rows = transaction.rows(
        f"SELECT f.id, {INDEX.nearness} AS nearness"
        " FROM memstore_facts_fts JOIN memstore_facts f ON f.id = memstore_facts_fts.rowid"
        f" WHERE memstore_facts_fts MATCH ? AND {where} ORDER BY nearness, f.id DESC LIMIT ?",
        (expression, *values, limit),
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
