"""Figures of an open file for an operator: what waits, how large the indexes are, the pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.tables import generations as generation_table
from memstore.database.tables import vectors as vector_table
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memstore.database.engine import Engine
    from memstore.search.index.index import IndexFigures
    from memstore.search.searches import Searches

KINDS = {"facts": vector_table.FACTS, "episodes": vector_table.PIECES}


@frozen
class Figures:
    """Numbers alone: no namespace, owner or text."""

    pending: Mapping[str, int]
    """By kind of rows: how many wait for their embedding, in all namespaces."""
    quarantined: Mapping[str, int]
    """By kind of rows: how many can not be embedded."""
    indexes: Sequence[IndexFigures]
    connections: Mapping[str, int]
    """Connections of a pool by state; empty if the engine has none."""


def figures(engine: Engine, searches: Searches) -> Figures:
    """Return the figures of one moment.

    Raises:
        StorageError: the database cannot be read.
    """
    with engine.read() as transaction:
        generation = generation_table.active(transaction)
        waiting = {
            kind: vector_table.count_waiting(transaction, table, generation.id, None)
            for kind, table in KINDS.items()
        }
    return Figures(
        {kind: counts["pending"] for kind, counts in waiting.items()},
        {kind: counts["quarantined"] for kind, counts in waiting.items()},
        searches.index_figures(),
        engine.connections,
    )
