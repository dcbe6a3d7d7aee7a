"""The records of the graph: entities, relations, and what people decided about entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import Record, set_fields
from memstore.domain.results import Results
from memstore.frozen import frozen

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.domain.records import Fact

MENTIONS: Final = "mentions"
"""The label of a relation that the text does not describe."""


@frozen(kw_only=True)
class Entity(Record):
    """A person or thing that facts mention."""

    name: str
    """The longest of its names; among equally long ones, the alphabetically first."""
    names: tuple[str, ...]
    """Every name that active facts use for it, ``name`` first."""
    facts: int
    """How many active facts mention it."""


@frozen(kw_only=True)
class Relation(Record):
    """How one entity is related to another, and the facts that state it."""

    source: str
    """The name of the entity it starts from."""
    label: str
    """The words that relate the two, or ``mentions``."""
    target: str
    facts: tuple[Fact, ...]
    """The newest active facts that state it."""
    fact_count: int
    """How many active facts state it."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values; facts as id, subject and content."""
        facts = [{"id": f.id, "subject": f.subject, "content": f.content} for f in self.facts]
        return set_fields(self) | {"facts": facts}


@frozen(kw_only=True)
class Neighbour(Record):
    """An entity related to another one, and a shortest path to it."""

    entity: Entity
    distance: int
    """The number of steps on the path."""
    path: tuple[tuple[Relation, ...], ...]
    """Some relations of each step, with ``mentions`` last."""


@frozen(kw_only=True)
class Neighbours(Results[Neighbour]):
    """The neighbours of one entity, the nearest first."""

    entity: Entity
    """The entity whose neighbours these are."""
    cut: str | None = None
    """A sentence that says what was left out; ``None`` if nothing was."""


@frozen(kw_only=True)
class EntityDecision(Record):
    """A person's decision that two names mean the same entity, or that they do not."""

    left: str
    right: str
    same: bool
    actor: str
    at: datetime


@frozen(kw_only=True)
class LikelySame(Record):
    """Two entities that may be the same; a person decides."""

    left: Entity
    right: Entity
    reason: str


@frozen(kw_only=True)
class GraphStatus(Record):
    """What a namespace's graph was built from, and how many facts have changed since."""

    built_at: datetime | None
    """``None`` if it was never built."""
    facts: int = 0
    """How many facts it was built from."""
    entities: int = 0
    relations: int = 0
    """How many relations active facts state, each counted once per fact."""
    changed: int = 0
    """Facts added, superseded, deleted, restored or erased since it was built."""
    model: str | None = None
    """The language model that extracted relations in addition to the rules."""


@frozen
class RefusedRelation:
    """A relation from a language model that was refused, and why."""

    fact_id: int
    reason: str


@frozen(kw_only=True)
class GraphBuilt:
    """The result of building the graph."""

    status: GraphStatus
    refused: tuple[RefusedRelation, ...] = ()
    """Relations of the model that were refused; empty without a model."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        refused = [{"fact": one.fact_id, "reason": one.reason} for one in self.refused]
        return {"status": self.status.to_dict(), "refused": refused}
