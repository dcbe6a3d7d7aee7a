"""The interface to the database: a transaction reads by texts, ``rows`` and ``one``, and writes
values of :mod:`memstore.database.writes`, with ``run``, ``returned`` and ``queue``."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, TypeVar

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from memstore.database.dialect import Dialect
    from memstore.database.writes import Form
    from memstore.domain.records import Head
    from memstore.domain.results import Span

T = TypeVar("T")

Value: TypeAlias = str | int | float | bytes | None
Parameters: TypeAlias = Mapping[str, Value | Sequence[int] | Sequence[str]]
"""Parameters by name; a statement need not use all. Lists are read with ``Dialect.listed``."""
NO_PARAMETERS: Final[Parameters] = MappingProxyType({})
InOrder: TypeAlias = tuple[Value, ...]
"""Parameters in the order in which the statement first names them."""
Given: TypeAlias = Parameters | InOrder
Row: TypeAlias = tuple[Any, ...]
Finish: TypeAlias = Callable[[Sequence[Row]], Iterable[Row]]
Durability = Literal["full", "normal"]
"""What a confirmed write survives: ``full`` a power failure, ``normal`` a crash of the process."""
Cancelled: TypeAlias = Callable[[], bool]
"""Called often; a true answer ends the operation."""
Progress: TypeAlias = Callable[[int, int], object]
"""Called with the number of items done and the total."""

PART: Final = ".part"
"""The suffix of an unfinished backup."""

NO_LIMIT: Final = 2**62
"""The value of LIMIT if there is no limit."""


class SchemaTroubles(NamedTuple):
    """What differs from the schema: each a kind and a name, and perhaps how."""

    own: list[str]
    """Triggers, views and indexes that are missing or changed; a rebuild creates them again."""
    planted: list[str]
    """What another program put on our tables, such as a trigger; a rebuild drops it."""
    tables: list[str]
    """Tables that are missing or changed, which a rebuild leaves alone."""
    strangers: list[str]
    """Tables of others with names like ours."""


class Mended(NamedTuple):
    """What was done about the schema."""

    restored: int
    """How many triggers, views and indexes were created again."""
    dropped: list[str]
    """What another program had put on our tables, each with its text."""


class _Longest(threading.local):
    seconds = math.inf


_longest = _Longest()


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """Limit how long reads and writes of this thread wait for locks, whatever store they use."""
    before, _longest.seconds = _longest.seconds, seconds
    try:
        yield
    finally:
        _longest.seconds = before


def longest_wait(seconds: float) -> float:
    """Return how long a store may wait in this thread that was opened to wait so long."""
    return min(seconds, _longest.seconds)


class Statement(NamedTuple):
    """A query to be asked by another."""

    sql_text: str
    parameters: Given = NO_PARAMETERS


class Write(NamedTuple):
    """A form with the values of its parameters, to be written by another: above all to a journalled
    table, by :class:`memstore.database.changes.Changes`."""

    form: Form
    values: Given = NO_PARAMETERS


class Queued:
    """The rows that a transaction writes later and together, in the order they were queued.

    Attributes:
        rows: the queued rows of each form.
    """

    def __init__(self) -> None:
        self.rows: dict[Form, list[Row]] = {}
        self._finishing: dict[Form, Finish] = {}
        self._order: list[Form] = []
        """The forms whose rows were taken ahead."""

    def add(self, form: Form, row: Row, finish: Finish | None) -> None:
        """Queue a row; ``finish`` completes the rows of this form before they are written."""
        rows = self.rows.get(form)
        if rows is not None:
            rows.append(row)
        else:
            self.add_all(form, [row], finish)

    def add_all(self, form: Form, rows: list[Row], finish: Finish | None) -> None:
        """Queue rows of one form."""
        known = self.rows.setdefault(form, rows)
        if known is not rows:
            known += rows
        elif finish is not None:
            self._finishing[form] = finish

    def add_ids(self, form: Form, first: int, last: int) -> None:
        """Queue ids; consecutive ids become one row, with the first and the last of them."""
        runs = self.rows.setdefault(form, [])
        if runs and runs[-1][1] == first - 1:
            runs[-1] = (runs[-1][0], last)
        else:
            runs.append((first, last))

    def completed(self, form: Form, rows: Sequence[Row]) -> Iterable[Row]:
        """Return the rows of a form as they are to be written."""
        finish = self._finishing.get(form)
        return rows if finish is None else finish(rows)

    def take(self, *, ahead: bool = False) -> dict[Form, list[Row]]:
        """Return the queued rows, and forget them.

        Args:
            ahead: more rows are queued to be written after these, as if all had been taken
                together: the forms keep their order, so a row follows what it refers to.
        """
        taken, self.rows = self.rows, {}
        if self._order:
            order = dict.fromkeys([*self._order, *taken])
            taken = {form: taken[form] for form in order if form in taken}
            self._order = [*order] if ahead else []
        elif ahead:
            self._order = [*taken]
        return taken


class Transaction(ABC):
    """An atomic transaction. All its reads see the same state of the database.

    Queued rows are written before the next read or write, so every read sees them.
    """

    act: object = None
    """What it adds to the journal: an :class:`memstore.database.acts.ActLines`."""

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """The engine's own SQL."""

    @property
    @abstractmethod
    def full_text(self) -> FullTexts:
        """The full-text indexes."""

    @abstractmethod
    def admit(self, namespaces: Collection[str]) -> None:
        """Check that rows of namespaces can be in this database's part that is open.

        Raises:
            Conflict: they are elsewhere, so that nothing would be found of them.
        """

    @property
    def last_write(self) -> LastWrite | None:
        """The last write that this transaction sees; ``None`` in a file, or if it is not known."""
        return None

    def expects(self, write: LastWrite | None) -> bool:
        """Whether this was the last write as far as is known without asking a server."""
        return True

    @property
    def holds_connection(self) -> bool:
        """Whether it holds a connection of a server, which others may be waiting for."""
        return False

    @abstractmethod
    def stamp_of_others(self) -> object:
        """Return a value that changes whenever another connection has changed the database.

        Only values of transactions for writing can be compared with each other.
        """

    @property
    def epoch(self) -> object:
        """An object shared by consecutive transactions with only new facts written between them.

        Anything else that was read in one of them is still valid in the others.
        """
        return self

    def code(self, vector: bytes) -> Value:
        """Return the narrow code of a vector, as the engine stores it with each one.

        ``None`` if it stores none: then all vectors are compared.
        """
        return None

    @abstractmethod
    def tokens(self, texts: Iterable[str]) -> list[list[str]]:
        """Return the tokens of each text, in order, as the full-text indexes tokenize it."""

    def has_table(self, name: str) -> bool:
        """Whether the database has a table or a view of this name."""
        query = f"SELECT 1 FROM ({self.dialect.tables}) AS known WHERE name = :name"
        return self.one(query, {"name": name}) is not None

    @abstractmethod
    def rows(self, sql: str, parameters: Given = NO_PARAMETERS) -> Iterator[Row]:
        """Run a query and yield its rows as they arrive."""

    @abstractmethod
    def one(self, sql: str, parameters: Given = NO_PARAMETERS) -> Row | None:
        """Run a query and return its first row."""

    def begin(self) -> None:  # noqa: B027 - a file needs nothing
        """Take the write lock now; otherwise, a server's is taken with the first query."""

    @abstractmethod
    def prefetch(self, *queries: Statement) -> None:
        """Say what will be read next, so that a server can answer all of it at once."""

    def ask_in_parallel(self, queries: Sequence[Statement]) -> None:  # noqa: B027 - a file needs nothing
        """Announce slow queries that will be read after the next ones.

        A server can answer them at the same time; reading one waits for its answer.
        """

    @abstractmethod
    def run(self, form: Form, values: Given = NO_PARAMETERS) -> int:
        """Write, and return how many rows were changed."""

    @abstractmethod
    def returned(self, form: Form, values: Given = NO_PARAMETERS) -> list[Row]:
        """Write, and return what the form returns of each row that was changed."""

    def run_later(self, form: Form, values: Given = NO_PARAMETERS) -> None:
        """Write after what is queued: before the next other operation, or at the end.

        A database of another machine gets both in one message. What was changed is not told.
        """
        self.run(form, values)

    @abstractmethod
    def execute(self, sql: str, parameters: Given = NO_PARAMETERS) -> int:
        """Run a statement of the engine's own, as about its schema, and as it is.

        Nothing is added to it: not the memory's tenant, nor what is derived. Return how many rows
        it changed.
        """

    @abstractmethod
    def queue(self, form: Form, values: Given, finish: Finish | None = None) -> None:
        """Write later: before the next other operation, or at the end.

        Queued rows of the same form are written together, which takes half the time, in the order
        in which each form was first queued. So queue a row after the one it refers to, with no
        other operation in between.

        Args:
            finish: completes the queued rows of this form when they are written.
        """

    def queue_all(self, form: Form, rows: list[Row], finish: Finish | None = None) -> None:
        """Queue rows of one form, given as their values in order."""
        for row in rows:
            self.queue(form, row, finish)

    @abstractmethod
    def queue_ids(self, form: Form, first: int, last: int) -> None:
        """Like :meth:`queue`, but of ids, and writes once for each run of consecutive ones.

        The form must have the parameters ``:first`` and ``:last``, in this order.
        """

    @abstractmethod
    def next_id(self, table: str) -> int:
        """Return an id that no row ever had, for a row that is about to be queued."""

    def next_ids(self, table: str, count: int) -> Sequence[int]:
        """Return so many of them, which follow each other."""
        return [self.next_id(table) for _ in range(count)]

    def pass_ids(self, table: str) -> None:  # noqa: B027 - a file needs nothing
        """Let the ids that the database gives itself begin after those that were written."""

    @abstractmethod
    def reserve_ids(self, table: str, count: int) -> int:
        """Reserve consecutive ids that no row ever had, and return the first."""

    def scalar(self, sql: str, parameters: Given = NO_PARAMETERS) -> int:
        """Return the number that a query returns; 0 if it returns no row or NULL."""
        row = self.one(sql, parameters)
        return int(row[0] or 0) if row else 0

    def ints(self, sql: str, parameters: Given = NO_PARAMETERS) -> list[int]:
        """Return the first column of a query's rows, which holds integers."""
        return [row[0] for row in self.rows(sql, parameters)]


