"""Exporting one state of the database, line by line; the same state gives the same bytes.

Everything is read in steps, each a short transaction, and buffered in temporary files. Records that
changed in the meantime are read again. The last step reads the remaining changes, so the export is
of the state that this step sees. No transaction is open while the caller consumes the lines.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import generations as generation_table
from memstore.domain import clock
from memstore.errors import StorageError
from memstore.history import past
from memstore.named import NamedTuple
from memstore.transfer import attachments, lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.domain.moments import Moment
    from memstore.domain.records import JournalLine

STEP: Final = 500
"""Facts or episodes read in one transaction."""

ROUNDS: Final = 5
"""How often records that changed in the meantime are re-read in steps, before the last one."""


class _Kind(NamedTuple):
    """How to read and write facts or episodes."""

    journalled: str
    """The column of the journal with their ids."""
    all_ids: Callable[[Transaction, Sequence[str] | None], list[int]]
    get_many: Callable[[Transaction, Sequence[int]], dict[int, Any]]
    operations: Callable[[Transaction, int], list[JournalLine]]
    out: Callable[[Any], str]


EPISODES: Final = _Kind(
    "episode_id",
    episode_table.all_ids,
    episode_table.get_many,
    journal.of_episode,
    lines.episode_out,
)
FACTS: Final = _Kind(
    "fact_id", fact_table.all_ids, fact_table.get_many, journal.of_fact, lines.fact_out
)


class _Buffer:
    """Lines in a temporary file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def put(self, lines: Iterable[str]) -> None:
        try:
            self._file.writelines(f"{line}\n".encode() for line in lines)
            self._file.flush()
        except OSError as error:
            raise StorageError(
                f"cannot write the temporary file of an export: {error.strerror or error}"
            ) from error

    def clear(self) -> None:
        self._file.seek(0)
        self._file.truncate()

    def lines(self) -> Iterator[str]:
        self._file.seek(0)
        return (line.decode()[:-1] for line in self._file)


@dataclass(slots=True)
class _KeptLines:
    """The lines read so far of one kind: each record with its operations."""

    kind: _Kind
    first: _Buffer
    """The first reading, by id: for each record a line with its id and number of lines, then its
    lines."""
    again: dict[int, list[str]] = field(default_factory=dict)
    """The latest reading of records that were read again."""

    def lines(self) -> Iterator[str]:
        """Yield the latest lines of each record, by id."""
        first, again = self.first.lines(), {**self.again}
        for head in first:
            id_, number = map(int, head.split())
            lines = list(islice(first, number))
            yield from again.pop(id_, lines)
        for _, lines in sorted(again.items()):
            yield from lines


def export(
    engine: Engine,
    namespaces: tuple[str, ...] | None,
    progress: Progress | None = None,
    *,
    levels: bool = True,
) -> Iterator[str]:
    """Yield the lines of an export, without line ends, all from one state of the database.

    ``levels`` tells also what sources count, which is the same in all namespaces.
    """
    with ExitStack() as stack:
        episodes, facts, attached = (_Buffer(stack.enter_context(engine.scratch())) for _ in "123")
        kept = [_KeptLines(EPISODES, episodes), _KeptLines(FACTS, facts)]
        reading = _Reading(engine, namespaces, levels, kept, attached, progress)
        header = reading.in_steps() or reading.at_once()
        yield from _hashed(header, *kept, attached)


def export_as_of(
    engine: Engine,
    namespaces: tuple[str, ...] | None,
    moment: Moment,
    progress: Progress | None = None,
    *,
    levels: bool = True,
) -> Iterator[str]:
    """Yield the lines of an export as of a moment, from one state of the database.

    It has the facts, the episodes and the lines of the journal up to then; of what was erased
    since, the line that says so. For the rest, see :func:`memstore.transfer.attachments.as_of`.
    """
    with ExitStack() as stack:
        body = _Buffer(stack.enter_context(engine.scratch()))
        with engine.read() as transaction:
            counts = _put_as_of(transaction, body, namespaces, moment, progress, levels=levels)
            active = generation_table.active(transaction)
            header = {
                "memstore": "export",
                "format": lines.FORMAT,
                "changed_at": clock.to_text(moment.at),
                **counts,
                "model": active.model,
                "dimension": active.dimension,
                "head": str(journal.head(transaction, moment.line)),
            }
        yield from _hashed(header, body)


def _hashed(header: Mapping[str, Any], *parts: _KeptLines | _Buffer) -> Iterator[str]:
    """Yield the first line of an export, with its hash over all lines, then the others."""
    digest = lines.Digest(header)
    for part in parts:
        for line in part.lines():
            digest.add(line)
    yield lines.line(**header, hash=digest.text)
    for part in parts:
        yield from part.lines()


