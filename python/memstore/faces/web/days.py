"""Days as the headings of lists: today, yesterday, a day of this week, a date."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeVar

from memstore.domain import clock, zones
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date

    from memstore.faces.web.visit import Visit

Row = TypeVar("Row")

NAMED: Final = ("Today", "Yesterday")
WEEK: Final = 7

MAX: Final = 3650
"""The most days that a list is asked to go back; then it has all that matters."""


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


def since(visit: Visit, number: int | None) -> datetime | None:
    """Return when the first of the last so many days began, today among them; ``None`` for all."""
    return None if number is None else begins(visit, min(max(number, 1), MAX))[0]


def begins(visit: Visit, number: int) -> list[datetime]:
    """Return when each of the last so many days began, the oldest first and today last, in UTC."""
    zone = visit.zone or zones.user()
    today = clock.utc_now().astimezone(zone).date()
    days = (today - timedelta(days=back) for back in range(number - 1, -1, -1))
    return [datetime.combine(day, time.min, zone).astimezone(UTC) for day in days]


def _names(day: date, today: date) -> tuple[str, str]:
    passed = (today - day).days
    year = "" if day.year == today.year else f" {day.year}"
    dated = f"{day.day} {day:%B}{year}"
    if 0 <= passed < len(NAMED):
        return NAMED[passed], f"{day:%A} {dated}"
    if 0 <= passed < WEEK:
        return f"{day:%A}", dated
    return dated, f"{day:%A}"
