"""The index of a file's facts or episodes, shared by its searches and kept current by a feed.

A search reads one state of the file. The index is first updated to that state: rows that changed
since, by any program, are read again. While a search runs, the index does not change. If there is
no index, because it is being built or cannot hold the rows, SQLite answers.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memstore.database.tables import feeds, indexed
from memstore.database.tables import generations as generation_table
from memstore.database.tables import vectors as vector_table
from memstore.database.tables.feeds import DerivedFiles
from memstore.errors import StorageError
from memstore.lazy import lazy_import
from memstore.search.index import visibility
from memstore.search.index.contents import Contents
from memstore.search.index.files import Files
from memstore.search.index.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memstore.database.engine import Engine, Transaction
    from memstore.database.tables.feeds import Changed, Span
    from memstore.database.tables.indexed import Source
    from memstore.database.tables.vectors import VectorTable
    from memstore.domain.generations import Generation
    from memstore.embedding import leases
    from memstore.search.index.visibility import Visible
else:
    leases = lazy_import("memstore.embedding.leases")

AT_ONCE: Final = 2000
"""The most rows that a search indexes itself, in some 50 ms. More are indexed in the background,
and SQLite answers until that is done."""

SAVED_FROM: Final = 2000
"""Indexing fewer rows takes less time than opening files."""

LOOSE_SHARE: Final = 8
"""New files are written when an eighth of the rows changed: rows that are not in them take memory
in every process and are searched more slowly."""

SAVED_AT_THE_END: Final = 200_000
"""The most rows that are indexed and saved when a program ends; that takes some seconds."""

SAVE_WAIT_SECONDS: Final = 5.0
"""How long recording new files waits for a writer. They can be written again later."""

CLOSING_SECONDS: Final = 30.0
"""How long closing waits for the current batch or file."""

LEAST_ID: Final = -(2**63)

OLD_SNAPSHOTS: Final = 20
"""How often a transaction may be older than the index, because other threads were faster. If each
new one is, the file was replaced by an older copy, and the index is discarded."""


class Kind(NamedTuple):
    """The rows that an index covers."""

    name: str
    feed: str
    source: Source
    changes: Callable[[Transaction, int], Changed]
    vectors: VectorTable
    visible: Callable[[Transaction, Any, Any], Visible]
    """Returns the ids of the rows that match a filter, given the columns."""
    newest_of_equals: bool
    """Whether the newest of equally good rows comes first; else the one with the smallest id."""


FACTS: Final = Kind(
    "facts",
    "memstore_fact_changes",
    indexed.FACTS,
    feeds.fact_changes,
    vector_table.FACTS,
    visibility.of_facts,
    newest_of_equals=False,
)
EPISODES: Final = Kind(
    "episodes",
    "memstore_episode_changes",
    indexed.EPISODES,
    feeds.episode_changes,
    vector_table.PIECES,
    visibility.of_episodes,
    newest_of_equals=True,  # the latest statement counts
)


class _Older(Exception):
    """A transaction began before the index reached its state."""


class Index:
    """One kind of rows, of every namespace; any number of threads can search it at once."""

    def __init__(self, engine: Engine, kind: Kind, *, read_only: bool = False) -> None:
        self._engine = engine
        self._kind = kind
        path = engine.derived_path
        self._files = None if path is None else Files(path, kind.name)
        self._read_only = read_only
        self._gate = Gate()
        self._held: Contents | None = None
        self._unfit = False
        """Whether the rows cannot be indexed: their ids are too far apart or out of range."""
        self._tried_at: int | None = None
        """``Contents.loose`` at the last attempt to write files, which may have failed."""
        self._starting = threading.Lock()
        self._worker: threading.Thread | None = None
        self._ended = threading.Event()

    # -- searching --------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[tuple[Transaction, Contents | None]]:
        """Open a transaction, and the index in its state; ``None`` if SQLite has to answer."""
        for left in reversed(range(OLD_SNAPSHOTS)):
            with self._engine.read() as transaction:
                try:
                    contents = self._enter(transaction)
                except _Older:
                    if not left:
                        self._forget()
                    continue
                try:
                    yield transaction, contents
                finally:
                    if contents is not None:
                        self._gate.leave()
            break
        else:
            with self._engine.read() as transaction:
                yield transaction, None
        self._work_behind()

    def _enter(self, transaction: Transaction) -> Contents | None:
        """Return the index in the state of the transaction, and enter its gate."""
        span = feeds.span(transaction, self._kind.feed)
        generation = generation_table.active(transaction)
        self._gate.enter()
        held = self._held
        if held is not None and held.position == span.newest and held.generation == generation:
            return held
        self._gate.leave()
        if self._unfit:
            return None
        before = None if held is None else held.identity
        del held  # it may be the last that maps its files
        with self._gate.alone(stay=True):
            self._bring_up(transaction, span, generation)
            held = self._held
        if held is None:
            self._gate.leave()
        elif self._files is not None and before is not None and held.identity not in (before, None):
            self._files.remove(before)  # some systems kept them as long as they were mapped here
        return held

    def _bring_up(self, transaction: Transaction, span: Span, generation: Generation) -> None:
        """Update ``_held`` to the state that the transaction sees, or set it to ``None``."""
        held = self._held
        if held is not None and held.position > span.newest:
            raise _Older
        if held is None or not (span.reaches(held.position) and held.compare_with(generation)):
            self._held = held = self._opened(transaction, span, generation)
        if held is None:
            if indexed.largest_id(transaction, self._kind.source) <= AT_ONCE:
                self._held = self._built_within(transaction, span, generation)
        elif held.position < span.newest:
            self._follow_or_switch(held, transaction, span, generation)

    def _follow_or_switch(
        self, held: Contents, transaction: Transaction, span: Span, generation: Generation
    ) -> None:
        saved = feeds.derived_files(transaction, self._kind.name)
        if saved is not None and saved.identity != held.identity:
            # Another process wrote new files: they are shared, and contain no erased text.
            self._held = held = self._opened(transaction, span, generation) or held
        if span.newest - held.position > max(AT_ONCE, len(held) // LOOSE_SHARE):
            self._held = None  # too much for a search: rebuilt in the background
        else:
            self._follow(held, transaction, span)

    def _follow(self, held: Contents, transaction: Transaction, span: Span) -> None:
        changed = self._kind.changes(transaction, held.position)
        try:
            held.follow(transaction, changed, span.newest)
        except BaseException as error:
            self._held = None  # it may be between two states
            if not isinstance(error, ValueError):
                raise
            self._unfit = True

    def _opened(
        self, transaction: Transaction, span: Span, generation: Generation
    ) -> Contents | None:
        """Map the files that the database names, if they are there and not too old."""
        saved = feeds.derived_files(transaction, self._kind.name)
        if self._files is None or saved is None:
            return None
        if saved.position > span.newest or not span.reaches(saved.position):
            return None
        if saved.generation_id not in (None, generation.id):
            return None
        try:
            return Contents.open(self._kind.source, self._files, saved, generation)
        except (OSError, ValueError):
            return None

    def _forget(self) -> None:
        with self._gate.alone():
            self._held = None

    # -- building ---------------------------------------------------------------------------

    def _built_within(
        self, transaction: Transaction, span: Span, generation: Generation
    ) -> Contents | None:
        if not self._is_dense(transaction):
            return None
        contents = Contents(self._kind.source, generation, span.newest)
        try:
            _load(contents.load_rows, transaction)
            _load(contents.load_vectors, transaction)
        except ValueError:
            self._unfit = True
            return None
        return contents

    def _build(self) -> Contents | None:
        """Index every row, in many transactions, each of which may see later rows than the last.

        Rows that changed after the first of them are in the feed, and are read again.
        """
        with self._engine.read() as transaction:
            span = feeds.span(transaction, self._kind.feed)
            generation = generation_table.active(transaction)
            if not self._is_dense(transaction):
                return None
            contents = self._opened(transaction, span, generation)
        if contents is not None:
            return contents
        contents = Contents(self._kind.source, generation, span.newest)
        for load in (contents.load_rows, contents.load_vectors):
            last: int | None = LEAST_ID
            while last is not None:
                if self._ended.is_set():
                    return None
                with self._engine.read() as transaction:
                    last = load(transaction, last)
        return contents

    def _is_dense(self, transaction: Transaction) -> bool:
        """Whether arrays by row id are not mostly empty, so that rows can be indexed at all."""
        count, largest = indexed.extent(transaction, self._kind.source)
        self._unfit = largest >= 2**32 or largest > 4 * count + 1_000_000
        return not self._unfit

    def _catch_up(self, contents: Contents) -> bool:
        """Follow the feed until the next search has little left to do."""
        while not self._ended.is_set():
            with self._engine.read() as transaction:
                span = feeds.span(transaction, self._kind.feed)
                active = generation_table.active(transaction)
                if not (span.reaches(contents.position) and contents.compare_with(active)):
                    return False
                if span.newest - contents.position <= AT_ONCE // LOOSE_SHARE:
                    return True
                changed = self._kind.changes(transaction, contents.position)
                contents.follow(transaction, changed, span.newest)
        return False

    def prepare(self) -> None:
        """Build the index if there is none; wait if it is being built."""
        with self.reading() as (_, contents):
            pass
        if contents is None and not self._unfit:
            self._work_behind()
            worker = self._worker
            if worker is not None:
                worker.join()

    # -- background work ----------------------------------------------------------------------

    def _work_behind(self) -> None:
        """Build or save in a background thread, if necessary."""
        held = self._held
        if self._unfit or (held is not None and not self._is_loose(held)):
            return
        with self._starting:
            if self._ended.is_set() or (self._worker is not None and self._worker.is_alive()):
                return
            self._worker = threading.Thread(target=self._work, name="memstore-index", daemon=True)
            self._worker.start()

    def _work(self) -> None:
        if self._held is None:
            self._build_and_hold()
        held = self._held
        if held is None or not self._is_loose(held):
            return
        self._tried_at = held.loose  # the file may be busy, or the folder not writable
        job = f"index of {self._kind.name}"
        with suppress(StorageError, OSError), leases.Lease(self._engine, job) as lease:
            if lease.held:
                self.save()

    def _build_and_hold(self) -> None:
        try:
            contents = self._build()
            if contents is not None and self._catch_up(contents):
                with self._gate.alone():
                    self._held, self._tried_at = contents, None
        except (StorageError, ValueError, MemoryError):  # closed, unreadable or too large
            self._unfit = True

    def _is_loose(self, held: Contents) -> bool:
        """Whether enough rows are in no file to write new files."""
        if self._files is None or self._read_only or len(held) < SAVED_FROM:
            return False
        since = held.loose - (self._tried_at or 0)
        if self._tried_at is None and held.identity is None:
            return True
        return since > max(SAVED_FROM, len(held) // LOOSE_SHARE)

    # -- files --------------------------------------------------------------------------------

    def save(self, *, always: bool = False) -> None:
        """Write the index to new files, record them, and switch to them.

        ``always``: even if another process has recorded equally new files in the meantime.
        """
        if self._files is None or self._read_only:
            return
        with self._engine.read() as transaction:
            before = feeds.derived_files(transaction, self._kind.name)
        identity = os.urandom(16).hex()
        self._gate.enter()  # the index does not change meanwhile
        try:
            held = self._held
            if held is None:
                return
            try:
                held.save(self._files, identity)
                generation_id = None if held.codes is None else held.generation.id
                saved = DerivedFiles(identity, held.position, generation_id)
                recorded, replaced = self._record(saved, before, always=always)
            except BaseException:
                self._files.remove(identity)
                raise
        finally:
            self._gate.leave()
        if recorded == identity:
            self._go_on_with(saved, held, self._files)
            self._files.remove_others(identity)
        unused = {identity, replaced, held.identity} - {recorded}
        del held  # some systems cannot remove a file while it is mapped
        for other in filter(None, unused):
            self._files.remove(other)

    def _record(
        self, saved: DerivedFiles, before: DerivedFiles | None, *, always: bool
    ) -> tuple[str, str | None]:
        """Record new files, unless another process was faster.

        Returns:
            The identities of the recorded set and of the one that it replaced here.
        """
        with self._engine.write(wait_seconds=SAVE_WAIT_SECONDS) as transaction:
            found = feeds.derived_files(transaction, self._kind.name)
            if found not in (None, before) and found.position >= saved.position and not always:
                return found.identity, None
            feeds.record_derived_files(transaction, self._kind.name, saved)
        return saved.identity, None if found is None else found.identity

    def _go_on_with(self, saved: DerivedFiles, held: Contents, files: Files) -> None:
        """Map the new files and use them instead of the rows in memory."""
        try:
            contents = Contents.open(self._kind.source, files, saved, held.generation)
        except (OSError, ValueError):  # another process has replaced them already
            return
        with self._gate.alone():
            if self._held is held:
                self._held, self._tried_at = contents, None

    def rewrite(self) -> bool:
        """Remove rows that were just erased from all files; return whether that succeeded."""
        if self._files is None or self._read_only:
            return True
        with self._engine.read() as transaction:
            saved = feeds.derived_files(transaction, self._kind.name)
        if saved is None:
            return True
        with suppress(StorageError, OSError):
            with self.reading():
                pass
            self.save(always=True)
        with suppress(StorageError), self._engine.write() as transaction:
            if feeds.derived_files(transaction, self._kind.name) == saved:  # none were written
                feeds.forget_derived_files(transaction, self._kind.name)
        return self._files.remove(saved.identity)

    def finish(self) -> None:
        """Build and save the index for the next process, if that takes no more than seconds."""
        with suppress(StorageError, OSError), self._engine.read() as transaction:
            if indexed.largest_id(transaction, self._kind.source) > SAVED_AT_THE_END:
                return
        if self._worker is not None:
            self._worker.join()

    def close(self) -> None:
        """Stop the background work, and release the files."""
        self._ended.set()
        worker = self._worker
        if worker is not None and worker is not threading.current_thread():
            worker.join(CLOSING_SECONDS)
        self._held = None  # a search that still runs keeps its own reference


def _load(load: Callable[[Transaction, int], int | None], transaction: Transaction) -> None:
    last: int | None = LEAST_ID
    while last is not None:
        last = load(transaction, last)
