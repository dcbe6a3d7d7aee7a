"""The local ids of an import's records, assigned before any of them is imported.

This lets a journal line refer to a record of a later batch. The ids of new facts and proposals are
reserved in the first transaction, in the order of the export, and recorded until the import is
complete, so that a repeated import uses the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from memstore.database.tables import facts as fact_table
from memstore.database.tables import imports as imports_table
from memstore.database.tables import proposals as proposal_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Engine, Transaction
    from memstore.database.tables.proposals import ProposalRow
    from memstore.transfer.parsing import Incoming

STEP: Final = 1000
"""Records looked up in one transaction."""


@dataclass(slots=True)
class Ids:
    """The local ids, by the ids at the source."""

    facts: dict[int, int] = field(default_factory=dict)
    proposals: dict[int, int] = field(default_factory=dict)


def known(engine: Engine, incoming: Incoming, namespace: str | None) -> Ids:
    """Return the ids of records that already exist here."""
    ids = Ids()
    facts, proposals = incoming.facts, incoming.attached.proposals
    for start in range(0, len(facts), STEP):
        some = facts[start : start + STEP]
        with engine.read() as transaction:
            for home in {namespace or fact.namespace for fact in some}:
                those = {f.uuid: f.id for f in some if (namespace or f.namespace) == home}
                found = fact_table.ids_of(transaction, home, [*those])
                ids.facts.update((those[uuid], here) for uuid, here in found.items())
    for start in range(0, len(proposals), STEP):
        with engine.read() as transaction:
            for row in proposals[start : start + STEP]:
                here = _proposal_here(transaction, row, ids)
                if here is not None:
                    ids.proposals[row.id] = here
    return ids


def reserve(transaction: Transaction, mark: str, incoming: Incoming, ids: Ids) -> None:
    """Assign an id to every record that is new, or that an earlier run of this import added."""
    noted = imports_table.numbers(transaction, mark)
    for table, records, here in (
        ("memstore_facts", incoming.facts, ids.facts),
        ("memstore_proposals", incoming.attached.proposals, ids.proposals),
    ):
        sources = [record.id for record in records]
        noted[table] = _assigned(transaction, table, sources, here, noted.get(table))
    imports_table.note_numbers(transaction, mark, noted)


def _assigned(
    transaction: Transaction,
    table: str,
    sources: Sequence[int],
    here: dict[int, int],
    before: Sequence[int] | None,
) -> tuple[int, int]:
    """Assign ids to the records without one; return the first id and their number."""
    first, count = before or (0, 0)
    new = [one for one in sources if one not in here or first <= here[one] < first + count]
    if len(new) != count:  # the first run, or another import has added some of them
        new = [one for one in sources if one not in here]
        first, count = transaction.reserve_ids(table, len(new)), len(new)
    here.update((one, first + place) for place, one in enumerate(new))
    return first, count


def _proposal_here(transaction: Transaction, row: ProposalRow, ids: Ids) -> int | None:
    named = (row.old_id, *row.sources, *(() if row.new_id is None else (row.new_id,)))
    if not ids.facts.keys() >= {*named}:
        return None
    return proposal_table.same(transaction, row.renumbered(row.id, ids.facts))
