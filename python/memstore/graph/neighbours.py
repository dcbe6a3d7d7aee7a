"""Describing entities and the paths between them, from the visible facts."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Final

from memstore.database.tables import facts as fact_table
from memstore.database.tables import graph_reads
from memstore.domain.entities import Entity, Neighbour, Neighbours, Relation

if TYPE_CHECKING:
    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter
    from memstore.database.tables.graph_reads import Nearest

RELATIONS_SHOWN: Final = 5
"""Relations shown per step: labelled ones before ``mentions``, then those with the most facts."""

FACTS_SHOWN: Final = 3
"""How many facts are shown for a relation: the newest."""


class View:
    """A graph as one transaction sees it; reads are cached."""

    def __init__(self, transaction: Transaction, wanted: FactFilter) -> None:
        self._transaction = transaction
        self._wanted = wanted
        self.entity = cache(self._entity)
        self._step = cache(self._relations)

    def shows(self, entity_id: int) -> bool:
        return bool(graph_reads.names(self._transaction, self._wanted, entity_id))

    def neighbours(self, entity_id: int, depth: int, limit: int) -> Neighbours:
        """Return the nearest entities, each with a shortest path to it."""
        distances, ended = {entity_id: 0}, False
        for reach in range(1, depth + 1):
            before = len(distances)
            distances, ended = graph_reads.near(self._transaction, self._wanted, entity_id, reach)
            if ended or len(distances) > limit or len(distances) == before:
                break
        levels = self._levels(distances)
        ways: dict[int, tuple[int, ...]] = {entity_id: (entity_id,)}
        for level in levels:
            for one in level:
                ways[one.entity_id] = (*ways[one.before], one.entity_id)
        shown = [one for level in levels for one in level][:limit]
        found = (
            Neighbour(
                entity=self.entity(one.entity_id),
                distance=distances[one.entity_id],
                path=tuple(starmap(self._step, pairwise(ways[one.entity_id]))),
            )
            for one in shown
        )
        cut = _cut(len(distances) - 1 - len(shown), reach if reach < depth else None, ended)
        return Neighbours(found, entity=self.entity(entity_id), cut=cut)

    def _levels(self, distances: dict[int, int]) -> list[list[Nearest]]:
        """Return the entities of each distance, those with the most facts between first."""
        found = []
        for distance in range(1, max(distances.values()) + 1):
            before = [one for one in distances if distances[one] == distance - 1]
            best: dict[int, Nearest] = {}
            facts: Counter[int] = Counter()
            for one in graph_reads.one_step(self._transaction, self._wanted, before):
                if distances.get(one.entity_id) == distance:
                    facts[one.entity_id] += one.facts
                    known = best.setdefault(one.entity_id, one)
                    best[one.entity_id] = min(known, one, key=lambda n: (-n.facts, n.before))
            found.append(sorted(best.values(), key=lambda n: (-facts[n.entity_id], n.entity_id)))
        return found

    def _entity(self, entity_id: int) -> Entity:
        names = graph_reads.names(self._transaction, self._wanted, entity_id)
        facts = graph_reads.count_facts(self._transaction, self._wanted, entity_id)
        return Entity(name=names[0], names=tuple(names), facts=facts)

    def _relations(self, left: int, right: int) -> tuple[Relation, ...]:
        links = graph_reads.links(self._transaction, self._wanted, left, right, FACTS_SHOWN)
        links = links[:RELATIONS_SHOWN]
        ids = [fact_id for link in links for fact_id in link.fact_ids]
        facts = fact_table.get_many(self._transaction, ids)
        names = {end: self.entity(end).name for end in (left, right)}
        return tuple(
            Relation(
                source=names[link.source_id],
                label=link.label,
                target=names[right if link.source_id == left else left],
                facts=tuple(facts[fact_id] for fact_id in link.fact_ids),
                fact_count=link.facts,
            )
            for link in links
        )


def _cut(more: int, reach: int | None, ended: bool) -> str | None:
    """Say what a result leaves out: a number, everything further away, or an unknown rest."""
    if ended:
        steps = f"{graph_reads.MAX_STEPS:,}"
        return f"the search ended after {steps} entities; choose an entity with fewer relations"
    if more > 0:
        further = (
            ""
            if reach is None
            else f", and everything more than {reach} step{'s' * (reach > 1)} away"
        )
        return f"{more} more{further}; use a larger limit"
    return None
