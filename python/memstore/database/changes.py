"""Changes: the only way to write journalled data; every write takes its journal lines.

A table module describes such a write as a :class:`Write`, which does nothing by itself.
:class:`Changes` runs it, and requires the journal lines in the same call.

These are written without a line, because they are derived or are no part of the memories:
use counts and the time of last use; segments, full-text indexes and the search form of tags;
pieces and places for vectors; failed attempts to embed; a generation's dimension; unfinished graph
builds, and remains of old ones; readings, replies, recorded searches, leases and ``meta``. So is a
memory that is copied whole into an empty one: it brings its lines along
(:mod:`memstore.database.carrying`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from memstore.database.journal import Author, Kind
from memstore.domain import clock
from memstore.domain.arguments import MAX_NUMBER
from memstore.domain.metadata import json_writer
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Self, TypeAlias

    from memstore.database import acts
    from memstore.database.engine import Row, Transaction, Write
    from memstore.database.writes import Form
    from memstore.domain.entities import EntityDecision
    from memstore.domain.records import Fact, JournalLine
else:
    acts = lazy_import("memstore.database.acts")


class Dependents(Protocol):
    """Derived data that follows every erasure, and that the doctor checks with the file.

    Every process passes it along, even if it does not use it: erased text must disappear at once
    from everything that was derived from it.
    """

    def forget_fact(self, changes: Changes, fact: Fact) -> None:
        """Forget a fact that is being erased; ``fact`` still has its text."""

    def forget_build(self, changes: Changes, namespace: str) -> None:
        """Discard what was built of a namespace as a whole, before many of its facts are erased."""

    def forget_namespace(self, changes: Changes, namespace: str) -> None:
        """Forget a whole namespace, before its facts and episodes are erased one by one.

        The rows of its graph are discarded, for the caller to remove some at a time.
        """

    def troubles(self, transaction: Transaction) -> Iterator[tuple[str, bool]]:
        """Yield each problem as a sentence, and whether :meth:`repair` fixes it."""

    def repair(self, transaction: Transaction) -> list[str]:
        """Repair what can be repaired; return a sentence for each repair."""

    def bring_decision(
        self,
        changes: Changes,
        namespace: str,
        decision: EntityDecision,
        erased: Sequence[Fact] = (),
    ) -> bool:
        """Store a decision from an export, unless it is known or contradicts a local one.

        Nor is it stored if it has a name that only these facts have, which were erased here.
        """


_to_text: Final = json_writer(allow_nan=True)


class Line(NamedTuple):
    """A line of the journal; see :class:`memstore.domain.records.JournalLine`."""

    kind: str
    fact_id: int | None = None
    episode_id: int | None = None
    """The episode that the line is about, or that caused the change of a fact. One that the
    evidence names comes first: the evidence quotes it, and goes with it."""
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | str | None = None
    """Text is JSON already."""
    evidence: Mapping[str, Any] | None = None
    said_at: datetime | None = None
    """When it was journalled in the file that it was imported from."""
    author: Author | None = None
    """``None`` means the author of the change."""

    @classmethod
    def repeated(
        cls, operation: JournalLine, *, fact_id: int | None = None, episode_id: int | None = None
    ) -> Line:
        """Return a copy of another journal's line that keeps its author, and its time as such."""
        return cls(
            operation.kind,
            fact_id,
            episode_id,
            operation.before,
            operation.after,
            operation.evidence,
            operation.moment,
            Author(operation.actor, operation.source),
        )


Lines: TypeAlias = "Line | Sequence[Line]"


class StoredRow(Protocol):
    @property
    def id(self) -> int: ...


T = TypeVar("T", bound=StoredRow)


class Changes:
    """The changes of one author in a transaction."""

    def __init__(self, transaction: Transaction, author: Author) -> None:
        self.transaction = transaction
        self.author = author

    @property
    def moment(self) -> datetime:
        """When all changes of the transaction happen."""
        return acts.of(self.transaction).moment

    def write(self, lines: Lines, *writes: Write) -> None:
        """Write the lines, then these writes, at the latest before the next read.

        The lines come first: a trigger allows an episode's text to be erased only if there is one.
        """
        self._journal(lines)
        for form, values in writes:
            self.transaction.run_later(form, values)

    def insert(self, write: Write, lines: Lines) -> None:
        """Queue a row that is inserted, and its lines."""
        acts.of(self.transaction)  # it reads, so it comes before what is queued
        self.transaction.queue(*write)
        self._journal(lines)

    def add_all(self, form: Form, rows: list[Row], texts: Iterable[str]) -> None:
        """Queue rows of facts that are inserted, whose first value is the id.

        Args:
            texts: for each what its line tells of it, as JSON.
        """
        act = acts.of(self.transaction)
        self.transaction.queue_all(form, rows)
        actor, source, run = self.author
        begin = (None, run, actor, source, Kind.ADD)
        lines = [
            (*begin, row[0], None, None, text, None) for row, text in zip(rows, texts, strict=True)
        ]
        act.add_all(self.transaction, lines)

    def write_some(self, writes: Iterable[Write], lines: Callable[[list[Row]], Lines]) -> list[Row]:
        """Run writes that return rows, and write the lines for these, if any."""
        rows = [row for write in writes for row in self.transaction.returned(*write)]
        if rows:
            self._journal(lines(rows))
        return rows

    def _journal(self, lines: Lines) -> None:
        lines = (lines,) if isinstance(lines, Line) else lines
        if not lines:
            raise ValueError("a change needs a line in the journal")
        act = acts.of(self.transaction)
        for kind, fact_id, episode_id, before, after, evidence, said_at, author in lines:
            by = author or self.author
            cause = _cause(kind, after, evidence)
            act.add(
                self.transaction,
                None if said_at is None else clock.to_text(said_at),
                self.author.run,
                by.actor,
                by.source,
                kind,
                fact_id,
                episode_id if cause is None else cause,
                None if before is None else _encode(before),
                None if after is None else _encode(after),
                None if evidence is None else _encode(evidence),
            )


class Adoption(Changes):
    """Changes that link their new rows to one another before journalling them.

    The lines are written at the end of the ``with`` block, from each row's final state.
    """

    def __init__(self, transaction: Transaction, author: Author) -> None:
        super().__init__(transaction, author)
        self._owed: dict[int, tuple[Any, Callable[[Any], Lines]]] = {}

    def adopt(self, record: T, write: Write, lines: Callable[[T], Lines]) -> None:
        """Queue the row of a record; its lines are made from what it is in the end."""
        acts.of(self.transaction)
        self.transaction.queue(*write)
        self._owed[record.id] = record, lines

    def link(self, record: StoredRow, write: Write) -> None:
        """Change a row that this adoption inserted."""
        _, lines = self._owed[record.id]
        self.transaction.run_later(*write)
        self._owed[record.id] = record, lines

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            for record, lines in self._owed.values():
                self._journal(lines(record))


def _cause(
    kind: str, after: Mapping[str, Any] | str | None, evidence: Mapping[str, Any] | None
) -> int | None:
    """Return the episode that caused a change, as its evidence or the new fact says."""
    named = None if evidence is None else evidence.get("episode")
    if named is None and kind == Kind.ADD and not isinstance(after, str | None):
        named = after.get("episode_id")
    return named if type(named) is int and 0 < named <= MAX_NUMBER else None


def _encode(part: Mapping[str, Any] | str) -> str:
    return part if isinstance(part, str) else _to_text(part)
