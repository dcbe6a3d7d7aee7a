"""The tables of the graph: builds in their states, and names, mentions and relations of each.

The id of a name is its build's id, times 2**32, and its place in the graph: the same graph gets the
same places however often it is built, and all of one build is one range of ids.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.database.engine import Statement
from memstore.domain import clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction, Value
    from memstore.database.filters import FactFilter

SHIFT: Final = 32
"""Bits of an id that count within one build."""

CHUNK: Final = 500
"""Rows of one INSERT, well below SQLite's limit on parameters."""


_ALL: Final = 2**62


class Part(NamedTuple):
    """A table that every build has rows in; its first column is the id of a name."""

    table: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


MENTIONS: Final = Part("memstore_mentions", ("name_id", "fact_id"), ("name_id", "fact_id"))
_RELATION: Final = ("source_id", "target_id", "fact_id", "label")
RELATIONS: Final = Part("memstore_relations", _RELATION, _RELATION)
NAMES: Final = Part("memstore_entity_names", ("id", "entity_id", "key", "name"), ("id",))

PARTS: Final = (RELATIONS, NAMES, MENTIONS)
"""In the order in which they are removed: by its mentions a fact finds what else it gave."""


class Built(NamedTuple):
    """What is on record of a build."""

    id: int
    built_at: datetime
    operation_id: int
    facts: int
    model: str | None


def texts(transaction: Transaction, wanted: FactFilter) -> Iterator[tuple[int, str, str]]:
    """Yield ``(id, subject, content)`` of the facts a filter lets through, by id."""
    where, values = wanted.where(transaction.dialect)
    rows = transaction.rows(
        f"SELECT f.id, f.subject, f.content FROM memstore_facts f WHERE {where} ORDER BY f.id",
        values,
    )
    return ((fact_id, subject, content) for fact_id, subject, content in rows)


def current(transaction: Transaction, namespace: str) -> Built | None:
    """Return the build that a namespace's graph is; ``None`` if it has none."""
    row = transaction.one(
        "SELECT id, built_at, operation_id, facts, model FROM memstore_graphs"
        " WHERE namespace = ? AND state = 'current'",
        (namespace,),
    )
    if row is None:
        return None
    id_, built_at, operation_id, facts, model = row
    return Built(
        int(id_ or 0),
        clock.from_text(str(built_at)),
        int(operation_id or 0),
        int(facts or 0),
        None if model is None else str(model),
    )


def every_current(transaction: Transaction) -> list[tuple[int, str]]:
    """Return the build and the namespace of every graph."""
    rows = transaction.rows("SELECT id, namespace FROM memstore_graphs WHERE state = 'current'")
    return [(int(row[0] or 0), str(row[1])) for row in rows]


def namespace_of(transaction: Transaction, graph_id: int) -> str | None:
    """Return whose a build is; ``None`` if it is not on record."""
    row = transaction.one("SELECT namespace FROM memstore_graphs WHERE id = ?", (graph_id,))
    return None if row is None else str(row[0])


def begin(transaction: Transaction, namespace: str, operation_id: int, model: str | None) -> int:
    """Note a build that is to be written, give up any other unfinished one, and return its id."""
    transaction.run(
        "UPDATE memstore_graphs SET state = 'discarded' WHERE namespace = ? AND state = 'building'",
        (namespace,),
    )
    row = transaction.one(
        "INSERT INTO memstore_graphs (namespace, state, built_at, operation_id, facts, model)"
        " VALUES (?, 'building', ?, ?, 0, ?) RETURNING id",
        (namespace, clock.to_text(clock.utc_now()), operation_id, model),
    )
    return int(row[0] or 0) if row else 0


def is_building(transaction: Transaction, graph_id: int) -> bool:
    """Whether a build is still to be written: nobody began another one, or dropped the graph."""
    return (
        transaction.one(
            "SELECT 1 FROM memstore_graphs WHERE id = ? AND state = 'building'", (graph_id,)
        )
        is not None
    )


def insert(transaction: Transaction, part: Part, rows: Iterable[tuple[Value, ...]]) -> None:
    """Write rows of a build, with the ids that its names have."""
    left = iter(rows)
    marks = f"({', '.join('?' * len(part.columns))})"
    while chunk := list(islice(left, CHUNK)):
        transaction.run(
            f"INSERT INTO {part.table} ({', '.join(part.columns)})"
            f" VALUES {', '.join([marks] * len(chunk))}",
            [value for row in chunk for value in row],
        )


