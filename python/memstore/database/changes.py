"""Changes: the one way to write what the journal keeps, each with the lines that say so.

A table describes such a write as a :class:`Statement`, which does nothing by itself. Only
:class:`Changes` runs it, and takes the lines in the same call.

Written without a line, because it follows from what has one or says nothing of what is held:
use counts and the time of last use; segments, full-text indexes and tags as they are searched;
pieces and places for vectors; failed attempts to embed; a generation's dimension; builds of a graph
until they are finished, and what is left of old ones; readings, replies, leases and ``meta``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from memstore.database import journal
from memstore.database.journal import Author
from memstore.domain import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Self, TypeAlias

    from memstore.database.engine import Row, Statement, Transaction
    from memstore.domain.records import JournalLine

ENCODER: Final = json.JSONEncoder(ensure_ascii=False)


@dataclass(slots=True)
class Line:
    """A line of the journal; see :class:`memstore.domain.records.JournalLine`."""

    kind: str
    fact_id: int | None = None
    episode_id: int | None = None
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    evidence: Mapping[str, Any] | None = None
    at: datetime | None = None
    """``None``: now."""
    author: Author | None = None
    """``None``: whoever makes the change."""

    @classmethod
    def repeated(
        cls, operation: JournalLine, *, fact_id: int | None = None, episode_id: int | None = None
    ) -> Line:
        """Return a line of another file's journal, with its own time and author."""
        return cls(
            operation.kind,
            fact_id,
            episode_id,
            operation.before,
            operation.after,
            operation.evidence,
            operation.at,
            Author(operation.actor, operation.source),
        )


Lines: TypeAlias = "Line | Sequence[Line]"


class Stored(Protocol):
    @property
    def id(self) -> int: ...


T = TypeVar("T", bound=Stored)


class Changes:
    """What one author changes in a transaction."""

    def __init__(self, transaction: Transaction, author: Author) -> None:
        self.transaction = transaction
        self.author = author

    def write(self, lines: Lines, *statements: Statement) -> None:
        """Write lines, then run the statements that do what they say.

        The lines come first: the database lets an episode's text go only when one says so.
        """
        self._tell(lines)
        for statement in statements:
            self.transaction.run(statement.sql_text, statement.parameters)

    def insert(self, statement: Statement, record: T, lines: Callable[[T], Lines]) -> None:
        """Insert a row that holds this record, and write its lines; both are queued."""
        self.transaction.queue(statement.sql_text, statement.parameters)
        self._tell(lines(record))

    def write_some(
        self, statements: Iterable[Statement], lines: Callable[[list[Row]], Lines]
    ) -> list[Row]:
        """Run statements with RETURNING; write the lines of the rows that come back, if any."""
        rows = [
            row
            for statement in statements
            for row in self.transaction.rows(statement.sql_text, statement.parameters)
        ]
        if rows:
            self._tell(lines(rows))
        return rows

    def _tell(self, lines: Lines) -> None:
        told = (lines,) if isinstance(lines, Line) else lines
        if not told:
            raise ValueError("a change needs a line in the journal")
        for line in told:
            author = line.author or self.author
            checked = (
                clock.to_text(line.at or clock.utc_now()),
                author.actor,
                author.source,
                line.kind,
                line.fact_id,
                line.episode_id,
                _encode(line.before),
                _encode(line.after),
            )
            self.transaction.queue(
                f"INSERT INTO memstore_journal ({journal.CHECKED}, evidence, checksum)"
                " VALUES (:at, :actor, :source, :kind, :fact_id, :episode_id, :before, :after,"
                " :evidence, :checksum)",
                (*checked, _encode(line.evidence), journal.checksum(*checked)),
            )


class Adoption(Changes):
    """Changes whose new rows are linked to one another before the journal holds them.

    Their lines are written at the end of the ``with`` block, of each row as it is then.
    """

    def __init__(self, transaction: Transaction, author: Author) -> None:
        super().__init__(transaction, author)
        self._owed: dict[int, tuple[Any, Callable[[Any], Lines]]] = {}

    def insert(self, statement: Statement, record: T, lines: Callable[[T], Lines]) -> None:
        self.transaction.queue(statement.sql_text, statement.parameters)
        self._owed[record.id] = record, lines

    def link(self, record: Stored, statement: Statement) -> None:
        """Change a row that this adoption inserted."""
        _, lines = self._owed[record.id]
        self.transaction.run(statement.sql_text, statement.parameters)
        self._owed[record.id] = record, lines

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            for record, lines in self._owed.values():
                self._tell(lines(record))


def _encode(part: Mapping[str, Any] | None) -> str | None:
    return None if part is None else ENCODER.encode(part)
