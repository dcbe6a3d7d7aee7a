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

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from memstore.text.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

R = TypeVar("R")


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


def under_dates(lines: Iterable[DatedLine]) -> Iterator[str]:
    """Yield the lines in their order, and above the first of each day its date."""
    date = None
    for line in lines:
        if line.date != date:
            date = line.date
            yield date
        yield str(line)
        yield from map(remark, line.notes)


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
