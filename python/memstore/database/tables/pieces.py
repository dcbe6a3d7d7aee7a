"""The pieces of episodes that are embedded: ranges of characters."""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Final

from memstore.database.engine import Write
from memstore.database.tables import vectors as vector_table
from memstore.database.tables.vectors import MAX_ATTEMPTS, PIECES
from memstore.database.writes import Delete, Insert, Update
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.filters import EpisodeFilter
    from memstore.text import chunks
else:
    chunks = lazy_import("memstore.text.chunks")


class Piece(NamedTuple):
    """The characters of an episode from ``start`` up to ``stop``."""

    id: int
    episode_id: int
    start: int
    stop: int
    name: str | None = None
    """The name of the episode, if the query selects it."""


INSERTION: Final = Insert("memstore_pieces", ("id", "episode_id", "start", "stop"))


def cut(content: str) -> list[tuple[int, int]]:
    """Return where the pieces of an episode start and stop."""
    return chunks.of_episode(content)


def place(transaction: Transaction, episode_id: int, cuts: Sequence[tuple[int, int]]) -> None:
    """Store the pieces of an episode, each pending in every generation."""
    for start, stop in cuts:
        piece_id = transaction.next_id("memstore_pieces")
        transaction.queue(INSERTION, (piece_id, episode_id, start, stop))
        vector_table.place(transaction, PIECES, piece_id)


def removing(episode_id: int) -> list[Write]:
    these = "SELECT id FROM memstore_pieces WHERE episode_id = :id"
    vectors = Delete(PIECES.name, f"piece_id IN ({these})")
    pieces = Delete("memstore_pieces", "episode_id = :id")
    return [Write(vectors, {"id": episode_id}), Write(pieces, {"id": episode_id})]


def forgetting(transaction: Transaction, episode_id: int) -> list[Write]:
    """Return the writes that remove the vectors of an episode's pieces from every generation.

    The rows of the pieces stay, as empty ranges.
    """
    pieces = of_episodes(transaction, [episode_id])
    return [
        *(vector_table.forgetting(PIECES, piece.id) for piece in pieces),
        Write(Update("memstore_pieces", {"stop": "start"}, "episode_id = :id"), {"id": episode_id}),
    ]


def of_episodes(transaction: Transaction, episode_ids: Sequence[int]) -> Iterator[Piece]:
    """Yield the pieces of these episodes, in order within each episode."""
    rows = transaction.rows(
        "SELECT id, episode_id, start, stop FROM memstore_pieces"
        f" WHERE episode_id IN {transaction.dialect.listed('ids')} ORDER BY episode_id, start",
        {"ids": episode_ids},
    )
    return starmap(Piece, rows)


def count_waiting(transaction: Transaction, wanted: EpisodeFilter) -> dict[str, int]:
    """Count the episodes with a pending or quarantined piece."""
    seen, values = wanted.of("e", transaction.dialect)
    waiting = (
        "SELECT count(DISTINCT p.episode_id)"
        f" FROM {PIECES.name} v {transaction.dialect.indexed_by(PIECES.queue)}"
        " CROSS JOIN memstore_pieces p CROSS JOIN memstore_episodes e"
        " WHERE v.generation_id = (SELECT id FROM memstore_generations WHERE state = 'active')"
        f" AND p.id = v.piece_id AND e.id = p.episode_id AND {seen}"
        " AND v.embedding IS NULL AND v.embed_attempts"
    )
    queries = {
        "episodes_pending": f"{waiting} BETWEEN 0 AND {MAX_ATTEMPTS - 1}",
        "episodes_quarantined": f"{waiting} >= {MAX_ATTEMPTS}",
    }
    return {name: transaction.scalar(sql, values) for name, sql in queries.items()}


def named(transaction: Transaction, piece_ids: Sequence[int]) -> Iterator[Piece]:
    rows = transaction.rows(
        "SELECT p.id, p.episode_id, p.start, p.stop, e.name FROM memstore_pieces p"
        " JOIN memstore_episodes e ON e.id = p.episode_id"
        f" WHERE p.id IN {transaction.dialect.listed('ids')} ORDER BY p.id",
        {"ids": piece_ids},
    )
    return starmap(Piece, rows)


def content(transaction: Transaction, episode_id: int) -> str:
    row = transaction.one(
        "SELECT content FROM memstore_episodes WHERE id = :id", {"id": episode_id}
    )
    return str(row[0]) if row else ""


def everything(transaction: Transaction) -> Iterator[Piece]:
    rows = transaction.rows(
        "SELECT id, episode_id, start, stop FROM memstore_pieces ORDER BY episode_id, start"
    )
    return starmap(Piece, rows)
