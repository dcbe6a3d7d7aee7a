"""The seam to the database: a transaction, and in it three verbs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from memstore.database.dialect import Dialect

Value: TypeAlias = str | int | float | bytes | None
Parameters: TypeAlias = Mapping[str, Value | Sequence[int] | Sequence[str]]
"""By the names a statement has for them; it need not name all. A list is read with the dialect."""
NO_PARAMETERS: Final[Parameters] = MappingProxyType({})
InOrder: TypeAlias = tuple[Value, ...]
"""In the order in which a statement first names them."""
Given: TypeAlias = Parameters | InOrder
Row: TypeAlias = tuple[Any, ...]
Durability = Literal["full", "normal"]
"""What a write that returned survives: ``full`` the loss of power, ``normal`` the end of the
process."""
Progress: TypeAlias = Callable[[int, int], object]
"""Called with how many are done, and how many there are."""

PART: Final = ".part"
"""Ends the name of a backup that is not finished."""

NO_LIMIT: Final = 2**62
"""What LIMIT says where there is none."""


@dataclass(slots=True)
class Statement:
    """A write to a journalled table, for :class:`memstore.database.changes.Changes` to run."""

    sql_text: str
    parameters: Given = field(default_factory=dict)


class Transaction(ABC):
    """All of it happens, or none. Reads see one state of the database from first to last.

    What is queued takes place before the next read or write, so that nobody can miss it.
    """

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """How the engine writes what SQL engines write differently."""

    @property
    @abstractmethod
    def full_text(self) -> FullTexts:
        """The full-text indexes, each asked within a transaction."""

    @abstractmethod
    def tokens(self, texts: Iterable[str]) -> list[list[str]]:
        """Return the tokens of each text as the full-text indexes know them, in their order."""

    @abstractmethod
    def rows(self, sql: str, parameters: Given = NO_PARAMETERS) -> Iterator[Row]:
        """Run a query and yield its rows as they come."""

    @abstractmethod
    def one(self, sql: str, parameters: Given = NO_PARAMETERS) -> Row | None:
        """Run a query (or an INSERT with RETURNING) and return its first row."""

    @abstractmethod
    def run(self, sql: str, parameters: Given = NO_PARAMETERS) -> int:
        """Run a statement and return how many rows it changed."""

    @abstractmethod
    def queue(self, sql: str, parameters: Given) -> None:
        """Run a statement later: before anything else is asked of the transaction, or at its end.

        Statements of one text are run together, which takes half the time; the text that was queued
        first comes first. So a row is queued after the one that it refers to, and nothing else is
        asked in between.
        """

    @abstractmethod
    def next_id(self, table: str) -> int:
        """Return an id for a row that is about to be queued; no row ever had it."""

    @abstractmethod
    def reserve_ids(self, table: str, count: int) -> int:
        """Return the first of so many ids; no row ever had them, or is given one from now on."""

    def scalar(self, sql: str, parameters: Given = NO_PARAMETERS) -> int:
        """Return the number a query answers with; 0 where it answers with none."""
        row = self.one(sql, parameters)
        return int(row[0] or 0) if row else 0

    def ints(self, sql: str, parameters: Given = NO_PARAMETERS) -> list[int]:
        """Return the first column of what a query answers with, which holds ids or numbers."""
        return [row[0] for row in self.rows(sql, parameters)]


class Wanted(Protocol):
    """Which rows may be seen; see :mod:`memstore.database.filters`."""

    @property
    def is_plain(self) -> bool:
        """Whether nearly all rows may be seen."""

    def where(self, dialect: Dialect) -> tuple[str, Parameters]:
        """Return a condition in SQL and its parameters."""


class FullText(Protocol):
    """The full-text index of one table. BM25 is negative; more negative is better."""

    def search(
        self, transaction: Transaction, query: str, wanted: Wanted, limit: int
    ) -> dict[int, float]:
        """Return the BM25 of the best rows by words, best first; of equals the newest first.

        The filter applies before the limit, so rows that may not be seen take no places.
        """

    def parts(
        self, transaction: Transaction, query: str, ids: Sequence[int]
    ) -> dict[int, dict[str, float]]:
        """Return what each word of a query adds to the BM25 of each of these rows."""

    def places(
        self, transaction: Transaction, query: str, row_id: int, content: str
    ) -> dict[int, str]:
        """Return the words of a row's content that match a query, by where they begin.

        Offsets count characters. A word is given in the form it was asked for or found in, folded,
        so that two places of one word can be told from two words.
        """

    @property
    def visible(self) -> Callable[[Transaction, Sequence[int], Any], set[int]]:
        """Returns those of some ids that a filter lets through."""

    def check(self, transaction: Transaction) -> str | None:
        """Compare the index with the rows, entry by entry; return what is wrong, or ``None``."""

    def forget_deleted(self, transaction: Transaction) -> None:
        """Remove every trace of deleted text."""

    def rebuilding(self) -> Iterator[Callable[[Transaction], None]]:
        """Yield what builds the index again, a few rows each; to be run one by one, in order.

        Until the last one is done the old index is searched. What is written in the meantime is in
        the new one, too.

        Raises:
            Conflict: another rebuild began in the meantime.
        """


class FullTexts(NamedTuple):
    facts: FullText
    episodes: FullText


class Engine(Protocol):
    """A database that several threads and several processes use at once."""

    @property
    def path(self) -> str: ...

    @property
    def derived_path(self) -> str | None:
        """What files that are derived from the database are named after; ``None``: it has none."""
        ...

    @property
    def locks(self) -> str:
        """What locks belong to: ``open file description``, ``process`` or ``handle``."""
        ...

    @property
    def durability(self) -> Durability: ...

    @property
    def is_lost(self) -> bool:
        """Whether the file is no longer the one that was opened; every use then fails."""
        ...

    def read(self) -> AbstractContextManager[Transaction]:
        """Open a transaction that only reads; it never waits for a writer.

        Raises:
            FileReplaced: the file is no longer the one that was opened.
        """

    def write(
        self, *, wait_seconds: float | None = None, check_links: bool = True
    ) -> AbstractContextManager[Transaction]:
        """Open a transaction that writes; it is committed at the end, or rolled back on an error.

        Args:
            wait_seconds: how long to wait for the write lock; ``None`` for the engine's own limit.
            check_links: whether foreign keys are enforced; rebuilding a table needs them off.

        Threads that wait for one another's writes may be committed together. None returns before
        its own write is committed, and one that fails undoes nothing of the others; but if the
        commit fails, it fails for all of them.

        Raises:
            StoreBusy: the write lock was held elsewhere for longer; nothing was written.
            FileReplaced: the file is no longer the one that was opened; nothing was written.
        """

    def create_schema(self, transaction: Transaction) -> None:
        """Create the schema of the newest version in an empty database."""

    def take_step(self, transaction: Transaction, version: int) -> None:
        """Bring the schema from the version before to this one."""

    def damage(self, transaction: Transaction) -> list[str]:
        """Return what the engine finds wrong with its own storage, indexes aside."""

    def dangling_rows(self, transaction: Transaction) -> dict[str, list[int]]:
        """Return, by table, the rows that refer to a row that does not exist."""

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        """Write a consistent copy of the live database to a new file."""

    def aside(self) -> AbstractContextManager[Transaction]:
        """Open a private copy of one state of the database: nobody is kept waiting by its use.

        A copy can be written to, and is gone afterwards. Where there is no room for one, it is the
        database itself, and is read.
        """
        ...

    def compact(self) -> bool:
        """Rewrite the database without what was deleted, and empty the write-ahead log.

        Returns:
            Whether it succeeded. It fails while another process uses the database, and without
            room on the disk for a copy.
        """

    def scratch(self) -> AbstractContextManager[IO[bytes]]:
        """Open an empty file that ends with its use, even if the process is killed.

        Of a store in memory nothing is written to a disk.
        """
        ...

    def exposed(self) -> dict[str, int]:
        """Return the files that other users of the machine may open, with their permission bits."""
        ...

    def size_bytes(self) -> int:
        """Return the size of the database, its write-ahead log included."""

    def log_bytes(self) -> int:
        """Return the size of the write-ahead log."""

    def close(self) -> None:
        """Close every connection. Closing twice does no harm."""
