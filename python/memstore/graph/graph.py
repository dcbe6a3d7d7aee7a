"""The graph of a namespace: entities and relations derived from its facts.

Only :meth:`Graph.build` builds it, from scratch: writes never wait for it, and it can be dropped at
any time. People's decisions about entities are kept.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from functools import cache
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.coroutines import Awaited, awaited
from memstore.database import journal
from memstore.database.changes import Changes, Line
from memstore.database.filters import FactFilter
from memstore.database.journal import Kind
from memstore.database.tables import entity_decisions as decision_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import graph as graph_table
from memstore.database.tables import graph_reads, mention_blocks
from memstore.database.tables.graph import ALIKE, MENTIONS, NAMES, RELATIONS
from memstore.database.tables.mention_blocks import PLACE, SHIFT
from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME, MAX_NUMBER, checked_number, checked_text
from memstore.domain.entities import (
    Entity,
    GraphBuilt,
    GraphStatus,
    LikelySame,
    Neighbour,
    Neighbours,
    Relation,
)
from memstore.errors import Conflict, NotFound, Remedy, StoreBusy
from memstore.graph import alike, decisions, model_extraction
from memstore.graph.rule_extraction import Text, Triple, derive
from memstore.named import NamedTuple
from memstore.providers import given_generator
from memstore.text.names import name_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memstore.database.engine import Engine, Progress, Transaction, Value
    from memstore.database.journal import Author
    from memstore.database.tables.graph import GraphTable
    from memstore.database.tables.graph_reads import Nearest
    from memstore.domain.entities import EntityDecision, RefusedRelation
    from memstore.domain.protocols import Generator
    from memstore.domain.records import AtLeast, Scope
    from memstore.domain.standing import Standing
    from memstore.graph.rule_extraction import Derived
    from memstore.search.index.visibility import Visible
    from memstore.search.searches import Searches

T = TypeVar("T")

RELATIONS_SHOWN: Final = 5
"""Relations shown per step: labelled ones before ``mentions``, then those with the most facts."""

FACTS_SHOWN: Final = 3
"""How many facts are shown for a relation: the newest."""


class BuiltGraph:
    """A graph as one transaction sees it; reads are cached.

    Args:
        wanted: the facts that count.
        seen: their ids, if these are known.
    """

    def __init__(self, transaction: Transaction, wanted: FactFilter, seen: Visible | None) -> None:
        self.transaction = transaction
        self.wanted = wanted
        self.seen = seen
        self.entity = cache(self._entity)
        self._step = cache(self._relations)

    def shows(self, entity_id: int) -> bool:
        return bool(graph_reads.names(self.transaction, self.wanted, entity_id))

    def neighbours(self, entity_id: int, depth: int, limit: int) -> Neighbours:
        """Return the nearest entities, each with a shortest path to it."""
        distances, ended = {entity_id: 0}, False
        for reach in range(1, depth + 1):
            before = len(distances)
            distances, ended = graph_reads.near(self.transaction, self.wanted, entity_id, reach)
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
            for one in graph_reads.one_step(self.transaction, self.wanted, before):
                if distances.get(one.entity_id) == distance:
                    facts[one.entity_id] += one.facts
                    known = best.setdefault(one.entity_id, one)
                    best[one.entity_id] = min(known, one, key=lambda n: (-n.facts, n.before))
            found.append(sorted(best.values(), key=lambda n: (-facts[n.entity_id], n.entity_id)))
        return found

    def _entity(self, entity_id: int) -> Entity:
        facts = graph_reads.count_facts(self.transaction, self.wanted, entity_id, self.seen)
        return _entity(self.transaction, self.wanted, entity_id, facts)

    def _relations(self, left: int, right: int) -> tuple[Relation, ...]:
        links = graph_reads.links(self.transaction, self.wanted, left, right, FACTS_SHOWN)
        links = links[:RELATIONS_SHOWN]
        ids = [fact_id for link in links for fact_id in link.fact_ids]
        facts = fact_table.get_many(self.transaction, ids)
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


def _entity(transaction: Transaction, wanted: FactFilter, entity_id: int, facts: int) -> Entity:
    names = graph_reads.names(transaction, wanted, entity_id)
    return Entity(name=names[0], names=tuple(names), facts=facts)


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


ROWS_PER_STEP: Final = 10_000
"""Rows written or removed in one transaction: about 100 ms of the write lock."""

PAUSE_SECONDS: Final = 0.05
"""Between two steps. SQLite polls a busy lock every few milliseconds at first and later ten times a
second: without a pause other writers would keep finding it taken."""


class _Snapshot(NamedTuple):
    texts: list[Text]
    triples: dict[int, list[Triple]]
    aliases: list[str]
    operation_id: int


def ask(
    engine: Engine, namespace: str, generator: Generator, progress: Progress | None = None
) -> list[RefusedRelation]:
    """Ask a model about every active fact it has not read yet; return the refused relations."""
    reader = model_extraction.reader(generator)
    snapshot = _read(engine, namespace, reader)
    unread = [text for text in snapshot.texts if text.fact_id not in snapshot.triples]
    done = len(snapshot.texts) - len(unread)
    refused: list[RefusedRelation] = []
    for block in model_extraction.blocks(unread):
        if progress is not None:
            progress(done, len(snapshot.texts))
        reading = model_extraction.read(block, generator)
        refused += reading.refused
        with engine.write() as transaction:
            for fact_id, triples in reading.triples.items():
                said = json.dumps(triples, ensure_ascii=False, separators=(",", ":"))
                graph_table.keep_reading(transaction, fact_id, reader, said)
        done += len(block)
    if progress is not None:
        progress(done, len(snapshot.texts))
    return refused


def build_namespace(
    engine: Engine, author: Author, namespace: str, generator: Generator | None
) -> None:
    """Derive the graph by rules and from a model's answers, and replace the old one."""
    snapshot = _read(
        engine, namespace, None if generator is None else model_extraction.reader(generator)
    )
    derived = derive(snapshot.texts, snapshot.aliases, snapshot.triples)
    model = None if generator is None else generator.model
    with engine.write() as transaction:
        graph_id = graph_table.begin(transaction, namespace, snapshot.operation_id, model)
    for part, rows in _steps(derived, graph_id << SHIFT):
        with engine.write() as transaction:
            gone = _erased(transaction, namespace, graph_id, snapshot)
            graph_table.insert(transaction, part, _without(part, rows, gone, derived))
        clock.sleep(PAUSE_SECONDS)
    _write_blocks(engine, namespace, graph_id, snapshot)
    with engine.write() as transaction:
        gone = _erased(transaction, namespace, graph_id, snapshot)
        facts = sum(1 for text in snapshot.texts if text.fact_id not in gone)
        after = {
            "namespace": namespace,
            "facts": facts,
            "names": len(derived.names),
            "relations": len(derived.relations),
        }
        Changes(transaction, author).write(
            Line(Kind.GRAPH, after=after), *graph_table.making_current(namespace, graph_id, facts)
        )
        for keys in decisions.groups(decision_table.of_namespace(transaction, namespace)):
            graph_table.regroup(transaction, graph_id, keys)
    sweep(engine, namespace)


