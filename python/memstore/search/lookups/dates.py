"""The dates in a query, as periods of the user's clock for looking rows up."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore._kernel.language import named_dates as named_dates
from memstore.domain import zones
from memstore.text import relative_days

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

MAX_PERIODS: Final = 4
"""Periods beyond this many are ignored."""
YEARS_BACK: Final = 9
"""For how many years before this one the user's clock is looked up if a query names no year."""


class Period(NamedTuple):
    """The time between two bounds, both exclusive."""

    after: datetime
    before: datetime


class Calendar(NamedTuple):
    offsets: list[tuple[int, int]]
    """The user's clock, as :func:`memstore.domain.zones.offsets` tells it."""
    days: list[tuple[int, int, int]]
    """The days that a query names relative to today."""


class Named(NamedTuple):
    periods: list[Period]
    parts: int
    """The number of words of the query that name a date: years, months, days, yesterday."""
    calendar: Calendar
    """The user's clock around them."""


NOTHING: Final = Named([], 0, Calendar([], []))


def read(query: str, now: datetime) -> Named:
    """Return the days, months or years that a query names.

    A month or day without a year means the most recent one. An ambiguous date yields both readings.
    ``yesterday`` and the like are days if nothing else is named.
    """
    years, months, days = named_dates(query)
    if not years and not months:  # days are named beside a month only
        return _relative(query, now)
    today = zones.local(now).date()
    if years:
        named = [*product(years, months or [0], days or [0])]
    else:
        last = {month: today.year - (month > today.month) for month in months}
        named = [(last[month], month, day) for month, day in product(months, days or [0])]
    periods = [*_existing(named)][:MAX_PERIODS]
    return Named(periods, len(years) + len(months) + len(days), Calendar(_clock(years, today), []))


def _relative(query: str, now: datetime) -> Named:
    if not relative_days.names_past(query):
        return NOTHING
    today = zones.local(now).date()
    words, ago = relative_days.ago(query, today)
    if not ago:
        return NOTHING
    named = [(day.year, day.month, day.day) for day in ago][:MAX_PERIODS]
    offsets = _clock([day[0] for day in named], today)
    # "What is the weather today" does not ask for what was stored today; its rows only come first.
    over = [(day.year, day.month, day.day) for day in ago if day != today][:MAX_PERIODS]
    return Named([*_existing(over)], words, Calendar(offsets, named))


def _clock(years: list[int], today: date) -> list[tuple[int, int]]:
    if years:
        return zones.offsets(min(years), max(years))
    return zones.offsets(today.year - YEARS_BACK, today.year)


def _existing(named: list[tuple[int, int, int]]) -> Iterator[Period]:
    for year, month, day in named:
        try:
            first = date(year, month or 1, day or 1)
        except ValueError:  # the 31st of June
            continue
        if day:
            after = first + timedelta(days=1)
        elif month:
            after = date(year + month // 12, month % 12 + 1, 1)
        else:
            after = date(year + 1, 1, 1)
        yield Period(zones.start(first) - zones.MICROSECOND, zones.start(after))
