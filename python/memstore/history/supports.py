"""Finds what speaks for facts, before and after selected lines of the journal are taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.database.journal import Kind
from memstore.database.tables import facts as fact_table
from memstore.database.tables import support as support_table
from memstore.history.reasons import numbers_in
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables.support import SupportRow
    from memstore.domain.records import Fact, JournalLine


class Supports(NamedTuple):
    """What speaks for one fact."""

    before: list[SupportRow]
    after: list[SupportRow]

    @classmethod
    def of_facts(
        cls, transaction: Transaction, fact_ids: Sequence[int], lines: Collection[int]
    ) -> dict[int, Supports]:
        """Return the supports of each fact, now and without these lines."""
        rows: dict[int, list[SupportRow]] = {fact_id: [] for fact_id in fact_ids}
        for row in support_table.heard(transaction, fact_ids):
            rows[row.fact_id].append(row)
        return {
            fact_id: cls(
                support_table.speaking(support_table.in_effect(own)),
                support_table.speaking(support_table.in_effect(own, lines)),
            )
            for fact_id, own in rows.items()
        }

    @property
    def lost(self) -> set[int]:
        """The lines of the supports that go."""
        return {support.line for support in self.before} - {support.line for support in self.after}

    @property
    def gained(self) -> set[int]:
        """The lines of the supports that come back."""
        return {support.line for support in self.after} - {support.line for support in self.before}


def confirmed(
    fact: Fact, lines: Sequence[JournalLine], supports: Supports
) -> dict[str, Any] | None:
    """Return the columns of a fact's confirmations after a change of its supports.

    ``None`` if they stay as they are. A confirmation can be taken back whatever came later, so they
    are counted instead of set to what they were before.
    """
    changed = supports.lost ^ supports.gained
    if not any(line.kind == Kind.CONFIRM for line in lines if line.id in changed):
        return None
    held = {support.line for support in supports.after}
    difference = sum(
        (line.id in supports.gained) - (line.id in supports.lost)
        for line in lines
        if line.kind == Kind.CONFIRM
    )
    count = max(0, fact.confirmed_count + difference)
    times = [
        str((line.after or {}).get("last_confirmed_at") or "")
        for line in lines
        if line is lines[0] or (line.kind == Kind.CONFIRM and line.id in held)
    ]
    last = max(times, default="") or fact_table.journalled(fact).get("last_confirmed_at")
    return {"confirmed_count": count, "last_confirmed_at": last if count else None}


def taken_back(lines: Sequence[JournalLine]) -> set[int]:
    """Return the lines that others of these took back, unless that was taken back itself."""
    taken: set[int] = set()
    for line in reversed(lines):
        if line.id not in taken:
            taken.update(numbers_in(line.evidence or {}, "reverts"))
    return taken
