"""Reading the graph as it is to be seen now: what rests on a fact that holds no more is left out.

Every query takes the filter that says which facts may be seen, and applies it row by row; so a
graph that was built long ago shows less than it could, and never what is gone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from memstore.domain.entities import MENTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter

MOST_STEPS = 20_000
"""Steps one search for neighbours takes at most; they bound its time and its memory."""

# From entities to the ones they are related with, against the arrow as well as along it.
STEP = """
    SELECT {columns} FROM {source}
    CROSS JOIN memstore_entity_names own ON own.entity_id = {here}
    CROSS JOIN memstore_relations r ON r.{from_} = own.id
    CROSS JOIN memstore_entity_names other ON other.id = r.{to}
    CROSS JOIN memstore_facts f ON f.id = r.fact_id
    WHERE other.entity_id <> own.entity_id AND {visible}
"""
# A circle comes back to an entity at a greater distance, and ends where the distance does.
NEAR = """
    WITH RECURSIVE near (entity_id, distance) AS (
        SELECT ?, 0
        UNION {along} AND near.distance < ?
        UNION {against} AND near.distance < ?
        ORDER BY 2 LIMIT {steps}
    )
    SELECT entity_id, min(distance), sum(count(*)) OVER () FROM near GROUP BY entity_id
"""
LINKS = """
    SELECT own.entity_id, r.label, r.fact_id
    FROM memstore_entity_names own
    CROSS JOIN memstore_entity_names other
    CROSS JOIN memstore_relations r ON r.source_id = own.id AND r.target_id = other.id
    CROSS JOIN memstore_facts f ON f.id = r.fact_id
    WHERE own.entity_id = ? AND other.entity_id = ? AND {visible}
"""
MENTIONED = """
    FROM memstore_entity_names n
    CROSS JOIN memstore_mentions m ON m.name_id = n.id
    CROSS JOIN memstore_facts f ON f.id = m.fact_id
