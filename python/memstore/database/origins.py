"""From which devices lines of the journal came, and to which acts they belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memstore.database.engine import Transaction


class Origin(NamedTuple):
    """An act of another device."""

    device: str
    """The name of the device."""
    of: int
    """The id of the device's row."""
    act: int
    """The first line of the act there."""


def is_any(transaction: Transaction) -> bool:
    """Return whether any line came from another device; most files have none."""
    return transaction.one("SELECT 1 FROM memstore_taken WHERE device > 0 LIMIT 1") is not None


def is_shared(transaction: Transaction) -> bool:
    """Return whether the file is one of several devices', where ids differ and UUIDs do not."""
    return transaction.one("SELECT 1 FROM memstore_devices LIMIT 1") is not None


def names(transaction: Transaction) -> dict[int, str]:
    """Return the names of devices, by the ids of their rows."""
    rows = transaction.rows("SELECT id, name FROM memstore_devices ORDER BY id")
    return {int(id_): str(name) for id_, name in rows}


def of_lines(transaction: Transaction, lines: Collection[int]) -> dict[int, Origin]:
    """Return where these lines came from, by line; those of this file are left out."""
    if not lines or not is_any(transaction):
        return {}
    rows = transaction.rows(
        "SELECT t.line, d.name, d.id, t.act FROM memstore_taken t"
        " JOIN memstore_devices d ON d.id = t.device"
        f" WHERE t.line IN {transaction.dialect.listed('among')}",
        {"among": [*lines]},
    )
    return {int(line): Origin(str(name), int(of), int(act)) for line, name, of, act in rows}


def are_several(transaction: Transaction, first: int, last: int) -> bool:
    """Return whether the lines from one to another have more than one act of other devices."""
    row = transaction.one(
        "SELECT min(device), max(device), min(act), max(act) FROM memstore_taken"
        " WHERE line BETWEEN :first AND :last AND device > 0",
        {"first": first, "last": last},
    )
    return row is not None and (row[0], row[2]) != (row[1], row[3])


def of_fact(transaction: Transaction, fact_id: int) -> str | None:
    """Return the name of the device on which a fact was stored; ``None`` if it was this one."""
    if not is_any(transaction):
        return None
    row = transaction.one(
        "SELECT d.name FROM memstore_journal j LEFT JOIN memstore_taken t ON t.line = j.id"
        " LEFT JOIN memstore_devices d ON d.id = t.device"
        " WHERE j.fact_id = :fact AND j.kind IN ('add', 'adopt') ORDER BY j.id LIMIT 1",
        {"fact": fact_id},
    )
    return None if row is None else row[0]


def parted(transaction: Transaction, acts: Sequence[int]) -> tuple[list[int], list[int]]:
    """Divide acts, by their numbers, into those that are whole, and the lines of the others.

    What was taken from other devices together is one transaction with several acts.
    """
    if not is_any(transaction):
        return [*acts], []
    whole, lines = [], []
    for act in acts:
        found = transaction.rows(
            "SELECT o.id, t.device, t.act FROM memstore_journal j"
            " JOIN memstore_journal o ON o.txn = j.txn"
            " LEFT JOIN memstore_taken t ON t.line = o.id AND t.device > 0"
            " WHERE j.id = :act ORDER BY o.id",
            {"act": act},
        )
        parts = {int(line): (device, there) for line, device, there in found}
        if len({*parts.values()}) > 1:
            lines += [line for line, part in parts.items() if part == parts[act]]
        else:
            whole.append(act)
    return whole, lines


def ending(
    transaction: Transaction, noun: str, namespace: str, digits: str, number: int
) -> dict[int, str]:
    """Return the UUIDs that end with some digits, and that of a number, by id.

    Args:
        noun: ``fact`` or ``episode``.
        namespace: theirs.
        digits: hexadecimal, and hyphens.
        number: an id that the digits may mean as well.
    """
    table = {"fact": "memstore_facts", "episode": "memstore_episodes"}[noun]
    rows = transaction.rows(
        f"SELECT id, uuid FROM {table} WHERE namespace = :namespace"
        " AND (uuid LIKE :ending OR id = :number) ORDER BY id",
        {"namespace": namespace, "ending": f"%{digits}", "number": number},
    )
    return {int(id_): str(uuid) for id_, uuid in rows}
