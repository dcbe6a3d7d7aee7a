"""The functions of the graph that the core calls: forgetting, checking, repairing, importing.

The module itself is a :class:`memstore.database.changes.Dependents`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.tables import entity_decisions as decision_table
from memstore.database.tables import graph as graph_table
from memstore.database.tables import mention_blocks
from memstore.graph.decisions import (
    bring_decision,
    forget_build,
    forget_fact,
    forget_namespace,
    groups,
    parted,
)
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Transaction
    from memstore.graph import alike
else:
    alike = lazy_import("memstore.graph.alike")

__all__ = [
    "bring_decision",
    "forget_build",
    "forget_fact",
    "forget_namespace",
    "repair",
    "troubles",
]


def troubles(transaction: Transaction) -> Iterator[tuple[str, bool]]:
    """Yield problems of graphs and decisions, and whether :func:`repair` fixes each."""
    for graph_id, what in _wrong(transaction):
        yield f"{_named(transaction, graph_id)}: {what}", True
    if lost := graph_table.lost_readings(transaction):
        yield f"a model's answers about {lost} erased facts are still stored", True
    for namespace in decision_table.namespaces(transaction):
        for kept, left, right in parted(decision_table.of_namespace(transaction, namespace)):
            if left == right:
                pair = f"{kept.decision.left!r} is not {kept.decision.right!r}"
                yield f"other decisions contradict: {pair} (namespace {namespace!r})", False


def repair(transaction: Transaction) -> list[str]:
    """Drop the graphs that are wrong and return what was done; decisions stay."""
    done = []
    for graph_id in sorted({graph_id for graph_id, _ in _wrong(transaction)}):
        name = _named(transaction, graph_id)
        graph_table.remove(transaction, graph_id)
        done.append(f"dropped the {name}, which did not agree with its facts: build it again")
    if forgotten := graph_table.forget_lost_readings(transaction):
        done.append(f"deleted a model's answers about {forgotten} erased facts")
    return done


def _wrong(transaction: Transaction) -> list[tuple[int, str]]:
    found = graph_table.troubles(transaction)
    for graph_id, namespace in graph_table.every_current(transaction):
        same = groups(decision_table.of_namespace(transaction, namespace))
        if wrong := graph_table.misplaced(transaction, graph_id, same):
            found.append((graph_id, f"{wrong} names belong to another entity than was decided"))
        if wrong := mention_blocks.misfits(transaction, graph_id):
            found.append((graph_id, f"{wrong} blocks of mentions differ from these"))
        if graph_table.has_blocks(transaction, graph_id):
            known = alike.alike_keys(graph_table.keys(transaction, graph_id))
            if missing := known.difference(graph_table.alike_names(transaction, graph_id)):
                found.append((graph_id, f"{len(missing)} names are not listed as alike"))
    return found


def _named(transaction: Transaction, graph_id: int) -> str:
    namespace = graph_table.namespace_of(transaction, graph_id)
    return f"graph {graph_id}, of no namespace" if namespace is None else f"graph of {namespace!r}"
