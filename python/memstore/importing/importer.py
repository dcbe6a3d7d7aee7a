"""Importing what another program remembers: the file is looked through whole, then comes in.

It comes in by batches. Each is one transaction in which every chain is whole, so that a fact that
was superseded holds at no moment. After an interruption the same import goes on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import Episode
from memstore.errors import TransferError
from memstore.importing import engram, mem0, original, server_memory
from memstore.importing.records import Damaged, Record, Skipped
from memstore.transfer.merging import bring_in
from memstore.transfer.parsing import Incoming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.journal import Author
    from memstore.database.satellite import Satellite
    from memstore.importing.records import Found

SOURCES: Final[dict[str, Callable[[Path], Iterator[Found]]]] = {
    engram.NAME: engram.found,
    original.NAME: original.found,
    mem0.NAME: mem0.found,
    server_memory.NAME: server_memory.found,
}

BATCH: Final = 500
"""Records in one transaction: others that write wait for a fraction of a second."""

NAMED: Final = 5
"""Of each kind that is not carried over, how many are named; the rest is counted."""

ALL: Final = "all"


@dataclass(slots=True)
class LeftOut:
    """Things of one kind that were not carried over."""

    count: int = 0
    first: list[str] = field(default_factory=list)
    """The first few, named."""

    def note(self, name: str, count: int = 1) -> None:
        """Count one more."""
        self.count += count
        if len(self.first) < NAMED:
            self.first.append(name)


@dataclass(slots=True)
class ImportFromReport:
    """What was imported from another program, and what could not be carried over."""

    source: str
    facts: int = 0
    """Facts that are new here."""
    episodes: int = 0
    """Episodes that are new here."""
    known: int = 0
    """Facts and episodes that were imported before."""
    retired: int = 0
    """Known facts that were superseded there since, and now are here."""
    removed: int = 0
    """Known facts that were deleted there since, and now are here."""
    namespaces: dict[str, int] = field(default_factory=dict)
    """How many facts and episodes each namespace of the source holds."""
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    """What was not carried over, by its kind."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)

    def leave_out(self, kind: str, name: str, count: int = 1) -> None:
        """Note something that is not carried over."""
        self.left_out.setdefault(kind, LeftOut()).note(name, count)


def import_from(
    engine: Engine,
    author: Author,
    source: str,
    path: Path,
    satellite: Satellite,
    *,
    namespace: str | None,
    skip_damaged: bool = False,
    progress: Progress | None = None,
) -> ImportFromReport:
    """Import what a file of another program holds; see :meth:`memstore.Store.import_from`.

    Args:
        engine: the database.
        author: who imports.
        source: which program: a key of ``SOURCES``.
        path: its file.
        satellite: what is told of erasures.
        namespace: where everything goes; ``None`` to keep each record in its own.
        skip_damaged: leave out what cannot be read, rather than refuse the file.
        progress: called with how many records are in, and of how many.

    Raises:
        TransferError: something cannot be read; nothing was imported.
        StorageError: the file cannot be opened.
        ValueError: an unknown source.
    """
    if source not in SOURCES:
        raise ValueError(f"unknown source {source!r}: use one of {', '.join(SOURCES)}")
    found = SOURCES[source]
    report = ImportFromReport(source)
    total = _look_through(found(path), report, keep=namespace is None, skip=skip_damaged)
    done = 0
    for batch in _batches(_sound(found(path), keep=namespace is None, skip=skip_damaged)):
        with engine.write() as transaction:
            _bring_in(transaction, author, batch, namespace, satellite, report)
        done += len(batch)
        if progress is not None:
            progress(done, total)
    return report


def _look_through(
    found: Iterator[Found], report: ImportFromReport, *, keep: bool, skip: bool
) -> int:
    """Read everything before anything is written; return how much will come in."""
    damaged = LeftOut()
    homes: Counter[str] = Counter()
    for one in found:
        one = _placed(one, keep=keep)
        match one:
            case Damaged(place, reason):
                damaged.note(f"{place} {_reason(reason)}")
            case Skipped(kind, name, count):
                report.leave_out(kind, name, count)
            case Record(place, item, left_out):
                homes[item.namespace] += 1
                for kind in left_out:
                    report.leave_out(kind, place)
    if damaged.count and not skip:
        more = f" (and {damaged.count - 1} more)" if damaged.count > 1 else ""
        raise TransferError(
            f"{damaged.first[0]}{more}; nothing was imported: mend the file, or leave out what is "
            "damaged with skip_damaged (--skip-damaged)"
        )
    if damaged.count:
        report.left_out["damaged records"] = damaged
    report.namespaces = dict(sorted(homes.items()))
    return homes.total()


def _placed(one: Found, *, keep: bool) -> Found:
    """Refuse a namespace that nobody could open."""
    if keep and isinstance(one, Record) and one.item.namespace == ALL:
        return Damaged(one.place, f"stands in a namespace {ALL!r}, which no store can be bound to")
    return one


def _reason(reason: str) -> str:
    return reason if reason.startswith(("is ", "holds ", "stands ")) else f"is refused: {reason}"


def _sound(found: Iterator[Found], *, keep: bool, skip: bool) -> Iterator[Record]:
    """Yield what comes in. The file is read anew, and may have been changed meanwhile."""
    for one in found:
        one = _placed(one, keep=keep)
        if isinstance(one, Record):
            yield one
        elif isinstance(one, Damaged) and not skip:
            raise TransferError(
                f"{one.place} {_reason(one.reason)}: the file was changed while it was read; what "
                "came before is in, and the same import goes on from there"
            )


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    """Yield batches of whole groups; records under one key come in one after the other."""
    batch: list[Record] = []
    keys: set[str | None] = set()
    for record in records:
        key = record.item.idempotency_key
        apart = not batch or record.group is None or record.group != batch[-1].group
        if batch and apart and (len(batch) >= BATCH or key in keys):
            yield batch
            batch, keys = [], set()
        batch.append(record)
        keys.add(key)
    if batch:
        yield batch


def _bring_in(
    transaction: Transaction,
    author: Author,
    batch: list[Record],
    namespace: str | None,
    satellite: Satellite,
    report: ImportFromReport,
) -> None:
    incoming = Incoming()
    for record in batch:
        item = record.item
        if isinstance(item, Episode):
            incoming.episodes.append(item)
        elif report.source != mem0.NAME:
            incoming.facts.append(item)
        elif facts := mem0.revised(transaction, namespace or item.namespace, item):
            incoming.facts += facts
            report.known -= len(facts) - 1  # what it supersedes is not of the file
        else:
            report.leave_out("memories changed here since, or newer here", record.place)
            report.known += 1
    done, _ = bring_in(transaction, author, incoming, namespace, satellite)
    report.facts += done.imported
    report.episodes += done.episodes
    report.known += done.known + done.episodes_known
    report.retired += done.retired
    report.removed += done.removed
