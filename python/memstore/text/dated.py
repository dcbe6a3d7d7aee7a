"""Stored texts as lines under their dates, the form in which models read them.

    2024-05-17
    #12 Ana works at Globex
    e31 Ben: she starts on Monday
    #9[superseded by #12] Ana works at Initech

A fact is named ``#12`` and an episode ``e31``. A line of stored text begins with a name, and its
text is escaped, so stored text can be neither another line nor a date. Marks stand between the name
and the first space, where no stored text is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.lazy import lazy_import, lazy_pattern
from memstore.named import NamedTuple
from memstore.text.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from memstore.domain import project_names
else:
    project_names = lazy_import("memstore.domain.project_names")

R = TypeVar("R")

PLAIN_NAME: Final = lazy_pattern(r"[\w.+-]{1,60}")
"""The name of a project that needs no quotes."""


class DatedLine(NamedTuple):
    """One stored text.

    Attributes:
        date: the day above its line, such as ``2024-05-17``.
        name: its id, with the sign of its kind.
        words: the text.
        marks: what is said about it, in words that are not stored text.
        notes: lines to follow it, each in parentheses.
    """

    date: str
    name: str
    words: str
    marks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}{marked(self.marks)} {visible(self.words)}".rstrip()

    def written(self) -> Iterator[str]:
        """Yield the line and its notes."""
        yield str(self)
        yield from map(remark, self.notes)


def under_dates(lines: Iterable[DatedLine]) -> Iterator[str]:
    """Yield the lines in their order, and above the first of each day its date."""
    date = None
    for line in lines:
        if line.date != date:
            date = line.date
            yield date
        yield from line.written()


def together(
    rows: Iterable[R],
    key: Callable[[R], Hashable],
    place: Callable[[R], Any] | None = None,
) -> list[R]:
    """Return rows with those of one key together, where the first of them was.

    ``place`` orders the rows of a group; by default they stay in their order.
    """
    groups: dict[Hashable, list[R]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    if place is not None:
        for group in groups.values():
            group.sort(key=place)
    return [row for group in groups.values() for row in group]


def adjoined(
    rows: Iterable[R],
    day: Callable[[R], Hashable],
    name: Callable[[R], Hashable],
    newer: Callable[[R], Hashable | None],
) -> list[R]:
    """Return rows by days with the row that another one names after it, without a second date.

    One of the same day follows at once. For one of a later group, the day of the first ends with
    the row that names it, and its own day comes next and begins with it. A day ends, or begins,
    with one such row; others stay where they are, as does a row above the one that names it.
    """
    days: dict[Hashable, list[R]] = {}
    for row in rows:
        days.setdefault(day(row), []).append(row)
    known = {name(row): row for group in days.values() for row in group}
    order = [*days]
    closed: set[Hashable] = set()
    opened: set[Hashable] = set()
    for row in [*known.values()]:
        other = known.get(newer(row))
        if other is None:
            continue
        here, there = day(row), day(other)
        group = days[here]
        if here == there:
            if group.index(row) < group.index(other) and here not in opened | closed:
                group.remove(other)
                group.insert(group.index(row) + 1, other)
        elif order.index(here) < order.index(there) and here not in closed and there not in opened:
            closed.add(here)
            opened.add(there)
            group.remove(row)
            group.append(row)
            days[there].remove(other)
            days[there].insert(0, other)
            order.remove(there)
            order.insert(order.index(here) + 1, there)
    return [row for one in order for row in days[one]]


def project_mark(project: str) -> str:
    """Return the mark of what comes from another project than the caller's."""
    name = project_names.short(project)
    return f"from project {name if PLAIN_NAME.fullmatch(name) else json.dumps(name[:60])}"


def newer_mark(name: str) -> str:
    """Return the mark of a fact that a later one may replace: its tokens are few."""
    return f"newer {name}"


def end_mark(day: str) -> str:
    """Return the mark of a fact that holds until a day to come."""
    return f"ends {day}"


def successor_mark(name: str, day: str | None) -> str:
    """Return the mark of a superseded fact, with the day until which it held, if that is known."""
    return " ".join(filter(None, (f"superseded by {name}", day)))


def times_mark(times: int, last: str | None) -> str:
    """Return the mark of what was said several times, with a later day on which it was last."""
    return f"{times} times" if last is None else f"{times} times, last {last}"


def marked(marks: Iterable[str]) -> str:
    """Return marks in brackets; nothing without any."""
    told = "; ".join(visible(mark) for mark in marks)
    return f"[{told}]" if told else ""


def remark(text: str) -> str:
    """Return a line that is not stored text."""
    return f"({visible(text)})"


def speaking(speaker: str | None, words: str) -> str:
    """Return what somebody said, with the speaker's name unless it begins with it."""
    if speaker is None or words.startswith(f"{speaker}:"):
        return words
    return f"{speaker}: {words}"