def making_current(namespace: str, graph_id: int, facts: int) -> list[Statement]:
    """Return what lets a finished build be the graph, and the one before be removed later."""
    return [
        Statement(
            "UPDATE memstore_graphs SET state = 'discarded'"
            " WHERE namespace = ? AND state = 'current'",
            (namespace,),
        ),
        Statement(
            "UPDATE memstore_graphs SET state = 'current', built_at = ?, facts = ? WHERE id = ?",
            (clock.to_text(clock.utc_now()), facts, graph_id),
        ),
    ]


def exists(transaction: Transaction, namespace: str) -> bool:
    """Whether a namespace has a graph, an unfinished one, or readings for one."""
    row = transaction.one(
        "SELECT EXISTS (SELECT 1 FROM memstore_graphs"
        " WHERE namespace = ?1 AND state <> 'discarded')"
        " OR EXISTS (SELECT 1 FROM memstore_fact_readings r"
        " JOIN memstore_facts f ON f.id = r.fact_id WHERE f.namespace = ?1)",
        (namespace,),
    )
    return bool(row and row[0])


def discarding(namespace: str) -> list[Statement]:
    """Return what leaves a namespace without a graph, and without readings."""
    return [
        Statement(
            "UPDATE memstore_graphs SET state = 'discarded'"
            " WHERE namespace = ? AND state <> 'discarded'",
            (namespace,),
        ),
        Statement(
            "DELETE FROM memstore_fact_readings"
            " WHERE fact_id IN (SELECT id FROM memstore_facts WHERE namespace = ?)",
            (namespace,),
        ),
    ]


def remove_some(transaction: Transaction, namespace: str, most: int) -> bool:
    """Remove rows of a discarded build, at most so many; return whether there may be more."""
    row = transaction.one(
        "SELECT id FROM memstore_graphs WHERE namespace = ? AND state = 'discarded' LIMIT 1",
        (namespace,),
    )
    if row is None:
        return False
    graph_id = int(row[0] or 0)
    for part in PARTS:
        key, lead = ", ".join(part.key), part.columns[0]
        removed = transaction.run(
            f"DELETE FROM {part.table} WHERE ({key}) IN (SELECT {key} FROM {part.table}"
            f" WHERE {lead} BETWEEN ?1 << {SHIFT} AND (?1 + 1 << {SHIFT}) - 1 LIMIT ?2)",
            (graph_id, most),
        )
        most -= removed
        if most <= 0:
            return True
    transaction.run("DELETE FROM memstore_graphs WHERE id = ?", (graph_id,))
    return True


def sweep(transaction: Transaction, namespace: str) -> bool:
    """Remove all discarded builds of a namespace at once; return whether there were any."""
    found = False
    while remove_some(transaction, namespace, _ALL):
        found = True
    return found


def forget_fact(transaction: Transaction, namespace: str, fact_id: int) -> None:
    """Remove what one fact gives, in whichever build: relations, and names no other fact gives."""
    # Rare enough that reading a graph through costs less than an index that every build fills.
    rows = transaction.rows(
        "SELECT m.name_id FROM memstore_graphs g CROSS JOIN memstore_mentions m"
        f" ON m.name_id BETWEEN g.id << {SHIFT} AND (g.id + 1 << {SHIFT}) - 1"
        " WHERE g.namespace = ? AND m.fact_id = ?",
        (namespace, fact_id),
    )
    given = [int(row[0] or 0) for row in rows]
    for name_id in given:
        for part in (RELATIONS, MENTIONS):
            transaction.run(
                f"DELETE FROM {part.table} WHERE {part.columns[0]} = ? AND fact_id = ?",
                (name_id, fact_id),
            )
    transaction.run("DELETE FROM memstore_fact_readings WHERE fact_id = ?", (fact_id,))
    for name_id in given:
        _forget_name(transaction, name_id)