def _put_as_of(
    transaction: Transaction,
    body: _Buffer,
    namespaces: tuple[str, ...] | None,
    moment: Moment,
    progress: Progress | None,
    *,
    levels: bool,
) -> dict[str, int]:
    """Write all records as they were; return how many there are of each kind, and operations."""
    kinds = (("episodes", EPISODES, past.episodes_at), ("facts", FACTS, past.facts_at))
    ids = {name: kind.all_ids(transaction, namespaces) for name, kind, _ in kinds}
    total = sum(map(len, ids.values()))
    counts = {"facts": 0, "operations": 0, "episodes": 0}
    there: dict[str, set[int]] = {name: set() for name in ids}
    for name, kind, rows_at in kinds:
        for first in range(0, len(ids[name]), STEP):
            some = rows_at(transaction, ids[name][first : first + STEP], moment)
            for id_, record in sorted(some.items()):
                every = kind.operations(transaction, id_)
                then = [x for x in every if x.id <= moment.line or x.kind in past.ENDS]
                body.put([kind.out(record), *map(lines.operation_out, then)])
                counts[name] += 1
                there[name].add(id_)
                counts["operations"] += len(then)
            if progress is not None:
                progress(counts["facts"] + counts["episodes"], total)
    attached = attachments.as_of(transaction, namespaces, moment, there["episodes"], levels=levels)
    body.put(attachments.out(attached))
    return counts | attached.counts()


@dataclass(slots=True)
class _Reading:
    engine: Engine
    namespaces: tuple[str, ...] | None
    levels: bool
    kept: list[_KeptLines]
    attached: _Buffer
    progress: Progress | None

    def in_steps(self) -> dict[str, Any] | None:
        """Read everything in steps, and return the first line of the export.

        Returns ``None`` if something was erased in the meantime, because an earlier step may have
        read its text.
        """
        with self.engine.read() as transaction:
            began = position = journal.last_id(transaction)
            ids = self._all_ids(transaction)
        done, total = 0, sum(map(len, ids))
        for one, some in self._steps(ids):
            with self.engine.read() as transaction:
                one.first.put(self._framed(transaction, one, some))
            done += len(some)
            if self.progress is not None:
                self.progress(done, total)
        for _ in range(ROUNDS):
            with self.engine.read() as transaction:
                ids = self._changed_ids(transaction, position)
                now = journal.last_id(transaction)
            if sum(map(len, ids)) <= STEP:
                break
            for one, some in self._steps(ids):
                with self.engine.read() as transaction:
                    one.again.update(self._records(transaction, one, some))
            position = now
        with self.engine.read() as transaction:
            if journal.erased_since(transaction, began):
                return None
            for one, some in self._steps(self._changed_ids(transaction, position)):
                one.again.update(self._records(transaction, one, some))
            return self._end(transaction)

    def at_once(self) -> dict[str, Any]:
        """Read everything in one transaction, and return the first line."""
        with self.engine.read() as transaction:
            for one in self.kept:
                one.first.clear()
                one.again.clear()
            for one, some in self._steps(self._all_ids(transaction)):
                one.first.put(self._framed(transaction, one, some))
            return self._end(transaction)

    def _all_ids(self, transaction: Transaction) -> list[list[int]]:
        return [one.kind.all_ids(transaction, self.namespaces) for one in self.kept]

    def _changed_ids(self, transaction: Transaction, position: int) -> list[list[int]]:
        return [
            journal.changed_since(transaction, position, one.kind.journalled) for one in self.kept
        ]

    def _steps(self, ids: Sequence[Sequence[int]]) -> Iterator[tuple[_KeptLines, Sequence[int]]]:
        for one, all_ in zip(self.kept, ids, strict=True):
            for first in range(0, len(all_), STEP):
                yield one, all_[first : first + STEP]

    def _records(
        self, transaction: Transaction, one: _KeptLines, ids: Sequence[int]
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the id and the lines of each record of the namespaces, by id."""
        for id_, record in sorted(one.kind.get_many(transaction, ids).items()):
            if self.namespaces is None or record.namespace in self.namespaces:
                operations = one.kind.operations(transaction, id_)
                yield id_, [one.kind.out(record), *map(lines.operation_out, operations)]

    def _framed(
        self, transaction: Transaction, one: _KeptLines, ids: Sequence[int]
    ) -> Iterator[str]:
        for id_, record in self._records(transaction, one, ids):
            yield f"{id_} {len(record)}"
            yield from record

    def _end(self, transaction: Transaction) -> dict[str, Any]:
        self.attached.put(attachments.written(transaction, self.namespaces, levels=self.levels))
        return _header(transaction, self.namespaces, levels=self.levels)


def _header(
    transaction: Transaction, namespaces: tuple[str, ...] | None, *, levels: bool
) -> dict[str, Any]:
    """Return the first line but for its hash; it does not say when or where it was written."""
    active = generation_table.active(transaction)
    changed_at = journal.last_change(transaction, namespaces)
    return {
        "memstore": "export",
        "format": lines.FORMAT,
        "changed_at": clock.to_text(changed_at) if changed_at is not None else None,
        "facts": fact_table.count_all(transaction, namespaces),
        "operations": journal.count(transaction, namespaces),
        "episodes": episode_table.count_all(transaction, namespaces),
        **attachments.counted(transaction, namespaces, levels=levels),
        "model": active.model,
        "dimension": active.dimension,
        "head": str(journal.head(transaction)),
    }
