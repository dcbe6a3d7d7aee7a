"""The graph of entities and relations that is derived from facts when somebody asks."""

from memstore.graph.graph import Graph

__all__ = ["Graph"]
