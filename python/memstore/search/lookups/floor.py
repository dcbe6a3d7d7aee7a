"""The cosine of two texts that have nothing in common, by a model of the user's.

It is near 0 for some models and .75 for others, and says nothing of the texts. What counts is the
part of a cosine above it: ``(cosine - floor) / (1 - floor)``.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from memstore.database.tables import vectors as vector_table
from memstore.embedding.vectors import numbers, similarities

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables.vectors import VectorTable

SPOTS: Final = 64
"""How many vectors are compared with each other, in 2,016 pairs."""

BELOW: Final = 0.1
"""The share of pairs below the floor. Most texts of a memory have something in common, if only the
subject; a question has not even that."""

FEWEST: Final = 16
"""Fewer vectors have no floor: a few texts may well have something in common."""

HIGHEST: Final = 0.95
"""No floor is higher: what differs has to remain visible."""


def size(transaction: Transaction, table: VectorTable) -> int:
    """Return the size of a memory, in bits: the floor is measured again when it has doubled."""
    return vector_table.last_owner(transaction, table).bit_length()


def measured(transaction: Transaction, table: VectorTable, bits: int) -> float:
    """Return the floor of the stored vectors, 0 to :data:`HIGHEST`; 0 if there are few.

    The vectors are spread over all that is stored, so any process finds the same.
    """
    ids = 1 << max(0, bits - 1)
    owners: list[int] = []
    for first in (0, SPOTS):  # the newer half as well, if what is older was erased
        spots = sorted({1 + spot * ids // SPOTS for spot in range(first, first + SPOTS)})
        owners = vector_table.next_owners(transaction, table, spots)
        if len(owners) >= FEWEST:
            break
    return _of_pairs([*vector_table.blobs(transaction, table, owners).values()])


def _of_pairs(vectors: Sequence[bytes]) -> float:
    if len(vectors) < FEWEST:
        return 0.0
    rows = [similarities(numbers(one), vectors) for one in vectors]
    pairs = sorted(rows[one][other] for one, other in combinations(range(len(vectors)), 2))
    return min(HIGHEST, max(0.0, pairs[int(BELOW * len(pairs))]))


def above(cosines: Mapping[int, float], floor: float) -> Mapping[int, float]:
    """Return the parts of cosines above a floor, below 0 for those under it."""
    if not floor:
        return cosines
    return {id_: (cosine - floor) / (1.0 - floor) for id_, cosine in cosines.items()}