class Outdated(Exception):
    """What was remembered of the database no longer holds; the work has to be done again."""


class RowFilter(Protocol):
    """A filter of rows; see :mod:`memstore.database.filters`."""

    @property
    def is_plain(self) -> bool:
        """Whether it lets nearly all rows through."""

    def where(self, dialect: Dialect) -> tuple[str, Parameters]:
        """Return the filter as an SQL condition with its parameters."""


class FullText(Protocol):
    """The full-text index of one table. BM25 is negative; more negative is better."""

    def search(
        self, transaction: Transaction, query: str, wanted: RowFilter, limit: int
    ) -> dict[int, float]:
        """Return the BM25 of the best rows, best first, and newest first among equals.

        The filter applies before the limit.
        """

    def search_in_parallel(
        self, transaction: Transaction, searches: Iterable[tuple[str, RowFilter]], limit: int
    ) -> None:
        """Announce searches, each a query and a filter, that follow after other queries."""

    def parts(
        self, transaction: Transaction, query: str, ids: Sequence[int]
    ) -> dict[int, dict[str, float]]:
        """Return how much each word of a query adds to the BM25 of each of these rows."""

    def places(
        self, transaction: Transaction, query: str, row_id: int, content: str
    ) -> dict[int, str]:
        """Return the words of a row's content that match a query, by their offset in characters.

        The words are folded, so that two places of the same word can be told from two words.
        """

    def matched(
        self, transaction: Transaction, query: str, row_id: int, texts: Sequence[str]
    ) -> list[tuple[Span, ...]]:
        """Return where words of a row match a query, in each of its first columns.

        Args:
            texts: the first columns of the row that are indexed; all that are cut into segments.
        """
        ...

    @property
    def visible(self) -> Callable[[Transaction, Sequence[int], Any], set[int]]:
        """A function that returns the ids that pass a filter."""

    def check(self, transaction: Transaction) -> str | None:
        """Compare the index with the rows, entry by entry; return what is wrong, or ``None``."""

    def forget_deleted(self, transaction: Transaction) -> None:
        """Remove every trace of deleted text."""

    def forget_some(self, transaction: Transaction, *, first: bool) -> bool:
        """Do a part of :meth:`forget_deleted`; return whether it was the last part.

        Args:
            first: begin, instead of going on.
        """
        ...

    def holds(self, transaction: Transaction, term: str) -> bool:
        """Return whether any row has a word, or a pair of characters."""
        ...

    def stray(self, transaction: Transaction, tokens: Collection[str]) -> set[str]:
        """Return which of these tokens the index has, though no row has them any more."""
        ...

    def rebuilding(self) -> Iterator[Callable[[Transaction], None]]:
        """Yield the steps of a rebuild, a few rows each, to be run in order.

        Searches use the old index until the last step. Rows written in the meantime are in the new
        index too.

        Raises:
            Conflict: another rebuild began in the meantime.
        """


