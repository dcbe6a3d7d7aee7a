"""SQLite's own checks, and those of the links between facts."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from memstore.database.sqlite import full_text
from memstore.errors import StorageError

if TYPE_CHECKING:
    from memstore.database.engine import Transaction

MOST_TROUBLES = 20


class Link(NamedTuple):
    """A fact, the one that superseded it, and whether both are of one namespace."""

    fact_id: int
    superseded_by: int
    same_namespace: bool


def page_troubles(transaction: Transaction) -> list[str]:
    """Return what SQLite finds wrong with the pages of the file.

    It looks into the full-text index too, which is no reason to give the file up: see
    :meth:`memstore.database.sqlite.full_text.FullText.check`.
    """
    with suppress(StorageError):
        for index in full_text.INDEXES:
            index.refresh(transaction)
    found = [str(row[0]) for row in transaction.rows(f"PRAGMA integrity_check({MOST_TROUBLES})")]
    return [trouble for trouble in found if trouble != "ok" and "fts5" not in trouble.lower()]


def dangling_rows(transaction: Transaction) -> dict[str, list[int]]:
    """Return, by table, the rows that name a row of another (or the same) that does not exist."""
    found: dict[str, list[int]] = {}
    for table, row_id, *_ in transaction.rows("PRAGMA foreign_key_check"):
        found.setdefault(str(table), []).append(int(row_id or 0))
    return found


def links(transaction: Transaction) -> list[Link]:
    """Return every supersession."""
    rows = transaction.rows(
        "SELECT f.id, f.superseded_by, f.namespace = s.namespace"
        " FROM memstore_facts f JOIN memstore_facts s ON s.id = f.superseded_by ORDER BY f.id"
    )
    return [Link(int(row[0] or 0), int(row[1] or 0), bool(row[2])) for row in rows]


def circles(transaction: Transaction) -> list[list[int]]:
    """Return the facts that supersede each other in a circle, each circle by id."""
    following = {
        int(row[0] or 0): int(row[1] or 0)
        for row in transaction.rows(
            "SELECT id, superseded_by FROM memstore_facts WHERE superseded_by IS NOT NULL"
        )
    }
    found: list[list[int]] = []
    ended: set[int] = set()
    for start in following:
        path: list[int] = []
        here = start
        while here in following and here not in ended:
            ended.add(here)
            path.append(here)
            here = following[here]
        if here in path:
            found.append(sorted(path[path.index(here) :]))
    return found
