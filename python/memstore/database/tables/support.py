"""The legs of facts, a view of the journal (``schema/v07/support.sql``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction


class LegRow(NamedTuple):
    line: int
    fact_id: int
    kind: str
    episode_id: int | None
    at: str
    actor: str
    through: str
    cited: str | None
    """The source that was given with it."""


COLUMNS: Final = ", ".join(f"s.{name}" for name in LegRow._fields)


def of_facts(transaction: Transaction, fact_ids: Sequence[int]) -> list[LegRow]:
    """Return the legs of these facts, oldest first. The caller has filtered the ids."""
    listed = transaction.dialect.listed("ids")
    rows = transaction.rows(
        f"SELECT {COLUMNS} FROM memstore_support s WHERE s.fact_id IN {listed} ORDER BY s.line",
        {"ids": fact_ids},
    )
    return [LegRow._make(row) for row in rows]
