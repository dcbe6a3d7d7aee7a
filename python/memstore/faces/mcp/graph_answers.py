"""Answers of the tool set ``graph``: entities and relations, with the facts that state it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.faces.escaping import second
from memstore.faces.mcp.answers import NAME_CHARACTERS, Answer, beginning, capped, page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.domain.entities import Entity, GraphStatus, Neighbour, Neighbours, Relation

EVIDENCE_CHARACTERS: Final = 500
"""The most characters of a fact that is shown as evidence of a relation."""

OTHER_NAMES: Final = 5


def of_entities(entities: Sequence[Entity], status: GraphStatus, offset: int) -> Answer:
    answer = page("entities", map(of_entity, entities), status.entities, offset)
    if status.built_at is None:
        return answer | {"hint": "the graph was never built: `memstore graph build` builds it"}
    answer["built"] = second(status.built_at)
    if status.changed:
        answer["changed_since"] = status.changed
        answer["hint"] = "`memstore graph build` brings the graph up to date"
    return answer


def of_neighbours(found: Neighbours) -> Answer:
    answer = capped("neighbours", map(_of_neighbour, found), len(found), "left_out")
    answer["entity"] = of_entity(found.entity)
    if found.cut is not None:
        answer["cut"] = found.cut
    return answer


def of_entity(entity: Entity) -> Answer:
    name = beginning(entity.name, NAME_CHARACTERS)
    answer: Answer = {"name": name, "facts": entity.facts}
    if others := [one for one in entity.names if one != entity.name]:
        answer["names"] = [beginning(one, NAME_CHARACTERS) for one in others[:OTHER_NAMES]]
    return answer


def _of_neighbour(one: Neighbour) -> Answer:
    relations = [_of_relation(relation) for step in one.path for relation in step]
    return {**of_entity(one.entity), "distance": one.distance, "relations": relations}


def _of_relation(relation: Relation) -> Answer:
    facts = [
        {
            "id": fact.id,
            "content": beginning(fact.content, EVIDENCE_CHARACTERS),
            "created_at": second(fact.created_at),
        }
        for fact in relation.facts
    ]
    answer: Answer = {
        name: beginning(getattr(relation, name), NAME_CHARACTERS)
        for name in ("source", "label", "target")
    }
    answer["facts"] = facts
    if relation.fact_count > len(facts):
        answer["more_facts"] = relation.fact_count - len(facts)
    return answer
