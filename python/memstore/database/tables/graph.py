"""The tables of the graph: builds, and the names, mentions and relations of each.

The id of a name is its build's id times 2**32 plus its place in the graph. So all names of a build
are one range of ids, and the same graph has the same places in every build.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database import journal, line_filters
from memstore.database.engine import Write
from memstore.database.tables import line_counts, mention_blocks
from memstore.database.tables.mention_blocks import SHIFT
from memstore.database.writes import BY_ID, Delete, Insert, Update
from memstore.domain import clock
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction, Value
    from memstore.database.filters import FactFilter


_ALL: Final = 2**62


class GraphTable(NamedTuple):
    """A table with rows of every build; its first column is the id of a name."""

    table: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


MENTIONS: Final = GraphTable("memstore_mentions", ("name_id", "fact_id"), ("name_id", "fact_id"))
_RELATION: Final = ("source_id", "target_id", "fact_id", "label")
RELATIONS: Final = GraphTable("memstore_relations", _RELATION, _RELATION)
NAMES: Final = GraphTable("memstore_entity_names", ("id", "entity_id", "key", "name"), ("id",))

ALIKE: Final = GraphTable("memstore_alike_names", ("name_id",), ("name_id",))
"""Names that may mean the same as another one of their build."""
BLOCKS: Final = GraphTable("memstore_mention_blocks", ("first_id", "facts"), ("first_id",))
"""See :mod:`memstore.database.tables.mention_blocks`."""

PARTS: Final = (RELATIONS, ALIKE, BLOCKS, NAMES, MENTIONS)
"""In the order of removal; mentions are last, because they lead from a fact to its other rows."""


class Built(NamedTuple):
    id: int
    built_at: datetime
    operation_id: int
    facts: int
    model: str | None


def texts(transaction: Transaction, wanted: FactFilter) -> Iterator[tuple[int, str, str]]:
    where, values = wanted.where(transaction.dialect)
    rows = transaction.rows(
        f"SELECT f.id, f.subject, f.content FROM memstore_facts f WHERE {where} ORDER BY f.id",
        values,
    )
    return ((fact_id, subject, content) for fact_id, subject, content in rows)


def current(transaction: Transaction, namespace: str) -> Built | None:
    """Return the current build of a namespace's graph; ``None`` if it has none."""
    row = transaction.one(
        "SELECT id, built_at, operation_id, facts, model FROM memstore_graphs"
        " WHERE namespace = :namespace AND state = 'current'",
        {"namespace": namespace},
    )
    if row is None:
        return None
    id_, built_at, *others = row
    return Built(id_, clock.from_text(built_at), *others)


def every_current(transaction: Transaction) -> list[tuple[int, str]]:
    rows = transaction.rows("SELECT id, namespace FROM memstore_graphs WHERE state = 'current'")
    return [(graph_id, namespace) for graph_id, namespace in rows]


def namespace_of(transaction: Transaction, graph_id: int) -> str | None:
    row = transaction.one("SELECT namespace FROM memstore_graphs WHERE id = :id", {"id": graph_id})
    return None if row is None else str(row[0])


def begin(transaction: Transaction, namespace: str, operation_id: int, model: str | None) -> int:
    """Begin a build, discard any other unfinished one of the namespace, and return its id."""
    transaction.run(
        Update(
            "memstore_graphs",
            {"state": "'discarded'"},
            "namespace = :namespace AND state = 'building'",
        ),
        {"namespace": namespace},
    )
    ((graph_id,),) = transaction.returned(
        Insert(
            "memstore_graphs",
            ("namespace", "state", "built_at", "operation_id", "facts", "model"),
            (":namespace", "'building'", ":at", ":operation", "0", ":model"),
            returning="id",
        ),
        {
            "namespace": namespace,
            "at": clock.to_text(clock.utc_now()),
            "operation": operation_id,
            "model": model,
        },
    )
    return int(graph_id)


