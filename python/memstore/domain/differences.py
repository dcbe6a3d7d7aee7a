"""The values of a comparison of two moments, fact by fact."""

from __future__ import annotations

from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock, zones
from memstore.domain.log import cropped
from memstore.domain.records import Record
from memstore.domain.results import Results
from memstore.frozen import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from memstore.domain.moments import Moment


class DifferenceKind(StrEnum):
    """What became of a fact between two moments, all in all."""

    ADDED = "added"
    """It did not exist, and is active at the later one."""
    RETIRED = "retired"
    """It was active, and is superseded, deleted or expired."""
    CHANGED = "changed"
    """It is active at both, with other metadata, another pin or other confirmations."""
    RESTORED = "restored"
    """It existed but was not active, and is."""
    ERASED = "erased"


HEADINGS: Final = tuple(DifferenceKind)
"""In the order of a changelog."""


@frozen(kw_only=True)
class Difference(zones.ZonedResult, Record):
    """What became of one fact."""

    kind: str
    """A :class:`DifferenceKind`."""
    fact_id: int
    claim: str
    """Its subject and text; "(erased)" if it was erased since, and after "(distrusted)" if it rests
    on a distrusted source."""
    text: str
    """What became of it, such as "replaced by fact 12", "status: pending → completed"."""
    at: datetime
    line: int | None = None
    """The line of the journal that decided it; ``None`` if the fact expired."""
    actor: str | None = None
    source: str | None = None
    """The program or interface through which it was done."""
    reason: str | None = None
    """Why, as far as the journal says so and it may be seen."""
    evidence: Mapping[str, Any] | None = None
    by: int | None = None
    """The fact that superseded it."""
    replaces: tuple[int, ...] = ()
    """The facts that it superseded in the meantime."""
    before: Mapping[str, Any] = field(default_factory=dict)
    """The old values of what changed, as JSON values; without those that were not set."""
    after: Mapping[str, Any] = field(default_factory=dict)
    """The new ones; of a fact that was added or restored, all of them."""

    @zones.of_its_zone
    def __str__(self) -> str:
        told = f"#{self.fact_id} {cropped(self.claim)}"
        if self.text:
            told += f" ({self.text})"
        if self.line is None:
            return f"{told}; {zones.day(self.at)}"
        because = f", because {self.reason}" if self.reason else ""
        by = f"{self.actor} through {self.source}, line {self.line}"
        return f"{told}; {zones.day(self.at)}, {by}{because}"


@frozen
class Differences(zones.ZonedResult, Results[Difference]):
    """What changed, in the order in which it did; as text, a changelog."""

    a: Moment | None = None
    b: Moment | None = None
    total: int = 0
    """How many there are without ``limit`` and ``offset``."""
    passed: int = 0
    """Facts that were stored after ``a`` and retired or erased by ``b``: no difference."""

    def __str__(self) -> str:
        return "\n".join(self._lines())

    @property
    @zones.of_its_zone
    def period(self) -> str:
        """The two moments in words."""
        return " to ".join(_named(one) for one in (self.a, self.b) if one is not None)

    def _lines(self) -> Iterator[str]:
        if self.a is not None and self.b is not None:
            yield self.period
        for kind, members in self.grouped():
            yield from ("", kind.capitalize(), *(f"- {one}" for one in members))
        if not self:
            yield from ("", "Nothing changed.")
        elif len(self) < self.total:
            yield from ("", f"{len(self):,} of {self.total:,} differences")

    def grouped(self) -> Iterator[tuple[str, Iterator[Difference]]]:
        """Yield each kind with its differences, in the order of a changelog."""
        by_kind = sorted(self, key=lambda one: HEADINGS.index(DifferenceKind(one.kind)))
        return groupby(by_kind, key=lambda one: one.kind)

    def to_dict(self) -> dict[str, Any]:
        moments = {
            name: {"line": one.line, "at": clock.to_text(one.at)}
            for name, one in (("a", self.a), ("b", self.b))
            if one is not None
        }
        found = [one.to_dict() for one in self]
        return {**moments, "differences": found, "total": self.total, "passed": self.passed}


def _named(moment: Moment) -> str:
    return f"{zones.stamp(moment.at)} (line {moment.line})"