"""


class Nearest(NamedTuple):
    """An entity one step further away, the one before it, and how many facts are between."""

    entity_id: int
    before: int
    facts: int


class Link(NamedTuple):
    """A relation between two entities, and the facts that say it."""

    source_id: int
    label: str
    fact_ids: list[int]
    """The newest ones."""
    facts: int
    """How many there are."""


class Name(NamedTuple):
    """A name, and how many facts give it."""

    entity_id: int
    key: str
    facts: int


def names(transaction: Transaction, wanted: FactFilter, entity_id: int) -> list[str]:
    """Return the names that facts give an entity, the longest first."""
    visible, values = wanted.where()
    rows = transaction.rows(
        "SELECT n.name FROM memstore_entity_names n WHERE n.entity_id = ? AND EXISTS (SELECT 1"
        " FROM memstore_mentions m CROSS JOIN memstore_facts f ON f.id = m.fact_id"
        f" WHERE m.name_id = n.id AND {visible}) ORDER BY length(n.name) DESC, n.key",
        (entity_id, *values),
    )
    return [str(row[0]) for row in rows]


def all_names(transaction: Transaction, graph_id: int, wanted: FactFilter) -> list[Name]:
    """Return every name that facts give, in the order of the graph."""
    visible, values = wanted.where()
    rows = transaction.rows(
        f"SELECT n.entity_id, n.key, count(*) {MENTIONED}"
        f" WHERE n.graph_id = ? AND {visible} GROUP BY n.id ORDER BY n.id",
        (graph_id, *values),
    )
    return [Name(int(row[0] or 0), str(row[1]), int(row[2] or 0)) for row in rows]


def count_facts(transaction: Transaction, wanted: FactFilter, entity_id: int) -> int:
    """Return how many facts speak of an entity, by whichever name."""
    visible, values = wanted.where()
    row = transaction.one(
        f"SELECT count(DISTINCT m.fact_id) {MENTIONED} WHERE n.entity_id = ? AND {visible}",
        (entity_id, *values),
    )
    return int(row[0] or 0) if row else 0


def most_mentioned(
    transaction: Transaction, graph_id: int, wanted: FactFilter, limit: int, offset: int
) -> list[int]:
    """Return entities, those of the most facts first."""
    visible, values = wanted.where()
    rows = transaction.rows(
        f"SELECT n.entity_id {MENTIONED} WHERE n.graph_id = ? AND {visible}"
        " GROUP BY n.entity_id ORDER BY count(DISTINCT m.fact_id) DESC, 1 LIMIT ? OFFSET ?",
        (graph_id, *values, limit, offset),
    )
    return [int(row[0] or 0) for row in rows]


def count_entities(transaction: Transaction, graph_id: int, wanted: FactFilter) -> int:
    """Return how many entities facts speak of."""
    visible, values = wanted.where()
    row = transaction.one(
        f"SELECT count(DISTINCT n.entity_id) {MENTIONED} WHERE n.graph_id = ? AND {visible}",
        (graph_id, *values),
    )
    return int(row[0] or 0) if row else 0


def count_relations(transaction: Transaction, graph_id: int, wanted: FactFilter) -> int:
    """Return how many relations between two entities facts give."""
    visible, values = wanted.where()
    row = transaction.one(
        "SELECT count(*) FROM memstore_entity_names own"
        " CROSS JOIN memstore_relations r ON r.source_id = own.id"
        " CROSS JOIN memstore_entity_names other ON other.id = r.target_id"
        " CROSS JOIN memstore_facts f ON f.id = r.fact_id"
        f" WHERE own.graph_id = ? AND own.entity_id <> other.entity_id AND {visible}",
        (graph_id, *values),
    )
    return int(row[0] or 0) if row else 0


def near(
    transaction: Transaction, wanted: FactFilter, entity_id: int, depth: int
) -> tuple[dict[int, int], bool]:
    """Return how far each entity is up to ``depth`` steps away, and whether the search ended early.

    The entity itself is among them, at 0.
    """
    visible, values = wanted.where()
    along, against = _steps("near.entity_id", "near", "other.entity_id, near.distance + 1", visible)
    rows = list(
        transaction.rows(
            NEAR.format(along=along, against=against, steps=MOST_STEPS),
            (entity_id, *values, depth, *values, depth),
        )
    )
    found = {int(row[0] or 0): int(row[1] or 0) for row in rows}
    return found, int(rows[0][2] or 0) >= MOST_STEPS


def one_step(
    transaction: Transaction, wanted: FactFilter, entity_ids: Sequence[int]
) -> list[Nearest]:
    """Return every entity one step from some, once for each of them it is next to."""
    visible, values = wanted.where()
    columns = "other.entity_id AS there, own.entity_id AS here, r.fact_id AS fact_id"
    both = " UNION ".join(_steps("near.value", "json_each(?) near", columns, visible))
    ids = json.dumps([*entity_ids])
    rows = transaction.rows(
        f"SELECT there, here, count(*) FROM ({both}) GROUP BY 1, 2", (ids, *values, ids, *values)
    )
    return [Nearest(int(row[0] or 0), int(row[1] or 0), int(row[2] or 0)) for row in rows]


def _steps(here: str, source: str, columns: str, visible: str) -> tuple[str, str]:
    """Return the query for a step along the arrows, and the one for a step against them."""
    along, against = (
        STEP.format(columns=columns, source=source, here=here, from_=from_, to=to, visible=visible)
        for from_, to in (("source_id", "target_id"), ("target_id", "source_id"))
    )
    return along, against


def links(
    transaction: Transaction, wanted: FactFilter, left: int, right: int, most_facts: int
) -> list[Link]:
    """Return how two entities are related: in words first, then by how many facts say so."""
    visible, values = wanted.where()
    both = LINKS.format(visible=visible)
    rows = transaction.rows(
        "SELECT entity_id, label, fact_id, total FROM (SELECT *,"
        " row_number() OVER (PARTITION BY entity_id, label ORDER BY fact_id DESC) AS place,"
        f" count(*) OVER (PARTITION BY entity_id, label) AS total FROM ({both} UNION {both}))"
        " WHERE place <= ? ORDER BY label = ?, total DESC, label, entity_id, place",
        (left, right, *values, right, left, *values, most_facts, MENTIONS),
    )
    found: dict[tuple[int, str], Link] = {}
    for source, label, fact_id, total in rows:
        key = (int(source or 0), str(label))
        link = found.setdefault(key, Link(*key, [], int(total or 0)))
        link.fact_ids.append(int(fact_id or 0))
    return [*found.values()]