def is_building(transaction: Transaction, graph_id: int) -> bool:
    """Return whether a build is unfinished: no other one was begun, and the graph not dropped."""
    row = transaction.one(
        "SELECT 1 FROM memstore_graphs WHERE id = :id AND state = 'building'", {"id": graph_id}
    )
    return row is not None


def insert(transaction: Transaction, part: GraphTable, rows: Iterable[tuple[Value, ...]]) -> None:
    form = Insert(part.table, part.columns)
    for row in rows:
        transaction.queue(form, row)


def making_current(namespace: str, graph_id: int, facts: int) -> list[Write]:
    """Return the writes that make a finished build current and discard the previous one."""
    return [
        _discarding(namespace, "= 'current'"),
        Write(
            Update(
                "memstore_graphs",
                {"state": "'current'", "built_at": ":at", "facts": ":facts"},
                BY_ID,
            ),
            {"at": clock.to_text(clock.utc_now()), "facts": facts, "id": graph_id},
        ),
    ]


def exists(transaction: Transaction, namespace: str) -> bool:
    """Return whether a namespace has a graph, an unfinished one, or readings for one."""
    row = transaction.one(
        "SELECT EXISTS (SELECT 1 FROM memstore_graphs"
        " WHERE namespace = :namespace AND state <> 'discarded')"
        " OR EXISTS (SELECT 1 FROM memstore_fact_readings r"
        " JOIN memstore_facts f ON f.id = r.fact_id WHERE f.namespace = :namespace)",
        {"namespace": namespace},
    )
    return bool(row and row[0])


def discarding(namespace: str) -> list[Write]:
    """Return the writes that discard a namespace's graph and remove its readings."""
    return [
        discarding_build(namespace),
        Write(
            Delete(
                "memstore_fact_readings",
                "fact_id IN (SELECT id FROM memstore_facts WHERE namespace = :namespace)",
            ),
            {"namespace": namespace},
        ),
    ]


def discarding_build(namespace: str) -> Write:
    """Return the write that discards a namespace's graph, but keeps its readings."""
    return _discarding(namespace, "<> 'discarded'")


def _discarding(namespace: str, state: str) -> Write:
    form = Update(
        "memstore_graphs",
        {"state": "'discarded'"},
        f"namespace = :namespace AND state {state}",
    )
    return Write(form, {"namespace": namespace})


def remove_some(transaction: Transaction, namespace: str, most: int) -> bool:
    """Remove at most ``most`` rows of a discarded build; return whether there may be more."""
    row = transaction.one(
        "SELECT id FROM memstore_graphs"
        " WHERE namespace = :namespace AND state = 'discarded' LIMIT 1",
        {"namespace": namespace},
    )
    if row is None:
        return False
    graph_id = int(row[0])
    first, last = graph_id << SHIFT, (graph_id + 1 << SHIFT) - 1
    for part in PARTS:
        key, lead = ", ".join(part.key), part.columns[0]
        removed = transaction.run(
            Delete(
                part.table,
                f"({key}) IN (SELECT {key} FROM {part.table}"
                f" WHERE {lead} BETWEEN :first AND :last LIMIT :most)",
            ),
            {"first": first, "last": last, "most": most},
        )
        most -= removed
        if most <= 0:
            return True
    transaction.run(Delete("memstore_graphs", BY_ID), {"id": graph_id})
    return True


def sweep(transaction: Transaction, namespace: str) -> bool:
    found = False
    while remove_some(transaction, namespace, _ALL):
        found = True
    return found


