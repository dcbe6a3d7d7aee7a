"""The seam to the database: a transaction, and in it three verbs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

Value: TypeAlias = str | int | float | bytes | None
Row: TypeAlias = tuple[Value, ...]
Progress: TypeAlias = Callable[[int, int], object]
"""Called with how many are done, and how many there are."""


class Transaction(Protocol):
    """All of it happens, or none. Reads see one state of the database from first to last."""

    def rows(self, sql: str, parameters: Sequence[Value] = ()) -> Iterator[Row]:
        """Run a query and yield its rows as they come."""
        ...

    def one(self, sql: str, parameters: Sequence[Value] = ()) -> Row | None:
        """Run a query (or an INSERT with RETURNING) and return its first row."""
        ...

    def run(self, sql: str, parameters: Sequence[Value] = ()) -> int:
        """Run a statement and return how many rows it changed."""
        ...


class Engine(Protocol):
    """A database that several threads and several processes use at once."""

    @property
    def path(self) -> str:
        """Where the database is."""
        ...

    def read(self) -> AbstractContextManager[Transaction]:
        """Open a transaction that only reads; it never waits for a writer."""
        ...

    def write(
        self, *, wait_seconds: float | None = None, check_links: bool = True
    ) -> AbstractContextManager[Transaction]:
        """Open a transaction that writes; it is committed at the end, or rolled back on an error.

        Args:
            wait_seconds: how long to wait for the write lock; ``None`` for the engine's own limit.
            check_links: whether foreign keys are enforced; rebuilding a table needs them off.

        Raises:
            StoreBusy: somebody else held the write lock for longer; nothing was written.
        """
        ...

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        """Write a consistent copy of the live database to a new file."""
        ...

    def compact(self) -> bool:
        """Write the database anew without what was deleted, and empty the write-ahead log.

        Returns:
            Whether that could be done; not while another process uses the file, or without room
            for a copy of it.
        """
        ...

    def size_bytes(self) -> int:
        """Return how much room the database takes, its write-ahead log included."""
        ...

    def close(self) -> None:
        """Check-point and let go of every connection. Closing twice does no harm."""
        ...
