"""Generations: the vectors of one embedding model each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.domain.records import set_fields
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from datetime import datetime


class Generation(NamedTuple):
    """The vectors of one embedding model. One generation is active; another may be staged."""

    id: int
    model: str | None
    """``None`` before the first vector."""
    dimension: int | None
    """The length of each vector; ``None`` before the first."""
    state: str
    """``active``, ``staged`` (being built) or ``retired`` (kept to switch back to)."""
    created_at: datetime
    switched_at: datetime | None = None
    """When it last became active."""


class VectorCounts(NamedTuple):
    """How many facts, or pieces of episodes, of the whole file are embedded in a generation."""

    embedded: int
    pending: int
    quarantined: int


class GenerationStatus(NamedTuple):
    """A generation and its progress."""

    generation: Generation
    facts: VectorCounts
    pieces: VectorCounts
    """Pieces of episodes."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        counts = {"facts": self.facts._asdict(), "pieces": self.pieces._asdict()}
        return set_fields(self.generation, Generation._fields) | counts
