"""Which facts mention the names of a graph: in blocks, so that all are read as few rows.

A name is known by its place in the graph, 0 to 2**32 - 1. A block is about successive names: for
each, how many facts mention it, and their ids as distances, each from the one before.
"""

from collections.abc import Sequence
from typing import final

from memstore._kernel.ids import Ids

__all__ = ["MentionCounts", "pack", "without"]

def pack(first: int, mentions: Sequence[tuple[int, int]]) -> bytes:
    """Return the block of the names from a place on.

    Args:
        first: the place of the first name.
        mentions: the place of a name and the id of a fact, in this order.

    Raises:
        ValueError: a place or an id out of range, or they are not in order.
    """

def without(block: bytes, fact_id: int) -> bytes:
    """Return the same block without the mentions by a fact.

    Raises:
        ValueError: an id out of range, or the block is damaged.
    """

@final
class MentionCounts:
    """How many of certain facts mention each name, and each entity.

    Args:
        blocks: blocks, each with the place of its first name, in this order.
        among: the facts that count.
        merged: names that are of an entity with another name, with the place of its first name.

    Raises:
        ValueError: a block is damaged.
    """

    def __new__(
        cls,
        blocks: Sequence[tuple[int, bytes]],
        among: Ids,
        merged: Sequence[tuple[int, int]] = (),
    ) -> MentionCounts: ...
    @property
    def names(self) -> Ids:
        """The places of the names that a fact mentions."""

    def mentions(self, names: Sequence[int]) -> list[int]:
        """Return for each name how many facts mention it."""

    def facts(self, entities: Sequence[int]) -> list[int]:
        """Return for each entity how many facts mention it, by any of its names."""

    def most(self, limit: int) -> list[tuple[int, int]]:
        """Return the entities that most facts mention, with how many these are; of equals, the
        first."""

    def __len__(self) -> int:
        """How many entities a fact mentions."""
