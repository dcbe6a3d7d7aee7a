"""Reads the texts that half a year is made of, and divides them into two halves.

All were written by hand for this bench. Each topic, ticket, rule and way of asking belongs to the
development half or to the held-out one, by the order of the hashes of their texts. So a constant
that was chosen on the one has seen no question of the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

T = TypeVar("T")

TEXTS: Final = Path(__file__).parent / "texts"
HALVES: Final = ("development", "held-out")


class Decision(NamedTuple):
    key: str
    """What a line must have to say it; words joined by ``+`` stand in one line."""
    told: tuple[str, ...]
    noted: str
    """As an extractor of facts writes it."""


class Topic(NamedTuple):
    project: str
    name: str
    decisions: tuple[Decision, ...]
    asked: tuple[str, ...]
    """Questions about the last decision, in other words than told."""

    @property
    def label(self) -> str:
        return f"{self.project}: {self.name}"


class Ticket(NamedTuple):
    project: str
    number: str
    problem: str
    look: str
    cause: str
    key: str
    asked: str


class Rule(NamedTuple):
    project: str
    key: str
    told: tuple[str, str]
    orders: tuple[str, ...]


class Work(NamedTuple):
    project: str
    file: str
    order: str
    answer: str


class Chatter(NamedTuple):
    things: dict[str, tuple[str, ...]]
    exchanges: tuple[tuple[str, str], ...]


def split(items: Iterable[T], half: str, text: Callable[[T], str] = str) -> list[T]:
    """Return the items of a half: every other one in the order of their texts' hashes."""
    ordered = sorted(items, key=lambda one: hashlib.sha256(text(one).encode()).digest())
    return ordered[HALVES.index(half) :: len(HALVES)]


def topics_of(half: str) -> list[Topic]:
    """Return the topics of a half; of each project, half of them."""
    projects = sorted({one.project for one in topics()})
    own = ([one for one in topics() if one.project == project] for project in projects)
    return [one for some in own for one in split(some, half, lambda topic: topic.label)]


@cache
def topics() -> tuple[Topic, ...]:
    found: list[Topic] = []
    for line in _lines("topics"):
        mark, rest = line[0], line[1:].strip()
        if mark == "=":
            project, name = _cells(rest)
            found.append(Topic(project, name, (), ()))
        elif mark == "?":
            found[-1] = found[-1]._replace(asked=_cells(rest))
        else:
            key, *told, noted = _cells(line)
            decided = Decision(key, tuple(told), noted)
            found[-1] = found[-1]._replace(decisions=(*found[-1].decisions, decided))
    return tuple(found)


@cache
def tickets() -> tuple[Ticket, ...]:
    return tuple(Ticket(*_cells(line)) for line in _lines("tickets"))


@cache
def rules() -> tuple[Rule, ...]:
    cells = map(_cells, _lines("rules"))
    return tuple(Rule(one[0], one[1], (one[2], one[3]), one[4:]) for one in cells)


@cache
def work() -> tuple[Work, ...]:
    return tuple(Work(*_cells(line)) for line in _lines("work"))


@cache
def chatter() -> Chatter:
    things: dict[str, tuple[str, ...]] = {}
    exchanges = []
    for first, *rest in map(_cells, _lines("chatter")):
        if first.startswith("things "):
            things[first.removeprefix("things ")] = tuple(rest)
        else:
            exchanges.append((first, rest[0]))
    return Chatter(things, tuple(exchanges))


@cache
def noise() -> tuple[tuple[str, str], ...]:
    return tuple((order, answer) for order, answer in map(_cells, _lines("noise")))


def orders(half: str, otherwise: bool = False) -> list[str]:
    return [*_lines("orders_otherwise")] if otherwise else split(_lines("orders"), half)


def unknown(half: str, otherwise: bool = False) -> list[str]:
    return [*_lines("unknown_otherwise")] if otherwise else split(_lines("unknown"), half)


def asked(half: str, otherwise: bool = False) -> dict[str, list[str]]:
    """Return the ways of asking of a half, by kind, or others, written later."""
    ways = {kind: split(some, half) for kind, *some in map(_cells, _lines("asked"))}
    if otherwise:
        ways |= {kind: some for kind, *some in map(_cells, _lines("asked_otherwise"))}
    return ways


def _lines(name: str) -> Iterator[str]:
    for line in (TEXTS / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.split("|"))
