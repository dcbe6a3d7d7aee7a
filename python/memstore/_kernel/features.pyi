"""What the contextual ranking compares with a query."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import final

from typing_extensions import Buffer

from memstore._kernel.codes import Codes
from memstore._kernel.ids import Ids

__all__ = ["Features"]

@final
class Features:
    """The features of rows: their tokens, names and dates, and their places in threads.

    Tokens are those of the built-in model. The number of rows, and of rows with a token, is always
    exact.
    """

    def __new__(cls) -> Features: ...
    @staticmethod
    def open(path: str | PathLike[str], database: bytes) -> Features:
        """Map a file written by `save`."""

    def save(self, path: str | PathLike[str], database: bytes, position: int) -> None:
        """Write all rows to a file that exists."""

    def is_intact(self, *, compare: bool = False) -> bool:
        """Whether the opened file is what was written."""

    @property
    def position(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def mean_words(self) -> float:
        """The average number of words per row; 0.0 without rows."""

    def __len__(self) -> int: ...
    def put(
        self,
        rows: Sequence[
            tuple[
                int,
                str,
                str | None,
                str | None,
                int | None,
                str | None,
                str | None,
                str | None,
                str | None,
            ]
        ],
    ) -> None:
        """Add rows, or replace those with the same id.

        Args:
            rows: the row id; its text; its speaker or subject; the unique name of its thread; its
                place there; the time it is about; when it was stored; when it was last confirmed;
                and the kind that determines its half-life, `None` if it does not age. A time not of
                the form `2026-01-31T23:59:59.000000Z` is used as far as it can be parsed.

        Raises:
            ValueError: an id out of range; nothing was changed.
        """

    def drop(self, ids: Iterable[int]) -> int:
        """Remove rows; returns how many existed."""

    def idf(self, text: str) -> list[tuple[int, float]]:
        """The distinct tokens of a text, by id, with their inverse document frequency.

        That is `max(0, ln((n + 1) / (df + 0.5)))` for a token that `df` of `n` rows have.
        """

    def vector(self, query: str) -> bytes:
        """The mean of a query's token vectors, weighted by :meth:`idf`, as 256 float32.

        Its length is one. If all weights are 0, all tokens count the same; zeros for the empty
        text.
        """

    def cosines(self, vector: Buffer, ids: Iterable[int]) -> list[float | None]:
        """The cosine of each row's vector by the built-in model with a given vector.

        Args:
            vector: a C-contiguous buffer of 256 float32, of length one.
            ids: row ids.

        Returns:
            In order; `None` for a row that does not exist.

        Raises:
            ValueError: another length, NaN or an infinity.
        """

    def nearest(
        self,
        codes: Codes,
        queries: Buffer,
        limit: int,
        visible: Ids | Sequence[Ids] | None = None,
    ) -> list[list[tuple[int, float]]]:
        """The rows nearest to each query, compared by their vectors by the built-in model.

        Args:
            codes: of the rows' vectors by the built-in model; each row is its own owner.
            queries: a C-contiguous buffer of `q * 256` float32, one query after the other, each of
                length one.
            limit: the most rows for each query; 0 finds none.
            visible: the rows that may be found, or a set of them for each query; `None` is all.

        Returns:
            For each query the row ids with their cosines, all positive, best first, ties by the
            smaller id.

        Raises:
            ValueError: codes of another dimension, not a whole number of vectors, NaN or an
                infinity, a negative limit, another number of sets than of queries.
            TypeError: not a buffer of float32.
        """

    def neighbours(self, ids: Iterable[int], reach: int, visible: Ids | None = None) -> list[int]:
        """The rows up to `reach` places before or after these in their threads, without these.

        Args:
            visible: the rows that may be found and that count as places; `None` is all.
        """