def forget_fact(transaction: Transaction, namespace: str, fact_id: int) -> None:
    """Remove a fact's relations from every build, and names that no other fact mentions."""
    # This is rare, so scanning a graph costs less than an index that every build would fill.
    name_ids = transaction.ints(
        "SELECT m.name_id FROM memstore_graphs g CROSS JOIN memstore_mentions m"
        f" WHERE m.name_id BETWEEN g.id << {SHIFT} AND (g.id + 1 << {SHIFT}) - 1"
        " AND g.namespace = :namespace AND m.fact_id = :fact",
        {"namespace": namespace, "fact": fact_id},
    )
    for name_id in name_ids:
        for part in (RELATIONS, MENTIONS):
            transaction.run(
                Delete(part.table, f"{part.columns[0]} = :name AND fact_id = :fact"),
                {"name": name_id, "fact": fact_id},
            )
    try:
        mention_blocks.forget_fact(transaction, name_ids, fact_id)
    except ValueError:  # a block is damaged, which must not keep a fact from being erased
        for graph_id in {name_id >> SHIFT for name_id in name_ids}:
            _remove_blocks(transaction, graph_id)
    transaction.run(Delete("memstore_fact_readings", "fact_id = :fact"), {"fact": fact_id})
    for name_id in name_ids:
        _forget_name(transaction, name_id)


def _forget_name(transaction: Transaction, name_id: int) -> None:
    """Remove a name that no fact mentions any more; its entity keeps its other names."""
    name = {"id": name_id}
    if transaction.one("SELECT 1 FROM memstore_mentions WHERE name_id = :id LIMIT 1", name):
        return
    transaction.run(
        Update(
            "memstore_entity_names",
            {
                "entity_id": "(SELECT min(other.id) FROM memstore_entity_names other"
                " WHERE other.entity_id = :id AND other.id <> :id)"
            },
            "entity_id = :id AND id <> :id",
        ),
        name,
    )
    transaction.run(Delete(ALIKE.table, "name_id = :id"), name)
    transaction.run(Delete("memstore_entity_names", BY_ID), name)


def write_blocks(transaction: Transaction, graph_id: int, first: int | None) -> int | None:
    """Write the next block of mentions; return where the one after it begins, if there is one.

    Args:
        first: where it begins; ``None`` for the first block.
    """
    try:
        begin = graph_id << SHIFT if first is None else first
        return mention_blocks.write_next(transaction, graph_id, begin)
    except ValueError:  # a block cannot hold such ids
        _remove_blocks(transaction, graph_id)
        return None


def _remove_blocks(transaction: Transaction, graph_id: int) -> None:
    """Remove all blocks of a build: its mentions are read from their rows."""
    transaction.run(Delete(BLOCKS.table, f"{BLOCKS.columns[0]} >> {SHIFT} = :id"), {"id": graph_id})


def regroup(transaction: Transaction, graph_id: int, keys: Iterable[str]) -> None:
    """Make the names with these keys that the graph has one entity."""
    ids = [name_id for name_id, _ in _ids(transaction, graph_id, keys)]
    for name_id in ids:
        transaction.run(
            Update("memstore_entity_names", {"entity_id": ":entity"}, BY_ID),
            {"entity": min(ids), "id": name_id},
        )


def entities_of(transaction: Transaction, graph_id: int, keys: Iterable[str]) -> list[int]:
    """Return the entities that have a name with one of these keys, in the order of the keys."""
    return [*dict.fromkeys(entity for _, entity in _ids(transaction, graph_id, keys))]


def _ids(transaction: Transaction, graph_id: int, keys: Iterable[str]) -> Iterator[tuple[int, int]]:
    for key in keys:
        row = transaction.one(
            "SELECT id, entity_id FROM memstore_entity_names"
            " WHERE graph_id = :graph AND key = :key",
            {"graph": graph_id, "key": key},
        )
        if row is not None:
            yield row[0], row[1]


def alike_names(transaction: Transaction, graph_id: int) -> list[str]:
    """Return the keys of the names of a build that are stored as alike."""
    rows = transaction.rows(
        "SELECT n.key FROM memstore_alike_names a CROSS JOIN memstore_entity_names n"
        " WHERE a.name_id BETWEEN :first AND :last AND n.id = a.name_id",
        {"first": graph_id << SHIFT, "last": ((graph_id + 1) << SHIFT) - 1},
    )
    return [str(key) for (key,) in rows]


def keys(transaction: Transaction, graph_id: int) -> list[str]:
    """Return the keys of all names of a build."""
    rows = transaction.rows(
        "SELECT key FROM memstore_entity_names WHERE graph_id = :graph", {"graph": graph_id}
    )
    return [str(key) for (key,) in rows]


