"""What is known of the devices without asking the place, and what a person decides about them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from memstore.database import journal
from memstore.database.tables import devices as device_table
from memstore.database.tables import taken as taken_table
from memstore.database.tables.devices import DISMISSED, FORMER, HERE, OTHER, DeviceRow
from memstore.domain.arguments import checked_text
from memstore.errors import Conflict, NotFound, SyncError
from memstore.sync import devices, records, rules, sending
from memstore.sync.reports import Device

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memstore.database.engine import Engine, Transaction
    from memstore.sync.devices import DeviceState

EXACT: Final = 1_000
"""So many lines are read to tell how many changes they are; of more, some may repeat others."""


def status(engine: Engine) -> tuple[Device, ...]:
    """Return the devices that are known, this one first, then the others by name."""
    with engine.read() as transaction:
        rows = device_table.every(transaction)
        states = {row.device: state for row in rows if (state := _state(row)) is not None}
        here = [row for row in rows if row.state == HERE]
        others = sorted((row for row in rows if row.state != HERE), key=lambda row: row.name)
        unsent = _unsent(transaction, rows) if here else 0
        behind = _Behind(transaction, rows)
        return tuple(_device(row, states, unsent, behind) for row in [*here, *others])


def _state(row: DeviceRow) -> DeviceState | None:
    """Return what a device said last; ``None`` if nothing, or if an earlier build wrote it down."""
    try:
        return devices.read(row.said.encode(), row.device) if row.last_said else None
    except SyncError:
        return None


class _Behind:
    """Counts the changes that somebody has not taken of a device."""

    def __init__(self, transaction: Transaction, rows: Sequence[DeviceRow]) -> None:
        self._transaction = transaction
        self._rows = {row.device: row for row in rows}

    def count(self, device: str, line: int, last: int) -> int:
        """Return how many changes a device made after a line, up to one that it has sent.

        Those that this file has not taken itself are counted by their lines.
        """
        row = self._rows.get(device)
        if row is None:
            return last - line
        if row.is_own:
            return taken_table.count_own(self._transaction, line + 1, rules.TRAVELLING, last)
        known = taken_table.count_of(self._transaction, row.id, line + 1, last)
        return known + max(0, last - max(line, row.known))


def _device(
    row: DeviceRow, states: Mapping[str, DeviceState], unsent: int, behind_by: _Behind | None = None
) -> Device:
    state = states.get(row.device)
    is_here = row.state == HERE
    behind: Counter[str] = Counter()
    remains = False
    is_retired = row.state == FORMER or any(row.device in one.former for one in states.values())
    if state is not None and row.state in (HERE, OTHER) and not is_retired:
        for other, one in states.items():
            if other == row.device:
                continue
            reached = state.taken.get(other)
            line = one.head.begins if reached is None else reached.line
            if behind_by is not None and one.sent > line:
                behind[other] = max(1, behind_by.count(other, line, one.sent))
            remains = remains or one.erased > line
    return Device(
        id=row.device,
        name=row.name,
        is_here=is_here,
        heard_at=None if state is None else state.at,
        taken=0 if is_here else max(0, row.known - row.begins),
        unsent=unsent if is_here else 0,
        behind=dict(behind),
        is_retired=is_retired,
        is_dismissed=row.state == DISMISSED,
        remains=remains,
    )


def _unsent(transaction: Transaction, rows: list[DeviceRow]) -> int:
    """Return how many changes of this file are not in the place yet; many are counted by kind."""
    written = sending.written(transaction)
    last = journal.last_id(transaction)
    if last - written.line > EXACT:
        return taken_table.count_own(transaction, written.line + 1, rules.TRAVELLING)
    chains = records.Chains.of(rows)
    return sum(1 for _ in records.own(transaction, chains, written.line + 1, last))


def rename(engine: Engine, name: str) -> None:
    """Give this device another name, which the others see after its next run.

    Raises:
        NotFound: this file has never met others.
    """
    name = checked_text(name, "name", devices.MAX_NAME)
    with engine.write() as transaction:
        rows = device_table.every(transaction)
        here = next((row for row in rows if row.state == HERE), None)
        if here is None:
            raise NotFound("this file has not met other devices yet")
        device_table.change(transaction, here._replace(name=name))


def dismiss(engine: Engine, device: str) -> Device:
    """Give a device up: its lines stay, its files are replaced, and it is waited for no longer.

    If it comes back, it goes on under a new id, and nothing is lost.

    Args:
        engine: the file.
        device: its id, the beginning of that, or its name.

    Raises:
        NotFound: no other device is called so.
        Conflict: several are.
    """
    with engine.write() as transaction:
        row = _named(transaction, device)._replace(state=DISMISSED)
        device_table.change(transaction, row)
        return _device(row, {}, 0)


def find(engine: Engine, device: str) -> Device:
    """Return another device that was not dismissed; see :func:`dismiss`."""
    with engine.read() as transaction:
        return _device(_named(transaction, device), {}, 0)


def _named(transaction: Transaction, device: str) -> DeviceRow:
    rows = [row for row in device_table.every(transaction) if row.state == OTHER]
    named = [row for row in rows if row.name == device or row.device.startswith(device)]
    if not named:
        raise NotFound(f"no other device is called {device!r}")
    if len(named) > 1:
        listed = ", ".join(f"{row.name} ({row.device})" for row in named)
        raise Conflict(f"several devices are called {device!r}: {listed}")
    return named[0]


def leave(engine: Engine) -> None:
    """Forget that this file is a device; its lines stay, and others keep what it has sent.

    A later run begins anew, under a new id.
    """
    with engine.write() as transaction:
        head = journal.head(transaction)
        device_table.retire(transaction, head.line, head.hash)
