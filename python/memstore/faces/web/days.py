"""Days as the headings of lists: today, yesterday, a day of this week, a date."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeVar

from memstore.domain import clock, zones
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date, datetime

    from memstore.faces.web.visit import Visit

Row = TypeVar("Row")

NAMED: Final = ("Today", "Yesterday")
WEEK: Final = 7


class Day(NamedTuple):
    """A day of a list.

    Attributes:
        name: what it is called, such as "Today" or "Thursday".
        date: the date in full, without what the name says.
        rows: what stands below it.
    """

    name: str
    date: str
    rows: list[object]


def of(visit: Visit, rows: Iterable[Row], at: Callable[[Row], datetime]) -> list[Day]:
    """Return rows below the days of the viewer, in the order in which they are."""
    zone = visit.zone or zones.user()
    today = clock.utc_now().astimezone(zone).date()
    grouped = groupby(rows, lambda row: at(row).astimezone(zone).date())
    return [Day(*_names(day, today), [*some]) for day, some in grouped]


def _names(day: date, today: date) -> tuple[str, str]:
    passed = (today - day).days
    year = "" if day.year == today.year else f" {day.year}"
    dated = f"{day.day} {day:%B}{year}"
    if 0 <= passed < len(NAMED):
        return NAMED[passed], f"{day:%A} {dated}"
    if 0 <= passed < WEEK:
        return f"{day:%A}", dated
    return dated, f"{day:%A}"
