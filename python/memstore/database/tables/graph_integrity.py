"""Checks that the graph is consistent with itself and with the facts, and removals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.tables.graph import PARTS, SHIFT
from memstore.database.writes import BY_ID, Delete

if TYPE_CHECKING:
    from memstore.database.engine import Transaction

# A build that is being written or removed need not be consistent.
_CURRENT: Final = "(SELECT id FROM memstore_graphs WHERE state = 'current')"

CHECKS: Final = (
    *(
        (
            f"{part.table.removeprefix('memstore_')} of no build",
            f"{part.columns[0]} >> {SHIFT}",
            part.table,
            f"{part.columns[0]} >> {SHIFT} NOT IN (SELECT id FROM memstore_graphs)",
        )
        for part in PARTS
    ),
    (
        "names of a missing entity",
        "n.graph_id",
        "memstore_entity_names n LEFT JOIN memstore_entity_names e ON e.id = n.entity_id",
        f"n.graph_id IN {_CURRENT} AND (e.entity_id IS DISTINCT FROM n.entity_id"
        " OR e.graph_id IS DISTINCT FROM n.graph_id OR e.id > n.id)",
    ),
    (
        "names that no fact mentions",
        "n.graph_id",
        "memstore_entity_names n LEFT JOIN memstore_mentions m ON m.name_id = n.id",
        f"n.graph_id IN {_CURRENT} AND m.name_id IS NULL",
    ),
    (
        "mentions of a missing name",
        f"m.name_id >> {SHIFT}",
        "memstore_mentions m LEFT JOIN memstore_entity_names n ON n.id = m.name_id",
        f"m.name_id >> {SHIFT} IN {_CURRENT} AND n.id IS NULL",
    ),
    (
        "mentions by a fact that is missing, erased or in another namespace",
        "g.id",
        f"memstore_mentions m JOIN memstore_graphs g ON g.id = m.name_id >> {SHIFT}"
        " LEFT JOIN memstore_facts f ON f.id = m.fact_id",
        "f.content IS NULL OR f.content = '' OR f.namespace <> g.namespace",
    ),
    (
        "relations of names that their fact does not mention",
        f"r.source_id >> {SHIFT}",
        "memstore_relations r"
        " LEFT JOIN memstore_mentions s ON s.name_id = r.source_id AND s.fact_id = r.fact_id"
        " LEFT JOIN memstore_mentions t ON t.name_id = r.target_id AND t.fact_id = r.fact_id",
        f"r.source_id >> {SHIFT} IN {_CURRENT} AND (s.name_id IS NULL OR t.name_id IS NULL)",
    ),
)
"""For each check: the problem, the id of its graph, the rows, and the condition for wrong ones."""

_LOST: Final = "fact_id NOT IN (SELECT id FROM memstore_facts WHERE content <> '')"


def troubles(transaction: Transaction) -> list[tuple[int, str]]:
    return [
        (graph_id, f"{number} {what}")
        for what, graph, rows, wrong in CHECKS
        for graph_id, number in transaction.rows(
            f"SELECT {graph}, count(*) FROM {rows} WHERE {wrong} GROUP BY 1 ORDER BY 1"
        )
    ]


def lost_readings(transaction: Transaction) -> int:
    """Count the readings of facts that are missing or were erased."""
    return transaction.scalar(f"SELECT count(*) FROM memstore_fact_readings WHERE {_LOST}")


def forget_lost_readings(transaction: Transaction) -> int:
    return transaction.run(Delete("memstore_fact_readings", _LOST))


def remove(transaction: Transaction, graph_id: int) -> None:
    """Remove a graph by its id; decisions stay."""
    for part in PARTS:
        transaction.run(Delete(part.table, f"{part.columns[0]} >> {SHIFT} = :id"), {"id": graph_id})
    transaction.run(Delete("memstore_graphs", BY_ID), {"id": graph_id})
