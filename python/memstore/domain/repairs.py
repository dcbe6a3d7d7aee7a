"""The result of restoring or reinstating a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.frozen import frozen

if TYPE_CHECKING:
    from memstore.domain.records import Fact


@frozen(kw_only=True)
class Repair:
    """The result of restoring or reinstating a fact, for a face to show."""

    kind: str
    """``restore``: the newer fact was wrong and the old text replaces it, or a deleted fact is
    back. ``reinstate``: the supersession was wrong, and both facts hold."""
    fact: Fact
    """The restored fact, as it is now."""
    others: tuple[Fact, ...] = ()
    """The other facts of the consolidation, if this undid one."""
    newer: Fact | None = None
    """The newest fact of the chain that had superseded the old text, as it is now."""

    @property
    def active(self) -> list[Fact]:
        """The facts among these that are active now."""
        facts = (self.fact, *self.others, *((self.newer,) if self.newer else ()))
        return [fact for fact in facts if fact.status == "active"]

    def to_dict(self) -> dict[str, Any]:
        """Return the restored fact, the kind of repair, and the ids of the active facts."""
        return self.fact.to_dict() | {
            "repair": self.kind,
            "active_now": [fact.id for fact in self.active],
        }
