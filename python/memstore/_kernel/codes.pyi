"""Quantised vectors, for finding the nearest ones."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import final

from typing_extensions import Buffer

from memstore._kernel.ids import Ids

__all__ = ["Codes"]

@final
class Codes:
    """Quantised vectors, a quarter of their size, for finding candidates for the nearest rows.

    The vectors themselves are not stored: `scan` returns a few more rows than requested, and the
    caller compares their vectors with `vectors.cosines`. No row among the nearest is left out. A
    row has an id, and an owner whose visibility counts: a fact is its own owner, a piece belongs
    to its episode.

    Args:
        dimension: components of a vector, at least one.

    Raises:
        ValueError: the dimension is not 1 to 65,536.
    """

    def __new__(cls, dimension: int) -> Codes: ...
    @staticmethod
    def open(path: str | PathLike[str], database: bytes, generation: int) -> Codes:
        """Map a file written by `save` for the same generation of the vectors."""

    def save(
        self, path: str | PathLike[str], database: bytes, generation: int, position: int
    ) -> None:
        """Write all rows to a file that exists; `generation` is that of the vectors."""

    @property
    def dimension(self) -> int:
        """Components of a vector."""

    def is_intact(self, *, compare: bool = False) -> bool:
        """Whether the opened file is what was written."""

    @property
    def position(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int:
        """How many rows there are."""

    def put(self, ids: Iterable[int], owners: Iterable[int], blobs: Sequence[bytes]) -> None:
        """Add rows, or replace those with the same id; if an id occurs twice, the last one counts.

        All or nothing. Takes some microseconds per row, nearly all of it before readers have to
        wait.

        Args:
            ids: row ids, 0 to 2**32 - 1.
            owners: row ids, the owner of each row.
            blobs: vectors of `4 * d` bytes, float32, little-endian.

        Raises:
            ValueError: unequal lengths, an id out of range, a BLOB of another size (its index,
                its length and the expected one are named), NaN or an infinity.
            TypeError: not integers, or not a sequence of `bytes`.
        """

    def drop(self, ids: Iterable[int]) -> int:
        """Remove rows; returns how many existed.

        Args:
            ids: row ids.

        Raises:
            ValueError: an id out of range.
            TypeError: not integers.
        """

    def scan(
        self, queries: Buffer, limit: int, visible: Ids | Sequence[Ids] | None = None
    ) -> list[list[int]]:
        """Find the rows that can be among the nearest to each query.

        Only rows with a positive cosine, as `vectors.cosines` computes it, count as near. All rows
        that may tie with the last of the nearest are returned, and roughly those within 0.02 of its
        cosine. All queries share one pass over the rows, with several threads if there is enough
        work.

        Args:
            queries: a C-contiguous buffer of `q * d` float32, one query after the other.
            limit: how many of the nearest to find; 0 finds none.
            visible: owners whose rows may be found, or a set of them for each query; `None` is all.
                If they are few, only their rows are read.

        Returns:
            For each query row ids, ascending.

        Raises:
            ValueError: not a whole number of vectors, NaN or an infinity, a negative limit, another
                number of sets than of queries.
            TypeError: not a buffer of float32.
        """
