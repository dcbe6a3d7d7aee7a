"""The graph of a namespace: entities and relations derived from its facts.

Only :meth:`Graph.build` builds it, from scratch: writes never wait for it, and it can be dropped at
any time. People's decisions about entities are kept.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from memstore.coroutines import Awaited, awaited
from memstore.database.changes import Changes, Line
from memstore.database.filters import FactFilter
from memstore.database.journal import Kind
from memstore.database.tables import entity_decisions as decision_table
from memstore.database.tables import graph as graph_table
from memstore.database.tables import graph_reads
from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME, MAX_NUMBER, checked_number, checked_text
from memstore.domain.entities import GraphBuilt, GraphStatus, LikelySame
from memstore.errors import NotFound, Remedy
from memstore.graph import build, decisions
from memstore.graph.duplicates import undecided_pairs
from memstore.graph.neighbours import View
from memstore.providers import given_generator
from memstore.text.names import name_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.journal import Author
    from memstore.domain.entities import Entity, EntityDecision, Neighbours, RefusedRelation
    from memstore.domain.protocols import Generator
    from memstore.domain.records import AtLeast, Scope
    from memstore.domain.standing import Standing

MAX_DEPTH: Final = 5
"""Steps from one entity to another; beyond that, nearly everything is related."""

MAX_SHOWN: Final = 1000


class Graph:
    """The graph of one namespace."""

    def __init__(self, engine: Engine, author: Author, standing: Standing) -> None:
        self._engine = engine
        self._author = author
        self._standing = standing
        self._namespace = standing.namespace

    def build(
        self, *, generator: str | Generator | None = None, progress: Progress | None = None
    ) -> GraphBuilt:
        """Build the graph from the active facts; the old one is used until the new one is done.

        Without a generator, only rules read the facts, and the same facts give the same graph.
        With one, a model is asked as well; its checked answers are stored, so that the next build
        asks only about new facts, even after a failure.

        Args:
            generator: a model that also reads the facts, or the name of its provider, such as
                ``"ollama"``; each fact is sent to it once.
            progress: called with the number of facts the model has read, and the total.

        Raises:
            GeneratorError: the model failed; the old graph and the model's answers so far are kept.
            Conflict: the graph was built or dropped in the meantime.
        """
        refused: Sequence[RefusedRelation] = ()
        if generator is not None:
            generator = given_generator(generator)
            refused = build.ask(self._engine, self._namespace, generator, progress)
        build.build(self._engine, self._author, self._namespace, generator)
        return GraphBuilt(status=self.status(), refused=tuple(refused))

    def drop(self) -> None:
        """Remove the graph and a model's answers for it; decisions about entities are kept."""
        with self._engine.write() as transaction:
            if graph_table.exists(transaction, self._namespace):
                line = Line(Kind.CLEAR_GRAPH, after={"namespace": self._namespace})
                discarding = graph_table.discarding(self._namespace)
                Changes(transaction, self._author).write(line, *discarding)
        build.sweep(self._engine, self._namespace)

    def status(self) -> GraphStatus:
        """Return when and from how many facts the graph was built, and how many changed since.

        If the store has owners, entities and relations are counted as :meth:`entities` shows them.
        """
        wanted = self._visible(self._standing.bound)
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

    def entities(self, *, limit: int = 100, offset: int = 0) -> list[Entity]:
        """Return the entities that active facts mention, those with the most facts first.

        Only facts of the owners of the store count; without any, facts of no owner.
        """
        checked_number(limit, "limit", 1, MAX_SHOWN)
        checked_number(offset, "offset", 0, MAX_NUMBER)
        wanted = self._visible(self._standing.selected)
        with self._engine.read() as transaction:
            built = graph_table.current(transaction, self._namespace)
            if built is None:
                return []
            view = View(transaction, wanted)
            found = graph_reads.most_mentioned(transaction, built.id, wanted, limit, offset)
            return [view.entity(entity_id) for entity_id in found]

    def get(self, name: str) -> Entity:
        """Return an entity by any of its names, ignoring case.

        Raises:
            NotFound: no active fact in the graph mentions it.
        """
        with self._engine.read() as transaction:
            view = View(transaction, self._visible(self._standing.selected))
            return view.entity(self._known(transaction, view, name))

    def neighbours(self, name: str, *, depth: int = 1, limit: int = 20) -> Neighbours:
        """Return the entities related to one, the nearest first, then by the number of facts.

        The search stops once it has found ``limit`` of them.

        Args:
            name: any name of the entity.
            depth: the most steps away, 1 to 5.
            limit: the most entities; ``cut`` of the result says what was left out.

        Raises:
            NotFound: no active fact in the graph mentions it.
            ValueError: a depth or a limit out of range.
        """
        checked_number(depth, "depth", 1, MAX_DEPTH)
        checked_number(limit, "limit", 1, MAX_SHOWN)
        wanted = self._visible(self._standing.selected)
        with self._engine.read() as transaction:
            view = View(transaction, wanted)
            entity_id = self._known(transaction, view, name)
            return view.neighbours(entity_id, depth, limit)

    def merge(self, left: str, right: str) -> EntityDecision:
        """Decide that two names are one entity, in this graph and in every later one.

        Neither needs to be in the graph: later builds look for both in the facts.

        Raises:
            Conflict: earlier decisions say otherwise; the message names them.
        """
        return self._decide(left, right, same=True)

    def keep_apart(self, left: str, right: str) -> EntityDecision:
        """Decide that two names are two entities; ``likely_same`` no longer lists them.

        Raises:
            Conflict: they were merged; the message names the decisions.
        """
        return self._decide(left, right, same=False)

    def forget(self, left: str, right: str) -> EntityDecision:
        """Withdraw the decision about exactly these two names, and return it.

        Raises:
            NotFound: there is none.
        """
        with self._engine.write() as transaction:
            return decisions.forget(
                Changes(transaction, self._author), self._namespace, left, right
            )

    def decisions(self) -> list[EntityDecision]:
        """Return the decisions about entities, oldest first."""
        with self._engine.read() as transaction:
            held = decision_table.of_namespace(transaction, self._namespace)
        return [one.decision for one in held]

    def likely_same(self, *, limit: int = 20) -> list[LikelySame]:
        """Return pairs of entities that may be the same, those with the most facts first.

        Nothing is merged. Pairs with a decision are left out.
        """
        checked_number(limit, "limit", 1, MAX_SHOWN)
        wanted = self._visible(self._standing.bound)
        with self._engine.read() as transaction:
            built = graph_table.current(transaction, self._namespace)
            if built is None:
                return []
            names = graph_reads.all_names(transaction, built.id, wanted)
            held = decision_table.of_namespace(transaction, self._namespace)
            pairs = undecided_pairs({one.key: one.entity_id for one in names}, held)
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

    def _visible(self, owners: Scope | AtLeast | None) -> FactFilter:
        return FactFilter((self._namespace,), clock.utc_now(), scope=owners)

    def _decide(self, left: str, right: str, *, same: bool) -> EntityDecision:
        with self._engine.write() as transaction:
            return decisions.decide(
                Changes(transaction, self._author), self._namespace, left, right, same=same
            )

    def _known(self, transaction: Transaction, view: View, name: str) -> int:
        key = name_key(checked_text(name, "name", MAX_NAME))
        built = graph_table.current(transaction, self._namespace)
        if built is None:
            raise NotFound(
                f"the graph of namespace {self._namespace!r} was never built",
                remedy=Remedy.BUILD_GRAPH,
            )
        keys = [key, *decisions.entity_of(transaction, self._namespace, key)]
        for entity_id in graph_table.entities_of(transaction, built.id, keys):
            if view.shows(entity_id):
                return entity_id
        raise NotFound(
            f"the graph of namespace {self._namespace!r} has no entity {name!r}",
            remedy=Remedy.LIST_ENTITIES,
        )


class AsyncGraph(Awaited[Graph]):
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
