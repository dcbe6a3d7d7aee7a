"""Splitting an import into small batches, so that a superseded fact is never active in between.

A fact is imported in the same batch as its successor or in a later one.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Final, TypeVar

from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.domain.episodes import Episode
from memstore.text import words
from memstore.transfer.attachments import Attached
from memstore.transfer.parsing import Incoming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memstore.domain.records import Fact, JournalLine

ROWS: Final = 100
"""The size of a batch in rows; a record is never split from its journal lines."""

CHARACTERS: Final = 2000
"""Characters of text that take as long as one more row."""

T = TypeVar("T")


def of(incoming: Incoming) -> Iterator[Incoming]:
    """Yield the batches of an import: episodes, then facts, then the records that refer to them."""
    operations = incoming.episode_operations
    for batch in _cut(incoming.episodes, operations):
        yield Incoming(
            episodes=batch, episode_operations={e.id: operations.get(e.id, []) for e in batch}
        )
    operations = incoming.operations
    for facts in _cut(_newest_first(incoming.facts), operations):
        yield Incoming(facts=facts, operations={f.id: operations.get(f.id, []) for f in facts})
    for kind in fields(Attached):
        for records in _cut(getattr(incoming.attached, kind.name), {}):
            yield Incoming(attached=Attached(**{kind.name: records}))


def items_of(batch: Incoming) -> list[Fact | Episode]:
    """Return the records of a batch that have texts."""
    return [*batch.episodes, *batch.facts]


def is_long(items: Iterable[Fact | Episode]) -> bool:
    """Return whether records have so much text that preparing and writing it takes long."""
    return sum(len(one.content) for one in items) > words.LONG


def prepare(items: Iterable[Fact | Episode]) -> None:
    """Do outside of a transaction what takes long and is remembered."""
    for one in items:
        if isinstance(one, Episode):
            episode_table.segments(one.content, one.name, one.source_description)
        else:
            fact_table.found_by(one.content, one.subject, one.category)


def _newest_first(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield facts in order, but the newer facts of a chain before the older ones."""
    known = {fact.id: fact for fact in facts}
    for fact in [*known.values()]:
        newer: list[Fact] = []
        here = known.pop(fact.id, None)
        while here is not None:
            newer.append(here)
            here = known.pop(here.superseded_by or 0, None)
        yield from reversed(newer)


def _cut(items: Iterable[T], operations: Mapping[int, list[JournalLine]]) -> Iterator[list[T]]:
    batch: list[T] = []
    rows = 0
    for item in items:
        more = _rows(item, operations)
        if batch and rows + more > ROWS:
            yield batch
            batch, rows = [], 0
        batch.append(item)
        rows += more
    if batch:
        yield batch


def _rows(item: object, operations: Mapping[int, list[JournalLine]]) -> int:
    """Return the size of an item and its operations in rows, counting long text as rows too."""
    text = getattr(item, "content", None) or getattr(item, "reply", None) or ""
    return 2 + len(operations.get(getattr(item, "id", 0), ())) + len(text) // CHARACTERS
