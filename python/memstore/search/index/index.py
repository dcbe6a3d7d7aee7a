"""The index of a file's facts or episodes, shared by its searches and kept current by a feed.

A search reads one state of the file. The index is first updated to that state: rows that changed
since, by any program, are read again. While a search runs, the index does not change. If there is
no index, because it is being built or cannot hold the rows, SQLite answers.

Other programs may damage the mapped files. So an answer counts only if they are intact afterwards;
otherwise SQLite answers, and the files are written anew (decision 68).
"""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore._kernel import PanicException
from memstore.database import journal
from memstore.database.engine import Outdated, Statement
from memstore.database.tables import feeds, indexed
from memstore.database.tables import generations as generation_table
from memstore.database.tables import vectors as vector_table
from memstore.database.tables.feeds import DerivedFiles
from memstore.domain import clock
from memstore.errors import MemstoreError, StorageError
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.search.index import visibility
from memstore.search.index.contents import FeedContents, ThreadedCall
from memstore.search.index.files import Files, InDatabase, InFolder, is_sealed
from memstore.search.index.residents import RESIDENTS

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator

    from memstore.database.engine import Engine, Transaction
    from memstore.database.tables.feeds import FeedChanges, FeedSpan
    from memstore.database.tables.indexed import Source
    from memstore.database.tables.vectors import VectorTable
    from memstore.domain.generations import Generation
    from memstore.embedding import leases
    from memstore.search.index.contents import RowBatch
    from memstore.search.index.files import Recorded
    from memstore.search.index.visibility import Visible
else:
    leases = lazy_import("memstore.embedding.leases")
    logging = lazy_import("logging")


class Taken(Exception):
    """The lock is not free."""


class SharedLock:
    """See the module.

    With ``at_once``, :class:`Taken` is raised instead of waiting.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._alone = False
        self._waiting = 0

    def enter(self, *, at_once: bool = False) -> None:
        """Enter together with others, until :meth:`leave`."""
        with self._changed:
            self._wait_until(lambda: not self._alone and not self._waiting, at_once)
            self._inside += 1

    def leave(self) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    @contextmanager
    def alone(self, *, stay: bool = False, at_once: bool = False) -> Iterator[None]:
        """Be inside alone; with ``stay``, remain inside afterwards, until :meth:`leave`.

        No other thread is alone in between. After an error, the thread does not remain inside.
        """
        with self._changed:
            self._waiting += 1
            try:
                self._wait_until(lambda: not self._alone and not self._inside, at_once)
            finally:
                self._waiting -= 1
            self._alone = True
        try:
            yield
        except BaseException:
            stay = False
            raise
        finally:
            with self._changed:
                self._alone = False
                self._inside += stay
                self._changed.notify_all()

    def _wait_until(self, is_free: Callable[[], bool], at_once: bool) -> None:
        if at_once and not is_free():
            raise Taken
        self._changed.wait_for(is_free)


T = TypeVar("T")

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

CLOSING_SECONDS: Final = 30.0
"""How long closing waits for the current batch or file."""

COMPARED_EVERY_SECONDS: Final = 600.0
"""How often the mapped files are compared with their checksums while searches use them. A change by
another program is noticed at once by the file's time; this is for disks that return other bytes."""

COMPARED_SHARE: Final = 1000
"""Comparing takes at most this part of the time: 50 ms for 400 MB, minutes from a slow disk."""

MIN_ID: Final = -(2**63)

OLD_SNAPSHOTS: Final = 20
"""How often a transaction may be older than the index, because other threads were faster. If each
new one is, the file was replaced by an older copy, and the index is discarded."""


class RowKind(NamedTuple):
    """The rows that an index covers."""

    name: str
    feed: str
    source: Source
    changes: Callable[[Transaction, int], FeedChanges]
    changed: str
    """Its query."""
    erased_since: Callable[[Transaction, int], bool]
    vectors: VectorTable
    visible: Callable[[Transaction, Any, Any], Visible]
    """Returns the ids of the rows that match a filter, given an index in the same state."""
    newest_of_equals: bool
    """Whether the newest of equally good rows comes first; else the one with the smallest id."""


