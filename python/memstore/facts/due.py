"""Reads when a task is due from text such as "by 30 November", "tomorrow" or "in two weeks".

A day that is named relative to another is counted from when the task was created. Days are those
of the user's clock.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Final

from memstore.domain import clock, zones
from memstore.lazy import lazy_import, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.search.lookups import dates
    from memstore.text import relative_days
else:  # most tasks are due at a moment, which needs none of them
    dates = lazy_import("memstore.search.lookups.dates")
    relative_days = lazy_import("memstore.text.relative_days")

TIMESTAMP: Final = lazy_pattern(
    r"(?<!\d)\d{4}-\d\d-\d\d"
    r"(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d\d:\d\d)?)?(?!\d)"
)
TIME: Final = lazy_pattern(
    r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])(?:\s?(?P<half>[ap])\.?m\b)?"
    r"|(?<![\d:.])(?P<hour>1[0-2]|0?[1-9])\s?(?P<of>[ap])\.?m\b",
    re.IGNORECASE,
)

LEAP_YEARS: Final = 8
"""The longest time between two days that are the 29th of February."""


def due_on(due: str, created_at: datetime) -> date | datetime | None:
    """Return the day on which a task is due, or the moment; ``None`` if its text names no day.

    A month or a year alone means its last day. Of several days the earliest counts, of several
    relative ones the first.
    """
    stamps = [due.strip(), *TIMESTAMP.findall(due)]
    if found := [*filter(None, map(_moment, stamps))]:
        return found[0]
    created = zones.local(created_at).date()
    # A date that does not exist, such as 2026-13-01, is not read as a year.
    day = (None if stamps[1:] else _dated(due, created)) or relative_days.ahead(due, created)
    at = None if day is None else _time(due)
    return day if day is None or at is None else zones.in_utc(datetime.combine(day, at))


def due_moment(due: str, created_at: datetime) -> datetime | None:
    """Return when a task is due: on a day, its beginning by the user's clock."""
    return moment_of(due_on(due, created_at))


def moment_of(due: date | datetime | None) -> datetime | None:
    return due if due is None or isinstance(due, datetime) else zones.start(due)


def is_at_once(due: str) -> bool:
    """Return whether a text without a day means as soon as possible."""
    return relative_days.is_at_once(due)


def written(due: date | datetime | None) -> str | None:
    """Return a day or a moment as it is kept beside the words for it."""
    if due is None:
        return None
    return clock.to_text(due) if isinstance(due, datetime) else due.isoformat()


def read(text: str) -> date | datetime | None:
    """Read what :func:`written` has written."""
    return _moment(text)


def _moment(text: str) -> date | datetime | None:
    try:
        if len(text) <= len("2026-11-30"):
            return date.fromisoformat(text)
        at = datetime.fromisoformat(text.upper())
        return zones.in_utc(at) if at.tzinfo is None else clock.from_text(text)
    except ValueError:
        return None


def _time(due: str) -> time | None:
    found = TIME.search(due)
    if found is None:
        return None
    hour, half = int(found[1] or found["hour"]), (found["half"] or found["of"] or "").lower()
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    return time(hour, int(found[2] or 0))


def _dated(due: str, created: date) -> date | None:
    """Return the earliest date that is named with its month, or the end of a month or year."""
    years, months, days = dates.named_dates(due)
    year = min(years, default=None)
    # An ambiguous date has two months and two days, each pair of them a reading.
    pairs = zip(months, days, strict=True) if len(months) == len(days) else ()
    several = [(month, days[0]) for month in months[:1] if days]
    if existing := [*_existing([*pairs] or several, year, created)]:
        return min(existing)
    if months:
        first = min(_existing([(months[0], 1)], year, created.replace(day=1)), default=None)
        return first and relative_days.last_of_month(first.year, first.month)
    return None if year is None else date(year, 12, 31)


def _existing(pairs: list[tuple[int, int]], year: int | None, created: date) -> Iterator[date]:
    """Yield each month and day in the given year, or else on or after the day of creation."""
    first = created.year
    for month, day in pairs:
        for one in range(first, first + LEAP_YEARS + 1) if year is None else (year,):
            try:
                found = date(one, month, day)
            except ValueError:  # the 29th of February, or the year 10000
                continue
            if year is not None or found >= created:
                yield found
                break
