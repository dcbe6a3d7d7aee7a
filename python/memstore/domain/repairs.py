"""What a restoring or reinstating of facts did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memstore.domain.records import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What a restoring or reinstating did, for a face to tell."""

    kind: str
    """``restore``: the newer fact was wrong and the old text replaces it, or a deleted one is back;
    ``reinstate``: the supersession was wrong, and both hold."""
    fact: Fact
    """The fact that was brought back, as it is now."""
    others: tuple[Fact, ...] = ()
    """The other facts of a consolidation that was undone by it."""
    newer: Fact | None = None
    """What had superseded the old text, the newest of its chain, as it is now."""

    @property
    def active(self) -> list[Fact]:
        """Which of these facts are active now."""
        found = (self.fact, *self.others, *((self.newer,) if self.newer else ()))
        return [fact for fact in found if fact.status == "active"]

    def to_dict(self) -> dict[str, Any]:
        """Return the fact that was brought back, the kind of repair, and the ids active now."""
        return self.fact.to_dict() | {
            "repair": self.kind,
            "active_now": [fact.id for fact in self.active],
        }
