"""Proposals as the journal tells them, and as they were at a moment.

For a moment, the lines that made and decided them change the rows of now.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database.journal import DECIDING, LINE, Kind
from memstore.database.tables import facts as fact_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables.proposals import PROPOSAL
from memstore.domain import clock
from memstore.domain.proposals import ProposalState
from memstore.history.reasons import number_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables.proposals import ProposalRow
    from memstore.domain.moments import Moment
    from memstore.domain.proposals import Proposal
    from memstore.domain.records import JournalLine


STATES: Final[Mapping[str, ProposalState]] = {
    Kind.PROPOSE: ProposalState.OPEN,
    Kind.REOPEN: ProposalState.OPEN,
    Kind.ACCEPT: ProposalState.ACCEPTED,
    Kind.REJECT: ProposalState.REJECTED,
    Kind.SUPERSEDE: ProposalState.ACCEPTED,
}
"""The state of a proposal after a line about it."""

BATCH: Final = 500
"""Facts whose lines are read at once."""


def at(
    transaction: Transaction, namespaces: Sequence[str] | None, moment: Moment
) -> list[ProposalRow]:
    """Return the proposals of a moment with their states of then, by id.

    What was erased since, in their facts or lines, is not in them.
    """
    rows = [*proposal_table.everything(transaction, namespaces)]
    retired = sorted({*chain.from_iterable((row.sources or (row.old_id,)) for row in rows)})
    lines = _lines_of(transaction, retired)
    about: dict[int, list[JournalLine]] = {}
    for line in lines:
        number = _proposal(line)
        if number is not None and line.id <= moment.line:
            about.setdefault(number, []).append(line)
    made = [row.new_id for row in rows if row.sources and row.new_id is not None]
    texts = {id_: fact.content for id_, fact in fact_table.get_many(transaction, made).items()}
    return [_then(row, about[row.id], texts) for row in rows if row.id in about]


def states(
    transaction: Transaction, proposals: Iterable[Proposal], moment: Moment
) -> dict[int, ProposalState]:
    """Return the states of those of the proposals that were made by a moment, by id."""
    retired = sorted({fact.id for one in proposals for fact in one.sources})
    lines = (line for line in _lines_of(transaction, retired) if line.id <= moment.line)
    about = {number: line for line in sorted(lines, key=_id) if (number := _proposal(line))}
    return {number: STATES[line.kind] for number, line in about.items()}


def _id(line: JournalLine) -> int:
    return line.id


def _lines_of(transaction: Transaction, fact_ids: Sequence[int]) -> Iterator[JournalLine]:
    """Yield the lines about these facts, fact by fact."""
    for start in range(0, len(fact_ids), BATCH):
        yield from journal.of_facts(transaction, fact_ids[start : start + BATCH])


def _proposal(line: JournalLine) -> int | None:
    """Return the proposal that a line made or decided."""
    if line.kind == Kind.SUPERSEDE:
        return number_in(line.evidence, PROPOSAL)
    return number_in(line.after, PROPOSAL) if line.kind in STATES else None


def _then(row: ProposalRow, lines: Iterable[JournalLine], texts: Mapping[int, str]) -> ProposalRow:
    last = max(lines, key=_id)
    state = STATES[last.kind]
    decided_at = row.decided_at if row.state == state else clock.to_text(last.at)
    row = row._replace(state=state, decided_at=None if state == ProposalState.OPEN else decided_at)
    if not row.sources:
        return row
    if state == ProposalState.ACCEPTED:
        return row._replace(new_id=row.new_id or number_in(last.after, "superseded_by"))
    # The text of a consolidation is that of the fact that it became.
    content = row.content or texts.get(row.new_id or 0, "")
    return row._replace(new_id=None, content=content)


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
    for line in sorted(lines, key=_id):
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
