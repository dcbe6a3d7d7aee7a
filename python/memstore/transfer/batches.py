"""Cutting an import into transactions that are over soon, none of which shows a retired fact.

A fact is in the batch of its successor or in a later one, so it is never seen without it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Final, TypeVar

from memstore.transfer.attachments import Attached
from memstore.transfer.parsing import Incoming

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact, JournalLine

SECONDS: Final = 0.1
"""What a batch should take. Others wait for it; no import may make them wait for half a second."""

LEAST: Final = 20
MOST: Final = 1000
"""Rows of a batch, give or take what belongs together."""

CHARACTERS: Final = 2000
"""Of text, take as long as one more row."""

T = TypeVar("T")


class Pace:
    """How many rows fit a batch, by how long the last one took."""

    def __init__(self) -> None:
        self.rows = 100

    def note(self, batch: Incoming, seconds: float) -> None:
        rows = sum(_rows(one, batch.episode_operations) for one in batch.episodes)
        rows += sum(_rows(one, batch.operations) for one in batch.facts)
        rows += sum(batch.attached.counts().values())
        wanted = MOST if seconds <= 0 else int(rows * SECONDS / seconds)
        self.rows = max(LEAST, min(wanted, 2 * self.rows, MOST))


def of(incoming: Incoming, pace: Pace) -> Iterator[Incoming]:
    """Yield the batches of an import: episodes, then facts, then what belongs to both."""
    yield from of_episodes(incoming, pace)
    yield from of_facts(incoming, pace)
    yield from of_attached(incoming, pace)


def of_episodes(incoming: Incoming, pace: Pace) -> Iterator[Incoming]:
    operations = incoming.episode_operations
    for batch in _cut(incoming.episodes, operations, pace):
        yield Incoming(
            episodes=batch, episode_operations={e.id: operations.get(e.id, []) for e in batch}
        )


def of_facts(incoming: Incoming, pace: Pace) -> Iterator[Incoming]:
    """Yield facts in their order, each with the newer facts of its chain."""
    operations = incoming.operations
    known = {fact.id: fact for fact in incoming.facts}
    while known:
        batch: dict[int, Fact] = {}
        rows = 0
        for fact in known.values():
            together = _with_newer(fact, known, batch)
            more = sum(_rows(one, operations) for one in together.values())
            if batch and rows + more > pace.rows:
                break
            batch |= together
            rows += more
        fits = rows <= 2 * pace.rows
        # What is longer than a batch comes newest first.
        parts = (
            [sorted(batch.values(), key=_id)] if fits else _cut([*batch.values()], operations, pace)
        )
        for part in parts:
            for fact in part:
                del known[fact.id]
            yield Incoming(facts=part, operations={f.id: operations.get(f.id, []) for f in part})


def of_attached(incoming: Incoming, pace: Pace) -> Iterator[Incoming]:
    for kind in fields(Attached):
        for batch in _cut(getattr(incoming.attached, kind.name), {}, pace):
            yield Incoming(attached=Attached(**{kind.name: batch}))


def _with_newer(
    fact: Fact, known: Mapping[int, Fact], taken: Mapping[int, Fact]
) -> dict[int, Fact]:
    """Return a fact with the newer ones of its chain, newest first."""
    newer: list[Fact] = []
    here: Fact | None = fact
    while here is not None and here.id not in taken:
        newer.append(here)
        here = None if here.superseded_by is None else known.get(here.superseded_by)
    return {one.id: one for one in reversed(newer)}


def _cut(
    items: Sequence[T], operations: Mapping[int, list[JournalLine]], pace: Pace
) -> Iterator[list[T]]:
    batch: list[T] = []
    rows = 0
    for item in items:
        more = _rows(item, operations)
        if batch and rows + more > pace.rows:
            yield batch
            batch, rows = [], 0
        batch.append(item)
        rows += more
    if batch:
        yield batch


def _rows(item: object, operations: Mapping[int, list[JournalLine]]) -> int:
    """Return how many rows, or as much text as that, an item is with its operations."""
    text = getattr(item, "content", None) or getattr(item, "reply", None) or ""
    return 2 + len(operations.get(getattr(item, "id", 0), ())) + len(text) // CHARACTERS


def _id(one: Fact | Episode) -> int:
    return one.id
