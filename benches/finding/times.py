"""Questions about times in sixteen languages: is the right row the first one?

    python -m benches.finding.times [--half development|held-out] [--missed]

``times.txt`` has small memories of dated rows, each in a zone, with questions that are asked at a
moment there, and the rows that have to come first. ``turns`` are the rows as turns of a user,
``facts`` as facts; ``hook`` is the share of questions for which the right rows are in what a prompt
gets, in any order; ``cosine`` orders the rows by meaning alone. Of the questions of each memory,
half are for development and half are held out, by the order of their hashes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

import memstore
from benches.finding.halfyear.stock import HALVES, split
from memstore import LocalEmbedder, Store
from memstore.domain import clock

FILE: Final = Path(__file__).with_suffix(".txt")
TOKENS: Final = 250
WAYS: Final = ("turns", "facts", "hook", "cosine")


class Row(NamedTuple):
    name: str
    at: datetime
    text: str


class Asked(NamedTuple):
    right: frozenset[str]
    """The names of the rows that have to come first, in any order."""
    kind: str
    text: str


class Memory(NamedTuple):
    language: str
    zone: str
    now: datetime
    """When the questions are asked, in UTC."""
    rows: list[Row]
    asked: list[Asked]


class Calendar(clock.Clock):
    """A clock that stands where it was put."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def utc_now(self) -> datetime:
        return self._now


class Outcome(NamedTuple):
    language: str
    asked: Asked
    is_right: dict[str, bool]
    """By way."""


def read() -> list[Memory]:
    """Return the memories of the file."""
    found: list[Memory] = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        first, *cells = (cell.strip() for cell in line.split("|"))
        mark, rest = first.split(" ", 1)
        if mark == "=":
            zone, now = cells
            found.append(Memory(rest, zone, _moment(now, zone), [], []))
        elif mark == "?":
            found[-1].asked.append(Asked(frozenset(rest), *cells))
        else:
            found[-1].rows.append(Row(mark, _moment(rest, found[-1].zone), cells[0]))
    return found


def _moment(text: str, zone: str) -> datetime:
    """Read a time of a zone; a day without one is its noon."""
    at = datetime.fromisoformat(text if "T" in text else f"{text}T12:00")
    return at.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def measured(half: str) -> Iterator[Outcome]:
    """Ask the questions of a half, each memory at its moment."""
    for memory in read():
        asked = split(memory.asked, half, lambda one: one.text)
        with (
            clock.use(Calendar(memory.now)),
            memstore.open(":memory:", timezone=memory.zone) as store,
        ):
            names = _fill(store, memory)
            for one in asked:
                yield Outcome(memory.language, one, _outcome(store, memory, names, one))


def _fill(store: Store, memory: Memory) -> dict[str, str]:
    """Store the rows as turns, and as facts in another namespace; return rows by their ids."""
    names: dict[str, str] = {}
    for row in memory.rows:
        [turn] = store.episodes.add_many(
            [
                {
                    "content": row.text,
                    "source": "bench",
                    "speaker": "user",
                    "thread": row.name,
                    "valid_at": row.at,
                }
            ]
        )
        fact = store.within("facts").add(
            row.text, subject="user", created_at=row.at, valid_at=row.at
        )
        names |= {f"e{turn.id}": row.name, f"#{fact.id}": row.name}
    store.file.embed_pending()
    return names


def _outcome(store: Store, memory: Memory, names: dict[str, str], asked: Asked) -> dict[str, bool]:
    turns = [f"e{hit.episode.id}" for hit in store.episodes.search(asked.text)]
    facts = [f"#{hit.fact.id}" for hit in store.within("facts").search(asked.text, touch=False)]
    told = [f"e{one}" for one in store.remind(asked.text, max_tokens=TOKENS).episodes]
    first = len(asked.right)
    return {
        "turns": {names[one] for one in turns[:first]} == asked.right,
        "facts": {names[one] for one in facts[:first]} == asked.right,
        "hook": asked.right <= {names[one] for one in told},
        "cosine": {row.name for row in _nearest(memory, asked.text)[:first]} == asked.right,
    }


def _nearest(memory: Memory, text: str) -> list[Row]:
    vectors = np.asarray(LocalEmbedder().embed([text, *(row.text for row in memory.rows)]))
    order = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")
    return [memory.rows[place] for place in order]


def table(half: str, outcomes: Iterable[Outcome]) -> list[str]:
    """Return the lines of the table: the share that is right, by kind and by language."""
    found = [*outcomes]
    groups = {"all": found}
    for kind in dict.fromkeys(one.asked.kind for one in found):
        groups[kind] = [one for one in found if one.asked.kind == kind]
    for language in dict.fromkeys(one.language for one in found):
        groups[language] = [one for one in found if one.language == language]
    lines = [_row(half, "", WAYS)]
    for name, some in groups.items():
        shares = (f"{mean(one.is_right[way] for one in some):.2f}" for way in WAYS)
        lines.append(_row(name, str(len(some)), shares))
    return lines


def _row(name: str, count: str, cells: Iterable[str]) -> str:
    return f"{name:16}{count:>5}" + "".join(f"{cell:>8}" for cell in cells)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=HALVES, action="append")
    parser.add_argument("--missed", action="store_true", help="print what turns get wrong")
    given = parser.parse_args()
    for half in given.half or HALVES:
        outcomes = [*measured(half)]
        print(*table(half, outcomes), sep="\n", flush=True)
        if given.missed:
            wrong = [one for one in outcomes if not one.is_right["turns"]]
            print(
                *(f"{one.language} {one.asked.kind}: {one.asked.text}" for one in wrong), sep="\n"
            )


if __name__ == "__main__":
    main()
