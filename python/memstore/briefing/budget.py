"""Fitting lines into a budget of tokens: each part gets its share, and the rest is passed on."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

MIN_CHARACTERS: Final = 40
"""The least that is shown of a line."""


class ShownLine(NamedTuple):
    """One line, and the id of what it shows."""

    text: str
    id: int


class LineGroup(NamedTuple):
    """Lines below a title, the most important one first, and the group's share of the budget."""

    title: str
    """Empty for none."""
    lines: Sequence[ShownLine]
    share: int


def shared(needs: Sequence[int], shares: Sequence[int], room: int) -> list[int]:
    """Return the room for each of several parts, in the order of their importance.

    Each gets what it needs up to its part of the room; what one leaves is divided among those that
    need more, in the same proportion.
    """
    given = [0] * len(needs)
    wanting = [place for place, need in enumerate(needs) if need > 0]
    while wanting and room > 0:
        total = sum(shares[place] for place in wanting)
        parts = {place: max(1, room * shares[place] // total) for place in wanting}
        for place in wanting:
            part = min(parts[place], needs[place] - given[place], room)
            given[place] += part
            room -= part
        wanting = [place for place in wanting if given[place] < needs[place]]
    return given


def fitting(
    groups: Sequence[LineGroup], room: int, cost: Callable[[str], int]
) -> list[tuple[LineGroup, list[ShownLine]]]:
    """Return the lines of each group that fit; groups without any are left out."""
    held = [group for group in groups if group.lines]
    titles = [cost(group.title) if group.title else 0 for group in held]
    needs = [
        title + sum(cost(line.text) for line in group.lines)
        for title, group in zip(titles, held, strict=True)
    ]
    rooms = shared(needs, [group.share for group in held], room)
    told, spare = [], 0
    for group, title, part in zip(held, titles, rooms, strict=True):
        spare += part
        if lines := [*_within(group.lines, spare - title, cost)]:
            told.append((group, lines))
            spare -= title + sum(cost(line.text) for line in lines)
    return told


def _within(
    lines: Iterable[ShownLine], room: int, cost: Callable[[str], int]
) -> Iterable[ShownLine]:
    """Yield lines until one does not fit; the first is shortened if it is too long."""
    for place, line in enumerate(lines):
        text = line.text if place else clipped(line.text, room, cost)
        room -= cost(text)
        if room < 0 or not text:
            return
        yield line._replace(text=text)


def clipped(text: str, room: int, cost: Callable[[str], int]) -> str:
    """Return the longest beginning of a text that fits, cut between words; empty if too short."""
    if cost(text) <= room:
        return text
    # The most characters that fit; all of them do not.
    fit = bisect_left(range(1, len(text)), True, key=lambda most: cost(f"{text[:most]}…") > room)
    if fit < min(MIN_CHARACTERS, len(text) // 2):
        return ""
    words = text[:fit] if text[fit : fit + 1] == " " else text[:fit].rsplit(" ", 1)[0]
    return f"{(words if len(words) * 3 > fit * 2 else text[:fit]).rstrip()}…"
