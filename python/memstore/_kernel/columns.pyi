"""The columns by which rows are filtered."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import final

from memstore._kernel.ids import Ids

__all__ = ["Columns"]

@final
class Columns:
    """The columns that decide which rows may be seen, by row id.

    Times are texts and are ordered as texts; those of the form
    `2026-01-31T23:59:59.000000Z` take eight bytes.
    """

    def __new__(cls) -> Columns: ...
    @staticmethod
    def open(path: str | PathLike[str], database: bytes) -> Columns:
        """Map a file written by `save`."""

    def save(self, path: str | PathLike[str], database: bytes, position: int) -> None:
        """Write all rows to a file that exists."""

    def is_intact(self, *, compare: bool = False) -> bool:
        """Whether the opened file is what was written."""

    @property
    def position(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...
    def put(
        self,
        rows: Sequence[
            tuple[
                int,
                str | None,
                int,
                tuple[str | None, str | None],
                tuple[str | None, str | None, str | None],
            ]
        ],
    ) -> None:
        """Add rows, or replace those with the same id.

        Args:
            rows: the row id; the namespace; flags, 0 to 255; two texts; three times. `None` is
                equal to nothing, and neither before nor after anything.

        Raises:
            ValueError: an id out of range; nothing was changed.
            TypeError, OverflowError: another type, or flags of more bits; nothing was changed.
        """

    def drop(self, ids: Iterable[int]) -> int:
        """Remove rows; returns how many existed."""

    def select(
        self,
        namespaces: Sequence[str] | None,
        *,
        without: int = 0,
        texts: tuple[str | None, str | None] = (None, None),
        periods: Sequence[tuple[int, str | None, str | None, bool]] = (),
        among: Ids | None = None,
    ) -> Ids:
        """Return the ids of the rows that match all conditions.

        Args:
            namespaces: the namespaces of the rows; `None` is all.
            without: flags that a row must not have.
            texts: for each text column the required value; `None` for any.
            periods: each a time column, an exclusive lower and upper bound, and whether a row
                without a time matches.
            among: only rows with these ids are looked at; `None` is all.

        Raises:
            ValueError: no such column.
        """

    def counts(
        self,
        column: int,
        among: Ids,
        *,
        limit: int,
        prefix: str = "",
        by_number: bool = False,
        after: tuple[str, int] | None = None,
    ) -> tuple[list[tuple[str, int, int]], int]:
        """Return texts of a column, each with how many of some rows have it and with the largest id
        of these, and how many texts the rows have, whatever page is asked for.

        Args:
            column: 0 or 1.
            among: the rows that are counted. Those that do not exist must not be among them.
            limit: the most texts that are returned.
            prefix: how these begin.
            by_number: those that most rows have come first, and of equals the first by text; else
                all are by text.
            after: only those after this text, which so many rows had.

        Raises:
            ValueError: no such column.
        """

    def histogram(self, column: int, among: Ids, bounds: Sequence[str]) -> list[int]:
        """Return for each bound how many of some rows have a time from it on and before the next
        one; for the last one, any time from it on.

        Args:
            column: 0 to 2.
            among: the rows that are counted. Those that do not exist must not be among them.
            bounds: times, each later than the one before.

        Raises:
            ValueError: no such column.
        """