def has_blocks(transaction: Transaction, graph_id: int) -> bool:
    """Return whether a build has blocks of mentions, and thus its alike names, too."""
    row = transaction.one(
        "SELECT 1 FROM memstore_mention_blocks WHERE first_id BETWEEN :first AND :last LIMIT 1",
        {"first": graph_id << SHIFT, "last": ((graph_id + 1) << SHIFT) - 1},
    )
    return row is not None


def misplaced(transaction: Transaction, graph_id: int, groups: Iterable[Sequence[str]]) -> int:
    """Count names whose entity differs from ``groups``: keys of names that are one entity."""
    rows = transaction.rows(
        "SELECT id, entity_id FROM memstore_entity_names"
        " WHERE graph_id = :graph AND entity_id <> id",
        {"graph": graph_id},
    )
    stored: dict[int, int] = dict(rows)
    right: dict[int, int] = {}
    for keys in groups:
        ids = [name_id for name_id, _ in _ids(transaction, graph_id, keys)]
        right.update({name_id: min(ids) for name_id in ids if name_id > min(ids)})
    return sum(1 for id_ in stored.keys() | right.keys() if stored.get(id_) != right.get(id_))


def changed_since(transaction: Transaction, namespace: str, operation_id: int) -> int:
    """Count the facts that were added, retired, deleted, restored or erased since a line."""
    last_before = line_filters.last_born(transaction, operation_id, "fact_id")
    added = transaction.scalar(
        "SELECT count(*) FROM memstore_facts WHERE namespace = :namespace AND id > :last",
        {"namespace": namespace, "last": last_before},
    )
    changed: set[int] = set()
    for begin, end in line_counts.spans(
        transaction,
        operation_id + 1,
        journal.last_id(transaction),
        line_counts.Wanted([[line_counts.word(kind) for kind in (*CHANGING, line_counts.IMPORT)]]),
        newest_first=False,
    ):
        # CROSS: the lines are read in order, and only facts that are older are looked up.
        changed |= {
            *transaction.ints(
                "SELECT j.fact_id FROM memstore_journal j CROSS JOIN memstore_facts f"
                " WHERE j.id >= :begin AND j.id <= :end AND +j.fact_id <= :last"
                f" AND j.kind IN {CHANGING} AND f.id = j.fact_id AND f.namespace = :namespace",
                {
                    "begin": max(begin, operation_id + 1),
                    "end": end,
                    "last": last_before,
                    "namespace": namespace,
                },
            )
        }
    return added + len(changed)


CHANGING: Final = ("adopt", "supersede", "unsupersede", "delete", "restore", "erase")
"""Kinds of lines after which a fact may be in the graph or not, unlike before."""


def erased_since(transaction: Transaction, operation_id: int) -> set[int]:
    return {
        *transaction.ints(
            "SELECT fact_id FROM memstore_journal WHERE id > :after AND kind = 'erase'",
            {"after": operation_id},
        )
    }


def readings(
    transaction: Transaction, wanted: FactFilter, reader: str
) -> Iterator[tuple[int, str]]:
    """Yield ``(fact id, triples as JSON)`` that a reader found in the facts of a filter."""
    where, values = wanted.where(transaction.dialect)
    rows = transaction.rows(
        "SELECT r.fact_id, r.triples FROM memstore_facts f CROSS JOIN memstore_fact_readings r"
        f" WHERE r.fact_id = f.id AND r.reader = :reader AND {where}",
        {**values, "reader": reader},
    )
    return ((fact_id, triples) for fact_id, triples in rows)


def keep_reading(transaction: Transaction, fact_id: int, reader: str, triples: str) -> None:
    """Store what a reader found in a fact, unless the fact was erased in the meantime."""
    transaction.run(
        Insert(
            "memstore_fact_readings",
            ("fact_id", "reader", "triples"),
            ("id", ":reader", ":triples"),
            "memstore_facts WHERE id = :id AND content <> ''",
            unique=("fact_id", "reader"),
            instead="triples = excluded.triples",
        ),
        {"id": fact_id, "reader": reader, "triples": triples},
    )


