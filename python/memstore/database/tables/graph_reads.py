"""Reading the graph without relations whose facts no longer hold.

Every query takes a filter of facts and applies it row by row. So an old graph may lack new
relations, but never shows ones that are gone.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from memstore.database.tables import counts, mention_blocks
from memstore.database.tables.mention_blocks import PLACE, SHIFT
from memstore.domain.entities import MENTIONS
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memstore._kernel.ids import Ids
    from memstore._kernel.mentions import MentionCounts
    from memstore.database.engine import Parameters, Transaction
    from memstore.database.filters import FactFilter

FEW_FACTS = 100_000
"""Facts of certain owners that are listed to look mentions up among them."""

MAX_STEPS = 20_000
"""The most entities that one search for neighbours finds, to bound its time and memory."""

# From entities to those they are related to, in either direction.
STEP = """
    SELECT DISTINCT {columns} FROM {listed} AS near
    CROSS JOIN memstore_entity_names own
    CROSS JOIN memstore_relations r
    CROSS JOIN memstore_entity_names other
    CROSS JOIN memstore_facts f
    WHERE own.entity_id = near.value AND r.{from_} = own.id AND other.id = r.{to}
    AND f.id = r.fact_id AND other.entity_id <> own.entity_id AND {visible}
"""
LINKS = """
    SELECT own.entity_id, r.label, r.fact_id
    FROM memstore_entity_names own
    CROSS JOIN memstore_entity_names other
    CROSS JOIN memstore_relations r
    CROSS JOIN memstore_facts f
    WHERE own.entity_id = :{source} AND other.entity_id = :{target}
    AND r.source_id = own.id AND r.target_id = other.id AND f.id = r.fact_id AND {visible}
"""
MENTIONED = """
    FROM memstore_entity_names n
    CROSS JOIN memstore_mentions m
    CROSS JOIN memstore_facts f {hint}
    WHERE m.name_id = n.id AND f.id = m.fact_id
