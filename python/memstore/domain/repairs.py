"""The result of restoring or reinstating a fact."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from memstore.domain.records import FACT_FIELDS, Fact, unchecked
from memstore.frozen import frozen

if TYPE_CHECKING:
    from typing import Self

_of_fact = attrgetter(*FACT_FIELDS)


@frozen(kw_only=True)
class RepairedFact(Fact):
    """A fact that was brought back, as it is now, with what else that changed.

    It equals the same :class:`Fact` as other methods return it.
    """

    repair: str
    """``restore``: the newer fact was wrong and the old text replaces it, or a deleted fact is
    back. ``reinstate``: the supersession was wrong, and both facts hold."""
    others: tuple[Fact, ...] = ()
    """The other facts of the consolidation, if this undid one."""
    newer: Fact | None = None
    """The newest fact of the chain that had superseded the old text, as it is now."""

    @classmethod
    def of(
        cls, fact: Fact, repair: str, *, others: tuple[Fact, ...] = (), newer: Fact | None
    ) -> Self:
        return unchecked(cls, {**vars(fact), "repair": repair, "others": others, "newer": newer})

    @property
    def active(self) -> list[Fact]:
        """The facts among these that are active now."""
        facts = (self, *self.others, *((self.newer,) if self.newer else ()))
        return [fact for fact in facts if fact.status == "active"]

    def to_dict(self) -> dict[str, Any]:
        """Return the restored fact, the kind of repair, and the ids of the active facts."""
        return Fact.to_dict(self) | {
            "repair": self.repair,
            "active_now": [fact.id for fact in self.active],
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fact) and _of_fact(self) == _of_fact(other)

    __hash__ = Fact.__hash__
