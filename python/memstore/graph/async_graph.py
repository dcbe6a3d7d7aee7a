"""The graph for asyncio."""

from __future__ import annotations

from memstore.domain.threads import Awaited, awaited
from memstore.graph.graph import Graph


class AsyncGraph(Awaited[Graph]):
    """:class:`Graph` for asyncio."""

    build = awaited(Graph.build)
    drop = awaited(Graph.drop)
    status = awaited(Graph.status)
    entities = awaited(Graph.entities)
    get = awaited(Graph.get)
    neighbours = awaited(Graph.neighbours)
    merge = awaited(Graph.merge)
    keep_apart = awaited(Graph.keep_apart)
    forget = awaited(Graph.forget)
    decisions = awaited(Graph.decisions)
    likely_same = awaited(Graph.likely_same)