def sweep(engine: Engine, namespace: str) -> None:
    """Remove the rows of old and unfinished builds, in small steps."""
    # No query sees these rows: if another writer has the lock, the next build removes them.
    with suppress(StoreBusy):
        while True:
            with engine.write() as transaction:
                if not graph_table.remove_some(transaction, namespace, ROWS_PER_STEP):
                    return
            clock.sleep(PAUSE_SECONDS)


def _steps(derived: Derived, first: int) -> Iterator[tuple[GraphTable, list[tuple[Value, ...]]]]:
    """Yield the rows of a graph in batches; names are numbered from ``first``.

    Mentions come first: if a fact is erased during the build, its other rows are found by them.
    """
    # In key order, so that each row is appended to its table.
    mentions = [(first + name, fact_id) for name, fact_id in sorted(derived.mentions)]
    relations = [
        (first + s, first + t, fact_id, w) for s, t, fact_id, w in sorted(derived.relations)
    ]
    names = [(first + n, first + n, key, name) for n, (key, name) in enumerate(derived.names)]
    place = {key: first + n for n, (key, _) in enumerate(derived.names)}
    named_alike = sorted((place[key],) for key in alike.alike_keys(place))
    parts: list[tuple[GraphTable, list[Any]]]
    parts = [(MENTIONS, mentions), (RELATIONS, relations), (NAMES, names), (ALIKE, named_alike)]
    for part, rows in parts:
        for start in range(0, len(rows), ROWS_PER_STEP):
            yield part, rows[start : start + ROWS_PER_STEP]