class FullTexts(NamedTuple):
    facts: FullText
    episodes: FullText


class LastWrite(NamedTuple):
    """The last write of a memory on a server."""

    version: int
    """A random number that no other write has, not even one of another history."""
    head: Head | None
    """The end of the journal then; ``None`` if it has to be read."""


class Engine(Protocol):
    """A database that several threads and several processes use at once."""

    before_commit: Callable[[Transaction], object]
    """Called at the end of each write, inside of its transaction."""

    @property
    def path(self) -> str: ...

    @property
    def derived_path(self) -> str | None:
        """The prefix of the names of derived files; ``None`` if there are none."""
        ...

    @property
    def is_remote(self) -> bool:
        """Whether the database is on a server, whose files cannot be read or copied from here."""
        ...

    @property
    def locks(self) -> str:
        """What owns the locks: ``open file description``, ``process``, ``handle`` or ``server``."""
        ...

    @property
    def durability(self) -> Durability: ...

    @property
    def weakened_by(self) -> str | None:
        """The server's setting with which a confirmed write may be lost; ``None`` without one."""
        ...

    @property
    def connections(self) -> Mapping[str, int]:
        """The numbers of a pool by state (``used``, ``idle``, ``waiting``); empty without one."""
        ...

    @property
    def is_lost(self) -> bool:
        """Whether the file, or its log, was replaced; every use then fails.

        A file that was moved away is not lost: it is used again when it is back.
        """
        ...

    def check_file(self) -> None:
        """Check that the file is the one that was opened; reads check that once a second.

        Raises:
            FileReplaced: it is not.
        """

    def read(self, *, may_repeat: bool = False) -> AbstractContextManager[Transaction]:
        """Open a read-only transaction; it never waits for a writer.

        Args:
            may_repeat: whether the caller can do its work again, without this. Then the transaction
                may begin with what is remembered of the database, and be refused.

        Raises:
            FileReplaced: the file is no longer the one that was opened.
            Outdated: what was remembered no longer holds, with ``may_repeat`` only.
        """

    def write(
        self, *, wait_seconds: float | None = None, check_links: bool = True
    ) -> AbstractContextManager[Transaction]:
        """Open a write transaction; it is committed at the end, or rolled back on an error.

        Args:
            wait_seconds: how long to wait for the write lock; ``None`` for the engine's own limit.
            check_links: whether to enforce foreign keys; rebuilding a table needs them off.

        In a file the lock is held from the beginning, on a server from the first statement on.
        Waiting threads may share one commit. None returns before its own write is committed, and
        a write that fails does not undo the others; but if the commit fails, it fails for all.

        Raises:
            StoreBusy: another process held the write lock for longer; nothing was written.
            FileReplaced: the file is no longer the one that was opened; nothing was written.
        """

    def claim(self, *, wait_seconds: float | None = None) -> AbstractContextManager[Transaction]:
        """Open a write transaction for leases alone, which no index and no journal has.

        On a server it waits for no other write, and none waits for it: two of them see each
        other's rows when they are committed. In a file it is a write like any other.

        Raises:
            StoreBusy, FileReplaced: as for :meth:`write`.
        """

    def perform(self, work: Callable[[Transaction], T]) -> T:
        """Do work in a write transaction, and return its result.

        Work may be done twice: if what it relied on had changed, nothing of it was stored. So it
        changes nothing but the database.

        Raises:
            StoreBusy, FileReplaced: as for :meth:`write`.
        """
        ...

    def create_schema(self, transaction: Transaction) -> None:
        """Create the schema of the newest version in an empty database."""

    def schema_troubles(self, transaction: Transaction) -> SchemaTroubles:
        """Return what differs from the schema."""
        ...

    def mend_schema(self, transaction: Transaction) -> Mended:
        """Drop what others put on our tables, and create again what can be."""
        ...

    def take_step(self, transaction: Transaction, version: int) -> None:
        """Upgrade the schema from the previous version to this one."""

    @property
    def parts_to_ask(self) -> Sequence[Statement]:
        """What :meth:`is_complete` asks, to be sent with what is asked before it."""
        ...

    def is_complete(self, transaction: Transaction) -> bool:
        """Return whether a schema of the newest version has all its parts.

        A development build may have written it before the last part was added.
        """
        ...

    def complete(self, transaction: Transaction) -> None:
        """Add the missing parts of a schema of the newest version."""

    def damage(self, transaction: Transaction) -> list[str]:
        """Return the damage that the engine finds in its own storage, except in indexes."""

    def dangling_rows(self, transaction: Transaction) -> dict[str, list[int]]:
        """Return, by table, the rows that refer to a missing row."""

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        """Write a consistent copy of the live database to a new file."""

    def is_backup(self, file: Path) -> bool:
        """Return whether a file is a copy of this database, as it is or as it once was."""

    def remove_unfinished_backup(self, part: Path) -> None:
        """Remove what a backup left that was killed, unless it is something else or in use."""

    def aside(self, cancelled: Cancelled | None = None) -> AbstractContextManager[Transaction]:
        """Open a temporary, private copy of the database, so that long reads block nobody.

        The copy is writable and deleted at the end. If the disk has no room for it, this is a
        read transaction of the database itself.

        Args:
            cancelled: ends a statement that is running, which then raises ``StorageError``.

        Raises:
            Cancelled: it was cancelled while the copy was made.
        """
        ...

    def trial(self) -> AbstractContextManager[Transaction]:
        """Open a write transaction that leaves no trace, to see what a change would do.

        In a file it writes into a private copy, and blocks nobody if the disk has room for one.
        Otherwise it holds the lock like any write, until it is rolled back.
        """
        ...

    def empty_log(self) -> bool:
        """Copy the write-ahead log into the database, and empty it; a server does so by itself.

        Returns:
            Whether it is empty: it is not while somebody reads an earlier state.
        """

    def compact(self) -> bool:
        """Rewrite the database without the deleted data, and empty the write-ahead log.

        Returns:
            Whether it succeeded. It fails while another process uses the database, and if the
            disk has no room for a copy.
        """

    def scratch(self) -> AbstractContextManager[IO[bytes]]:
        """Open an empty temporary file that is deleted even if the process is killed.

        An in-memory store writes nothing to disk.
        """
        ...

    def divided(self, file: IO[bytes], texts: Collection[bytes]) -> Iterator[tuple[bytes, int]]:
        """Yield the texts that a file of such a database holds in parts, with their places."""
        ...

    def exposed(self) -> dict[str, int]:
        """Return the files that other users of the machine can open, with their permission bits."""
        ...

    def size_bytes(self) -> int:
        """Return the size of the database, including its write-ahead log."""

    def log_bytes(self) -> int:
        """Return the size of the write-ahead log."""

    def close(self) -> None:
        """Close every connection. A second call does nothing."""


class _TakenBackError(Exception):
    """Makes an engine roll a transaction back."""


@contextmanager
def taken_back(writing: AbstractContextManager[Transaction]) -> Iterator[Transaction]:
    """Open a write transaction that is rolled back at the end."""
    with suppress(_TakenBackError), writing as transaction:
        yield transaction
        raise _TakenBackError
