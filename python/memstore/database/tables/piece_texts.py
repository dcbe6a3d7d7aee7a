"""The texts of pieces of episodes, as far as they are needed to embed them."""

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
    """Return where pieces are, by id."""
    marks = ", ".join("?" * len(piece_ids))
    rows = transaction.rows(
        "SELECT p.id, p.episode_id, p.start, p.stop, e.name FROM memstore_pieces p"
        f" JOIN memstore_episodes e ON e.id = p.episode_id WHERE p.id IN ({marks}) ORDER BY p.id",
        piece_ids,
    )
    return [
        Place(
            int(row[0] or 0),
            int(row[1] or 0),
            int(row[2] or 0),
            int(row[3] or 0),
            None if row[4] is None else str(row[4]),
        )
        for row in rows
    ]


def content(transaction: Transaction, episode_id: int) -> str:
    """Return an episode's words."""
    row = transaction.one("SELECT content FROM memstore_episodes WHERE id = ?", (episode_id,))
    return str(row[0]) if row else ""
