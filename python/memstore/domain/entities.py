"""The records of the graph: entities, relations, and what people decided about entities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import Record, set_fields
from memstore.domain.results import Results

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.domain.records import Fact

MENTIONS: Final = "mentions"
"""The label of a relation that no words describe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity(Record):
    """A person or thing that facts mention."""

    name: str
    """The longest of its names; of equally long ones the first in the alphabet."""
    names: tuple[str, ...]
    """Every name that active facts give it, ``name`` first."""
    facts: int
    """How many active facts mention it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation(Record):
    """How one entity is related to another, and the facts that say so."""

    source: str
    """The name of the entity it starts from."""
    label: str
    """The words that relate the two, or ``mentions``."""
    target: str
    facts: tuple[Fact, ...]
    """The newest of the active facts behind it."""
    fact_count: int
    """How many active facts are behind it."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values; of the facts, ids, subjects and contents."""
        facts = [{"id": f.id, "subject": f.subject, "content": f.content} for f in self.facts]
        return set_fields(self) | {"facts": facts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour(Record):
    """An entity related to another one, and a shortest path to it."""

    entity: Entity
    distance: int
    """How many steps away."""
    path: tuple[tuple[Relation, ...], ...]
    """For each step some of its relations, those with words before ``mentions``."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Neighbours(Results[Neighbour]):
    """The neighbours of one entity, the nearest first."""

    entity: Entity
    """Whose neighbours they are."""
    cut: str | None = None
    """What was left out, in a sentence; ``None`` if nothing was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityDecision(Record):
    """What a person decided about two names: that they are one entity, or that they are not."""

    left: str
    right: str
    same: bool
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelySame(Record):
    """Two entities that may be the same; a person decides."""

    left: Entity
    right: Entity
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStatus(Record):
    """What a namespace's graph was built from, and how many facts changed since."""

    built_at: datetime | None
    """``None`` if it was never built."""
    facts: int = 0
    """How many facts it was built from."""
    entities: int = 0
    relations: int = 0
    """How many relations active facts give, each counted once per fact."""
    changed: int = 0
    """Facts added, superseded, deleted, restored or erased since then."""
    model: str | None = None
    """The model that read the facts in addition to the rules."""


@dataclass(frozen=True, slots=True)
class RefusedRelation:
    """Something a model said about a fact that was refused, and why."""

    fact_id: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphBuilt:
    """The result of building the graph."""

    status: GraphStatus
    refused: tuple[RefusedRelation, ...] = ()
    """What the model said and was refused; empty without a model."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        refused = [{"fact": one.fact_id, "reason": one.reason} for one in self.refused]
        return {"status": self.status.to_dict(), "refused": refused}
