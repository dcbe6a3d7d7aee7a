"""Whether the words of time in questions are read as what they mean, in thirteen languages.

    python -m benches.finding.time_words [--missed]

``time_words.txt`` has questions with what each means by its words of time, of which the rules were
not in sight of whoever wrote it. The share that is read so, by kind and by language.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from pathlib import Path
from statistics import mean
from typing import Final, NamedTuple

from memstore.text import times

FILE: Final = Path(__file__).with_suffix(".txt")
TODAY: Final = date(2026, 11, 12)
ORDERS: Final = {"first": "oldest", "last": "newest"}
SIDES: Final = {"before": "before", "after": "after", "while": "at"}
BOUND: Final = re.compile(r"(until|since) (\S+)/(\S+)")


class Meant(NamedTuple):
    """A question, and what it means by its words of time, as the file says it."""

    language: str
    kind: str
    text: str
    meaning: str

    @property
    def is_read(self) -> bool:
        return _says(times.read(self.text, TODAY), self.meaning)


def read() -> list[Meant]:
    """Return the questions of the file."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    told = (line for line in lines if line and not line.startswith("#"))
    return [Meant(*(cell.strip() for cell in line.split(" | "))) for line in told]


def _says(stated: times.Stated | None, meaning: str) -> bool:
    if meaning == "-":
        return stated is None or not any((stated.first, stated.last, stated.order, stated.event))
    if stated is None:
        return False
    if meaning in ORDERS:
        is_limited = stated.event or stated.first or stated.last
        return stated.order == ORDERS[meaning] and not is_limited
    word, _, event = meaning.partition(" ")
    if word in SIDES:
        return stated.side == SIDES[word] and event in stated.event.split()
    bounds = {name: (low, high) for name, low, high in BOUND.findall(meaning)}
    if "until" in bounds:  # what was so may have been said long before
        after = stated.last and stated.last + timedelta(days=1)
        return after is not None and _is_within(after, *bounds["until"])
    return stated.first is not None and _is_within(stated.first, *bounds["since"])


def _is_within(day: date, low: str, high: str) -> bool:
    return date.fromisoformat(low) <= day <= date.fromisoformat(high)


def table(asked: Iterable[Meant]) -> Iterator[str]:
    """Yield the lines of the table: how many, and which share is read, by kind and by language."""
    found = [*asked]
    yield _row("all", found)
    for name in dict.fromkeys(one.kind for one in found):
        yield _row(name, [one for one in found if one.kind == name])
    for name in dict.fromkeys(one.language for one in found):
        yield _row(name, [one for one in found if one.language == name])


def _row(name: str, some: list[Meant]) -> str:
    return f"{name:16}{len(some):>5}{mean(one.is_read for one in some):>8.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--missed", action="store_true", help="print what is not read")
    given = parser.parse_args()
    asked = read()
    print(*table(asked), sep="\n")
    if given.missed:
        missed = (one for one in asked if not one.is_read)
        print(*(f"{one.kind}: {one.text}  [{one.meaning}]" for one in missed), sep="\n")


if __name__ == "__main__":
    main()
