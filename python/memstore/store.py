"""The store: one file, bound to one namespace, with everything a caller can do to it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from memstore import clock
from memstore.arguments import MAX_NAME, checked_text
from memstore.changes import apply
from memstore.database import fact_table, meta_table
from memstore.database.filters import FactFilter
from memstore.episodes import Episodes
from memstore.errors import EmbedderError, StorageError
from memstore.facts import Facts
from memstore.metadata import Filters, parse_filters
from memstore.model import (
    DEFAULT_CATEGORY,
    Fact,
    NewFact,
    Operation,
    Scope,
    SearchHits,
    StoreStatus,
)
from memstore.proposals import Proposals
from memstore.tasks import Tasks, refuse_task_keys
from memstore.touches import Touches

if TYPE_CHECKING:
    import builtins
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from types import TracebackType

    from memstore.changes import Applied, Change
    from memstore.database.engine import Engine, Progress
    from memstore.database.journal import Author
    from memstore.doctor import Finding
    from memstore.embedding import BackgroundEmbedding, Embedding, EmbedReport
    from memstore.protocols import Embedder
    from memstore.search import Search
    from memstore.transfer import ImportReport

ALL_NAMESPACES = "all"


class Store:
    """An open file of memories. Made by :func:`memstore.open`; a context manager."""

    tasks: Tasks
    """Tasks: ``create``, ``update``, ``list``."""

    episodes: Episodes
    """What was said, word for word: ``record``, ``get``, ``list``, ``erase``."""

    proposals: Proposals
    """Supersessions that wait for a decision: ``list``, ``get``, ``accept``, ``reject``."""

    def __init__(
        self,
        engine: Engine,
        *,
        namespace: str,
        embedder: Embedder | None,
        author: Author,
        read_only: bool,
    ) -> None:
        self._namespace = checked_text(namespace, "namespace", MAX_NAME)
        if namespace == ALL_NAMESPACES:
            raise ValueError(f"no namespace is called {namespace!r}: it asks for all of them")
        self._engine = engine
        self._embedder = embedder
        self._author = author
        self._read_only = read_only
        self._facts = Facts(engine, author, namespace, self._embedding)
        self._touches = Touches(engine)
        self._waking = threading.RLock()
        self._awake: tuple[Embedding | None, Search] | None = None
        self._background: BackgroundEmbedding | None = None
        self.tasks = Tasks(engine, namespace, self._facts, author.source)
        self.episodes = Episodes(engine, author, namespace)
        self.proposals = Proposals(engine, self._facts)

    @property
    def namespace(self) -> str:
        """The partition every read and write is bound to."""
        return self._namespace

    @property
    def path(self) -> str:
        """The file, as an absolute path."""
        return self._engine.path

    @property
    def embedder_trouble(self) -> str | None:
        """Why the embedder failed last; ``None`` while it works, was not asked, or is none."""
        embedding = self._awake[0] if self._awake is not None else None
        return None if embedding is None else embedding.trouble

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.path!r}, namespace={self.namespace!r})"

    def close(self) -> None:
        """Write what is still to be written, check-point and let go of the file. Twice is fine."""
        if self._background is not None:
            self._background.stop()
        self._flush_touches()
        self._engine.close()

    # -- storing and correcting ------------------------------------------------------------

    def add(
        self,
        content: str,
        *,
        subject: str,
        category: str = DEFAULT_CATEGORY,
        metadata: Mapping[str, Any] | None = None,
        supersedes: int | None = None,
        created_at: datetime | str | None = None,
        valid_at: datetime | str | None = None,
        expired_at: datetime | str | None = None,
        source: str | None = None,
        idempotency_key: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        episode_id: int | None = None,
    ) -> Fact:
        """Store a fact; it is on disk when this returns, whatever the embedder does.

        Args:
            content: the claim, in words that stand by themselves.
            subject: whom or what it is about; the same thing is always called the same.
            category: ``preference``, ``identity``, ``project``, … ; a ``note`` fades with time.
            metadata: a JSON object of your own.
            supersedes: the id of the active fact this one replaces; both happen, or neither.
            created_at: when it was learnt, if not now.
            valid_at: since when it holds.
            expired_at: from when on it no longer counts.
            source: where it comes from.
            idempotency_key: storing again with the same key returns the same fact.
            user_id: the user it belongs to; see :class:`memstore.Scope`.
            agent_id: the agent it belongs to.
            run_id: the run it belongs to.
            episode_id: the episode it was drawn from.

        Raises:
            NotFound: there is no fact ``supersedes`` in this namespace.
            Conflict: that fact is superseded already, or deleted.
            IdempotencyConflict: the key stands for other content.
            ValueError: an empty or over-long text, a bad time, metadata that is no JSON.
        """
        return self._facts.add_many(
            [
                NewFact(
                    content=content,
                    subject=subject,
                    category=category,
                    metadata=metadata,
                    supersedes=supersedes,
                    created_at=created_at,
                    valid_at=valid_at,
                    expired_at=expired_at,
                    source=source,
                    idempotency_key=idempotency_key,
                    user_id=user_id,
                    agent_id=agent_id,
                    run_id=run_id,
                    episode_id=episode_id,
                )
            ]
        )[0]

    def add_many(self, facts: Iterable[NewFact | Mapping[str, Any]]) -> list[Fact]:
        """Store many facts in one transaction: all of them, or none.

        Args:
            facts: :class:`NewFact` objects, or mappings of :meth:`add`'s arguments.
        """
        return self._facts.add_many(
            fact if isinstance(fact, NewFact) else NewFact(**fact) for fact in facts
        )

    def supersede(self, old_id: int, new_id: int) -> Fact:
        """Retire a fact in favour of a newer one that is stored already; return the retired one.

        Raises:
            NotFound: one of them is not in this namespace.
            Conflict: the old one is superseded already, the new one not active, or both the same.
        """
        return self._facts.supersede(old_id, new_id)

    def confirm(self, fact_id: int) -> Fact:
        """Count one more confirmation that a fact holds true.

        Raises:
            NotFound: no such fact.
            Conflict: it is superseded or deleted.
        """
        return self._facts.confirm(fact_id)

    def update_metadata(self, fact_id: int, patch: Mapping[str, Any]) -> Fact:
        """Apply a JSON merge patch (RFC 7396) to the metadata; ``None`` removes a key.

        Raises:
            NotFound: no such fact.
            Conflict: it is deleted; or it is a task, and the patch has one of the keys that
                :attr:`tasks` looks after.
        """
        return self._facts.update_metadata(fact_id, patch, refuse_task_keys)

    def delete(self, fact_id: int) -> Fact:
        """Put a tombstone on a fact: no search finds it, and :meth:`restore` brings it back.

        Raises:
            NotFound: no such fact.
        """
        return self._facts.delete(fact_id)

    def restore(self, fact_id: int) -> Fact:
        """Bring a fact back and return the one that was brought back.

        A deleted fact loses its tombstone, and is again what it was. The text of a superseded
        one becomes a new fact that supersedes the newest of its chain; a chain only grows.

        Raises:
            NotFound: no such fact.
            Conflict: it is active, or the newest of its chain is deleted.
        """
        return self._facts.restore(fact_id)

    def reinstate(self, fact_id: int) -> Fact:
        """Undo a supersession that should not have been: return the old text as a new fact.

        The newer fact stays as it is, and both are active. (:meth:`restore` instead lets the old
        text replace what replaced it.)

        Raises:
            NotFound: no such fact.
            Conflict: it is not superseded, or an active fact says the same already.
        """
        return self._facts.reinstate(fact_id)

    def newest_id(self) -> int:
        """Return the id of the newest fact of the file, for ``since`` of :meth:`apply`."""
        return self._facts.newest_id()

    def apply(
        self,
        changes: Iterable[Change],
        *,
        scope: Scope | None = None,
        since: int | None = None,
    ) -> builtins.list[Applied]:
        """Carry out several changes in one transaction: all of them, or none.

        What was decided outside of it is looked at again inside: every fact that is named must
        still be active.

        Args:
            changes: :class:`memstore.changes.AddFact`, ``SupersedeFact``, ``DeleteFact`` and
                ``KeepFact``, carried out in their order.
            scope: the owners that new facts get and that every fact named must have; ``None``
                leaves the owners alone.
            since: :meth:`newest_id` of before the facts were read that the changes rest on; refuse
                to add anything about a subject of which somebody stored a fact since then.

        Returns:
            What came of each change, in their order.

        Raises:
            NotFound: a fact that is not in this namespace, or of other owners.
            Conflict: a fact that is not active any more; decide anew.
            ValueError: a text, a time or metadata that cannot be stored.
        """
        return apply(self._facts, [*changes], scope, since)

    def erase(self, fact_id: int) -> bool:
        """Remove a fact's bytes from the file, the index and the journal. There is no way back.

        Its place in its chain stays, empty. The whole file is written anew, so that no old page
        keeps the text. Copies made before (backups, exports) do, and so does the episode it was
        drawn from: ``episodes.erase`` removes that.

        Returns:
            False while another process still reads an older state or writes: the text can be
            seen no more, and its bytes go when :meth:`erase` is called again or the last process
            closes the file.

        Raises:
            NotFound: no such fact.
        """
        return self._facts.erase(fact_id)

    def clear(self) -> bool:
        """Erase every fact, task and episode of the namespace in one transaction, for good.

        Returns:
            Whether the bytes have left the files already; see :meth:`erase`.
        """
        from memstore.clearing import clear

        return clear(self._engine, self._author, self.namespace)

    def touch(self, fact_ids: Iterable[int]) -> int:
        """Count one use of each fact, and return how many of them are in this namespace."""
        with self._engine.write() as transaction:
            uses = dict.fromkeys(fact_ids, 1)
            return fact_table.touch(transaction, uses, self.namespace, clock.utc_now())

    # -- finding -----------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        subject: str | None = None,
        category: str | None = None,
        filters: Filters = None,
        namespaces: str | Sequence[str] | None = None,
        scope: Scope | None = None,
        active_only: bool = True,
        word_weight: float | None = None,
        vector_weight: float | None = None,
        half_lives_seconds: Mapping[str, float] | None = None,
        touch: bool = True,
    ) -> SearchHits:
        """Find facts by words and by meaning, best first.

        Any text is a query; its words are literals. Facts that hold only some of the words are
        found too. If the query cannot be embedded the words answer alone, and ``words_only`` of
        the result says why.

        Args:
            query: a question or some words.
            limit: how many facts at most, 1 to 1000.
            subject: only facts about this.
            category: only facts of this category.
            filters: conditions on metadata: ``{"key": value}``, or ``[("key", "<=", value)]``
                with ``= != < <= > >=``; see :class:`memstore.MetadataFilter`.
            namespaces: search these instead of the store's own; ``"all"`` for all.
            scope: only what belongs to just these owners, and an owner that is not named is not
                set; without one, whoever it belongs to.
            active_only: leave superseded and expired facts out.
            word_weight: what the words count, 0.6 by default.
            vector_weight: what the meaning counts, 0.4 by default.
            half_lives_seconds: for categories, the age at which a score has halved; 0 for never.
                Given ones replace the default of 30 days for ``note``.
            touch: count the facts found as used.

        Raises:
            ValueError: a limit, weight or filter out of range.
        """
        return self.search_batch(
            [query],
            limit=limit,
            subject=subject,
            category=category,
            filters=filters,
            namespaces=namespaces,
            scope=scope,
            active_only=active_only,
            word_weight=word_weight,
            vector_weight=vector_weight,
            half_lives_seconds=half_lives_seconds,
            touch=touch,
        )[0]

    def search_batch(
        self,
        queries: Sequence[str],
        *,
        limit: int = 10,
        subject: str | None = None,
        category: str | None = None,
        filters: Filters = None,
        namespaces: str | Sequence[str] | None = None,
        scope: Scope | None = None,
        active_only: bool = True,
        word_weight: float | None = None,
        vector_weight: float | None = None,
        half_lives_seconds: Mapping[str, float] | None = None,
        touch: bool = True,
    ) -> list[SearchHits]:
        """Search for several queries with one call to the embedder; see :meth:`search`."""
        from memstore import search

        ask = search.Ask(
            wanted=FactFilter(
                self._namespaces(namespaces),
                clock.utc_now(),
                subject=subject,
                category=category,
                metadata=parse_filters(filters),
                active_only=active_only,
                scope=scope,
            ),
            limit=limit,
            word_weight=search.WORD_WEIGHT if word_weight is None else word_weight,
            vector_weight=search.VECTOR_WEIGHT if vector_weight is None else vector_weight,
            half_lives_seconds={**search.HALF_LIVES_SECONDS, **(half_lives_seconds or {})},
        )
        if isinstance(queries, str):
            raise TypeError("queries must be a list of texts; search() takes a single one")
        found = self._wake()[1].batch(queries, ask)
        if touch and not self._read_only:
            self._touches.note(hit.fact.id for hits in found for hit in hits)
        return found

    def get(self, fact_id: int) -> Fact:
        """Return one fact, in whatever state: its ``status`` tells.

        Raises:
            NotFound: no such fact in this namespace, or it was erased.
        """
        self._flush_touches()
        return self._facts.get(fact_id)

    def list(
        self,
        *,
        subject: str | None = None,
        category: str | None = None,
        filters: Filters = None,
        scope: Scope | None = None,
        active_only: bool = True,
        include_deleted: bool = False,
        limit: int | None = None,
        offset: int = 0,
        newest_first: bool = False,
    ) -> builtins.list[Fact]:
        """Return facts by id.

        Args:
            subject: only facts about this.
            category: only facts of this category.
            filters: conditions on metadata, as in :meth:`search`.
            scope: only what belongs to just these owners.
            active_only: leave superseded and expired facts out.
            include_deleted: deleted ones too.
            limit: how many at most; ``None`` for all.
            offset: how many to pass over first.
            newest_first: the newest first.
        """
        self._flush_touches()
        wanted = FactFilter(
            (self.namespace,),
            clock.utc_now(),
            subject=subject,
            category=category,
            metadata=parse_filters(filters),
            active_only=active_only,
            include_deleted=include_deleted,
            scope=scope,
        )
        return self._facts.select(wanted, limit=limit, offset=offset, newest_first=newest_first)

    def count(
        self,
        *,
        subject: str | None = None,
        category: str | None = None,
        filters: Filters = None,
        scope: Scope | None = None,
        active_only: bool = True,
        include_deleted: bool = False,
    ) -> int:
        """Return how many facts :meth:`list` would return without a limit."""
        wanted = FactFilter(
            (self.namespace,),
            clock.utc_now(),
            subject=subject,
            category=category,
            metadata=parse_filters(filters),
            active_only=active_only,
            include_deleted=include_deleted,
            scope=scope,
        )
        with self._engine.read() as transaction:
            return fact_table.count(transaction, wanted)

    def exists(self, content: str, *, subject: str) -> bool:
        """Whether an active fact says just this about just this subject."""
        return self._facts.exists(content, subject)

    def history(
        self, fact_id: int | None = None, *, subject: str | None = None
    ) -> builtins.list[Fact]:
        """Return how what is held true came to be, oldest first.

        Args:
            fact_id: any member of a chain, for the whole chain.
            subject: or a subject, for every fact there ever was about it.

        Raises:
            NotFound: no such fact.
            ValueError: both were given, or neither.
        """
        if fact_id is not None and subject is None:
            return self._facts.history(fact_id)
        if subject is not None and fact_id is None:
            return self._facts.history_of_subject(subject)
        raise ValueError("history takes either a fact's id or a subject")

    def operations(self, fact_id: int) -> builtins.list[Operation]:
        """Return the journal of the chain a fact is in: every change, when and by whom."""
        return self._facts.operations(fact_id)

    # -- looking after -------------------------------------------------------------------------

    def status(self) -> StoreStatus:
        """Count what the namespace holds, and say where and how it is kept."""
        self._flush_touches()
        now = clock.utc_now()
        active = FactFilter((self.namespace,), now)
        size_bytes = self._engine.size_bytes()  # a transaction of its own where there is no file
        with self._engine.read() as transaction:
            stored_model, dimension = meta_table.embedding_model(transaction)
            return StoreStatus(
                namespace=self.namespace,
                **fact_table.count_states(transaction, self.namespace, now),
                subjects=fact_table.count_by(transaction, "subject", active),
                categories=fact_table.count_by(transaction, "category", active),
                model=stored_model,
                dimension=dimension,
                embedder=None if self._embedder is None else self._embedder.model,
                path=self.path,
                size_bytes=size_bytes,
                schema_version=meta_table.schema_version(transaction),
                namespaces=fact_table.count_namespaces(transaction),
            )

    def embed_pending(
        self,
        *,
        limit: int | None = None,
        everywhere: bool = False,
        retry_quarantined: bool = False,
        progress: Progress | None = None,
    ) -> EmbedReport:
        """Embed the facts that wait for it.

        Args:
            everywhere: those of every namespace in the file, not just of this one. Their texts
                go to this store's embedder, whoever wrote them.
            limit: how many at most; ``None`` for all.
            retry_quarantined: give this namespace's quarantined facts another chance first.
            progress: called with how many are done, and of how many.

        Raises:
            EmbedderError: this store has no embedder.
            EmbedderMismatch: the file took on another model meanwhile.
        """
        embedding = self._embedding()
        if embedding is None:
            raise EmbedderError("this store has no embedder: open it with one")
        if retry_quarantined:
            with self._engine.write() as transaction:
                fact_table.release_quarantine(transaction, self.namespace)
        return embedding.embed_pending(None if everywhere else self.namespace, limit, progress)

    def embed_in_background(self, interval_seconds: float = 5.0) -> None:
        """Keep embedding what is pending here, in a thread that ends with the store."""
        embedding = self._embedding()
        if embedding is None or self._read_only or self._background is not None:
            return
        from memstore.embedding import BackgroundEmbedding

        self._background = BackgroundEmbedding(embedding, self.namespace, interval_seconds)
        self._background.start()

    def warm(self) -> None:
        """Load the model and the vectors now, so that the first search need not."""
        self._wake()[1].warm(self.namespace)

    def export(
        self, *, namespaces: str | Sequence[str] | None = None, progress: Progress | None = None
    ) -> Iterator[str]:
        """Yield an export as lines of JSON: everything but the embeddings.

        Args:
            namespaces: which ones; the store's own by default, ``"all"`` for all.
            progress: called with how many facts are written, and of how many.
        """
        from memstore import transfer

        self._flush_touches()
        return transfer.export(self._engine, self._namespaces(namespaces), progress)

    def import_(
        self,
        lines: Iterable[str],
        *,
        keep_namespaces: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Bring an export in: all of it, or nothing. Doing it twice changes nothing more.

        The facts are found by words at once; :meth:`embed_pending` embeds them.

        Args:
            lines: what :meth:`export` yielded.
            keep_namespaces: leave each fact in the namespace it came from, rather than in the
                store's own.
            progress: called with how many facts are in, and of how many.

        Raises:
            TransferError: the export is damaged; the line is named.
        """
        from memstore import transfer

        incoming = transfer.read(lines)
        if not keep_namespaces and len({fact.namespace for fact in incoming.facts}) > 1:
            raise ValueError(
                "the export holds several namespaces: import it with keep_namespaces=True, or "
                "export one namespace at a time"
            )
        home = None if keep_namespaces else self.namespace
        return transfer.write(self._engine, self._author, incoming, home, progress)

    def backup(self, target: str | os.PathLike[str], *, progress: Progress | None = None) -> Path:
        """Write a consistent copy of the live file, also while others write to it.

        Raises:
            StorageError: there is a file already, or it cannot be written.
        """
        file = Path(target).expanduser().absolute()
        if file.exists():
            raise StorageError(f"{file} exists: name a new file, so that no backup is lost")
        if not file.parent.is_dir():
            raise StorageError(f"{file.parent} is no folder: create it first")
        self._flush_touches()
        self._engine.backup(file, progress)
        return file

    def examine(self, *, progress: Progress | None = None) -> builtins.list[Finding]:
        """Prove that derived data agrees with the rows; an empty list means all is well.

        Args:
            progress: called with how many checks are done, and of how many.
        """
        from memstore import doctor

        return doctor.examine(self._engine, read_only=self._read_only, progress=progress)

    def rebuild(self, *, progress: Progress | None = None) -> builtins.list[str]:
        """Make what is derived anew, and return what was done; the rows are not touched.

        Args:
            progress: called with how many steps are done, and of how many.
        """
        from memstore import doctor

        return doctor.rebuild(self._engine, self._author, progress)

    def similarities(self, text: str, others: Sequence[str]) -> builtins.list[float]:
        """Return the cosine of a text with each of the others, -1 to 1. Nothing is stored.

        The texts are compared as they are: stored vectors stand for a fact with its subject.

        Raises:
            EmbedderError: the store has no embedder, or it failed.
        """
        embedding = self._embedding()
        if embedding is None:
            raise EmbedderError("this store has no embedder: open it with one")
        return embedding.similarities(text, others)

    # -- inside ------------------------------------------------------------------------------

    def _embedding(self) -> Embedding | None:
        return self._wake()[0] if self._embedder is not None else None

    def _wake(self) -> tuple[Embedding | None, Search]:
        # numpy and the kernel are imported here, with the first search or embedding, so that
        # opening a store and reading from it stay quick.
        with self._waking:
            if self._awake is None:
                from memstore.embedding import Embedding
                from memstore.search import Search

                embedding = (
                    Embedding(self._engine, self._author, self._embedder)
                    if self._embedder is not None
                    else None
                )
                self._awake = (embedding, Search(self._engine, embedding))
            return self._awake

    def _namespaces(self, asked: str | Sequence[str] | None) -> tuple[str, ...] | None:
        if asked is None:
            return (self.namespace,)
        if asked == ALL_NAMESPACES:
            return None
        names = (asked,) if isinstance(asked, str) else tuple(asked)
        if not names:
            raise ValueError('name at least one namespace, or "all"')
        return tuple(checked_text(name, "namespace", MAX_NAME) for name in names)

    def _flush_touches(self) -> None:
        if not self._read_only:
            self._touches.flush()
