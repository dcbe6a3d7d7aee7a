"""Importing another program's memories: the whole file is checked first, then imported in batches.

A batch holds whole chains, so that a superseded fact is never active for a moment. After an
interruption, the same import continues where it stopped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memstore.database.steps import in_steps
from memstore.domain.arguments import ALL_NAMESPACES, checked_choice
from memstore.domain.episodes import Episode
from memstore.errors import Remedy, TransferError
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

BATCH: Final = 50
"""Records brought in together, give or take what belongs together."""

NAMED: Final = 5
"""How many things of each kind that is left out are named; the rest are counted."""


@dataclass(slots=True)
class LeftOut:
    count: int = 0
    first: list[str] = field(default_factory=list)

    def note(self, name: str, count: int = 1) -> None:
        self.count += count
        if len(self.first) < NAMED:
            self.first.append(name)


@dataclass(slots=True)
class ImportFromReport:
    """What was imported from another program (new here), and what could not be."""

    source: str
    facts: int = 0
    episodes: int = 0
    known: int = 0
    """Facts and episodes that were imported before."""
    retired: int = 0
    """Known facts that were superseded there since, and now are here too."""
    removed: int = 0
    """Known facts that were deleted there since, and now are here too."""
    namespaces: dict[str, int] = field(default_factory=dict)
    """How many facts and episodes each namespace of the source holds."""
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    """What was not imported, by kind."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def leave_out(self, kind: str, name: str, count: int = 1) -> None:
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
    """Import what a file of another program holds; see :meth:`memstore.Store.import_from`."""
    checked_choice(source, SOURCES, "source")
    keep = namespace is None
    report = ImportFromReport(source)
    total = _look_through(_read(source, path, keep=keep), report, skip=skip_damaged)
    done = 0

    def bring(batch: list[Record], transaction: Transaction) -> None:
        nonlocal done
        _bring_in(transaction, author, batch, namespace, satellite, report)
        done += len(batch)

    found = _sound(_read(source, path, keep=keep), skip=skip_damaged)
    for _ in in_steps(engine, (partial(bring, batch) for batch in _batches(found))):
        if progress is not None:
            progress(done, total)
    return report


def _read(source: str, path: Path, *, keep: bool) -> Iterator[Found]:
    """Read a file; a namespace that no store can be opened for makes a record a damaged one."""
    for one in SOURCES[source](path):
        if keep and isinstance(one, Record) and one.item.namespace == ALL_NAMESPACES:
            yield Damaged(one.place, f"its namespace is {ALL_NAMESPACES!r}, which is reserved")
        else:
            yield one


def _look_through(found: Iterator[Found], report: ImportFromReport, *, skip: bool) -> int:
    """Read everything before anything is written; return how many records will be imported."""
    damaged = LeftOut()
    homes: Counter[str] = Counter()
    for one in found:
        match one:
            case Damaged(place, reason):
                damaged.note(f"{place}: {reason}")
            case Skipped(kind, name, count):
                report.leave_out(kind, name, count)
            case Record(place, item, left_out):
                homes[item.namespace] += 1
                for kind in left_out:
                    report.leave_out(kind, place)
    if damaged.count and not skip:
        more = f" (and {damaged.count - 1} more)" if damaged.count > 1 else ""
        raise TransferError(
            f"{damaged.first[0]}{more}; nothing was imported", remedy=Remedy.SKIP_DAMAGED
        )
    if damaged.count:
        report.left_out["damaged records"] = damaged
    report.namespaces = dict(sorted(homes.items()))
    return homes.total()


def _sound(found: Iterator[Found], *, skip: bool) -> Iterator[Record]:
    """Yield what can be imported. The file is read again, and may have changed in the meantime."""
    for one in found:
        if isinstance(one, Record):
            yield one
        elif isinstance(one, Damaged) and not skip:
            raise TransferError(
                f"{one.reason}; the file was changed during the import, and everything before this "
                "was imported",
                place=one.place,
                remedy=Remedy.IMPORT_AGAIN,
            )


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    """Yield batches of whole groups; two records with the same key are in different batches."""
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
    done = bring_in(transaction, author, incoming, namespace, satellite)
    report.facts += done.imported
    report.episodes += done.episodes
    report.known += done.known + done.episodes_known
    report.retired += done.retired
    report.removed += done.removed