# A build that is being written or removed need not be consistent.
_CURRENT: Final = "(SELECT id FROM memstore_graphs WHERE state = 'current')"

CHECKS: Final = (
    *(
        (
            f"{part.table.removeprefix('memstore_')} of no build",
            f"{part.columns[0]} >> {SHIFT}",
            part.table,
            f"{part.columns[0]} >> {SHIFT} NOT IN (SELECT id FROM memstore_graphs)",
        )
        for part in PARTS
    ),
    (
        "names of a missing entity",
        "n.graph_id",
        "memstore_entity_names n LEFT JOIN memstore_entity_names e ON e.id = n.entity_id",
        f"n.graph_id IN {_CURRENT} AND (e.entity_id IS DISTINCT FROM n.entity_id"
        " OR e.graph_id IS DISTINCT FROM n.graph_id OR e.id > n.id)",
    ),
    (
        "names that no fact mentions",
        "n.graph_id",
        "memstore_entity_names n LEFT JOIN memstore_mentions m ON m.name_id = n.id",
        f"n.graph_id IN {_CURRENT} AND m.name_id IS NULL",
    ),
    (
        "alike names that are missing",
        f"a.name_id >> {SHIFT}",
        "memstore_alike_names a LEFT JOIN memstore_entity_names n ON n.id = a.name_id",
        f"a.name_id >> {SHIFT} IN {_CURRENT} AND n.id IS NULL",
    ),
    (
        "mentions of a missing name",
        f"m.name_id >> {SHIFT}",
        "memstore_mentions m LEFT JOIN memstore_entity_names n ON n.id = m.name_id",
        f"m.name_id >> {SHIFT} IN {_CURRENT} AND n.id IS NULL",
    ),
    (
        "mentions by a fact that is missing, erased or in another namespace",
        "g.id",
        f"memstore_mentions m JOIN memstore_graphs g ON g.id = m.name_id >> {SHIFT}"
        " LEFT JOIN memstore_facts f ON f.id = m.fact_id",
        "f.content IS NULL OR f.content = '' OR f.namespace <> g.namespace",
    ),
    (
        "relations of names that their fact does not mention",
        f"r.source_id >> {SHIFT}",
        "memstore_relations r"
        " LEFT JOIN memstore_mentions s ON s.name_id = r.source_id AND s.fact_id = r.fact_id"
        " LEFT JOIN memstore_mentions t ON t.name_id = r.target_id AND t.fact_id = r.fact_id",
        f"r.source_id >> {SHIFT} IN {_CURRENT} AND (s.name_id IS NULL OR t.name_id IS NULL)",
    ),
)
"""For each check: the problem, the id of its graph, the rows, and the condition for wrong ones."""

_LOST: Final = "fact_id NOT IN (SELECT id FROM memstore_facts WHERE content <> '')"


def troubles(transaction: Transaction) -> list[tuple[int, str]]:
    return [
        (graph_id, f"{number} {what}")
        for what, graph, rows, wrong in CHECKS
        for graph_id, number in transaction.rows(
            f"SELECT {graph}, count(*) FROM {rows} WHERE {wrong} GROUP BY 1 ORDER BY 1"
        )
    ]


def lost_readings(transaction: Transaction) -> int:
    """Count the readings of facts that are missing or were erased."""
    return transaction.scalar(f"SELECT count(*) FROM memstore_fact_readings WHERE {_LOST}")


def forget_lost_readings(transaction: Transaction) -> int:
    return transaction.run(Delete("memstore_fact_readings", _LOST))


def remove(transaction: Transaction, graph_id: int) -> None:
    """Remove a graph by its id; decisions stay."""
    for part in PARTS:
        transaction.run(Delete(part.table, f"{part.columns[0]} >> {SHIFT} = :id"), {"id": graph_id})
    transaction.run(Delete("memstore_graphs", BY_ID), {"id": graph_id})