def _write_blocks(engine: Engine, namespace: str, graph_id: int, snapshot: _Snapshot) -> None:
    """Write the blocks of mentions, from the rows that are stored."""
    first: int | None = None
    while True:
        with engine.write() as transaction:
            _erased(transaction, namespace, graph_id, snapshot)
            first = graph_table.write_blocks(transaction, graph_id, first)
        if first is None:
            return
        clock.sleep(PAUSE_SECONDS)


def _erased(
    transaction: Transaction, namespace: str, graph_id: int, snapshot: _Snapshot
) -> set[int]:
    """Return the facts erased since they were read; ``Conflict`` if another build began."""
    if not graph_table.is_building(transaction, graph_id):
        raise Conflict(
            f"the graph of namespace {namespace!r} was dropped or built in the meantime; this "
            "build was abandoned"
        )
    return graph_table.erased_since(transaction, snapshot.operation_id)


def _without(
    part: GraphTable, rows: list[tuple[Value, ...]], gone: set[int], derived: Derived
) -> list[tuple[Value, ...]]:
    """Return the rows without those that come only from erased facts."""
    if not gone:
        return rows
    if part in (NAMES, ALIKE):
        kept = {name for name, fact_id in derived.mentions if fact_id not in gone}
        return [row for row in rows if _place(row[0]) in kept]
    fact = part.columns.index("fact_id")
    return [row for row in rows if row[fact] not in gone]


def _place(name_id: Value) -> int:
    assert isinstance(name_id, int)
    return name_id & PLACE


def _read(engine: Engine, namespace: str, reader: str | None) -> _Snapshot:
    active = FactFilter((namespace,), clock.utc_now())
    with engine.read() as transaction:
        operation_id = journal.last_id(transaction)
        texts = [Text(*row) for row in graph_table.texts(transaction, active)]
        replies = [] if reader is None else [*graph_table.readings(transaction, active, reader)]
        held = decision_table.of_namespace(transaction, namespace)
    aliases = [name for one in held for name in (one.decision.left, one.decision.right)]
    triples = {fact_id: [Triple(*one) for one in json.loads(reply)] for fact_id, reply in replies}
    return _Snapshot(texts, triples, aliases, operation_id)


MAX_DEPTH: Final = 5
"""Steps from one entity to another; beyond that, nearly everything is related."""

MAX_SHOWN: Final = 1000


