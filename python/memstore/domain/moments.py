"""Moments: places in the journal, named by a time, a line, a run or an episode."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Final

from memstore.domain import clock, zones
from memstore.domain.arguments import MAX_NAME, check_length
from memstore.errors import InvalidArgument
from memstore.lazy import lazy_pattern
from memstore.named import NamedTuple

ACCEPTED_TIMES: Final = (
    "a time such as 2026-03-01T09:30:00Z, a date, now, today, yesterday, tomorrow, an age such as "
    "90m, 2h, 3d or 1w"
)
ACCEPTED_FORMS: Final = f"{ACCEPTED_TIMES}, or op:LINE, run:UUID or episode:ID"

NOW: Final = "now"

AGO: Final = lazy_pattern(r"([0-9]{1,5})([mhdw])")
UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
DAYS: Final = {"today": 0, "yesterday": 1, "tomorrow": -1}
"""Words for days, with how long ago they are."""

UNIT: Final = lazy_pattern(
    r"[T ]\d\d:?\d\d(?P<seconds>:?\d\d(?:[.,](?P<fraction>\d{1,6}))?)?(?!\d)"
)
"""How exact the time in a text is."""
MIDNIGHT: Final = lazy_pattern(r"[Tt ]00:?00(?::?00(?:[.,]0+)?)?(?![\d:.])")


class TimeSpan(NamedTuple):
    """The time that a caller names: an instant, or all of a day, minute or second."""

    first: datetime
    last: datetime
    """The last microsecond of it."""


class Moment(NamedTuple):
    """A place in the journal, and what existed there."""

    line: int
    """The last line that counts; always the last one of an act. 0 is before the first line."""
    at: datetime
    """The time as of which one looks, by which it is known what had expired."""
    last_fact: int
    """The largest id of a fact that existed then; 0 if there was none."""
    last_episode: int
    """The largest id of an episode that existed then; 0 if there was none."""


def ago(text: str) -> datetime | None:
    """Return the time that an age such as ``90m``, ``2h``, ``3d`` or ``1w`` names."""
    found = AGO.fullmatch(text.strip())
    if found is None:
        return None
    return clock.utc_now() - timedelta(**{UNITS[found[2]]: int(found[1])})


def day(text: str) -> date | None:
    """Return the user's day that a date or a word such as ``yesterday`` names."""
    word = text.strip().lower()
    if word in DAYS:
        return zones.today() - timedelta(days=DAYS[word])
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def span(given: datetime | str | None, name: str) -> TimeSpan | None:
    """Return the time that a caller names, in UTC; a text without an offset is the user's time.

    A date is its whole day, and a time is all of the minute, second or fraction that is written: a
    moment that is shown, and not to the microsecond, can be given back.

    Raises:
        ValueError: it cannot be read, or has no time zone.
    """
    if given is None:
        return None
    if not isinstance(given, str):
        at = clock.moment(given, name)
        return None if at is None else TimeSpan(at, at)
    check_length(given, name, MAX_NAME)
    if given.strip().lower() == NOW:
        return _instantly(clock.utc_now())
    if (named := day(given)) is not None:
        return TimeSpan(zones.start(named), zones.end(named))
    if (past := ago(given)) is not None:
        return _instantly(past)
    try:
        return _written(given.strip())
    except (ValueError, OverflowError):
        raise InvalidArgument(
            f"is not a time: {given!r}; give {ACCEPTED_TIMES}", argument=name
        ) from None


def _instantly(at: datetime) -> TimeSpan:
    return TimeSpan(at, at)


def _written(text: str) -> TimeSpan:
    at = datetime.fromisoformat(text.upper())  # RFC 3339 allows t and z
    unit = _unit(text)
    if at.tzinfo is None:
        # A time that the clock shows twice is both.
        first, last = zones.in_utc(at), zones.in_utc(at.replace(fold=1))
    else:
        first = last = clock.from_text(text)
    return TimeSpan(first, later(max(first, last), unit - zones.MICROSECOND))


def _unit(text: str) -> timedelta:
    """Return how long the last part of a written time is."""
    found = UNIT.search(text)
    if found is None or found["seconds"] is None:
        return timedelta(minutes=1)
    digits = len(found["fraction"] or "")
    return timedelta(microseconds=10 ** (6 - digits))


def instant(given: datetime | str | None, name: str) -> datetime | None:
    """Return the beginning of the time that a caller names; see :func:`span`."""
    found = span(given, name)
    return None if found is None else found.first


def until(given: datetime | str | None, name: str) -> datetime | None:
    """Return when something ends that lasts until a caller's time; a date ends with its day."""
    found = span(given, name)
    if found is None:
        return None
    is_day = isinstance(given, str) and day(given) is not None
    return found.last if is_day else found.first


def after(given: datetime | str | None, name: str) -> datetime | None:
    """Return the bound after which rows are wanted: a date or written time itself is included."""
    found = span(given, name)
    if found is None or found.first == found.last:
        return found and found.first
    return later(found.first, -zones.MICROSECOND)


def before(given: datetime | str | None, name: str) -> datetime | None:
    """Return the bound before which rows are wanted: a date or written time itself is included.

    Midnight is not: it is how programs write the end of the day before.
    """
    found = span(given, name)
    if found is None or found.first == found.last or MIDNIGHT.search(str(given)):
        return found and found.first
    return later(found.last, zones.MICROSECOND)


def later(at: datetime, by: timedelta) -> datetime:
    """Return a moment moved by some time, or itself if there is none."""
    try:
        return at + by
    except OverflowError:
        return at


def period(on: datetime | str | None, name: str) -> tuple[datetime, datetime] | None:
    """Return the time that is named; its end is exclusive."""
    found = span(on, name)
    return None if found is None else (found.first, later(found.last, zones.MICROSECOND))
