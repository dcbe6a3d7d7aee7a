"""Importing another program's memories: the whole file is checked first, then imported in batches.

A batch holds whole chains, so that a superseded fact is never active in between. After an
interruption, the same import resumes where it stopped.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from memstore.database.short_transactions import SLOW, in_steps
from memstore.domain.arguments import ALL_NAMESPACES, checked_choice, checked_items
from memstore.domain.episodes import Episode
from memstore.episodes import parts
from memstore.errors import InvalidArgument, Remedy, StorageError, TransferError
from memstore.frozen import replace
from memstore.importing import (
    chatgpt,
    claude,
    claude_mem,
    engram,
    langgraph,
    letta,
    markdown,
    mcp_memory_service,
    mem0,
    original,
    revisions,
    server_memory,
)
from memstore.importing.conversations import INCLUDABLE
from memstore.importing.detection import description, likely_source
from memstore.importing.records import MARK, Damaged, Foreign, Imported, Skipped
from memstore.transfer.batches import is_long, prepare
from memstore.transfer.merging import bring_in
from memstore.transfer.parsing import Incoming

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from memstore.database.changes import Dependents
    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.journal import Author
    from memstore.database.short_transactions import Slow
    from memstore.domain.records import Scope
    from memstore.importing.records import Found

SOURCES: Final[dict[str, Callable[[Path, Progress | None], Iterator[Found]]]] = {
    engram.NAME: engram.found,
    original.NAME: original.found,
    mem0.NAME: mem0.found,
    server_memory.NAME: server_memory.found,
    chatgpt.NAME: chatgpt.found,
    claude.NAME: claude.found,
    markdown.NAME: markdown.found,
    mcp_memory_service.NAME: mcp_memory_service.found,
    claude_mem.NAME: claude_mem.found,
    letta.NAME: letta.found,
    langgraph.NAME: langgraph.found,
}

EXPECTED: Final[dict[str, str]] = {
    one.NAME: one.EXPECTED
    for one in (
        engram, original, mem0, server_memory, chatgpt, claude, markdown, mcp_memory_service,
        claude_mem, letta, langgraph,
    )
}  # fmt: skip
"""What each reads, for messages about other files."""

FOLDERS: Final = frozenset({chatgpt.NAME, claude.NAME, markdown.NAME})
"""Those whose export is a folder, also as a ZIP archive, or a file of it."""

REVISED: Final = frozenset({mem0.NAME, letta.NAME, langgraph.NAME})
"""Those that change texts in place (:mod:`memstore.importing.revisions`)."""

INCLUDING: Final[dict[str, Callable[..., Iterator[Found]]]] = {
    chatgpt.NAME: chatgpt.found,
    claude.NAME: claude.found,
    letta.NAME: letta.found,
}
"""Those with parts that are imported only if asked for (:data:`INCLUDABLE`)."""

BATCH: Final = 50
"""The size of a batch in records; groups are not split."""

BATCH_CHARACTERS: Final = 200_000
"""The most characters of a batch, unless one group has more."""

READ_AT_ONCE: Final = 4
"""Batches that are read between transactions: reading may take long, for all that is no record."""

NAMED: Final = 5
"""How many skipped items of each kind the report names; the others are only counted."""


@dataclass(slots=True)
class LeftOut:
    count: int = 0
    first: list[str] = field(default_factory=list)

    def note(self, name: str, count: int = 1) -> None:
        self.count += count
        if len(self.first) < NAMED:
            self.first.append(name.encode("utf-8", "backslashreplace").decode())


@dataclass(slots=True)
class ImportFromReport:
    """What was imported from another program (new here), and what could not be."""

    source: str
    dry_run: bool = False
    """Whether the source was only checked: the counts are those of its records."""
    facts: int = 0
    episodes: int = 0
    known: int = 0
    """Facts and episodes that were imported before."""
    retired: int = 0
    """Known facts that were since superseded there, and now are here too."""
    removed: int = 0
    """Known facts that were since deleted there, and now are here too."""
    namespaces: dict[str, int] = field(default_factory=dict)
    """The number of facts and episodes in each namespace of the source."""
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
    dependents: Dependents,
    *,
    namespace: str | None,
    scope: Scope | None = None,
    skip_damaged: bool = False,
    include: Collection[str] = (),
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportFromReport:
    """Import a file of another program; see :meth:`memstore.Store.transfer.import_from`."""
    refuse_named_pipe(path)
    _check_source(source, path)
    _check_included(source, include)
    if path.is_dir() and source not in FOLDERS:
        raise StorageError(
            f"{str(path)!r} is a folder, but {source} keeps a file", remedy=Remedy.NAME_FILE
        )
    keep = namespace is None
    report = ImportFromReport(source, dry_run)

    def read(progress: Progress | None) -> Iterator[Found]:
        return _read(_records(source, path, progress, include), keep, scope)

    try:
        total = _look_through(read(progress), report, skip=skip_damaged)
    except _NothingKnown as error:
        raise _of_another(source, path, error.what) from None
    except (StorageError, TransferError) as error:
        if likely := _other(source, path):
            raise type(error)(
                f"{error.text}; {likely}", place=error.place, remedy=Remedy.NAME_PROGRAM
            ) from error
        raise
    if dry_run:
        return report
    report.facts = report.episodes = done = 0

    def bring(batch: list[Imported], transaction: Transaction) -> None:
        nonlocal done
        _bring_in(transaction, author, batch, namespace, dependents, report)
        done += len(batch)

    found = _in_parts(_sound(read(None), skip=skip_damaged))

    def acts() -> Iterator[Callable[[Transaction], None] | Slow]:
        waiting = _batches(found)
        while some := [*islice(waiting, READ_AT_ONCE)]:  # read while no transaction is open
            for batch in some:
                items = [record.item for record in batch]
                if is_long(items):
                    yield SLOW
                    prepare(items)
                yield partial(bring, batch)
                if is_long(items):
                    yield SLOW
            yield SLOW

    for _ in in_steps(engine, acts()):
        if progress is not None:
            progress(done, total)
    return report


def refuse_named_pipe(path: Path) -> None:
    """Refuse a pipe that has a name: opening it waits until another program opens it, too.

    A pipe that a program has inherited, as from a shell, has none and is open at the other end.
    """
    if path.is_fifo() and os.path.lexists(os.path.realpath(path)):
        raise StorageError(
            f"{str(path)!r} is a named pipe, and whoever opens it may wait for ever",
            remedy=Remedy.USE_STANDARD_STREAM,
        )


def _check_source(source: str, path: Path) -> None:
    """Raise :class:`InvalidArgument` for an unknown source; the error names the likely one."""
    try:
        checked_choice(source, SOURCES, "source")
    except InvalidArgument as error:
        if likely := _other(source, path):
            raise InvalidArgument(f"{error.text}; {likely}", argument=error.argument) from None
        raise


def _other(source: str, path: Path) -> str | None:
    """Say which other program seems to have written the file."""
    likely = likely_source(path)
    return None if likely in (None, source) else f"the file looks like one of {likely}"


class _NothingKnown(Exception):
    """Nothing in a file is of the program."""

    def __init__(self, what: LeftOut) -> None:
        super().__init__()
        self.what = what
        """What there was in place of records."""


def _of_another(source: str, path: Path, what: LeftOut) -> TransferError:
    """Return the error about a file of which nothing is known, with what it seems to be."""
    likely = _other(source, path)
    held = f" ({what.first[0]}{_more(what)})" if what.first else ""
    said = f"the file holds nothing of {source}{held}: {EXPECTED[source]}; nothing was imported"
    if likely is None:
        return TransferError(f"{said}; the file seems to be {description(path)}")
    return TransferError(f"{said}; {likely}", remedy=Remedy.NAME_PROGRAM)


def _more(what: LeftOut) -> str:
    return f" (and {what.count - 1} more)" if what.count > 1 else ""


def _check_included(source: str, include: Collection[str]) -> None:
    for one in checked_items(include, "include"):
        checked_choice(one, INCLUDABLE, "include")
        if source not in INCLUDING:
            raise InvalidArgument(f"is for conversations, not for {source}", argument="include")


def _records(
    source: str, path: Path, progress: Progress | None, include: Collection[str]
) -> Iterator[Found]:
    if source in INCLUDING:
        return INCLUDING[source](path, progress, include)
    return SOURCES[source](path, progress)


def _read(records: Iterator[Found], keep: bool, scope: Scope | None) -> Iterator[Found]:
    """Yield what was read; a record in a reserved namespace counts as damaged."""
    for one in records:
        if keep and isinstance(one, Imported) and one.item.namespace == ALL_NAMESPACES:
            yield Damaged(one.place, f"its namespace is {ALL_NAMESPACES!r}, which is reserved")
        else:
            yield one if scope is None or not isinstance(one, Imported) else _owned(one, scope)


def _owned(record: Imported, scope: Scope) -> Imported:
    """Give a record these owners; its mark keeps the ones it has in the source."""
    item = record.item
    theirs = {name: owner for name, owner in item.scope.ids.items() if owner is not None}
    marked = {**item.metadata, MARK: theirs | item.metadata[MARK]}
    return replace(record, item=replace(item, metadata=marked, **scope.ids))


def _look_through(found: Iterator[Found], report: ImportFromReport, *, skip: bool) -> int:
    """Read everything before anything is written; return how many records will be imported.

    Raises:
        TransferError: something cannot be read, unless that is skipped.
        _NothingKnown: there is something, but nothing of the program.
    """
    unread, foreign = LeftOut(), LeftOut()
    homes: Counter[str] = Counter()
    is_known = False
    for one in found:
        match one:
            case Damaged(place, reason):
                unread.note(f"{place}: {reason}")
            case Foreign(place, reason):
                unread.note(f"{place}: {reason}")
                foreign.note(f"{place}: {reason}")
            case Skipped(kind, name, count):
                is_known = is_known or one.is_known
                report.leave_out(kind, name, count)
            case Imported(place, item, left_out):
                homes[item.namespace] += 1
                if isinstance(item, Episode):
                    report.episodes += 1
                else:
                    report.facts += 1
                for kind in left_out:
                    report.leave_out(kind, place)
    there_is = unread.count or report.left_out
    if there_is and not homes and not is_known and foreign.count == unread.count:
        raise _NothingKnown(foreign)
    if unread.count and not (homes or is_known):
        expected = EXPECTED[report.source]
        raise TransferError(f"{unread.first[0]}{_more(unread)}: {expected}; nothing was imported")
    if unread.count and not skip:
        raise TransferError(
            f"{unread.first[0]}{_more(unread)}; nothing was imported", remedy=Remedy.SKIP_DAMAGED
        )
    if unread.count:
        report.left_out["damaged records"] = unread
    report.namespaces = dict(sorted(homes.items()))
    return homes.total()


def _sound(found: Iterator[Found], *, skip: bool) -> Iterator[Imported]:
    """Yield the valid records. This is the second reading; the file may have changed since."""
    for one in found:
        if isinstance(one, Imported):
            yield one
        elif isinstance(one, Damaged | Foreign) and not skip:
            raise TransferError(
                f"{one.reason}; the file was changed during the import, and everything before this "
                "was imported",
                place=one.place,
                remedy=Remedy.IMPORT_AGAIN,
            )


def _in_parts(records: Iterator[Imported]) -> Iterator[Imported]:
    """Yield the records, a long text in parts."""
    for record in records:
        if isinstance(record.item, Episode):
            yield from (replace(record, item=part) for part in parts.of_episode(record.item))
        else:
            yield record


def _batches(records: Iterator[Imported]) -> Iterator[list[Imported]]:
    """Yield batches of whole groups; two records with the same key are in different batches."""
    batch: list[Imported] = []
    keys: set[str | None] = set()
    characters = 0
    for record in records:
        key = record.item.idempotency_key
        characters += len(record.item.content)
        apart = not batch or record.group is None or record.group != batch[-1].group
        full = len(batch) >= BATCH or key in keys or characters > BATCH_CHARACTERS
        if batch and apart and full:
            yield batch
            batch, keys, characters = [], set(), len(record.item.content)
        batch.append(record)
        keys.add(key)
    if batch:
        yield batch


def _bring_in(
    transaction: Transaction,
    author: Author,
    batch: list[Imported],
    namespace: str | None,
    dependents: Dependents,
    report: ImportFromReport,
) -> None:
    incoming = Incoming()
    for record in batch:
        item = record.item
        if isinstance(item, Episode):
            incoming.episodes.append(item)
        elif report.source not in REVISED:
            incoming.facts.append(item)
        elif facts := revisions.revised(
            transaction, report.source, namespace or item.namespace, item
        ):
            incoming.facts += facts
            report.known -= len(facts) - 1  # the fact that it supersedes is not from the file
        else:
            report.leave_out("memories changed here since, or newer here", record.place)
            report.known += 1
    done = bring_in(transaction, author, incoming, namespace, dependents)
    report.facts += done.imported
    report.episodes += done.episodes
    report.known += done.known + done.episodes_known
    report.retired += done.retired
    report.removed += done.removed
