"""What waits for a vector: facts and the pieces of episodes, each with the text it is found by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from memstore.database.tables import facts as fact_table
from memstore.database.tables import piece_texts
from memstore.database.tables.vectors import FACTS, PIECES
from memstore.embedding.embedding import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables.vectors import VectorTable


class Queue(Protocol):
    """One kind of owner of vectors."""

    @property
    def table(self) -> VectorTable:
        """Where its vectors are."""
        ...

    def texts(self, transaction: Transaction, owner_ids: Sequence[int]) -> list[tuple[int, str]]:
        """Return each owner's id and text, by id."""
        ...


class FactQueue:
    """Facts: what they say, with their subject named."""

    table = FACTS

    def texts(self, transaction: Transaction, owner_ids: Sequence[int]) -> list[tuple[int, str]]:
        """Return each fact's id and text, by id."""
        return [
            (fact_id, text_of(subject, content))
            for fact_id, subject, content in fact_table.texts(transaction, owner_ids)
        ]


class PieceQueue:
    """Pieces of episodes: a stretch of the words, under what the episode is called."""

    table = PIECES

    def __init__(self) -> None:
        self._last: tuple[int, str] | None = None
        """The episode read last: the next pieces are mostly of the same, and it may be long."""

    def texts(self, transaction: Transaction, owner_ids: Sequence[int]) -> list[tuple[int, str]]:
        """Return each piece's id and text, by id."""
        found = []
        for place in piece_texts.places(transaction, owner_ids):
            if self._last is None or self._last[0] != place.episode_id:
                self._last = place.episode_id, piece_texts.content(transaction, place.episode_id)
            stretch = self._last[1][place.start : place.stop]
            found.append((place.piece_id, f"{place.name}: {stretch}" if place.name else stretch))
        return found


def every_queue() -> tuple[Queue, ...]:
    """Return what is drained, in this order."""
    return FactQueue(), PieceQueue()
