"""Proposals: supersessions and consolidations that a person has to decide."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from memstore.domain.records import Record, set_fields
from memstore.frozen import frozen

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.domain.records import Fact


class ProposalState(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@frozen(kw_only=True)
class Proposal(Record):
    """A proposed supersession or consolidation, for a person to accept or reject.

    In a supersession, a newer fact replaces an older one, the only source. In a consolidation, one
    text replaces several facts; the text becomes a fact when the proposal is accepted.
    """

    id: int
    at: datetime
    sources: tuple[Fact, ...]
    """The facts that would be superseded."""
    new: Fact | None
    """The fact that would supersede them; ``None`` for a consolidation until it is accepted."""
    content: str
    """The text of the new fact; blank if the proposal can no longer be accepted."""
    similarity: float | None = None
    """Cosine of the two contents, 0 to 1; ``None`` for a consolidation."""
    evidence: dict[str, Any]
    """The evidence for and against it."""
    state: str
    decided_at: datetime | None = None

    @property
    def old(self) -> Fact:
        """The older fact; for a consolidation, the first of its sources."""
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
