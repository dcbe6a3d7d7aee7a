"""Chains: facts, and the facts that superseded them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memstore.database.engine import Transaction


class Link(NamedTuple):
    fact_id: int
    superseded_by: int
    same_namespace: bool


def links(transaction: Transaction) -> list[Link]:
    rows = transaction.rows(
        "SELECT f.id, f.superseded_by, f.namespace = s.namespace"
        " FROM memstore_facts f JOIN memstore_facts s ON s.id = f.superseded_by ORDER BY f.id"
    )
    return [Link(fact_id, by, bool(same)) for fact_id, by, same in rows]


def circles(transaction: Transaction) -> list[list[int]]:
    """Return the facts that supersede each other in a circle, each circle by id."""
    following: dict[int, int] = dict(
        transaction.rows(
            "SELECT id, superseded_by FROM memstore_facts WHERE superseded_by IS NOT NULL"
        )
    )
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