"""

ACTIVE_INDEX = "idx_memstore_active"
"""Has all that is tested of the facts of one set of owners; the planner would prefer their rows."""


class Nearest(NamedTuple):
    """An entity one step further away, the one before it, and the number of facts between them."""

    entity_id: int
    before: int
    facts: int


class Link(NamedTuple):
    source_id: int
    label: str
    fact_ids: list[int]
    """The newest of its facts."""
    facts: int
    """How many facts there are."""


class Name(NamedTuple):
    id: int
    entity_id: int
    key: str


def names(transaction: Transaction, wanted: FactFilter, entity_id: int) -> list[str]:
    visible, values = wanted.where(transaction.dialect)
    rows = transaction.rows(
        "SELECT n.name FROM memstore_entity_names n WHERE n.entity_id = :entity AND EXISTS"
        " (SELECT 1 FROM memstore_mentions m CROSS JOIN memstore_facts f"
        f" WHERE m.name_id = n.id AND f.id = m.fact_id AND {visible})"
        " ORDER BY length(n.name) DESC, n.key",
        {**values, "entity": entity_id},
    )
    return [str(row[0]) for row in rows]


def shown_names(
    transaction: Transaction,
    graph_id: int,
    wanted: FactFilter,
    seen: Ids | None = None,
) -> list[Name]:
    """Return the names that a fact mentions which passes a filter, by id; one fact is enough.

    Args:
        seen: the facts that pass it, if that is known.
    """
    are_few = _are_few(transaction, wanted)
    if seen is not None and wanted.scope is not None and not are_few:
        return _names_among(transaction, graph_id, seen)
    test, values = _mentioning(transaction, wanted, are_few=are_few)
    rows = transaction.rows(
        "SELECT n.id, n.entity_id, n.key FROM memstore_entity_names n"
        f" WHERE n.graph_id = :graph AND {test} ORDER BY n.id",
        {**values, "graph": graph_id},
    )
    return [Name(*row) for row in rows]


def alike_names(transaction: Transaction, graph_id: int, counted: MentionCounts) -> list[Name]:
    """Return the names with a counted mention that may mean the same as another one, by id."""
    rows = transaction.rows(
        "SELECT n.id, n.entity_id, n.key FROM memstore_alike_names a"
        " CROSS JOIN memstore_entity_names n"
        " WHERE a.name_id BETWEEN :first AND :last AND n.id = a.name_id ORDER BY n.id",
        {"first": graph_id << SHIFT, "last": ((graph_id + 1) << SHIFT) - 1},
    )
    shown = counted.names
    return [Name(*row) for row in rows if row[0] & PLACE in shown]


def _names_among(transaction: Transaction, graph_id: int, seen: Ids) -> list[Name]:
    """Return the names that one of some facts mentions.

    For most, the first or the last fact that mentions them is among these; all are read of others.
    """
    first, last = (
        f"(SELECT {end}(m.fact_id) FROM memstore_mentions m WHERE m.name_id = n.id)"
        for end in ("min", "max")
    )
    rows = transaction.rows(
        f"SELECT n.id, n.entity_id, n.key, {first}, {last} FROM memstore_entity_names n"
        " WHERE n.graph_id = :graph ORDER BY n.id",
        {"graph": graph_id},
    )
    names = [
        (Name(*name), begin in seen or end in seen)
        for *name, begin, end in rows
        if begin is not None  # in a damaged file: no fact mentions it
    ]
    left = [name.id for name, is_shown in names if not is_shown]
    if not left:
        return [name for name, _ in names]
    mentions = transaction.rows(
        "SELECT m.name_id, m.fact_id FROM memstore_mentions m"
        f" WHERE m.name_id IN {transaction.dialect.listed('names')}",
        {"names": left},
    )
    found = {name_id for name_id, fact_id in mentions if fact_id in seen}
    return [name for name, is_shown in names if is_shown or name.id in found]


def _mentioning(
    transaction: Transaction, wanted: FactFilter, *, are_few: bool
) -> tuple[str, Parameters]:
    """Return the condition that some fact that passes a filter mentions name ``n``.

    If few facts pass it, most names are mentioned by many others first, and each of these would be
    looked up; so those that pass are listed once, by an index.
    """
    visible, values = wanted.where(transaction.dialect)
    if are_few:
        return (
            "EXISTS (SELECT 1 FROM memstore_mentions m WHERE m.name_id = n.id"
            f" AND +m.fact_id IN (SELECT f.id FROM memstore_facts f WHERE {visible}))"
        ), values
    return (
        "EXISTS (SELECT 1 FROM memstore_mentions m CROSS JOIN memstore_facts f"
        f" {_hint(transaction, wanted)} WHERE m.name_id = n.id AND f.id = m.fact_id AND {visible})"
    ), values


def _are_few(transaction: Transaction, wanted: FactFilter) -> bool:
    return wanted.is_counted and counts.facts(transaction, wanted) <= FEW_FACTS


def mentions_of(
    transaction: Transaction,
    wanted: FactFilter,
    entity_ids: Sequence[int],
    counted: MentionCounts | None = None,
) -> dict[int, int]:
    """Return how often facts that pass a filter mention the names of each of these entities.

    Args:
        counted: the mentions by these facts, if they were counted.
    """
    if counted is not None:
        names = [
            *transaction.rows(
                "SELECT id, entity_id FROM memstore_entity_names"
                f" WHERE entity_id IN {transaction.dialect.listed('entities')}",
                {"entities": entity_ids},
            )
        ]
        found = dict.fromkeys(entity_ids, 0)
        numbers = counted.mentions([name_id & PLACE for name_id, _ in names])
        for (_, entity_id), number in zip(names, numbers, strict=True):
            found[entity_id] += number
        return found
    return _counted(transaction, wanted, entity_ids, "m.fact_id")


def _hint(transaction: Transaction, wanted: FactFilter) -> str:
    simple = wanted.is_exact and wanted.is_counted and len(wanted.namespaces or ()) == 1
    return transaction.dialect.indexed_by(ACTIVE_INDEX) if simple else ""


def count_facts(
    transaction: Transaction,
    wanted: FactFilter,
    entity_id: int,
    seen: Ids | None = None,
) -> int:
    """Count the facts that mention an entity and pass a filter.

    Args:
        seen: the facts that pass it, if that is known.
    """
    return _facts_of(transaction, wanted, [entity_id], seen).get(entity_id, 0)


def _facts_of(
    transaction: Transaction,
    wanted: FactFilter,
    entity_ids: Iterable[int],
    seen: Ids | None,
) -> dict[int, int]:
    """Return how many facts pass a filter of each of these entities that has any."""
    if seen is None:
        return _counted(transaction, wanted, [*entity_ids])
    found: dict[int, int] = {}
    for entity_id in entity_ids:
        number = _facts_in_blocks(transaction, entity_id, seen)
        if number is None:
            break
        found[entity_id] = number
    else:
        return {entity_id: number for entity_id, number in found.items() if number}
    rows = transaction.rows(
        "SELECT n.entity_id, m.fact_id FROM memstore_entity_names n CROSS JOIN memstore_mentions m"
        f" WHERE m.name_id = n.id AND n.entity_id IN {transaction.dialect.listed('entities')}",
        {"entities": [*entity_ids]},
    )
    facts: defaultdict[int, set[int]] = defaultdict(set)
    for entity_id, fact_id in rows:
        if fact_id in seen:
            facts[entity_id].add(fact_id)
    return {entity_id: len(ids) for entity_id, ids in facts.items()}


def _facts_in_blocks(transaction: Transaction, entity_id: int, seen: Ids) -> int | None:
    """Count the facts of an entity that are seen; ``None`` if no sound block is about it."""
    names = transaction.ints(
        "SELECT id FROM memstore_entity_names WHERE entity_id = :entity", {"entity": entity_id}
    )
    return mention_blocks.facts_of(transaction, names, seen)


def most_mentioned(
    transaction: Transaction,
    graph_id: int,
    wanted: FactFilter,
    number: int,
    seen: Ids | None = None,
) -> dict[int, int]:
    """Return the entities with the most facts that pass a filter, with how many these are.

    No entity has more of them than it has mentions. So those with the most mentions are counted
    first, and the others only if they may have as many as the last one that is wanted.

    Args:
        seen: the facts that pass the filter, if that is known.
    """
    counted = None if seen is None else mention_blocks.counted(transaction, graph_id, seen)
    if counted is not None:
        return {graph_id << SHIFT | place: facts for place, facts in counted.most(number)}
    mentions = [
        *transaction.rows(
            "SELECT n.entity_id, sum(m.number) FROM memstore_entity_names n JOIN"
            " (SELECT name_id, count(*) AS number FROM memstore_mentions GROUP BY name_id) m"
            " ON m.name_id = n.id WHERE n.graph_id = :graph"
            " GROUP BY n.entity_id ORDER BY 2 DESC, 1",
            {"graph": graph_id},
        )
    ]
    best: list[tuple[int, int]] = []
    begin, end = 0, number
    # The next one is the first of those that follow, if each has as many facts as mentions.
    while begin < len(mentions) and (
        len(best) < number or _order(mentions[begin]) < _order(best[-1])
    ):
        some = [entity_id for entity_id, _ in mentions[begin:end]]
        best += _facts_of(transaction, wanted, some, seen).items()
        best = sorted(best, key=_order)[:number]
        begin, end = end, 2 * end
    return dict(best)


def _order(one: tuple[int, int]) -> tuple[int, int]:
    """Order entities by their numbers, those with the most first."""
    entity_id, number = one
    return -number, entity_id


def _counted(
    transaction: Transaction,
    wanted: FactFilter,
    entity_ids: Sequence[int],
    counted: str = "DISTINCT m.fact_id",
) -> dict[int, int]:
    """Return how many facts pass a filter of each of these entities that has any."""
    visible, values = wanted.where(transaction.dialect)
    mentioned = MENTIONED.format(hint=_hint(transaction, wanted))
    rows = transaction.rows(
        f"SELECT n.entity_id, count({counted}) {mentioned} AND n.entity_id IN"
        f" {transaction.dialect.listed('entities')} AND {visible} GROUP BY n.entity_id",
        {**values, "entities": entity_ids},
    )
    return dict(rows)


def count_entities(
    transaction: Transaction,
    graph_id: int,
    wanted: FactFilter,
    seen: Ids | None = None,
) -> int:
    """Count the entities that a fact mentions which passes a filter; one fact is enough.

    Args:
        seen: the facts that pass it, if that is known.
    """
    counted = None if seen is None else mention_blocks.counted(transaction, graph_id, seen)
    if counted is not None:
        return len(counted)
    are_few = _are_few(transaction, wanted)
    if seen is not None and wanted.scope is not None and not are_few:
        return len({name.entity_id for name in _names_among(transaction, graph_id, seen)})
    test, values = _mentioning(transaction, wanted, are_few=are_few)
    return transaction.scalar(
        "SELECT count(DISTINCT n.entity_id) FROM memstore_entity_names n"
        f" WHERE n.graph_id = :graph AND {test}",
        {**values, "graph": graph_id},
    )


def count_relations(transaction: Transaction, graph_id: int, wanted: FactFilter) -> int:
    visible, values = wanted.where(transaction.dialect)
    return transaction.scalar(
        "SELECT count(*) FROM memstore_entity_names own CROSS JOIN memstore_relations r"
        " CROSS JOIN memstore_entity_names other CROSS JOIN memstore_facts f"
        " WHERE own.graph_id = :graph AND r.source_id = own.id AND other.id = r.target_id"
        f" AND f.id = r.fact_id AND own.entity_id <> other.entity_id AND {visible}",
        {**values, "graph": graph_id},
    )


def near(
    transaction: Transaction, wanted: FactFilter, entity_id: int, depth: int
) -> tuple[dict[int, int], bool]:
    """Return the distances of entities up to ``depth`` steps away, and if the search ended early.

    The entity itself is included, with distance 0.
    """
    visible, values = wanted.where(transaction.dialect)
    distances = {entity_id: 0}
    for distance in range(1, depth + 1):
        here = [one for one, known in distances.items() if known == distance - 1]
        for step in _steps(transaction, "other.entity_id", visible):
            for (there,) in transaction.rows(step, {**values, "ids": here}):
                if there not in distances and len(distances) >= MAX_STEPS:
                    return distances, True
                distances.setdefault(there, distance)
    return distances, False


def one_step(
    transaction: Transaction, wanted: FactFilter, entity_ids: Sequence[int]
) -> list[Nearest]:
    """Return the entities one step from these, one row for each pair."""
    visible, values = wanted.where(transaction.dialect)
    columns = "other.entity_id AS there, own.entity_id AS here, r.fact_id AS fact_id"
    both = " UNION ".join(_steps(transaction, columns, visible))
    rows = transaction.rows(
        f"SELECT there, here, count(*) FROM ({both}) AS steps GROUP BY 1, 2",
        {**values, "ids": entity_ids},
    )
    return [Nearest(*row) for row in rows]


def _steps(transaction: Transaction, columns: str, visible: str) -> tuple[str, str]:
    """Return the queries for a step from source to target and from target to source."""
    listed = transaction.dialect.listed("ids")
    along, against = (
        STEP.format(columns=columns, listed=listed, from_=from_, to=to, visible=visible)
        for from_, to in (("source_id", "target_id"), ("target_id", "source_id"))
    )
    return along, against


def links(
    transaction: Transaction, wanted: FactFilter, left: int, right: int, most_facts: int
) -> list[Link]:
    """Return the relations of two entities: ``mentions`` last, then by their number of facts."""
    visible, values = wanted.where(transaction.dialect)
    both = " UNION ".join(
        LINKS.format(source=source, target=target, visible=visible)
        for source, target in (("left", "right"), ("right", "left"))
    )
    rows = transaction.rows(
        "SELECT entity_id, label, fact_id, total FROM (SELECT said.*,"
        " row_number() OVER (PARTITION BY entity_id, label ORDER BY fact_id DESC) AS place,"
        f" count(*) OVER (PARTITION BY entity_id, label) AS total FROM ({both}) AS said) AS ranked"
        " WHERE place <= :most ORDER BY label = :mentions, total DESC, label, entity_id, place",
        {**values, "left": left, "right": right, "most": most_facts, "mentions": MENTIONS},
    )
    found: dict[tuple[int, str], Link] = {}
    for source, label, fact_id, total in rows:
        found.setdefault((source, label), Link(source, label, [], total)).fact_ids.append(fact_id)
    return [*found.values()]
