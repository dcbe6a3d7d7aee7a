"""Whether graphs agree with facts and decisions; one that does not is dropped, to be built anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.tables import entity_decisions as decision_table
from memstore.database.tables import graph as graph_table
from memstore.database.tables import graph_integrity
from memstore.graph import decisions

if TYPE_CHECKING:
    from memstore.database.engine import Transaction


def troubles(transaction: Transaction) -> list[str]:
    """Return what is wrong with graphs, a sentence each."""
    found = [f"{_named(transaction, graph_id)}: {what}" for graph_id, what in _all(transaction)]
    if lost := graph_integrity.lost_readings(transaction):
        found.append(f"what a model read in {lost} facts that were erased is kept")
    return found


def contradictions(transaction: Transaction) -> list[str]:
    """Return decisions on entities that other decisions rule out."""
    return [
        f"{kept.decision.left!r} is not {kept.decision.right!r} (namespace {kept.namespace!r})"
        for namespace in decision_table.namespaces(transaction)
        for kept, left, right in decisions.parted(
            decision_table.of_namespace(transaction, namespace)
        )
        if left == right
    ]


def repair(transaction: Transaction) -> list[str]:
    """Drop the graphs that are wrong, and return what was done; decisions stay."""
    done = []
    for graph_id in sorted({graph_id for graph_id, _ in _all(transaction)}):
        name = _named(transaction, graph_id)
        graph_integrity.remove(transaction, graph_id)
        done.append(f"dropped the {name}, which did not agree with its facts: build it again")
    if forgotten := graph_integrity.forget_lost_readings(transaction):
        done.append(f"forgot what a model read in {forgotten} facts that were erased")
    return done


def _all(transaction: Transaction) -> list[tuple[int, str]]:
    found = graph_integrity.troubles(transaction)
    for graph_id, namespace in graph_table.every_current(transaction):
        groups = decisions.groups(decision_table.of_namespace(transaction, namespace))
        if wrong := graph_table.misplaced(transaction, graph_id, groups):
            found.append((graph_id, f"{wrong} names stand for another entity than was decided"))
    return found


def _named(transaction: Transaction, graph_id: int) -> str:
    namespace = graph_table.namespace_of(transaction, graph_id)
    return f"graph {graph_id}, of no namespace" if namespace is None else f"graph of {namespace!r}"
