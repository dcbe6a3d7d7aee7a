"""Proposals as the journal tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.database import journal
from memstore.database.journal import DECIDING, LINE, Kind
from memstore.database.tables.proposals import PROPOSAL
from memstore.history.reasons import number_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.records import JournalLine


def lines_about(
    transaction: Transaction, fact_ids: Sequence[int]
) -> tuple[dict[int, list[JournalLine]], dict[int, Mapping[str, Any]]]:
    """Return the lines about proposals to replace these facts: see :func:`grouped`."""
    return grouped(journal.of_facts(transaction, fact_ids))


def grouped(
    lines: Iterable[JournalLine],
) -> tuple[dict[int, list[JournalLine]], dict[int, Mapping[str, Any]]]:
    """Return the lines about each proposal, oldest first, and what is left of erased evidence.

    Lines that an import repeated are left out: it proposed and decided everything itself. The
    evidence is by the line that lost it.
    """
    found: dict[int, list[JournalLine]] = {}
    left: dict[int, Mapping[str, Any]] = {}
    for line in sorted(lines, key=lambda one: one.id):
        if line.said_at is not None:
            continue
        if line.kind == Kind.REDACT:
            rest = dict(line.evidence or {})
            if (of := rest.pop(LINE, None)) is not None:
                left[of] = rest
        elif line.kind in DECIDING and (id_ := number_in(line.after, PROPOSAL)) is not None:
            found.setdefault(id_, []).append(line)
    return found, left


def evidence_of(
    line: JournalLine, left: Mapping[int, Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    """Return the evidence of a line, or what is left of it."""
    return left.get(line.id) if line.evidence is None else line.evidence
