"""Generations: one embedding model's vectors each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memstore.domain.records import set_fields

if TYPE_CHECKING:
    from datetime import datetime


class Generation(NamedTuple):
    """One embedding model's vectors. One generation is active; another may be staged."""

    id: int
    model: str | None
    """``None`` before the first vector."""
    dimension: int | None
    """Numbers of a vector; ``None`` before the first."""
    state: str
    """``active``, ``staged`` (being made) or ``retired`` (kept to switch back to)."""
    created_at: datetime
    switched_at: datetime | None = None
    """When it became active last."""


class VectorCounts(NamedTuple):
    """How many of a kind have a vector in a generation, in the whole file."""

    embedded: int
    pending: int
    quarantined: int


class GenerationStatus(NamedTuple):
    """A generation, and how far it has come."""

    generation: Generation
    facts: VectorCounts
    pieces: VectorCounts
    """Of episodes."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        counts = {"facts": self.facts._asdict(), "pieces": self.pieces._asdict()}
        return set_fields(self.generation, Generation._fields) | counts
