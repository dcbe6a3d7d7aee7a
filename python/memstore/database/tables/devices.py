"""The table of devices that share their memories with this file, itself among them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memstore.database import meta as meta_table
from memstore.database.writes import BY_ID, Insert, Update, settings
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.database.engine import Transaction

HERE: Final = "here"
FORMER: Final = "former"
OTHER: Final = "other"
DISMISSED: Final = "dismissed"


class DeviceRow(NamedTuple):
    """A device: its lines after :attr:`begins`, up to :attr:`known`, are here."""

    id: int
    device: str
    name: str
    state: str
    begins: int
    known: int
    hash: str
    """The hash of the last line that is known, in its chain."""
    said: str
    """What it said last, as JSON."""

    @property
    def is_own(self) -> bool:
        """Whether its lines are lines of this file."""
        return self.state in (HERE, FORMER)

    @property
    def last_said(self) -> Mapping[str, Any]:
        found = json.loads(self.said)
        return found if isinstance(found, dict) else {}


INSERTION: Final = Insert("memstore_devices", DeviceRow._fields)
CHANGE: Final = Update(
    "memstore_devices",
    settings("device", "name", "state", "begins", "known", "hash", "said"),
    BY_ID,
)


def every(transaction: Transaction) -> list[DeviceRow]:
    """Return all devices, in the order in which they were heard of."""
    columns = ", ".join(DeviceRow._fields)
    return [
        DeviceRow._make(row)
        for row in transaction.rows(f"SELECT {columns} FROM memstore_devices ORDER BY id")
    ]


def add(
    transaction: Transaction,
    device: str,
    name: str,
    state: str,
    *,
    begins: int = 0,
    known: int = 0,
    hash_: str = "",
) -> DeviceRow:
    """Store a device that was not heard of before."""
    id_ = transaction.next_id("memstore_devices")
    row = DeviceRow(id_, device, name, state, begins, known, hash_, "{}")
    transaction.run(INSERTION, row)
    return row


def change(transaction: Transaction, row: DeviceRow) -> None:
    """Store another state of a device."""
    transaction.run(CHANGE, row._asdict())


def is_one(transaction: Transaction) -> bool:
    """Return whether this file is a device."""
    return any(row.state == HERE for row in every(transaction))


def retire(transaction: Transaction, line: int, hash_: str) -> None:
    """Let this file be no device any more, from after a line; a later one begins there."""
    for row in every(transaction):
        if row.state == HERE:
            change(transaction, row._replace(state=FORMER, known=line, hash=hash_, said="{}"))
    meta_table.remove(transaction, meta_table.SYNCED)
