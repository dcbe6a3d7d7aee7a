"""Proposals: supersessions and consolidations that wait for a decision."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from memstore.domain.records import Record, set_fields

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.domain.records import Fact


class ProposalState(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Record):
    """Facts that another may supersede, once a person decides so.

    Either a newer fact may replace an older one (a supersession, with one source), or one text may
    take the place of several facts (a consolidation); that text is no fact before it is accepted.
    """

    id: int
    at: datetime
    sources: tuple[Fact, ...]
    """The facts that would be superseded."""
    new: Fact | None
    """The fact that would supersede them; ``None`` for a consolidation that is not accepted."""
    content: str
    """What the new fact says, or would say; blank once it cannot be accepted any more."""
    similarity: float | None = None
    """Cosine of the two contents, 0 to 1; a consolidation has none."""
    evidence: dict[str, Any]
    """What speaks for it and against it."""
    state: str
    decided_at: datetime | None = None

    @property
    def old(self) -> Fact:
        """The older fact, or of a consolidation the first of those it sums up."""
        return self.sources[0]

    @property
    def kind(self) -> str:
        """``supersession`` or ``consolidation``."""
        return "supersession" if len(self.sources) == 1 else "consolidation"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        values = set_fields(self) | {"kind": self.kind}
        if self.kind == "supersession":
            values["old"] = values.pop("sources")[0]
            del values["content"]
        return values