FACTS: Final = RowKind(
    "facts",
    "memstore_fact_changes",
    indexed.FACTS,
    feeds.fact_changes,
    feeds.FACTS_SINCE,
    feeds.facts_erased_since,
    vector_table.FACTS,
    visibility.of_facts,
    newest_of_equals=False,
)
EPISODES: Final = RowKind(
    "episodes",
    "memstore_episode_changes",
    indexed.EPISODES,
    feeds.episode_changes,
    feeds.EPISODES_SINCE,
    feeds.episodes_erased_since,
    vector_table.PIECES,
    visibility.of_episodes,
    newest_of_equals=True,  # the latest statement counts
)


class IndexFigures(NamedTuple):
    """How large an index is in this process, and how often it was built."""

    name: str
    rows: int
    """Zero while the database answers."""
    file_bytes: int
    """The bytes of its mapped files."""
    loose_rows: int
    """Rows in memory, because they were put since the files were written."""
    builds: int
    """How often all rows were indexed, in the background or by a search."""


class _Older(Exception):
    """A transaction began before the index reached its state."""


class Index:
    """One kind of rows, of every namespace; any number of threads can search it at once."""

    def __init__(self, engine: Engine, kind: RowKind, *, read_only: bool = False) -> None:
        self._engine = engine
        self._kind = kind
        self.name = kind.name
        """The rows that it covers: ``facts`` or ``episodes``."""
        path = engine.derived_path
        self._files = None if path is None else Files(path, kind.name)
        self._recorded: Recorded = InDatabase(kind.name)
        if path is not None and engine.is_remote:
            self._recorded = InFolder(path, kind.name)
            if not is_sealed(os.path.dirname(path)):
                self._files = None
        self._read_only = read_only
        self._lock = SharedLock()
        self._current: FeedContents | None = None
        self._unfit = False
        """Whether the rows cannot be indexed: their ids are too far apart or out of range."""
        self._tried_at: int | None = None
        """``Contents.loose`` at the last attempt to write files, which may have failed."""
        self._compare_at = clock.monotonic() + COMPARED_EVERY_SECONDS
        self._has_told = False
        self._builds = 0
        self._starting = threading.Lock()
        self._worker: threading.Thread | None = None
        self._ended = threading.Event()

    @property
    def is_open(self) -> bool:
        """Whether it is in memory or mapped, so that reading it need not begin with that."""
        return self._current is not None

    @property
    def position(self) -> int | None:
        """Up to where in the feed it has the rows; ``None`` if it is not in memory."""
        current = self._current
        return None if current is None else current.position

    @property
    def is_unfit(self) -> bool:
        """Whether the rows cannot be indexed, so that the database answers for good."""
        return self._unfit

    # -- searching --------------------------------------------------------------------------

    def read(self, work: Callable[[Transaction, FeedContents | None], T]) -> T:
        """Return what ``work`` makes of one state of the file, and of the index in this state.

        The index is ``None`` if SQLite has to answer. If its files turn out to be damaged, the work
        is done again without it.
        """
        try:
            return self._read(work, may_repeat=True)
        except Outdated:
            return self._read(work, may_repeat=False)

    def _read(
        self, work: Callable[[Transaction, FeedContents | None], T], *, may_repeat: bool
    ) -> T:
        with self.reading(may_repeat=may_repeat) as (transaction, contents):
            if contents is not None:
                try:
                    if contents.is_intact():
                        result = work(transaction, contents)
                        if contents.is_intact():
                            return result
                except (Exception, PanicException) as error:
                    if not _is_to_blame(contents, error):
                        raise
                self._discard(contents)
            return work(transaction, None)

    @contextmanager
    def reading(
        self, *, may_repeat: bool = False
    ) -> Iterator[tuple[Transaction, FeedContents | None]]:
        """Open a transaction, and the index in its state; ``None`` if SQLite has to answer.

        Args:
            may_repeat: as in :meth:`memstore.database.engine.Engine.read`.
        """
        for left in reversed(range(OLD_SNAPSHOTS)):
            with ExitStack() as stack:
                try:
                    transaction, contents = self._entered(stack, may_repeat=may_repeat)
                except _Older:
                    stack.close()
                    if not left:
                        with self._lock.alone():
                            self._current = None
                    continue
                try:
                    yield transaction, contents
                finally:
                    if contents is not None:
                        self._lock.leave()
            break
        else:
            with self._engine.read() as transaction:
                yield transaction, None
        self._note_use()
        self._work_behind()

    def _entered(
        self, stack: ExitStack, *, may_repeat: bool
    ) -> tuple[Transaction, FeedContents | None]:
        """Open a transaction, and enter the gate of the index in its state.

        A thread that waits at the gate holds no connection: it may be the last one, and those
        inside need it.
        """
        transaction = stack.enter_context(self._engine.read(may_repeat=may_repeat))
        try:
            return transaction, self._enter(transaction)
        except Taken:
            stack.close()
        self._lock.enter()
        try:
            transaction = stack.enter_context(self._engine.read())
            current = self._fitting(transaction, *self._span(transaction))
        except BaseException:
            self._lock.leave()
            raise
        if current is not None:
            return transaction, current
        self._lock.leave()
        if self._unfit:
            return transaction, None
        stack.close()
        before = self._identity
        with self._lock.alone(stay=True):
            transaction = stack.enter_context(self._engine.read())
            self._bring_up(transaction, *self._span(transaction))
            current = self._current
        return transaction, self._brought_up(current, before)

    def _enter(self, transaction: Transaction) -> FeedContents | None:
        """Return the index in the state of the transaction, and enter its gate.

        Raises:
            Taken: the gate is not free, and the transaction holds a connection.
        """
        span, generation = self._span(transaction)
        if self._unfit:
            return None
        self._lock.enter(at_once=transaction.holds_connection)
        current = self._fitting(transaction, span, generation)
        if current is not None:
            return current
        self._lock.leave()
        before = self._identity
        with self._lock.alone(stay=True, at_once=transaction.holds_connection):
            self._bring_up(transaction, span, generation)
            current = self._current
        return self._brought_up(current, before)

    def _fitting(
        self, transaction: Transaction, span: FeedSpan, generation: Generation
    ) -> FeedContents | None:
        """Return the index if it is in the state of the transaction; the caller is inside."""
        current = self._current
        if (
            current is not None
            and current.position == span.newest
            and current.generation == generation
            and _is_of(current, transaction)
        ):
            return current
        return None

    @property
    def _identity(self) -> str | None:
        """The name of the files in use."""
        current = self._current
        return None if current is None else current.identity

    def _brought_up(self, current: FeedContents | None, before: str | None) -> FeedContents | None:
        """Return the index that was brought up; leave its gate if there is none.

        Args:
            before: the name of the files that were in use.
        """
        if current is None:
            self._lock.leave()
        elif (
            self._files is not None
            and before is not None
            and current.identity not in (before, None)
        ):
            self._files.remove(before)  # some systems kept them as long as they were mapped here
        return current

    def _span(self, transaction: Transaction) -> tuple[FeedSpan, Generation]:
        """Return the changes that a transaction can tell, and the active generation."""
        current = self._current
        if current is not None and not transaction.expects(current.last_write):
            self._prefetch(transaction, current)
        return feeds.span(transaction, self._kind.feed), generation_table.active(transaction)

    def _prefetch(self, transaction: Transaction, current: FeedContents) -> None:
        """Ask a server at once for all that bringing the index up to date will ask."""
        queries = [feeds.selecting_span(self._kind.feed)]
        if current.last_write is not None and current.last_write.head is not None:
            queries.append(journal.selecting_head(current.last_write.head.line))
        queries.append(Statement(self._kind.changed, {"position": current.position}))
        transaction.prefetch(*queries, *current.following(transaction.dialect))

    def _bring_up(self, transaction: Transaction, span: FeedSpan, generation: Generation) -> None:
        """Update ``_current`` to the state that the transaction sees, or set it to ``None``."""
        current = self._current
        if current is not None and current.position > span.newest:
            raise _Older
        if current is not None and not _is_same_history(current, transaction):
            self._current = current = None
        if current is None or not (
            span.reaches(current.position) and current.compare_with(generation)
        ):
            self._current = current = self._opened(transaction, span, generation)
        if current is None:
            if indexed.largest_id(transaction, self._kind.source) <= AT_ONCE:
                self._current = self._built_within(transaction, span, generation)
        elif current.position < span.newest:
            self._follow_or_switch(current, transaction, span, generation)
        if self._current is not None:
            _note_history(self._current, transaction)

    def _follow_or_switch(
        self,
        current: FeedContents,
        transaction: Transaction,
        span: FeedSpan,
        generation: Generation,
    ) -> None:
        if self._recorded.read(transaction, besides=current.identity) is not None:
            # Another process wrote new files: they are shared, and contain no erased text.
            self._current = current = self._opened(transaction, span, generation) or current
        most = max(AT_ONCE, len(current) // LOOSE_SHARE)
        number = span.newest - current.position
        if number > most and self._engine.is_remote:
            # Other tenants' changes have numbers of the same sequence.
            number = len(self._kind.changes(transaction, current.position).rows)
        if number > most:
            self._current = None  # too much for a search: rebuilt in the background
        else:
            self._follow(current, transaction, span)

    def _follow(self, current: FeedContents, transaction: Transaction, span: FeedSpan) -> None:
        changed = self._kind.changes(transaction, current.position)
        try:
            current.follow(transaction, changed, span.newest, is_prefetched=self._engine.is_remote)
        except BaseException as error:
            self._current = None  # it may be between two states
            if isinstance(error, PanicException) or not current.is_intact():
                self._discard(current)
            elif isinstance(error, ValueError):
                self._unfit = True
            else:
                raise

    def _opened(
        self, transaction: Transaction, span: FeedSpan, generation: Generation
    ) -> FeedContents | None:
        """Map the files that the database names, if they are there and not too old."""
        saved = None if self._files is None else self._recorded.read(transaction)
        if self._files is None or saved is None:
            return None
        if saved.position > span.newest or not span.reaches(saved.position):
            return None
        if saved.generation_id not in (None, generation.id):
            return None
        try:
            return FeedContents.open(self._kind.source, self._files, saved, generation)
        except (OSError, ValueError):
            return None

    def figures(self) -> IndexFigures:
        """Return figures for an operator, without waiting for searches."""
        current = self._current
        if current is None:
            return IndexFigures(self.name, 0, 0, 0, self._builds)
        size = 0
        if self._files is not None and current.identity is not None:
            size = self._files.size(current.identity, current.parts)
        return IndexFigures(self.name, len(current), size, current.loose, self._builds)

    # -- damaged files ----------------------------------------------------------------------

    def _discard(self, contents: FeedContents) -> None:
        """Do without an index that failed, until it is built again; tell the user once.

        Files that are damaged are not mapped again, so new ones are written. The caller is inside
        the gate.
        """
        if self._current is contents:
            self._current = None
        self._tried_at = None
        if not self._has_told:
            self._has_told = True
            logging.getLogger(__name__).warning(
                "%s: the index of %s, which is beside the file, was damaged. Searches read the "
                "file itself until the index is written again; nothing that is stored is affected",
                self._engine.path,
                self.name,
            )

    def compare(self) -> bool:
        """Compare all files in use with their checksums; return whether they are intact.

        Damaged ones are not used any more, and written anew after one of the next searches.
        """
        current = self._current
        if current is not None and not current.is_intact(compare=True):
            with self._lock.alone():
                self._discard(current)
            return False
        return self._are_recorded_whole()

    def _are_recorded_whole(self) -> bool:
        with self._engine.read() as transaction:
            saved = self._recorded.read(transaction)
            generation = generation_table.active(transaction)
        if self._files is None or saved is None:
            return True
        try:
            FeedContents.open(self._kind.source, self._files, saved, generation)
        except FileNotFoundError:  # they may be removed at any time
            return True
        except (OSError, ValueError):
            return False
        return True

    def remove_damaged(self) -> bool:
        """Remove the recorded files if they are damaged; return whether they were.

        Raises:
            StorageError: another process is writing.
        """
        if self.compare() or self._files is None:
            return False
        with self._recorded.changing(self._engine, None) as transaction:
            saved = self._recorded.read(transaction)
            self._recorded.forget(transaction)
            self._files.remove_others(None, None if saved is None else saved.identity)
        return True

    # -- building ---------------------------------------------------------------------------

    def _built_within(
        self, transaction: Transaction, span: FeedSpan, generation: Generation
    ) -> FeedContents | None:
        if not self._is_dense(transaction):
            return None
        contents = FeedContents(self._kind.source, generation, span.newest)
        try:
            for read_after in (contents.rows_after, contents.vectors_after):
                last = MIN_ID
                while (page := read_after(transaction, last)) is not None:
                    page.put()
                    last = page.last
        except ValueError:
            self._unfit = True
            return None
        self._builds += 1
        return contents

    def _build(self) -> FeedContents | None:
        """Index every row, in many transactions, each of which may see later rows than the last.

        Rows that changed after the first of them are in the feed, and are read again. The next page
        is read while one is indexed: the kernel needs no GIL, and a server answers meanwhile.
        """
        with self._engine.read() as transaction:
            span = feeds.span(transaction, self._kind.feed)
            generation = generation_table.active(transaction)
            if not self._is_dense(transaction):
                return None
            contents = self._opened(transaction, span, generation)
        if contents is not None:
            return contents
        contents = FeedContents(self._kind.source, generation, span.newest)
        putting: ThreadedCall[None] | None = None
        for page in self._pages(contents):
            if putting is not None:
                putting.result()
            putting = ThreadedCall(page.put)
        if putting is not None:
            putting.result()
        return None if self._ended.is_set() else contents

    def _pages(self, contents: FeedContents) -> Iterator[RowBatch]:
        """Read all rows, then all vectors, until the index is closed."""
        for read_after in (contents.rows_after, contents.vectors_after):
            last = MIN_ID
            while not self._ended.is_set():
                with self._engine.read() as transaction:
                    page = read_after(transaction, last)
                if page is None:
                    break
                yield page
                last = page.last

    def _is_dense(self, transaction: Transaction) -> bool:
        """Whether arrays by row id are not mostly empty, so that rows can be indexed at all."""
        count, largest = indexed.extent(transaction, self._kind.source)
        self._unfit = largest >= 2**32 or largest > 4 * count + 1_000_000
        return not self._unfit

    def _catch_up(self, contents: FeedContents) -> bool:
        """Follow the feed until the next search has little left to do."""
        while not self._ended.is_set():
            with self._engine.read() as transaction:
                span = feeds.span(transaction, self._kind.feed)
                active = generation_table.active(transaction)
                if not (span.reaches(contents.position) and contents.compare_with(active)):
                    return False
                if span.newest - contents.position <= AT_ONCE // LOOSE_SHARE:
                    _note_history(contents, transaction)
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
        current = self._current
        is_idle = current is not None and not (self._is_loose(current) or self._is_due(current))
        if self._unfit or is_idle:
            return
        with self._starting:
            if self._ended.is_set() or (self._worker is not None and self._worker.is_alive()):
                return
            self._worker = threading.Thread(target=self._work, name="memstore-index", daemon=True)
            self._worker.start()

    def _work(self) -> None:
        if self._current is not None and self._is_due(self._current):
            began = clock.monotonic()
            self.compare()
            took = clock.monotonic() - began
            self._compare_at = began + max(COMPARED_EVERY_SECONDS, COMPARED_SHARE * took)
        if self._current is None:
            self._build_and_hold()
        current = self._current
        if current is None or not self._is_loose(current):
            return
        self._tried_at = current.loose  # the file may be busy, or the folder not writable
        with suppress(StorageError, OSError):
            self.save()

    def _is_due(self, current: FeedContents) -> bool:
        """Whether it is time to compare the files with their checksums."""
        return current.identity is not None and clock.monotonic() >= self._compare_at

    def _build_and_hold(self) -> None:
        try:
            contents = self._build()
            if contents is not None and self._catch_up(contents):
                with self._lock.alone():
                    self._current, self._tried_at = contents, None
                    self._builds += contents.identity is None  # else it was mapped
                self._note_use()
        except (StorageError, ValueError, MemoryError, PanicException):  # closed or too large
            self._unfit = True

    def _is_loose(self, current: FeedContents) -> bool:
        """Whether enough rows are in no file to write new files."""
        if self._files is None or self._read_only or len(current) < SAVED_FROM:
            return False
        since = current.loose - (self._tried_at or 0)
        if self._tried_at is None and current.identity is None:
            return True
        return since > max(SAVED_FROM, len(current) // LOOSE_SHARE)

    # -- files --------------------------------------------------------------------------------

    def save(self) -> None:
        """Write the index to new files, record them, and switch to them.

        Nothing happens while another process does this, or if what it recorded is as new.
        """
        if self._files is None or self._read_only:
            return
        if self._engine.is_remote:  # each machine has files of its own, and two sets do no harm
            self._save(self._files)
            return
        with leases.Lease(self._engine, f"index of {self.name}") as lease:
            if lease.is_held:
                self._save(self._files)

    def _save(self, files: Files) -> None:
        with self.reading():  # up to date: the files of an older state might not be recorded
            pass
        if not self._use_recorded(files):
            self._write(files)

    def _use_recorded(self, files: Files) -> bool:
        """Switch to the recorded files if they are as new as the index; return whether they are."""
        with self._engine.read() as transaction:
            saved = self._recorded.read(transaction)
        current = self._current
        if current is None or saved is None or saved.position < current.position:
            return False
        return saved.identity == current.identity or self._go_on_with(saved, current, files)

    def _write(self, files: Files) -> None:
        with self._engine.read() as transaction:
            before = self._recorded.read(transaction)
        self._lock.enter()  # the index does not change meanwhile
        try:
            current = self._current
            if current is None:
                return
            generation_id = None if current.codes is None else current.generation.id
            saved = DerivedFiles(os.urandom(16).hex(), current.position, generation_id)
            is_recorded = self._written(files, saved, current)
        finally:
            self._lock.leave()
        if is_recorded:
            self._go_on_with(saved, current, files)
            del current  # some systems cannot remove a file while it is mapped
            # Nobody else writes: they would hold the lease.
            files.remove_others(saved.identity, None if before is None else before.identity)

    def _written(self, files: Files, saved: DerivedFiles, current: FeedContents) -> bool:
        """Write files and record them, or else remove them; return whether they are recorded."""
        is_recorded = False
        try:
            files.claim(saved.identity, current.parts)
            # In this order: an erasure after this transaction finds the names, and removes them.
            with self._engine.read() as transaction:
                is_clean = self._has_no_erased(transaction, current.position)
            if is_clean:
                current.save(files, saved.identity)
                if current.is_intact(compare=True):  # or damage would get a valid checksum
                    is_recorded = self._record(files, saved, current)
                else:
                    self._discard(current)
        except PanicException:
            self._discard(current)
        finally:
            if not is_recorded:
                files.remove(saved.identity)
        return is_recorded

    def _record(self, files: Files, saved: DerivedFiles, current: FeedContents) -> bool:
        """Record new files, unless newer ones are, or they or a row were removed meanwhile."""
        last = current.last_write
        with self._recorded.changing(self._engine) as transaction:
            recorded = self._recorded.read(transaction)
            is_fit = (
                (recorded is None or recorded.position <= saved.position)
                and self._has_no_erased(transaction, saved.position)
                and files.are_there(saved.identity, current.parts)
            )
            if is_fit:
                self._recorded.record(transaction, saved, None if last is None else last.head)
            return is_fit

    def _has_no_erased(self, transaction: Transaction, position: int) -> bool:
        span = feeds.span(transaction, self._kind.feed)
        return span.reaches(position) and not self._kind.erased_since(transaction, position)

    def _go_on_with(self, saved: DerivedFiles, current: FeedContents, files: Files) -> bool:
        """Map these files and use them instead of the rows in memory; return whether they open."""
        try:
            contents = FeedContents.open(self._kind.source, files, saved, current.generation)
        except (OSError, ValueError):  # damaged, or replaced by another process already
            return False
        contents.last_write = current.last_write
        with self._lock.alone():
            if self._current is current:
                self._current, self._tried_at = contents, None
        return True

    def rewrite(self) -> bool:
        """Remove rows that were just erased from all files; return whether that succeeded.

        All files but the recorded ones go, even while another process writes them: it gives up. No
        file with the rows can be created after that (decision 67).
        """
        if self._files is None or self._read_only:
            return True
        with self._engine.read() as transaction:
            saved = self._recorded.read(transaction)
        if saved is None and not self._files.others(None):
            return True
        if saved is not None:
            with suppress(StorageError, OSError):
                self.save()
        try:
            return self._remove_all_but_recorded(self._files)
        except StorageError:
            return False

    def _remove_all_but_recorded(self, files: Files) -> bool:
        # In a file, nobody claims or records names meanwhile.
        with self._recorded.changing(self._engine, None) as transaction:
            saved = self._recorded.read(transaction)
            recorded = None if saved is None else saved.identity
            if saved is not None and not self._has_no_erased(transaction, saved.position):
                self._recorded.forget(transaction)
                saved = None
            is_gone = files.remove_others(None if saved is None else saved.identity, recorded)
        if saved is None:
            self._tried_at = None  # so that the next search has new files written
            if (current := self._current) is not None:
                current.identity = None
        return is_gone

    def finish(self) -> None:
        """Build and save the index for the next process, if that takes no more than seconds."""
        if self._files is None:
            return  # there is nothing that the next process could find
        with suppress(StorageError, OSError), self._engine.read() as transaction:
            if indexed.largest_id(transaction, self._kind.source) > SAVED_AT_THE_END:
                return
        if (worker := self._started()) is not None:
            worker.join()

    def close(self) -> None:
        """Stop the background work, and release the files."""
        self._ended.set()
        worker = self._started()
        if worker is not None and worker is not threading.current_thread():
            worker.join(CLOSING_SECONDS)
        self._current = None  # a search that still runs keeps its own reference
        RESIDENTS.forget(self)

    def drop(self) -> None:
        self._current = self._tried_at = None

    def _note_use(self) -> None:
        current = self._current
        RESIDENTS.use(self, 0 if current is None else current.size)

    def _started(self) -> threading.Thread | None:
        """Return the background thread; one that is just being started is waited for."""
        with self._starting:
            return self._worker


def _is_of(contents: FeedContents, transaction: Transaction) -> bool:
    """Whether nothing at all was written since the index was compared with the database."""
    seen, found = contents.last_write, transaction.last_write
    return found is None or (seen is not None and seen.version == found.version)


def _is_same_history(contents: FeedContents, transaction: Transaction) -> bool:
    """Whether the database has the journal of the state that the index was built from.

    Raises:
        _Older: the transaction began before that state.
    """
    if _is_of(contents, transaction):
        return True
    seen = None if contents.last_write is None else contents.last_write.head
    if seen is None:
        return False
    last = None if transaction.last_write is None else transaction.last_write.head
    reaches = last is not None and last.line <= seen.line
    found = last if last is not None and reaches else journal.head(transaction, seen.line)
    if found.line < seen.line:
        raise _Older
    return found == seen


def _note_history(contents: FeedContents, transaction: Transaction) -> None:
    found = transaction.last_write
    if found is not None and found.head is None:
        found = found._replace(head=journal.head(transaction))
    contents.last_write = found


def _is_to_blame(contents: FeedContents, error: BaseException) -> bool:
    """Whether an index has failed, and not what was asked of it."""
    if isinstance(error, PanicException):
        return True
    return not contents.is_intact(compare=not isinstance(error, MemstoreError))
