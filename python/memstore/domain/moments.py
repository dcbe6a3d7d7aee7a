"""Moments: places in the journal, named by a time, a line, a run or an episode."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple

from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME, check_length
from memstore.errors import InvalidArgument

ACCEPTED_TIMES: Final = (
    "a time such as 2026-03-01T09:30:00Z, a date, now, today, yesterday, an age such as 90m, 2h, "
    "3d or 1w"
)
ACCEPTED_FORMS: Final = f"{ACCEPTED_TIMES}, or op:LINE, run:UUID or episode:ID"

NOW: Final = "now"

AGO: Final = re.compile(r"([0-9]{1,5})([mhdw])")
UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
DAYS: Final = {"today": 0, "yesterday": 1}
"""Words for days, with how long ago they are."""


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
    """Return the day, in UTC, that a date or a word such as ``yesterday`` names."""
    word = text.strip().lower()
    if word in DAYS:
        return clock.utc_now().date() - timedelta(days=DAYS[word])
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def instant(given: datetime | str | None, name: str) -> datetime | None:
    """Return a caller's time: also ``now``, an age before it, or the start of a day.

    Raises:
        ValueError: it cannot be read, or has no time zone.
    """
    if not isinstance(given, str):
        return clock.moment(given, name)
    check_length(given, name, MAX_NAME)
    if given.strip().lower() == NOW:
        return clock.utc_now()
    if (named := day(given)) is not None:
        return start(named)
    past = ago(given)
    if past is not None:
        return past
    try:
        return clock.from_text(given)
    except ValueError:
        raise InvalidArgument(
            f"is not a time: {given!r}; give {ACCEPTED_TIMES}", argument=name
        ) from None


def period(on: datetime | str | None, name: str) -> tuple[datetime, datetime] | None:
    """Return the day that a date or a word names, or the instant; its end is exclusive."""
    if on is None:
        return None
    if isinstance(on, str) and (named := day(on)) is not None:
        return start(named), start(named + timedelta(days=1))
    at = instant(on, name)
    return None if at is None else (at, at + timedelta(microseconds=1))


def start(of: date) -> datetime:
    return datetime.combine(of, time.min, UTC)


def end(of: date) -> datetime:
    return datetime.combine(of, time.max, UTC)
