"""An open file: what its stores share, and the operations on all of it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from memstore.domain.arguments import ALL_NAMESPACES
from memstore.domain.records import Scope, checked_scope
from memstore.domain.standing import selected
from memstore.embedding.current import CurrentEmbedder
from memstore.errors import EmbedderError, InvalidArgument, Reason, Remedy, StorageError
from memstore.file.paths import file_at
from memstore.frozen import replace
from memstore.lazy import cached_property, lazy_import
from memstore.search.searches import Searches
from memstore.text.secrets import Screen

if TYPE_CHECKING:
    import os
    import pathlib
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo
    from pathlib import Path

    from memstore import coroutines, importing, transfer
    from memstore.database import acts, journal
    from memstore.database.engine import Cancelled, Engine, Progress, Transaction
    from memstore.database.journal import Author
    from memstore.database.tables import counts, line_counts
    from memstore.database.tables import facts as fact_table
    from memstore.database.tables import generations as generation_table
    from memstore.database.tables import imports as imports_table
    from memstore.database.tables import vectors as vector_table
    from memstore.domain.erasures import Remains
    from memstore.domain.protocols import Embedder
    from memstore.domain.records import Head
    from memstore.domain.results import WordsOnly
    from memstore.embedding import background, generations, health, pending
    from memstore.embedding.background import BackgroundEmbedding
    from memstore.embedding.current import MakeEmbedder
    from memstore.embedding.generations import Generations, ReembedReport
    from memstore.embedding.health import HealthCheck, Probe
    from memstore.embedding.pending import EmbedReport
    from memstore.facts import adoption, use_counts
    from memstore.facts.use_counts import UseCounts
    from memstore.file import copies, doctor, remains, scheduled, tokens
    from memstore.file.findings import Finding
    from memstore.file.scheduled import ScheduledBackups
    from memstore.file.tokens import Tokens
    from memstore.graph import dependents
    from memstore.history import activity, trust
    from memstore.history.activity import Activity
    from memstore.importing import ImportFromReport
    from memstore.prompting import reading_log
    from memstore.prompting.reading_log import Readings
    from memstore.search import record
    from memstore.search.record import SearchRecord
    from memstore.sync import exports, remembered
    from memstore.sync import run as sync_run
    from memstore.sync.places import Place, Seal
    from memstore.sync.reports import Synced
    from memstore.text.judging.judge import Rule
    from memstore.transfer import ImportReport
else:
    coroutines = lazy_import("memstore.coroutines")
    copies = lazy_import("memstore.file.copies")
    counts = lazy_import("memstore.database.tables.counts")
    remains = lazy_import("memstore.file.remains")
    exports = lazy_import("memstore.sync.exports")
    adoption = lazy_import("memstore.facts.adoption")
    doctor = lazy_import("memstore.file.doctor")
    fact_table = lazy_import("memstore.database.tables.facts")
    generation_table = lazy_import("memstore.database.tables.generations")
    importing = lazy_import("memstore.importing")
    imports_table = lazy_import("memstore.database.tables.imports")
    acts = lazy_import("memstore.database.acts")
    journal = lazy_import("memstore.database.journal")
    line_counts = lazy_import("memstore.database.tables.line_counts")
    pathlib = lazy_import("pathlib")
    pending = lazy_import("memstore.embedding.pending")
    dependents = lazy_import("memstore.graph.dependents")
    scheduled = lazy_import("memstore.file.scheduled")
    tokens = lazy_import("memstore.file.tokens")
    sync_run = lazy_import("memstore.sync.run")
    remembered = lazy_import("memstore.sync.remembered")
    transfer = lazy_import("memstore.transfer")
    activity = lazy_import("memstore.history.activity")
    trust = lazy_import("memstore.history.trust")
    vector_table = lazy_import("memstore.database.tables.vectors")
    background = lazy_import("memstore.embedding.background")
    generations = lazy_import("memstore.embedding.generations")
    health = lazy_import("memstore.embedding.health")
    reading_log = lazy_import("memstore.prompting.reading_log")
    record = lazy_import("memstore.search.record")
    use_counts = lazy_import("memstore.facts.use_counts")

CLOSING_SECONDS: Final = 5.0
"""How long closing waits for a scheduled backup; an unfinished one is then discarded."""


def _settle(transaction: Transaction) -> None:
    """Bring what is derived from the journal up to the lines of a write.

    What it changed the support of is hidden, or shown again, if the file has levels at all.
    """
    if transaction.act is None:
        return
    act = acts.of(transaction)
    if act.has_levels:
        trust.settle(transaction)
    if act.ends_stretch:
        line_counts.keep(transaction, act.txn, act.last)


class File:
    """An open file of memories, with all its namespaces; :attr:`memstore.Store.file`.

    Its methods cover every namespace: backups, exports, repairs, embedding models, access tokens.
    """

    def __init__(
        self,
        engine: Engine,
        author: Author,
        embedder: Embedder | None,
        *,
        make_embedder: MakeEmbedder | None = None,
        read_only: bool = False,
        screen: Screen = Screen(),  # noqa: B008 (frozen)
        half_lives_seconds: Mapping[str, float] | None = None,
        without_rules: frozenset[Rule] = frozenset(),
        zone: tzinfo | None = None,
        open_aside: Callable[[], File] | None = None,
    ) -> None:
        self.engine = engine
        self.open_aside = open_aside
        """Opens an empty file in memory, for what is derived from earlier states."""
        engine.before_commit = _settle
        self.author = author
        self.read_only = read_only
        self.screen = screen
        self.half_lives_seconds = half_lives_seconds
        """Those of searches that name none, by category; ``None`` for the default ones."""
        self.zone = zone
        """The time zone of its users; ``None`` for the one in which a call is made."""
        self.without_rules = without_rules
        """Rules of the judge that are switched off."""
        self.embedder = (
            None if embedder is None else CurrentEmbedder(engine.path, embedder, make_embedder)
        )
        self.searches = Searches(
            engine, self.embedder, read_only=read_only, compares=not without_rules
        )
        self.wordless: Reason | None = None
        """Why there is no embedder, if that was not the caller's choice."""
        self.upgraded: str | None = None
        """If opening it upgraded an older file: from which version, and where its copy is."""
        self._use_counts: UseCounts | None = None
        self._search_record: SearchRecord | None = None
        """Both gather, so there is one of each, whichever thread needs it first."""
        self._starting = threading.Lock()
        self._background: BackgroundEmbedding | None = None
        self._health: HealthCheck | None = None
        self._backups: ScheduledBackups | None = None

    @property
    def path(self) -> str:
        """The file, as an absolute path."""
        return self.engine.path

    @property
    def is_replaced(self) -> bool:
        """Whether the file, or its log, was replaced while it was open.

        Every call then raises :class:`memstore.FileReplaced`. This is false for a file that was
        moved or removed: calls raise :class:`memstore.FileMissing` until it is back.
        """
        return self.engine.is_lost

    @property
    def embedder_trouble(self) -> Reason | None:
        """The embedder's last failure, or why there is none; ``None`` if there is no problem."""
        return self.wordless if self.embedder is None else self.embedder.trouble

    @cached_property
    def tokens(self) -> Tokens:
        """Access tokens for the HTTP server: ``create``, ``list``, ``revoke``."""
        return tokens.Tokens(self.engine, self.author)

    @cached_property
    def generations(self) -> Generations:
        """The vectors of each model in the file: ``list``, ``stage``, ``run``, ``switch``, …"""
        return generations.Generations(self.engine, self.author, self.embedder)

    @cached_property
    def readings(self) -> Readings:
        return reading_log.Readings(self.engine)

    @cached_property
    def activity(self) -> Activity:
        return activity.Activity(self.engine)

    @property
    def use_counts(self) -> UseCounts:
        with self._starting:
            if self._use_counts is None:
                self._use_counts = use_counts.UseCounts(self.engine)
            return self._use_counts

    @property
    def search_record(self) -> SearchRecord:
        with self._starting:
            if self._search_record is None:
                self._search_record = record.SearchRecord(self.engine)
            return self._search_record

    def search_words_only(self, words_only: WordsOnly) -> None:
        """Set why there is no embedder; call this before the first search."""
        self.wordless = words_only.reason
        self.searches.wordless = words_only

    def needed_embedder(self) -> CurrentEmbedder:
        if self.embedder is None:
            why = self.wordless or Reason("this store has no embedder", Remedy.CHOOSE_EMBEDDER)
            raise EmbedderError(why, remedy=why.remedy)
        return self.embedder

    # -- embedding ---------------------------------------------------------------------------

    def embed_pending(
        self,
        namespace: str | None = None,
        *,
        limit: int | None = None,
        retry_quarantined: bool = False,
        progress: Progress | None = None,
    ) -> EmbedReport:
        """Embed the pending facts and episodes; their texts are sent to the file's embedder.

        Args:
            namespace: only those of one namespace; ``None`` for all.
            limit: the maximum number of texts (a long episode is several); ``None`` for all.
            retry_quarantined: first release the quarantined facts and episodes.
            progress: called with the number done and the total.

        Raises:
            EmbedderError: there is no embedder.
            EmbedderMismatch: the file switched to another model in the meantime.
        """
        embedder = self.needed_embedder()
        adoption.adopt_all(self.engine)
        with self.engine.write() as transaction:
            if retry_quarantined:
                active = generation_table.active(transaction)
                for table in vector_table.TABLES:
                    vector_table.release_quarantine(transaction, table, active.id, namespace)
        return pending.embed_pending(self.engine, self.author, embedder, namespace, limit, progress)

    def embed_in_background(self, interval_seconds: float = 5.0) -> None:
        """Keep embedding pending facts and episodes, in a thread, until the file is closed.

        If several processes do this, one at a time works.
        """
        if self.embedder is None or self.read_only:
            return
        with self._starting:
            if self._background is None:
                self._background = background.BackgroundEmbedding(
                    self.engine, self.author, self.embedder, None, interval_seconds
                )
                self._background.start()

    def keep_embedding(
        self,
        tell: Callable[[EmbedReport | Reason], object],
        *,
        namespace: str | None = None,
        interval_seconds: float = 5.0,
    ) -> None:
        """Embed pending facts and episodes, now and in future, until the process is interrupted.

        While another process does this already, this one waits to take over.

        Args:
            tell: called with a report of what was done, or with the reason for a failure.
            namespace: only those of one namespace; ``None`` for all.
            interval_seconds: the pause between checks.

        Raises:
            EmbedderError: there is no embedder.
            KeyboardInterrupt: the process was interrupted; nothing is left half done.
        """
        background.BackgroundEmbedding(
            self.engine,
            self.author,
            self.needed_embedder(),
            namespace,
            interval_seconds,
            tell=tell,
        ).run()

    def reembed(
        self, embedder: Embedder, *, again: bool = False, progress: Progress | None = None
    ) -> ReembedReport:
        """Switch the file to another embedding model; until then searches use the old one.

        The facts and episodes of every namespace in the file are embedded again, beside the old
        vectors; then one transaction switches. After an interruption, the same call resumes. The
        old vectors are kept until ``generations.drop``, so ``generations.switch`` can go back to
        them at once. Other processes notice the switch with their next search.

        Args:
            embedder: the new model. This store uses it afterwards, if it had an embedder before.
            again: recompute the vectors of the model that the file already uses.
            progress: called with the number done and the total.

        Raises:
            Conflict: the file already uses this model, or another one is staged.
            EmbedderMismatch: the embedder changed its dimension while this ran.
        """
        return self.generations.reembed(embedder, again=again, progress=progress)

    def warm(self) -> None:
        """Load the model and the index now instead of in the first search."""
        self.searches.warm()

    def save_index(self) -> None:
        """Save the search index beside the file, if that is due and the index is not too large.

        Call this at the end of a short program, so that the next one finds the index ready. It
        takes some seconds the first time. Long-running programs save the index automatically.
        """
        self.searches.save_index()

    # -- carrying over -----------------------------------------------------------------------

    def export(
        self, namespaces: str | Sequence[str] = ALL_NAMESPACES, *, progress: Progress | None = None
    ) -> Iterator[str]:
        """Yield an export as lines of JSON: everything but the embeddings, from one snapshot.

        Everything is read, in short steps, before the first line is yielded, so a slow consumer
        does not block other users of the file.

        Args:
            namespaces: which ones; ``"all"``, the default, for all.
            progress: called with the number of facts and episodes read and the total.
        """
        self.write_use_counts()
        return transfer.export(self.engine, selected(namespaces), progress)

    def import_(
        self,
        lines: Iterable[str],
        *,
        namespace: str | None = None,
        keep_several: bool = False,
        unverified: bool = False,
        erasures: bool = True,
        dry_run: bool = False,
        progress: Progress | None = None,
        author: Author | None = None,
    ) -> ImportReport:
        """Import an export; see :meth:`memstore.Store.transfer.import_`.

        Args:
            lines: the lines of :meth:`export`.
            namespace: import everything into this one; by default, each record into its own.
            keep_several: if the export has several namespaces, keep each record in its own, rather
                than refuse to import them into one.
            unverified: also take an export that was changed after it was written.
            erasures: erase known records here that were erased at the source.
            dry_run: write nothing, and return what would be reported.
            progress: called with the number of facts imported and the total.
            author: who imports; by default who opened the file.

        Raises:
            TransferError: the export is damaged; the error names the line.
            Conflict: who imports counts less than an agent.
        """
        author = self.author if author is None else author
        with self.engine.read() as transaction:
            trust.check_repeats(transaction, author)
        incoming = transfer.read(lines, unverified=unverified)
        if keep_several and len(incoming.namespaces) > 1:
            namespace = None
        if namespace is not None and len(incoming.namespaces) > 1:
            raise InvalidArgument(
                "the export contains several namespaces", remedy=Remedy.KEEP_NAMESPACES
            )
        trusted = dict(incoming.attached.levels)
        if dry_run:
            levels = self._bring_levels(author, trusted, dry_run=True)
            report = transfer.rehearse(
                *(self.engine, author, incoming, namespace, dependents),
                erasures=erasures,
                settle=exports.take,
            )
            return self._placed(report, incoming, namespace, levels)
        adoption.adopt_all(self.engine)  # before anything that is newer gets a line
        levels = self._bring_levels(author, trusted, dry_run=False)
        report = transfer.write(
            self.engine,
            author,
            incoming,
            namespace,
            dependents,
            progress,
            erasures=erasures,
            settle=exports.take,
            rewrite=self.searches.rewrite,
        )
        return self._placed(report, incoming, namespace, levels)

    def _placed(
        self,
        report: ImportReport,
        incoming: transfer.Incoming,
        namespace: str | None,
        levels: tuple[int, tuple[str, ...]],
    ) -> ImportReport:
        """Return the report with where everything went, and which levels of trust were taken."""
        into = sorted(incoming.namespaces) if namespace is None else [namespace]
        taken, left = levels
        return replace(report, levels=taken, levels_left=left, namespaces=tuple(into))

    def _bring_levels(
        self, author: Author, levels: Mapping[str, str], *, dry_run: bool
    ) -> tuple[int, tuple[str, ...]]:
        if not levels:
            return 0, ()
        with self.engine.read() if dry_run else self.engine.write() as transaction:
            is_empty = not counts.namespaces(transaction)
            return trust.bring_in(transaction, author, levels, is_empty=is_empty, dry_run=dry_run)

    def import_from(
        self,
        source: str,
        path: str | os.PathLike[str],
        *,
        namespace: str | None = None,
        owners: Scope | None = None,
        skip_damaged: bool = False,
        include: Collection[str] = (),
        dry_run: bool = False,
        progress: Progress | None = None,
        author: Author | None = None,
    ) -> ImportFromReport:
        """Import the memories of another program; see :meth:`memstore.Store.transfer.import_from`.

        Args:
            namespace: import everything into this one; by default, the source's namespaces and
                groups become namespaces here.
            author: who imports; by default who opened the file.
        """
        adoption.adopt_all(self.engine)
        return importing.import_from(
            self.engine,
            self.author if author is None else author,
            source,
            pathlib.Path(file_at(path)),
            dependents,
            namespace=namespace,
            scope=None if owners is None else checked_scope(owners, "owners"),
            skip_damaged=skip_damaged,
            include=include,
            dry_run=dry_run,
            progress=progress,
        )

    def give_up_imports(self, namespace: str) -> int:
        """Forget a namespace's interrupted imports; return how many there were.

        The memories they imported stay, and the same import can still be completed.
        """
        with self.engine.write() as transaction:
            return imports_table.give_up(transaction, namespace)

    # -- other devices ------------------------------------------------------------------------

    def sync(
        self,
        place: Place | str | os.PathLike[str],
        *,
        namespaces: Collection[str] | None = None,
        seal: Seal | None = None,
        anew: bool = False,
        new_device: bool = False,
        dry_run: bool = False,
        state: Path | None = None,
    ) -> Synced:
        """Exchange with a place what other devices and this file have not of each other.

        Args:
            place: where the devices meet: a folder, or the address of a git repository.
            namespaces: those that travel; ``None`` for all.
            seal: encrypts what is written there, and decrypts what is read.
            anew: write every file of this device there again, as with another key.
            new_device: go on under a new id: the file is a copy, or on another machine.
            dry_run: only return what would come and go.
            state: the folder of this machine that says where the file was when it last synced; a
                copy of it then goes on under a new id.

        Raises:
            SyncError: the place cannot be read or written; the next run carries on.
            StoreBusy: another process syncs this file.
        """
        return sync_run.sync(
            self.engine,
            dependents,
            remembered.reached(self.path, place),
            rewrite=self.searches.rewrite,
            namespaces=namespaces,
            seal=seal,
            anew=anew,
            new_device=new_device,
            dry_run=dry_run,
            state=state,
        )

    # -- looking after the file ---------------------------------------------------------------

    def head(self) -> Head:
        """Return the end of the journal, to be kept elsewhere.

        :meth:`memstore.Store.ledger.verify` compares the journal with it.
        """
        with self.engine.read() as transaction:
            return journal.head(transaction)

    def backup(self, target: str | os.PathLike[str], *, progress: Progress | None = None) -> Path:
        """Write a consistent copy of the live file, even while others write to it.

        Raises:
            StorageError: the target exists already or cannot be written.
        """
        file = pathlib.Path(file_at(target, "target")).absolute()
        if file.exists():
            raise StorageError(f"{str(file)!r} already exists", remedy=Remedy.NEW_TARGET)
        if not file.parent.is_dir():
            raise StorageError(f"{str(file.parent)!r} is not a folder", remedy=Remedy.NEW_TARGET)
        self.write_use_counts()
        self.engine.backup(file, progress)
        return file

    def backup_in_background(
        self,
        every_seconds: float,
        keep: int,
        folder: str | os.PathLike[str] | None = None,
        *,
        tell: Callable[[Path | Reason], object] = lambda _: None,
    ) -> None:
        """Make backups at intervals, in a thread, until the file is closed.

        If several processes do this for one file, one at a time makes a backup.

        Args:
            every_seconds: the age of the newest backup at which another is made, 60 or more.
            keep: how many backups to keep. Only files with the names of backups are removed.
            folder: where to put them; ``None`` for ``<file>.backups``.
            tell: called with the file of each backup, or with the reason for a failure. After a
                failure nothing is removed, and it is retried after a minute.
        """
        backups = self._scheduled(every_seconds, keep, folder, tell)
        with self._starting:
            if self._backups is None:
                self._backups = backups
                backups.start()

    def keep_backups(
        self,
        every_seconds: float,
        keep: int,
        folder: str | os.PathLike[str] | None = None,
        *,
        tell: Callable[[Path | Reason], object] = lambda _: None,
    ) -> None:
        """Do the same as :meth:`backup_in_background`, in this thread, until interrupted.

        Raises:
            KeyboardInterrupt: the process was interrupted; no unfinished backup is left.
        """
        self._scheduled(every_seconds, keep, folder, tell).run()

    def _scheduled(
        self,
        every_seconds: float,
        keep: int,
        folder: str | os.PathLike[str] | None,
        tell: Callable[[Path | Reason], object],
    ) -> ScheduledBackups:
        if self.read_only:
            raise StorageError(
                "a read-only file cannot make scheduled backups, because it cannot record which "
                "process makes them",
                remedy=Remedy.OPEN_WRITABLE,
            )
        if self.engine.is_remote:
            raise StorageError(
                f"{self.path} is a database of a server, and not a file",
                remedy=Remedy.BACK_UP_SERVER,
            )
        if folder is None and self.path == ":memory:":
            raise InvalidArgument("is required for an in-memory file", argument="folder")
        where = None if folder is None else pathlib.Path(file_at(folder, "folder")).absolute()
        return scheduled.ScheduledBackups(self.engine, every_seconds, keep, where, tell=tell)

    def copies(self) -> tuple[str, ...]:
        """Return the copies of the file that are known: beside it, and the scheduled backups."""
        if self.engine.is_remote:
            return ()
        folder = None if self._backups is None else self._backups.folder
        return tuple(copies.known(self.path, folder))

    def namespaces(self) -> dict[str, int]:
        """Return every namespace that has facts or episodes, with its facts in any state."""
        with self.engine.read() as transaction:
            return counts.namespaces(transaction)

    def remains(self, words: Iterable[str], *, progress: Progress | None = None) -> list[Remains]:
        """Return where any of these words is left, to prove that what was erased is gone.

        Every byte is searched of the file, its write-ahead log and shared memory, the index files
        and whatever else is beside it under its name, and the copies that are known
        (:meth:`copies`). A word is looked for as it is, in lower case and other normal forms, cut
        into characters, as JSON writes it, in UTF-8 and UTF-16. Numbers that stand for texts, in
        vectors and index files, are not.

        Args:
            words: words or texts of 3 to 500 characters, as they were written; each is looked for
                as a whole.
            progress: called with the number of files read and the total.

        Returns:
            Each word and form in each file; an empty list if none is left.

        Raises:
            StorageError: a file cannot be read.
        """
        folder = None if self._backups is None else self._backups.folder
        return remains.remains(self.engine, words, folder, progress)

    def doctor(
        self,
        *,
        deep: bool = False,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> list[Finding]:
        """Check the file, and that derived data matches the rows; return what is wrong.

        Args:
            deep: also check the hash of every line of the journal.
            progress: called with the number of checks done and the total.
            cancelled: asked many times in a second, also amid a check; a true answer ends it. A
                coroutine that is cancelled ends it, too.

        Raises:
            Cancelled: it was cancelled.
        """
        return doctor.check(
            self.engine,
            dependents,
            self.searches,
            deep=deep,
            progress=progress,
            cancelled=coroutines.or_stopped(cancelled),
        )

    def rebuild(self, *, progress: Progress | None = None) -> list[str]:
        """Rebuild the word index and reset invalid embeddings; return what was done, in sentences.

        No model is used; :meth:`memstore.Extractor.rebuild` extracts facts from episodes again.

        Args:
            progress: called with the number of steps done and the total.
        """
        return doctor.rebuild(self.engine, self.author, dependents, self.searches, progress)

    # -- the parts that stores use -------------------------------------------------------------

    def newest_id(self) -> int:
        """Return the id of the newest fact: ``since`` of :meth:`memstore.Store.ledger.apply`."""
        with self.engine.read() as transaction:
            return fact_table.newest_id(transaction)

    def similarities(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the cosine of a text with each of the others, -1 to 1. Nothing is stored.

        The texts are embedded as they are, whereas a fact's stored vector includes its subject.

        Raises:
            EmbedderError: the store has no embedder, or it failed.
        """
        return self.needed_embedder().current.similarities(text, others)

    def probe_embedder(self, timeout_seconds: float = 3.0) -> Probe | None:
        """Test the embedder with one request; return the result, or ``None`` without an embedder.

        Args:
            timeout_seconds: how long to wait for an answer before the test counts as failed.
        """
        if self.embedder is None:
            return None
        embedder = self.embedder.embedder
        with self._starting:
            if self._health is None or self._health.embedder is not embedder:
                self._health = health.HealthCheck(self.engine.path, embedder)
        return self._health.ask(timeout_seconds)

    def write_use_counts(self) -> None:
        """Write the buffered use counts, if there are any, unless the file is read-only."""
        if self._use_counts is not None and not self.read_only:
            self._use_counts.flush()

    def write_searches(self) -> None:
        """Write the buffered searches, if there are any."""
        if self._search_record is not None:
            self._search_record.flush()

    def close(self) -> None:
        if self._background is not None:
            self._background.stop()
        if self._backups is not None:
            self._backups.stop(CLOSING_SECONDS)
        self.searches.close()
        self.write_use_counts()
        self.write_searches()
        self.engine.close()
