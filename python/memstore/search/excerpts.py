"""Which piece of a long episode answers a query best."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memstore.database.tables.pieces import Piece
    from memstore.search.ranking.base import Weights


def best_piece(
    pieces: Sequence[Piece],
    cosines: Mapping[int, float],
    places: Mapping[int, str],
    weights: Weights,
) -> Piece:
    """Return the piece that holds most of the weighed words and is nearest; of equals the first."""
    begins = sorted(places)
    held = {
        piece.id: [
            places[at]
            for at in begins[bisect_left(begins, piece.start) : bisect_left(begins, piece.stop)]
        ]
        for piece in pieces
    }
    most = max((len(set(words)) for words in held.values()), default=0) or 1

    def score(piece: Piece) -> tuple[float, int]:
        by_words = len(set(held[piece.id])) / most
        by_vectors = max(0.0, cosines.get(piece.id, 0.0))
        return weights.words * by_words + weights.vectors * by_vectors, len(held[piece.id])

    return max(pieces, key=score)
