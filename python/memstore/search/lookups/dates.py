"""The dates in a query, as periods of the user's clock for looking rows up."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import product
from typing import TYPE_CHECKING, Final, TypeAlias

from memstore._kernel.language import named_dates as named_dates
from memstore.domain import zones
from memstore.named import NamedTuple
from memstore.text import relative_days, times

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


Day: TypeAlias = "tuple[int, int, int]"
"""Its year, month and number."""


class Calendar(NamedTuple):
    offsets: list[tuple[int, int]]
    """The user's clock, as :func:`memstore.domain.zones.offsets` tells it."""
    days: list[tuple[Day, Day]]
    """The periods that a query means, by their first and last days: yesterday, last week."""
    are_conditions: bool = False
    """Whether the dates in its words are conditions, so that only ``days`` are meant."""


class Condition(NamedTuple):
    """What a query says of the time of its answer."""

    since: datetime | None
    """Rows before it are no answer."""
    until: datetime | None
    """Rows from then on are none."""
    order: str | None
    """``newest`` or ``oldest``: which comes first of what matches."""
    words: str
    """What says so, if a row may be about these words."""
    event: str
    """What says by its own time of which one the answer is."""
    side: times.Side
    """Whether that is the time before the event, the same, or the one after it."""
    rest: str
    """The query without all this; empty if nothing else may be left."""
    like: str = ""
    """What is said of the event: the answer may be like it."""
    telling: tuple[int, ...] = ()
    """The rows that tell of the event."""


class Event(NamedTuple):
    """What rows of one kind tell of an event in a query."""

    at: datetime
    """When the first of them is from."""
    text: str
    """What that one says."""
    words: int
    """How many words of the event it has."""
    is_foreign: bool = False
    """Whether it is text of others, such as a web page."""


class Named(NamedTuple):
    periods: list[Period]
    parts: int
    """The number of words of the query that name a date: years, months, days, yesterday."""
    calendar: Calendar
    """The user's clock around them."""
    condition: Condition | None = None
    is_relative: bool = False
    """Whether the days are named relative to today."""


NOTHING: Final = Named([], 0, Calendar([], []))


def read(query: str, now: datetime) -> Named:
    """Return the days, months or years that a query names.

    A month or day without a year means the most recent one. An ambiguous date yields both readings.
    ``yesterday`` and the like are days if nothing else is named.
    """
    return of_day(query, zones.date_of(now))


def of_day(query: str, today: date) -> Named:
    """Return the same, by the day that is today."""
    asked = times.read(query, today)
    if asked is None:
        return _named(query, today)
    if asked.is_dated or asked.meant:
        return _conditional(query, asked, today)
    return _named(query, today)._replace(condition=_condition(asked))


def with_event(query: str, now: datetime) -> Condition | None:
    """Return what a query says of the time of its answer, if that depends on an event."""
    condition = read(query, now).condition
    return condition if condition is not None and condition.event else None


def topic(query: str, today: date) -> str:
    """Return a query without the condition that it states for the time of its answer."""
    asked = times.read(query, today)
    return asked.topic if asked else query


def _conditional(query: str, asked: times.Stated, today: date) -> Named:
    """Return the days that a condition means, without those that it only names."""
    meant = [asked.meant] if asked.meant else []
    days = [(_day(first), _day(last)) for first, last in meant]
    bounds = [*filter(None, (asked.first, asked.last)), *(day for each in meant for day in each)]
    years = [day.year for day in bounds] or [today.year]
    offsets = zones.offsets(min(min(years), today.year - YEARS_BACK), max(*years, today.year))
    return Named(
        [_period(first, last) for first, last in meant],
        sum(map(len, named_dates(query))),
        Calendar(offsets, days, are_conditions=asked.is_dated),
        _condition(asked),
    )


def _condition(asked: times.Stated) -> Condition:
    return Condition(
        None if asked.first is None else zones.start(asked.first),
        None if asked.last is None else zones.start(asked.last + timedelta(days=1)),
        asked.order,
        asked.words,
        asked.event,
        asked.side,
        asked.rest,
    )


def _day(of: date) -> Day:
    return of.year, of.month, of.day


def _named(query: str, today: date) -> Named:
    years, months, days = named_dates(query)
    if not years and not months:  # days are named beside a month only
        return _relative(query, today)
    if years:
        named = [*product(years, months or [0], days or [0])]
    else:
        last = {month: today.year - (month > today.month) for month in months}
        named = [(last[month], month, day) for month, day in product(months, days or [0])]
    periods = [*_existing(named)][:MAX_PERIODS]
    return Named(periods, len(years) + len(months) + len(days), Calendar(_clock(years, today), []))


def _relative(query: str, today: date) -> Named:
    words, past = relative_days.past(query, today)
    meant = [days for days in past if (days[1] - days[0]).days < relative_days.MAX_DAYS_MEANT]
    if not meant:
        return NOTHING
    offsets = _clock([first.year for first, _ in meant], today)
    # "What is the weather today" does not ask for what was stored today; its rows only come first.
    over = [_period(first, last) for first, last in meant if first != today]
    days = [(_day(first), _day(last)) for first, last in meant]
    calendar = Calendar(offsets, days[:MAX_PERIODS])
    return Named(over[:MAX_PERIODS], words, calendar, is_relative=True)


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
        yield _period(first, after - timedelta(days=1))


def _period(first: date, last: date) -> Period:
    """Return the time from the beginning of a day to the end of another one."""
    return Period(zones.start(first) - zones.MICROSECOND, zones.start(last + timedelta(days=1)))
