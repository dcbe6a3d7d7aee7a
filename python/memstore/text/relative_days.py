"""Days that are named relative to today: tomorrow, in two weeks, Friday, yesterday, 3 days ago."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, timedelta
from functools import cache
from typing import TYPE_CHECKING, Final

from memstore.text import day_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
WORDS: Final = re.compile(r"\w+")
DAY: Final = timedelta(days=1)
MAX_AGO: Final = 36_600
MAX_CHARACTERS: Final = 2_000
"""Days are looked for at the beginning of a query; a longer one is a pasted text."""
LAST: Final = (date.max.year, date.max.month)


def ahead(text: str, today: date) -> date | None:
    """Return the day of the first expression for today or later, the longest that begins there."""
    found = min(_expressions(plain(text), today), default=None)
    return None if found is None else found[2]


def is_at_once(text: str) -> bool:
    """Return whether a text says as soon as possible."""
    words = plain(text)
    return any(pattern.search(words) for pattern in _at_once())


def names_past(text: str) -> bool:
    """Return whether a question may name a day relative to today; most do not, at little cost."""
    return _hints().search(plain(text[:MAX_CHARACTERS])) is not None


def ago(text: str, today: date) -> tuple[int, list[date]]:
    """Return the days that a question names relative to today, and by how many words.

    Only days that are over or today: ``yesterday``, ``3 days ago``, ``last Friday``.
    """
    words = plain(text[:MAX_CHARACTERS])
    found = sorted(_past(words, today))
    kept: list[tuple[int, int, date]] = []
    for begin, length, day in found:
        if not kept or begin >= kept[-1][0] - kept[-1][1]:
            kept.append((begin, length, day))
    named = sum(words[begin : begin - length].count(" ") + 1 for begin, length, _ in kept)
    return named, [*dict.fromkeys(day for _, _, day in kept)]


def _expressions(text: str, today: date) -> Iterator[tuple[int, int, date]]:
    """Yield the place of each expression, its negated length, and its day."""
    for begin, length, days in _counted(text, today.weekday()):
        try:
            yield begin, length, today + days * DAY
        except OverflowError:
            continue
    for pattern, period in _ends():
        for match in pattern.finditer(text):
            if (day := _end(period, today)) is not None:
                yield match.start(), match.start() - match.end(), day


def _counted(text: str, today: int) -> Iterator[tuple[int, int, int]]:
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


def _end(period: str, today: date) -> date | None:
    """Return the last day of a period: of this week, or of the month, quarter or year."""
    year, month = today.year, today.month
    if period == "week":
        return _after(today, 6 - today.weekday())
    if period == "next week":
        return _after(today, 13 - today.weekday())
    if period == "quarter":
        month = (month + 2) // 3 * 3
    elif period == "next month":
        year, month = year + month // 12, month % 12 + 1
    elif period in ("year", "next year"):
        year, month = year + (period == "next year"), 12
    return last_of_month(year, month) if year <= date.max.year else None


def last_of_month(year: int, month: int) -> date:
    following = date(year + month // 12, month % 12 + 1, 1) if (year, month) < LAST else None
    return date.max if following is None else following - DAY


def _after(today: date, days: int) -> date | None:
    try:
        return today + days * DAY
    except OverflowError:
        return None


def _past(text: str, today: date) -> Iterator[tuple[int, int, date]]:
    def at(match: re.Match[str], days: int) -> Iterator[tuple[int, int, date]]:
        if days < min(MAX_AGO, today.toordinal()):
            yield match.start(), match.start() - match.end(), today - days * DAY

    for pattern, days in _past_patterns():
        for match in pattern.finditer(text):
            yield from at(match, days)
    for match in _french().finditer(text):
        yield from at(match, 1)
    for pattern, numbers in _past_periods():
        for match in pattern.finditer(text):
            yield from at(match, numbers.get(match["number"]) or int(match["number"]))
    for pattern, weekday in _past_weekdays():
        for match in pattern.finditer(text):
            yield from at(match, (today.weekday() - weekday - 1) % 7 + 1)


@cache
def _hints() -> re.Pattern[str]:
    """Words without one of which nothing in the past is named."""
    words = [*map(plain, day_words.PAST_HINTS.split())]
    unspaced = [word for word in words if UNSPACED.search(word)]
    spaced = [word for word in words if word not in unspaced]
    return re.compile(rf"\b(?:{_any(spaced)})\b|{_any(unspaced)}")


@cache
def _past_patterns() -> list[tuple[re.Pattern[str], int]]:
    return [
        (_pattern(phrase), days)
        for days, phrases in day_words.DAYS_AGO.items()
        for phrase in phrases
    ]


@cache
def _french() -> re.Pattern[str]:
    """``hier`` in a French question: in German and Dutch it means here."""
    words = _any(day_words.FRENCH.split())
    return re.compile(rf"(?:(?<=^)|\b)hier\b(?=.*\b(?:{words})\b)|\b(?:{words})\b.*?\bhier\b")


@cache
def _past_periods() -> list[tuple[re.Pattern[str], Mapping[str, int]]]:
    numbers = _by_word(day_words.NUMBERS)
    number = rf"(?P<number>\d{{1,5}}|{_any(numbers)})"
    days = _any(word for word in map(plain, day_words.UNITS[1].split()))
    before, after = _any(map(plain, day_words.AGO_BEFORE)), _any(map(plain, day_words.AGO_AFTER))
    return [
        (re.compile(rf"\b(?:{before}) {number} (?:{days})\b"), numbers),
        (re.compile(rf"\b{number} (?:{days}) (?:{after})\b"), numbers),
        (re.compile(r"(?P<number>\d{1,5}) ?(?:天|日|일) ?(?:以?前|전)"), {}),
    ]


@cache
def _past_weekdays() -> list[tuple[re.Pattern[str], int]]:
    last = _any(map(plain, day_words.LAST))
    return [
        (re.compile(rf"\b(?:{last}) {name}\b|\b{name} (?:{last})\b"), weekday)
        for weekday, names in enumerate(day_words.WEEKDAYS)
        for name in map(plain, names.split())
        if not UNSPACED.search(name)
    ]


@cache
def _patterns() -> list[tuple[re.Pattern[str], int]]:
    return [
        (_pattern(phrase), days)
        for days, phrases in day_words.DAYS_AHEAD.items()
        for phrase in phrases
    ]


@cache
def _ends() -> list[tuple[re.Pattern[str], str]]:
    return [
        (_pattern(phrase), period)
        for period, phrases in day_words.ENDS.items()
        for phrase in phrases
    ]


@cache
def _at_once() -> list[re.Pattern[str]]:
    return [_pattern(phrase) for phrase in day_words.AT_ONCE]


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
    after = _any(map(plain, day_words.UNSPACED_AFTER.split()))
    unspaced = rf"(?P<number>\d{{1,4}}) ?(?P<unit>{_any(unspaced_units)}) ?(?:{after})"
    return [(re.compile(spaced), numbers, units), (re.compile(unspaced), {}, unspaced_units)]


def _by_word(table: Mapping[int, str]) -> dict[str, int]:
    return {plain(word): number for number, words in table.items() for word in words.split()}


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _pattern(phrase: str) -> re.Pattern[str]:
    bound = "" if UNSPACED.search(phrase) else r"\b"
    return re.compile(f"{bound}{re.escape(plain(phrase))}{bound}")


def plain(text: str) -> str:
    """Return a text without case and accents, and with blanks for the signs between words."""
    if text.isascii():
        return " ".join(WORDS.findall(text.lower()))
    letters = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(one for one in letters if not unicodedata.combining(one))
    return " ".join(WORDS.findall(unicodedata.normalize("NFC", bare)))