class Graph:
    """The graph of one namespace."""

    def __init__(
        self, engine: Engine, author: Author, standing: Standing, searches: Searches
    ) -> None:
        self._engine = engine
        self._searches = searches
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
            refused = ask(self._engine, self._namespace, generator, progress)
        build_namespace(self._engine, self._author, self._namespace, generator)
        return GraphBuilt(status=self.status(), refused=tuple(refused))

    def drop(self) -> None:
        """Remove the graph and a model's answers for it; decisions about entities are kept."""
        with self._engine.write() as transaction:
            if graph_table.exists(transaction, self._namespace):
                line = Line(Kind.CLEAR_GRAPH, after={"namespace": self._namespace})
                discarding = graph_table.discarding(self._namespace)
                Changes(transaction, self._author).write(line, *discarding)
        sweep(self._engine, self._namespace)

    def status(self) -> GraphStatus:
        """Return when and from how many facts the graph was built, and how many changed since.

        If the store has owners, entities and relations are counted as :meth:`entities` shows them.
        """
        wanted = self._visible(self._standing.bound)

        def status(transaction: Transaction, seen: Visible | None) -> GraphStatus:
            built = graph_table.current(transaction, self._namespace)
            if built is None:
                return GraphStatus(built_at=None)
            return GraphStatus(
                built_at=built.built_at,
                facts=built.facts,
                entities=graph_reads.count_entities(transaction, built.id, wanted, seen),
                relations=graph_reads.count_relations(transaction, built.id, wanted),
                changed=graph_table.changed_since(transaction, self._namespace, built.operation_id),
                model=built.model,
            )

        return self._searches.reading_seen(wanted, status)

    def entities(self, *, limit: int = 100, offset: int = 0) -> list[Entity]:
        """Return the entities that active facts mention, those with the most facts first.

        Only facts of the owners of the store count; without any, facts of no owner.
        """
        checked_number(limit, "limit", 1, MAX_SHOWN)
        checked_number(offset, "offset", 0, MAX_NUMBER)
        wanted = self._visible(self._standing.selected)

        def entities(transaction: Transaction, seen: Visible | None) -> list[Entity]:
            built = graph_table.current(transaction, self._namespace)
            if built is None:
                return []
            most = graph_reads.most_mentioned(transaction, built.id, wanted, offset + limit, seen)
            found = [*most.items()][offset:]
            return [_entity(transaction, wanted, entity_id, number) for entity_id, number in found]

        return self._searches.reading_seen(wanted, entities)

    def get(self, name: str) -> Entity:
        """Return an entity by any of its names, ignoring case.

        Raises:
            NotFound: no active fact in the graph mentions it.
        """

        def entity(view: BuiltGraph) -> Entity:
            return view.entity(self._known(view, name))

        return self._viewed(self._standing.selected, entity)

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

        def neighbours(view: BuiltGraph) -> Neighbours:
            return view.neighbours(self._known(view, name), depth, limit)

        return self._viewed(self._standing.selected, neighbours)

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

        def pairs(view: BuiltGraph) -> list[LikelySame]:
            built = graph_table.current(view.transaction, self._namespace)
            if built is None:
                return []
            transaction, counted = view.transaction, None
            if view.seen is not None:
                counted = mention_blocks.counted(transaction, built.id, view.seen)
            if counted is None:
                names = graph_reads.shown_names(transaction, built.id, view.wanted, view.seen)
            else:
                names = graph_reads.alike_names(transaction, built.id, counted)
            held = decision_table.of_namespace(transaction, self._namespace)
            pairs = alike.undecided_pairs({one.key: one.entity_id for one in names}, held)
            paired = sorted({end for ends in pairs for end in ends})
            facts = graph_reads.mentions_of(transaction, view.wanted, paired, counted)
            best = sorted(pairs, key=lambda ends: (-min(facts[end] for end in ends), ends))
            return [
                LikelySame(
                    left=view.entity(ends[0]), right=view.entity(ends[1]), reason=pairs[ends]
                )
                for ends in best[:limit]
            ]

        return self._viewed(self._standing.bound, pairs)

    # -- inside ------------------------------------------------------------------------------

    def _visible(self, owners: Scope | AtLeast | None) -> FactFilter:
        return FactFilter((self._namespace,), clock.utc_now(), scope=owners)

    def _decide(self, left: str, right: str, *, same: bool) -> EntityDecision:
        with self._engine.write() as transaction:
            return decisions.decide(
                Changes(transaction, self._author), self._namespace, left, right, same=same
            )

    def _viewed(self, owners: Scope | AtLeast | None, work: Callable[[BuiltGraph], T]) -> T:
        """Return what ``work`` makes of the graph, as one transaction sees it."""
        wanted = self._visible(owners)
        return self._searches.reading_seen(
            wanted, lambda transaction, seen: work(BuiltGraph(transaction, wanted, seen))
        )

    def _known(self, view: BuiltGraph, name: str) -> int:
        transaction, key = view.transaction, name_key(checked_text(name, "name", MAX_NAME))
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
