"""Building the graph of a namespace: read the facts, derive, write next to the old graph, switch.

Nothing is locked while rules or a model read the facts. The new graph is written in small steps, so
that other writers never wait long, and one transaction switches to it. If the process dies before
that, the old graph stays in use; the unfinished rows are invisible and the next build removes them.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memstore.database import journal
from memstore.database.changes import Changes, Line
from memstore.database.filters import FactFilter
from memstore.database.journal import Kind
from memstore.database.tables import entity_decisions as decision_table
from memstore.database.tables import graph as graph_table
from memstore.database.tables.graph import MENTIONS, NAMES, RELATIONS, SHIFT
from memstore.domain import clock
from memstore.errors import Conflict, StoreBusy
from memstore.graph import decisions, model_extraction
from memstore.graph.rule_extraction import Text, Triple, derive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Engine, Progress, Transaction, Value
    from memstore.database.journal import Author
    from memstore.database.tables.graph import Part
    from memstore.domain.entities import RefusedRelation
    from memstore.domain.protocols import Generator
    from memstore.graph.rule_extraction import Derived

STEP_ROWS: Final = 10_000
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


def build(engine: Engine, author: Author, namespace: str, generator: Generator | None) -> None:
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
                if not graph_table.remove_some(transaction, namespace, STEP_ROWS):
                    return
            clock.sleep(PAUSE_SECONDS)


def _steps(derived: Derived, first: int) -> Iterator[tuple[Part, list[tuple[Value, ...]]]]:
    """Yield the rows of a graph in batches; names are numbered from ``first``.

    Mentions come first: if a fact is erased during the build, its other rows are found by them.
    """
    # In key order, so that each row is appended to its table.
    mentions = [(first + name, fact_id) for name, fact_id in sorted(derived.mentions)]
    relations = [
        (first + s, first + t, fact_id, w) for s, t, fact_id, w in sorted(derived.relations)
    ]
    names = [(first + n, first + n, key, name) for n, (key, name) in enumerate(derived.names)]
    parts: list[tuple[Part, list[Any]]]
    parts = [(MENTIONS, mentions), (RELATIONS, relations), (NAMES, names)]
    for part, rows in parts:
        for start in range(0, len(rows), STEP_ROWS):
            yield part, rows[start : start + STEP_ROWS]


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
    part: Part, rows: list[tuple[Value, ...]], gone: set[int], derived: Derived
) -> list[tuple[Value, ...]]:
    """Return the rows without those that come only from erased facts."""
    if not gone:
        return rows
    if part is NAMES:
        kept = {derived.names[name][0] for name, fact_id in derived.mentions if fact_id not in gone}
        return [row for row in rows if row[part.columns.index("key")] in kept]
    fact = part.columns.index("fact_id")
    return [row for row in rows if row[fact] not in gone]


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