def _forget_name(transaction: Transaction, name_id: int) -> None:
    """Remove a name that no fact gives any more; its entity goes on under the others."""
    if transaction.one("SELECT 1 FROM memstore_mentions WHERE name_id = ? LIMIT 1", (name_id,)):
        return
    transaction.run(
        "UPDATE memstore_entity_names SET entity_id = (SELECT min(other.id)"
        " FROM memstore_entity_names other WHERE other.entity_id = ?1 AND other.id <> ?1)"
        " WHERE entity_id = ?1 AND id <> ?1",
        (name_id,),
    )
    transaction.run("DELETE FROM memstore_entity_names WHERE id = ?", (name_id,))


def regroup(transaction: Transaction, graph_id: int, keys: Iterable[str]) -> None:
    """Let the names with these keys be one entity, as far as the graph has them."""
    ids = [name_id for name_id, _ in _ids(transaction, graph_id, keys)]
    for name_id in ids:
        transaction.run(
            "UPDATE memstore_entity_names SET entity_id = ? WHERE id = ?", (min(ids), name_id)
        )


def entities_of(transaction: Transaction, graph_id: int, keys: Iterable[str]) -> list[int]:
    """Return the entities that have a name with one of these keys, in the order of the keys."""
    return [*dict.fromkeys(entity for _, entity in _ids(transaction, graph_id, keys))]


def _ids(transaction: Transaction, graph_id: int, keys: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield id and entity of the names with these keys."""
    for key in keys:
        row = transaction.one(
            "SELECT id, entity_id FROM memstore_entity_names WHERE graph_id = ? AND key = ?",
            (graph_id, key),
        )
        if row is not None:
            yield int(row[0] or 0), int(row[1] or 0)


def misplaced(transaction: Transaction, graph_id: int, groups: Iterable[Sequence[str]]) -> int:
    """Return how many names stand for another entity than they should.

    Args:
        transaction: what is looked at.
        graph_id: the build.
        groups: the keys of names that are one; every other name stands for itself.
    """
    rows = transaction.rows(
        "SELECT id, entity_id FROM memstore_entity_names WHERE graph_id = ? AND entity_id <> id",
        (graph_id,),
    )
    there = {int(row[0] or 0): int(row[1] or 0) for row in rows}
    right: dict[int, int] = {}
    for keys in groups:
        ids = [name_id for name_id, _ in _ids(transaction, graph_id, keys)]
        right.update({name_id: min(ids) for name_id in ids if name_id > min(ids)})
    return sum(1 for id_ in there.keys() | right.keys() if there.get(id_) != right.get(id_))


def changed_since(transaction: Transaction, namespace: str, operation_id: int) -> int:
    """Return how many facts were added, retired, deleted, restored or erased since a line."""
    row = transaction.one(
        "SELECT count(DISTINCT j.fact_id) FROM memstore_journal j"
        " JOIN memstore_facts f ON f.id = j.fact_id WHERE j.id > ? AND f.namespace = ?"
        " AND j.kind IN ('add', 'adopt', 'supersede', 'delete', 'restore', 'erase')",
        (operation_id, namespace),
    )
    return int(row[0] or 0) if row else 0


def erased_since(transaction: Transaction, operation_id: int) -> set[int]:
    """Return the facts that were erased after a line of the journal."""
    rows = transaction.rows(
        "SELECT fact_id FROM memstore_journal WHERE id > ? AND kind = 'erase'", (operation_id,)
    )
    return {int(row[0] or 0) for row in rows}


def readings(
    transaction: Transaction, wanted: FactFilter, reader: str
) -> Iterator[tuple[int, str]]:
    """Yield ``(fact id, triples as JSON)`` of what a reader found in the facts wanted."""
    where, values = wanted.where(transaction.dialect)
    rows = transaction.rows(
        "SELECT r.fact_id, r.triples FROM memstore_facts f CROSS JOIN memstore_fact_readings r"
        f" WHERE r.fact_id = f.id AND r.reader = :reader AND {where}",
        {**values, "reader": reader},
    )
    return ((fact_id, triples) for fact_id, triples in rows)


def keep_reading(transaction: Transaction, fact_id: int, reader: str, triples: str) -> None:
    """Keep what a reader found in a fact, unless the fact was erased meanwhile."""
    transaction.run(
        "INSERT INTO memstore_fact_readings (fact_id, reader, triples)"
        " SELECT id, ?2, ?3 FROM memstore_facts WHERE id = ?1 AND content <> ''"
        " ON CONFLICT DO UPDATE SET triples = excluded.triples",
        (fact_id, reader, triples),
    )
