"""The chart of a timeline: a bar for each day, its parts by kind of change, as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.journal import Kind
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from memstore.domain.log import DayActivity

GROUPS: Final = (
    ("learnt", (Kind.ADD, Kind.ADOPT, "import")),
    ("replaced", (Kind.SUPERSEDE,)),
    ("removed", (Kind.DELETE, Kind.ERASE, Kind.ERASE_EPISODE)),
    ("confirmed or edited", (Kind.CONFIRM, Kind.METADATA, Kind.UPDATE, Kind.PIN, Kind.UNPIN)),
    ("turns recorded", (Kind.EPISODE,)),
)
"""Kinds of changes by what the pages call them."""

COLOURS: Final = ("d1", "d3", "d5")
"""Those of the first groups, which are the parts of a bar from the bottom up."""

OTHER: Final = "other"

HEIGHT: Final = 100
WIDTH: Final = 10
"""Units of the drawing: the highest bar, and a bar with the gap beside it."""

GAP: Final = 2


class BarPart(NamedTuple):
    """A part of a bar, in units of the drawing."""

    colour: str
    x: float
    y: float
    width: float
    height: float


class Day(NamedTuple):
    """One day.

    Attributes:
        line: a line of the journal after all of this day's, from which the list goes back.
        counts: the number of changes in each group, in the order of :attr:`Chart.groups`.
    """

    day: date
    line: int
    counts: tuple[int, ...]

    @property
    def drawn(self) -> tuple[int, ...]:
        """The numbers that the bar of the day shows."""
        return self.counts[: len(COLOURS)]

    @property
    def total(self) -> int:
        return sum(self.counts)


class Chart(NamedTuple):
    groups: tuple[str, ...]
    days: tuple[Day, ...]
    parts: tuple[BarPart, ...]
    width: int
    height: int
    highest: int


def drawn(activity: Sequence[DayActivity]) -> Chart:
    """Return the chart of some days."""
    days = [Day(one.day, one.last + 1, _counts(one.kinds)) for one in activity]
    highest = max((sum(day.drawn) for day in days), default=0)
    parts: list[BarPart] = []
    for place, day in enumerate(days):
        top = float(HEIGHT)
        for colour, count in zip(COLOURS, day.drawn, strict=True):
            if count:
                height = HEIGHT * count / highest
                top -= height
                x = place * WIDTH
                parts.append(BarPart(colour, x, round(top, 2), WIDTH - GAP, round(height, 2)))
    groups = (*(name for name, _ in GROUPS), OTHER)
    return Chart(groups, tuple(days), tuple(parts), len(days) * WIDTH, HEIGHT, highest)


def _counts(kinds: dict[str, int]) -> tuple[int, ...]:
    grouped = [sum(kinds.get(kind, 0) for kind in some) for _, some in GROUPS]
    return (*grouped, sum(kinds.values()) - sum(grouped))
