"""When a task is due, read from text such as "by 30 November", "tomorrow" or "in two weeks".

A day that is named relative to another is counted from when the task was created, in UTC.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.lazy import lazy_import, lazy_pattern

if TYPE_CHECKING:
    import calendar
    from collections.abc import Iterable, Iterator, Mapping

    from memstore.search import dates
    from memstore.text import day_words
else:  # most tasks are due at a moment, which needs none of them
    calendar = lazy_import("calendar")
    dates = lazy_import("memstore.search.dates")
    day_words = lazy_import("memstore.text.day_words")

TIMESTAMP: Final = lazy_pattern(
    r"(?<!\d)\d{4}-\d\d-\d\d"
    r"(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d\d:\d\d)?)?(?!\d)"
)
TIME: Final = lazy_pattern(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])")
UNSPACED: Final = lazy_pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

DAY: Final = timedelta(days=1)

LEAP_YEARS: Final = 8
"""The longest time between two days that are the 29th of February."""


def due_moment(due: str, created_at: datetime) -> datetime | None:
    """Return when a task is due; ``None`` if its text names no day.

    A day means its beginning in UTC, unless the text has a time such as 17:30; a month or a year
    alone, its last day. Of several days the earliest counts, of several relative ones the first.
    """
    if (moment := _moment(due)) is not None:
        return moment
    stamps = TIMESTAMP.findall(due)
    if moments := [*filter(None, map(_moment, stamps))]:
        return moments[0]
    # A date that does not exist, such as 2026-13-01, is not read as a year.
    day = (None if stamps else _dated(due, created_at)) or _counted(due, created_at)
    time = TIME.search(due)
    if day is None or time is None:
        return day
    return day.replace(hour=int(time[1]), minute=int(time[2]))


def _moment(text: str) -> datetime | None:
    try:
        return clock.from_text(text)
    except ValueError:
        return None


def _dated(due: str, created_at: datetime) -> datetime | None:
    """Return the earliest date that is named with its month, or the end of a month or year."""
    years, months, days = dates.named_dates(due)
    year = min(years, default=None)
    # An ambiguous date has two months and two days, each pair of them a reading.
    pairs = zip(months, days, strict=True) if len(months) == len(days) else ()
    several = [(month, days[0]) for month in months[:1] if days]
    if existing := [*_existing([*pairs] or several, year, created_at)]:
        return min(existing)
    if months:
        first = min(_existing([(months[0], 1)], year, created_at.replace(day=1)), default=None)
        return first and first.replace(day=calendar.monthrange(first.year, first.month)[1])
    return None if year is None else datetime(year, 12, 31, tzinfo=UTC)


def _existing(
    pairs: list[tuple[int, int]], year: int | None, created_at: datetime
) -> Iterator[datetime]:
    """Yield each month and day in the given year, or else on or after the day of creation."""
    first = created_at.year
    for month, day in pairs:
        for one in range(first, first + LEAP_YEARS + 1) if year is None else (year,):
            try:
                found = datetime(one, month, day, tzinfo=UTC)
            except ValueError:  # the 29th of February, or the year 10000
                continue
            if year is not None or found.date() >= created_at.date():
                yield found
                break


def _counted(due: str, created_at: datetime) -> datetime | None:
    """Return the day of the first relative expression, the longest of those that begin there."""
    text = _plain(due)
    found = min(_expressions(text, created_at.weekday()), default=None)
    if found is None:
        return None
    midnight = created_at.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        return midnight + found[2] * DAY
    except OverflowError:
        return None


def _expressions(text: str, today: int) -> Iterator[tuple[int, int, int]]:
    """Yield the place of each expression, its negated length, and its days from now."""
    for pattern, days in _patterns():
        for match in pattern.finditer(text):
            yield match.start(), match.start() - match.end(), days
    for pattern, weekday in _weekdays():
        for match in pattern.finditer(text):
            yield match.start(), match.start() - match.end(), (weekday - today - 1) % 7 + 1
    for pattern, numbers, units in _periods():
        for match in pattern.finditer(text):
            number = numbers.get(match["number"]) or int(match["number"])
            yield match.start(), match.start() - match.end(), number * units[match["unit"]]


@cache
def _patterns() -> list[tuple[re.Pattern[str], int]]:
    return [
        (_pattern(phrase), days)
        for days, phrases in day_words.DAYS_AHEAD.items()
        for phrase in phrases
    ]


@cache
def _weekdays() -> list[tuple[re.Pattern[str], int]]:
    return [
        (_pattern(name), weekday)
        for weekday, names in enumerate(day_words.WEEKDAYS)
        for name in names.split()
    ]


@cache
def _periods() -> list[tuple[re.Pattern[str], Mapping[str, int], Mapping[str, int]]]:
    numbers, units = _by_word(day_words.NUMBERS), _by_word(day_words.UNITS)
    before = _any(day_words.BEFORE_PERIOD.split())
    spaced = (
        rf"\b(?:{before}) (?:(?:von|de|the) )?(?P<number>\d{{1,4}}|{_any(numbers)})"
        rf" (?P<unit>{_any(units)})\b"
    )
    unspaced_units = _by_word(day_words.UNSPACED_UNITS)
    after = _any(map(_plain, day_words.UNSPACED_AFTER.split()))
    unspaced = rf"(?P<number>\d{{1,4}}) ?(?P<unit>{_any(unspaced_units)}) ?(?:{after})"
    return [(re.compile(spaced), numbers, units), (re.compile(unspaced), {}, unspaced_units)]


def _by_word(table: Mapping[int, str]) -> dict[str, int]:
    return {_plain(word): number for number, words in table.items() for word in words.split()}


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _pattern(phrase: str) -> re.Pattern[str]:
    bound = "" if UNSPACED.search(phrase) else r"\b"
    return re.compile(f"{bound}{re.escape(_plain(phrase))}{bound}")


def _plain(text: str) -> str:
    """Return a text without case and accents, and with blanks for the signs between words."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(one for one in letters if not unicodedata.combining(one))
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFC", bare)))
