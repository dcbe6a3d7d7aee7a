"""The dates in a query, as periods for looking rows up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore._kernel.language import named_dates as named_dates

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PERIODS: Final = 4
"""Periods beyond this many are ignored."""


class Period(NamedTuple):
    """The time between two bounds, both exclusive."""

    after: datetime
    before: datetime


class Named(NamedTuple):
    periods: list[Period]
    parts: int
    """The number of years, months and days in the query."""


NOTHING: Final = Named([], 0)


def read(query: str, now: datetime) -> Named:
    """Return the days, months or years that a query names.

    A month or day without a year means the most recent one. An ambiguous date yields both readings.
    """
    years, months, days = named_dates(query)
    if not years and not months:  # days are named beside a month only
        return NOTHING
    if years:
        named = [*product(years, months or [0], days or [0])]
    else:
        last = {month: now.year - (month > now.month) for month in months}
        named = [(last[month], month, day) for month, day in product(months, days or [0])]
    periods = [*_existing(named)][:MAX_PERIODS]
    return Named(periods, len(years) + len(months) + len(days))


def _existing(named: list[tuple[int, int, int]]) -> Iterator[Period]:
    for year, month, day in named:
        try:
            start = datetime(year, month or 1, day or 1, tzinfo=UTC)
        except ValueError:  # the 31st of June
            continue
        if day:
            end = start + timedelta(days=1)
        elif month:
            end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        else:
            end = datetime(year + 1, 1, 1, tzinfo=UTC)
        yield Period(start - timedelta(microseconds=1), end)
