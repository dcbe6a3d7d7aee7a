"""The graph of a namespace: entities and relations, derived from its facts when somebody asks.

Nothing here is in the way of a write: the graph is built by :meth:`Graph.build` and at no other
time, from nothing, and can be dropped. What people decided about entities is kept.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from memstore.database import journal
from memstore.database.filters import FactFilter
from memstore.database.journal import Kind
from memstore.database.tables import entity_decisions as decision_table
from memstore.database.tables import graph as graph_table
from memstore.database.tables import graph_reads
from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME, MAX_NUMBER, checked_text
from memstore.domain.entities import GraphBuilt, GraphStatus, LikelySame
from memstore.errors import NotFound
from memstore.graph import build, decisions
from memstore.graph.duplicates import likely_pairs
from memstore.graph.neighbours import View
from memstore.text.names import name_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.journal import Author
    from memstore.database.tables.entity_decisions import Kept
    from memstore.domain.entities import Entity, EntityDecision, Neighbours, RefusedRelation
    from memstore.domain.protocols import Generator
    from memstore.domain.records import Scope

MOST_DEPTH: Final = 5
"""Steps from one entity to another; beyond, nearly everything is near nearly everything."""

MOST_SHOWN: Final = 1000
"""Entities of one answer."""


class Graph:
    """The graph of one namespace."""

    def __init__(self, engine: Engine, author: Author, namespace: str) -> None:
        self._engine = engine
        self._author = author
        self._namespace = namespace

    def build(
        self, *, generator: Generator | None = None, progress: Progress | None = None
    ) -> GraphBuilt:
        """Build the graph anew from the active facts; until that is done the old one stands.

        By rules alone the same facts give the same graph. With a generator a model is asked too;
        what it says of a fact is checked and kept, so that building again asks about new facts
        only, also after a failure.

        Args:
            generator: the model, if one is to read the facts; all of them are sent to it, once.
            progress: called with how many facts it has read, and of how many.

        Raises:
            GeneratorError: the model failed; the old graph stands, and what it said is kept.
            Conflict: somebody else built or dropped the graph meanwhile; theirs stands.
        """
        refused: Sequence[RefusedRelation] = ()
        if generator is not None:
            refused = build.ask(self._engine, self._namespace, generator, progress)
        build.build(self._engine, self._author, self._namespace, generator)
        return GraphBuilt(status=self.status(), refused=tuple(refused))

    def drop(self) -> None:
        """Remove the graph, and what a model read for it; decisions on entities stay."""
        with self._engine.write() as transaction:
            if graph_table.discard(transaction, self._namespace):
                after = {"namespace": self._namespace}
                journal.append(transaction, self._author, Kind.CLEAR_GRAPH, None, after=after)
        build.sweep(self._engine, self._namespace)

    def status(self) -> GraphStatus:
        """Say when and from what the graph was built, and how many facts changed since."""
        wanted = self._visible(None)
        with self._engine.read() as transaction:
            built = graph_table.current(transaction, self._namespace)
            if built is None:
                return GraphStatus(built_at=None)
            return GraphStatus(
                built_at=built.built_at,
                facts=built.facts,
                entities=graph_reads.count_entities(transaction, built.id, wanted),
                relations=graph_reads.count_relations(transaction, built.id, wanted),
                changed=graph_table.changed_since(transaction, self._namespace, built.operation_id),
                model=built.model,
            )

    def entities(
        self, *, limit: int = 100, offset: int = 0, scope: Scope | None = None
    ) -> list[Entity]:
        """Return the entities that facts speak of now, those of the most facts first.

        Args:
            limit: how many at most.
            offset: how many to pass over first.
            scope: count and show only facts of just these owners.
        """
        _check_whole(limit, "limit", 1, MOST_SHOWN)
        _check_whole(offset, "offset", 0, MAX_NUMBER)
        wanted = self._visible(scope)
        with self._engine.read() as transaction:
            built = graph_table.current(transaction, self._namespace)
            if built is None:
                return []
            view = View(transaction, wanted)
            found = graph_reads.most_mentioned(transaction, built.id, wanted, limit, offset)
            return [view.entity(entity_id) for entity_id in found]

    def get(self, name: str, *, scope: Scope | None = None) -> Entity:
        """Return an entity, by any of its names, in whatever case.

        Raises:
            NotFound: no fact that holds now names it, as far as the graph was built.
        """
        with self._engine.read() as transaction:
            view = View(transaction, self._visible(scope))
            return view.entity(self._known(transaction, view, name))

    def neighbours(
        self, name: str, *, depth: int = 1, limit: int = 20, scope: Scope | None = None
    ) -> Neighbours:
        """Return the entities near another one, the nearest first, then by the facts between.

        The search goes no further than it must to find as many as asked for.

        Args:
            name: any name of the entity.
            depth: how many steps away at most, 1 to 5.
            limit: how many at most; ``cut`` of the result says what is left out.
            scope: go only by facts of just these owners.

        Raises:
            NotFound: no fact that holds now names it, as far as the graph was built.
            ValueError: a depth or a limit out of range.
        """
        _check_whole(depth, "depth", 1, MOST_DEPTH)
        _check_whole(limit, "limit", 1, MOST_SHOWN)
        wanted = self._visible(scope)
        with self._engine.read() as transaction:
            view = View(transaction, wanted)
            entity_id = self._known(transaction, view, name)
            return view.neighbours(entity_id, depth, limit)

    def merge(self, left: str, right: str) -> EntityDecision:
        """Say that two names are one entity: at once, and in every graph that is built later.

        Neither name need be in the graph: from the next build on both are looked for in facts.

        Raises:
            Conflict: what was decided before says otherwise; the message names the chain.
            ValueError: they are one name already.
        """
        return self._decide(left, right, same=True)

    def keep_apart(self, left: str, right: str) -> EntityDecision:
        """Say that two names are two entities, so that nobody is asked about them again.

        Raises:
            Conflict: they were merged; the message names the chain.
            ValueError: they are one name.
        """
        return self._decide(left, right, same=False)

    def forget(self, left: str, right: str) -> EntityDecision:
        """Take back what was decided about just these two names, and return it.

        Raises:
            NotFound: nothing was.
        """
        with self._engine.write() as transaction:
            return decisions.forget(transaction, self._author, self._namespace, left, right)

    def decisions(self) -> list[EntityDecision]:
        """Return what people decided about entities, oldest first."""
        with self._engine.read() as transaction:
            held = decision_table.of_namespace(transaction, self._namespace)
        return [one.decision for one in held]

    def likely_same(self, *, limit: int = 20) -> list[LikelySame]:
        """Return entities that may be one, those of the most facts first; nothing is merged.

        Pairs that were decided about are left out.
        """
        _check_whole(limit, "limit", 1, MOST_SHOWN)
        wanted = self._visible(None)
        with self._engine.read() as transaction:
            built = graph_table.current(transaction, self._namespace)
            if built is None:
                return []
            names = graph_reads.all_names(transaction, built.id, wanted)
            held = decision_table.of_namespace(transaction, self._namespace)
            pairs = _undecided({one.key: one.entity_id for one in names}, held)
            facts: Counter[int] = Counter()
            for one in names:
                facts[one.entity_id] += one.facts
            best = sorted(pairs, key=lambda ends: (-min(facts[end] for end in ends), ends))
            view = View(transaction, wanted)
            return [
                LikelySame(
                    left=view.entity(ends[0]), right=view.entity(ends[1]), reason=pairs[ends]
                )
                for ends in best[:limit]
            ]

    # -- inside ------------------------------------------------------------------------------

    def _visible(self, scope: Scope | None) -> FactFilter:
        return FactFilter((self._namespace,), clock.utc_now(), scope=scope)

    def _decide(self, left: str, right: str, *, same: bool) -> EntityDecision:
        with self._engine.write() as transaction:
            return decisions.decide(
                transaction, self._author, self._namespace, left, right, same=same
            )

    def _known(self, transaction: Transaction, view: View, name: str) -> int:
        key = name_key(checked_text(name, "name", MAX_NAME))
        built = graph_table.current(transaction, self._namespace)
        if built is None:
            raise NotFound(
                f"the graph of namespace {self._namespace!r} was never built: graph.build() "
                "builds it"
            )
        keys = [key, *decisions.entity_of(transaction, self._namespace, key)]
        for entity_id in graph_table.entities_of(transaction, built.id, keys):
            if view.shows(entity_id):
                return entity_id
        raise NotFound(
            f"the graph of namespace {self._namespace!r} has no entity {name!r}: "
            "graph.entities() lists those it has"
        )


def _undecided(entity: Mapping[str, int], held: Sequence[Kept]) -> dict[tuple[int, int], str]:
    """Return the pairs of entities that may be one, as far as nobody decided about them, and why.

    Args:
        entity: for the key of each name, its entity.
        held: what was decided.
    """
    first = {key: keys[0] for keys in decisions.groups(held) for key in keys}
    apart = {frozenset(ends) for _, *ends in decisions.parted(held)}
    found: dict[tuple[int, int], str] = {}
    for left, right, reason in likely_pairs(entity):
        ends = (min(entity[left], entity[right]), max(entity[left], entity[right]))
        decided = frozenset((first.get(left, left), first.get(right, right))) in apart
        if ends[0] != ends[1] and not decided:
            found.setdefault(ends, reason)
    return found


def _check_whole(value: object, name: str, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}, not {value!r}")
