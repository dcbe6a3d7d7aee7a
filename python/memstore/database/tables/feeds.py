"""The feeds of changed rows, and the record of the derived files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.engine import Statement
from memstore.database.writes import Delete, Insert
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from memstore.database.engine import Transaction

KEPT: Final = 200_000
"""How many changes a feed keeps; its triggers remove older ones."""


class FeedChanges(NamedTuple):
    """The changes after a position: ids of rows, and ids of the facts or pieces with vectors."""

    rows: list[int]
    vectors: list[int]


class FeedSpan(NamedTuple):
    """The first and the last position in a feed; both 0 before the first change."""

    oldest: int
    newest: int

    def reaches(self, position: int) -> bool:
        """Return whether the feed holds every change after a position."""
        return position + 1 >= self.oldest or self.newest == position


class DerivedFiles(NamedTuple):
    """The recorded state of derived files beside the database."""

    identity: str
    position: int
    generation_id: int | None


FACTS_SINCE: Final = "SELECT DISTINCT id FROM memstore_fact_changes WHERE seq > :position"

EPISODES_SINCE: Final = (
    "SELECT DISTINCT id, piece_id FROM memstore_episode_changes WHERE seq > :position"
)


def span(transaction: Transaction, feed: str) -> FeedSpan:
    row = transaction.one(*selecting_span(feed))
    return FeedSpan._make(row or (0, 0))


def selecting_span(feed: str) -> Statement:
    """Return the query of :func:`span`."""
    return Statement(
        f"SELECT coalesce((SELECT min(seq) FROM {feed}), 0),"
        f" coalesce((SELECT max(seq) FROM {feed}), 0)"
    )


def break_off(transaction: Transaction) -> None:
    """Leave a gap in each feed, so that every index is built again: changes may be missing."""
    for feed in ("memstore_fact_changes", "memstore_episode_changes"):
        newest = span(transaction, feed).newest
        transaction.run(Delete(feed))
        transaction.run(Insert(feed, ("seq", "id"), (":seq", "0")), {"seq": newest + 2})


def fact_changes(transaction: Transaction, position: int) -> FeedChanges:
    ids = transaction.ints(FACTS_SINCE, {"position": position})
    return FeedChanges(ids, ids)


def episode_changes(transaction: Transaction, position: int) -> FeedChanges:
    found = list(transaction.rows(EPISODES_SINCE, {"position": position}))
    rows = [id_ for id_, piece_id in found if piece_id is None]
    return FeedChanges(rows, [piece_id for _, piece_id in found if piece_id is not None])


def facts_erased_since(transaction: Transaction, position: int) -> bool:
    """Return whether a row that changed after a position is gone or has no text any more."""
    row = transaction.one(
        "SELECT 1 FROM memstore_fact_changes c LEFT JOIN memstore_facts f ON f.id = c.id"
        " WHERE c.seq > :position AND coalesce(f.content, '') = '' LIMIT 1",
        {"position": position},
    )
    return row is not None


def episodes_erased_since(transaction: Transaction, position: int) -> bool:
    row = transaction.one(
        "SELECT 1 FROM memstore_episode_changes c LEFT JOIN memstore_episodes e ON e.id = c.id"
        " WHERE c.seq > :position AND coalesce(e.content_hash, '') = '' LIMIT 1",
        {"position": position},
    )
    return row is not None


def derived_files(transaction: Transaction, rows: str) -> DerivedFiles | None:
    row = transaction.one(
        "SELECT identity, position, generation_id FROM memstore_derived_files WHERE rows = :rows",
        {"rows": rows},
    )
    return None if row is None else DerivedFiles._make(row)


def record_derived_files(transaction: Transaction, rows: str, files: DerivedFiles) -> None:
    forget_derived_files(transaction, rows)
    transaction.run(
        Insert("memstore_derived_files", ("rows", *DerivedFiles._fields)),
        {"rows": rows, **files._asdict()},
    )


def forget_derived_files(transaction: Transaction, rows: str) -> None:
    transaction.run(Delete("memstore_derived_files", "rows = :rows"), {"rows": rows})
