"""What embedding the pieces of episodes needs of their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction


class Place(NamedTuple):
    """A piece: the characters ``start`` to ``stop`` of an episode."""

    piece_id: int
    episode_id: int
    start: int
    stop: int
    name: str | None
    """What the episode is called."""


def places(transaction: Transaction, piece_ids: Sequence[int]) -> list[Place]:
    rows = transaction.rows(
        "SELECT p.id, p.episode_id, p.start, p.stop, e.name FROM memstore_pieces p"
        " JOIN memstore_episodes e ON e.id = p.episode_id"
        f" WHERE p.id IN {transaction.dialect.listed('ids')} ORDER BY p.id",
        {"ids": piece_ids},
    )
    return [Place(*row) for row in rows]


def content(transaction: Transaction, episode_id: int) -> str:
    row = transaction.one(
        "SELECT content FROM memstore_episodes WHERE id = :id", {"id": episode_id}
    )
    return str(row[0]) if row else ""
