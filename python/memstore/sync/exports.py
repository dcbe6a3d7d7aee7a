"""What an export says of records that are known here: its operations are records, as those of sync.

They have no device of their own: each becomes a line of this file, with its author and its moment,
and with the rank that it had there. So it does not matter which of two exports is imported first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.database.journal import Kind
from memstore.database.tables import devices as device_table
from memstore.database.tables import taken as taken_table
from memstore.database.tables.devices import OTHER, DeviceRow
from memstore.sync import applying, records, rules
from memstore.sync.rules import EPISODE, FACT, About

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memstore.database.changes import Dependents
    from memstore.database.engine import Transaction
    from memstore.database.tables.taken import TracedLine
    from memstore.sync.rules import Record

TAKEN: Final = frozenset(
    {
        *(Kind.CONFIRM, Kind.UNCONFIRM, Kind.METADATA, Kind.UPDATE, Kind.PIN, Kind.UNPIN),
        *(Kind.DELETE, Kind.RESTORE, Kind.SUPERSEDE, Kind.UNSUPERSEDE, Kind.UPDATE_EPISODE),
    }
)
"""What is taken in this way; erasures have rules of their own, and so have external keys, whose
facts replace one another."""

THERE: Final = DeviceRow(taken_table.HERE, "", "", OTHER, 0, 0, "", "{}")


def take(
    transaction: Transaction,
    dependents: Dependents,
    lines: Sequence[TracedLine],
    new_facts: Collection[int] = (),
    new_episodes: Collection[int] = (),
) -> None:
    """Take what lines of another file's journal say of records that both have.

    Args:
        transaction: of the file.
        dependents: derived data.
        lines: all lines there about these records, with the ids that they have here.
        new_facts: facts that have come, with keys that others here have.
        new_episodes: such episodes.
    """
    devices = device_table.every(transaction)
    there = records.Reader(transaction, records.Chains((), {}))
    said = [record for _, record in there.read(lines) if record is not None and _is_taken(record)]
    rivals = _named(transaction, FACT, records.FACTS, new_facts)
    rivals |= _named(transaction, EPISODE, records.EPISODES, new_episodes)
    if rivals:
        applying.settle(transaction, dependents, devices, rivals)
    facts = {line.fact_id for line in lines if line.fact_id is not None}
    episodes = {line.episode_id for line in lines if line.fact_id is None} - {None}
    here = records.Reader(transaction, records.Chains.of(devices))
    about = taken_table.about(transaction, facts, {id_ for id_ in episodes if id_ is not None})
    known = {_identity(record) for _, record in here.read(about) if record is not None}
    new = [(THERE, record) for record in said if _identity(record) not in known]
    if new:
        applying.take(transaction, dependents, devices, new)


def _named(transaction: Transaction, kind: str, table: str, ids: Collection[int]) -> set[About]:
    return {About(kind, *named) for named in taken_table.names(transaction, table, ids).values()}


def _is_taken(record: Record) -> bool:
    value = record.value
    if record.kind not in TAKEN or not value or rules.KEY in value:
        return False
    return record.kind != Kind.SUPERSEDE or value.get(rules.LINK) is not None


def _identity(record: Record) -> tuple[Any, ...]:
    """Return what tells a record from others: a confirmation its moment, another one its rank."""
    value = record.value or {}
    rank = 0 if record.kind == Kind.CONFIRM else record.rank
    return record.about, record.kind, rank, rules.in_order(value)
