"""The store: one namespace of an open file, with everything a caller can do to it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.database.tables import facts as fact_table
from memstore.domain import clock
from memstore.domain.arguments import (
    MAX_NUMBER,
    checked_id,
    checked_items,
    checked_number,
    checked_page,
    checked_records,
)
from memstore.domain.keywords import (
    FactCount,
    FactList,
    FactRanking,
    FactRecall,
    FactSearch,
    Page,
    Periods,
    keywords,
    taken,
)
from memstore.domain.metadata import parse_filters
from memstore.domain.namespaces import Namespaces, Reach
from memstore.domain.records import (
    DEFAULT_CATEGORY,
    TODO,
    Fact,
    JournalLine,
    NewFact,
    Scope,
    SearchHits,
    asked_scope,
)
from memstore.errors import InvalidArgument, InvalidArgumentType, Remedy, StorageError
from memstore.facts.facts import Facts
from memstore.lazy import lazy_import
from memstore.store.paths import file_at
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    import builtins
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import Self

    from memstore import importing, transfer
    from memstore.access import tokens
    from memstore.access.tokens import Tokens
    from memstore.database.engine import Progress
    from memstore.database.tables import generations as generation_table
    from memstore.database.tables import imports as imports_table
    from memstore.database.tables import meta as meta_table
    from memstore.database.tables import pieces as piece_table
    from memstore.database.tables import readings as reading_table
    from memstore.database.tables import vectors as vector_table
    from memstore.domain import episodes as episode_records
    from memstore.domain import status
    from memstore.domain.protocols import Embedder
    from memstore.domain.recall import Recalled
    from memstore.domain.records import AskedScope
    from memstore.domain.status import StoreStatus
    from memstore.embedding import background, pending
    from memstore.embedding.generations import Generations, ReembedReport
    from memstore.embedding.health import Probe
    from memstore.embedding.pending import EmbedReport
    from memstore.episodes import log
    from memstore.episodes.log import Episodes
    from memstore.errors import Reason
    from memstore.facts import batch, proposals, tasks
    from memstore.facts import beside as facts_beside
    from memstore.facts.batch import Applied, Change
    from memstore.facts.proposals import Proposals
    from memstore.facts.tasks import Tasks
    from memstore.graph import graph, satellite
    from memstore.graph.graph import Graph
    from memstore.history import erasing
    from memstore.importing import ImportFromReport
    from memstore.prompting.reading_log import Readings
    from memstore.search import recall, requests
    from memstore.store.file import File
    from memstore.text.secrets import Screen
    from memstore.transfer import ImportReport
    from memstore.upkeep import doctor, scheduled
    from memstore.upkeep.doctor import Finding
    from memstore.upkeep.scheduled import ScheduledBackups
else:
    background = lazy_import("memstore.embedding.background")
    batch = lazy_import("memstore.facts.batch")
    doctor = lazy_import("memstore.upkeep.doctor")
    episode_records = lazy_import("memstore.domain.episodes")
    erasing = lazy_import("memstore.history.erasing")
    facts_beside = lazy_import("memstore.facts.beside")
    generation_table = lazy_import("memstore.database.tables.generations")
    graph = lazy_import("memstore.graph.graph")
    importing = lazy_import("memstore.importing")
    imports_table = lazy_import("memstore.database.tables.imports")
    log = lazy_import("memstore.episodes.log")
    meta_table = lazy_import("memstore.database.tables.meta")
    pending = lazy_import("memstore.embedding.pending")
    piece_table = lazy_import("memstore.database.tables.pieces")
    proposals = lazy_import("memstore.facts.proposals")
    reading_table = lazy_import("memstore.database.tables.readings")
    recall = lazy_import("memstore.search.recall")
    requests = lazy_import("memstore.search.requests")
    satellite = lazy_import("memstore.graph.satellite")
    scheduled = lazy_import("memstore.upkeep.scheduled")
    status = lazy_import("memstore.domain.status")
    tasks = lazy_import("memstore.facts.tasks")
    tokens = lazy_import("memstore.access.tokens")
    transfer = lazy_import("memstore.transfer")
    vector_table = lazy_import("memstore.database.tables.vectors")


class Store:
    """An open file of memories, bound to one namespace. Made by :func:`memstore.open`.

    A context manager. Any number of threads may use it.
    """

    facts: Facts
    """Facts inside a transaction of the caller's: what decides and writes in one act uses this."""

    def __init__(
        self,
        file: File,
        namespace: str,
        *,
        confined: bool = False,
        closes_file: bool = False,
        beside: str | None = None,
    ) -> None:
        self._file = file
        self._reach = Reach(namespace, confined, None if beside == namespace else beside)
        self._closes_file = closes_file
        self.facts = self._facts_in(self.namespace)  # which is in its normal form
        if self._reach.beside is not None:
            shared = self._facts_in(self._reach.beside)
            self.facts = facts_beside.FactsBeside(self.facts, shared)

    def _facts_in(self, namespace: str) -> Facts:
        file = self._file
        return Facts(file.engine, file.author, namespace, file.embedder, satellite, file.screen)

    # The parts of a store are made, and their modules imported, when they are first used.

    @cached_property
    def tasks(self) -> Tasks:
        """Tasks: ``create``, ``update``, ``list``."""
        file = self._file
        return tasks.Tasks(file.engine, self.namespace, self.facts, file.author.source)

    @cached_property
    def episodes(self) -> Episodes:
        """What was said: ``add``, ``search``, ``list``, ``get``, ``update``, ``erase``."""
        file = self._file
        reach = Reach(self.namespace, self._reach.confined)
        return log.Episodes(file.engine, file.author, reach, file.searches, file.screen)

    @cached_property
    def proposals(self) -> Proposals:
        """Changes that need a decision: ``list``, ``get``, ``accept``, ``reject``."""
        return proposals.Proposals(self._file.engine, self.facts)

    @property
    def readings(self) -> Readings:
        """How models read episodes: what a rebuild goes by."""
        return self._file.readings

    @cached_property
    def tokens(self) -> Tokens:
        """Access tokens for the HTTP server: ``create``, ``list``, ``revoke``."""
        return tokens.Tokens(self._file.engine, self._file.author, self.namespace)

    @property
    def generations(self) -> Generations:
        """The models whose vectors the file holds: ``list``, ``stage``, ``run``, ``switch``, …"""
        return self._file.generations

    @cached_property
    def graph(self) -> Graph:
        """Entities and relations, built from facts on request: ``build``, ``neighbours``."""
        return graph.Graph(self._file.engine, self._file.author, self.namespace)

    @property
    def namespace(self) -> str:
        """The partition every read and write is bound to."""
        return self._reach.namespace

    @property
    def screen(self) -> Screen:
        """What becomes of keys and tokens in texts that are stored or read by a model."""
        return self._file.screen

    @property
    def path(self) -> str:
        """The file, as an absolute path."""
        return self._file.engine.path

    @property
    def embedder_trouble(self) -> Reason | None:
        """Why the embedder failed last, or why there is none; ``None`` if all is as chosen."""
        embedder = self._file.embedder
        return self._file.wordless if embedder is None else embedder.trouble

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, namespace={self.namespace!r})"

    def close(self) -> None:
        """Write what is still to be written, check-point and close the file. Twice is fine.

        One made by :meth:`within` leaves the file to the store it was made from.
        """
        if self._closes_file:
            self._file.close()

    def within(self, namespace: str, *, confined: bool = False) -> Self:
        """Return a store for another namespace of this file; connections and model are shared.

        It is closed with this one.

        Args:
            namespace: what the other store is bound to.
            confined: let no argument of any method reach another namespace. What is about the
                file as a whole (backup, tokens, doctor) is not for those such a store is made for.

        Raises:
            AccessDenied: this store is confined to another namespace.
        """
        self._reach.check(namespace)
        return type(self)(self._file, namespace, confined=self._reach.confined or confined)

    @property
    def alone(self) -> Self:
        """The same without the namespace it reads beside its own, for what compares and corrects.

        A store that was opened for a project (``namespace="auto"``) reads ``default`` as well.
        """
        return self if self._reach.beside is None else self.within(self.namespace)

    # -- storing and correcting ------------------------------------------------------------

    def add(
        self,
        content: str,
        *,
        subject: str,
        category: str = DEFAULT_CATEGORY,
        metadata: Mapping[str, Any] | None = None,
        supersedes: int | None = None,
        across: bool = False,
        created_at: datetime | str | None = None,
        valid_at: datetime | str | None = None,
        expired_at: datetime | str | None = None,
        source: str | None = None,
        idempotency_key: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        episode_id: int | None = None,
        thread: str | None = None,
        seq: int | None = None,
        unless_known: bool = False,
    ) -> Fact:
        """Store a fact; it is on disk when this returns, whatever the embedder does.

        Args:
            content: the claim, in words that stand by themselves.
            subject: whom or what it is about; the same thing is always called the same.
            category: ``preference``, ``identity``, ``project``, … ; a ``note`` fades with time.
            metadata: a JSON object of your own.
            supersedes: the id of the active fact this one replaces; both happen, or neither.
            across: let it replace a fact of another subject, or a task.
            created_at: when it was learned, if not now.
            valid_at: since when it holds; by default, that of its episode.
            expired_at: from when on it no longer counts.
            source: where it comes from.
            idempotency_key: storing again with the same key returns the same fact.
            user_id: the user it belongs to; see :class:`memstore.Scope`.
            agent_id: the agent it belongs to.
            run_id: the run it belongs to.
            episode_id: the episode it was drawn from.
            thread: the conversation it belongs to, by default that of its episode, which is one by
                itself if it is in none; or else that of the fact it supersedes, whose place it
                takes. Each owner has threads of its own.
            seq: its place there, 0 or more; by default that of the episode, or behind the last
                one. Facts at one place stand in the order in which they were stored.
            unless_known: if an active fact of the same owners, category, metadata and expiry says
                this already (case, blanks and a full stop at the end do not matter), confirm that
                one, let it supersede ``supersedes``, and return it.

        Raises:
            NotFound: there is no fact ``supersedes``, or no episode ``episode_id``, in this
                namespace.
            Conflict: that fact is superseded already, deleted, or of another subject or kind.
            IdempotencyConflict: the key was used for other content.
            ValueError: an empty or over-long text, a bad time, metadata that is no JSON.
        """
        return self.facts.add_many(
            [
                NewFact(
                    content=content,
                    subject=subject,
                    category=category,
                    metadata=metadata,
                    supersedes=supersedes,
                    across=across,
                    created_at=created_at,
                    valid_at=valid_at,
                    expired_at=expired_at,
                    source=source,
                    idempotency_key=idempotency_key,
                    user_id=user_id,
                    agent_id=agent_id,
                    run_id=run_id,
                    episode_id=episode_id,
                    thread=thread,
                    seq=seq,
                )
            ],
            unless_known=unless_known,
        )[0]

    def add_many(self, facts: Iterable[NewFact | Mapping[str, Any]]) -> list[Fact]:
        """Store many facts in one transaction: all of them, or none.

        Args:
            facts: :class:`NewFact` objects, or mappings of :meth:`add`'s arguments.
        """
        return self.facts.add_many(checked_records(NewFact, facts, "facts"))

    def supersede(self, old_id: int, new_id: int, *, across: bool = False) -> Fact:
        """Retire a fact in favour of a newer one that is stored already; return the retired one.

        Args:
            old_id: the active fact that no longer holds.
            new_id: the active fact that holds instead.
            across: let a fact replace one of another subject, or a task.

        Raises:
            NotFound: one of them is not in this namespace.
            Conflict: the old one is superseded already, the new one not active, both the same, or
                of another subject or kind.
        """
        return self.facts.supersede(old_id, new_id, across=across)

    def confirm(self, fact_id: int) -> Fact:
        """Count one more confirmation that a fact holds true.

        Raises:
            NotFound: no such fact.
            Conflict: it is superseded or deleted.
        """
        return self.facts.confirm(fact_id)

    def update_metadata(self, fact_id: int, patch: Mapping[str, Any]) -> Fact:
        """Apply a JSON merge patch (RFC 7396) to the metadata; ``None`` removes a key.

        Raises:
            NotFound: no such fact.
            Conflict: it is deleted; or it is a task, and the patch has one of the keys that
                :attr:`tasks` looks after.
        """
        return self.facts.update_metadata(fact_id, patch, tasks.refuse_task_keys)

    def delete(self, fact_id: int) -> Fact:
        """Put a tombstone on a fact: no search finds it, and :meth:`restore` brings it back.

        Raises:
            NotFound: no such fact.
        """
        return self.facts.delete(fact_id)

    def older(self, fact_id: int) -> Fact | None:
        """Return the newest fact that this one superseded and :meth:`reinstate` can bring back.

        Raises:
            NotFound: no such fact.
        """
        return self.facts.older(fact_id)

    def restore(self, fact_id: int) -> Fact:
        """Bring a fact back because the newer one was wrong, or because it was deleted.

        The text of a superseded fact becomes a new fact that supersedes the newest of its chain; a
        chain only grows. If that was a consolidation, its other facts are active again too. A
        deleted fact loses its tombstone, and is again what it was.

        Where old and new fact both hold, use :meth:`reinstate`. Returns the fact that is back.

        Raises:
            NotFound: no such fact.
            Conflict: it is active, or the newest of its chain is deleted.
        """
        return self.facts.restore(fact_id).fact

    def reinstate(self, fact_id: int) -> Fact:
        """Bring a superseded fact back because the supersession was wrong: both hold.

        The old text becomes a new fact; the newer one stays as it is. All facts of a consolidation
        come back together.

        Where the newer fact is wrong, use :meth:`restore`.

        Raises:
            NotFound: no such fact.
            Conflict: it is not superseded, or an active fact says the same already.
        """
        return self.facts.reinstate(fact_id).fact

    def newest_id(self) -> int:
        """Return the id of the newest fact of the file, for ``since`` of :meth:`apply`."""
        return self.facts.newest_id()

    def apply(
        self, changes: Iterable[Change], *, scope: Scope | None = None, since: int | None = None
    ) -> builtins.list[Applied]:
        """Carry out several changes in one transaction: all of them, or none.

        What was decided outside of it is looked at again inside: every fact that is named must
        still be active.

        Args:
            changes: :class:`memstore.facts.batch.AddFact`, ``SupersedeFact``, ``DeleteFact`` and
                ``KeepFact``, carried out in their order.
            scope: the owners that new facts get and that every fact named must have; ``None``
                leaves the owners alone.
            since: :meth:`newest_id` of before the facts were read that the changes rest on; refuse
                to add anything about a subject that got a new fact since then.

        Returns:
            What came of each change, in their order.

        Raises:
            NotFound: a fact that is not in this namespace, or of other owners.
            Conflict: a fact is not active any more; read again and decide again.
            ValueError: a text, a time or metadata that cannot be stored.
        """
        return batch.apply(self.facts, checked_items(changes, "changes"), scope, since)

    def erase(self, fact_id: int) -> bool:
        """Remove a fact's bytes from the file, the index and the journal. There is no way back.

        Its place in its chain stays, empty. The whole file is rewritten, so that no old page
        keeps the text. Copies made before (backups, exports) do, and so does the episode it was
        drawn from: ``episodes.erase`` removes that.

        Returns:
            False while another process still reads an older state or writes: the text can be
            seen no more, and its bytes go when :meth:`erase` is called again or the last process
            closes the file.

        Raises:
            NotFound: no such fact.
        """
        is_gone = self.facts.erase(fact_id)
        return self._file.searches.facts.index.rewrite() and is_gone

    def clear(self) -> bool:
        """Erase every fact, task and episode of the namespace in one transaction, for good.

        Its graph goes with them, and what was decided about entities.

        Returns:
            Whether the bytes have left the files already; see :meth:`erase`.
        """
        is_gone = erasing.erase_namespace(
            self._file.engine, self._file.author, self.namespace, satellite
        )
        searches = self._file.searches
        return all([searches.facts.index.rewrite(), searches.episodes.index.rewrite(), is_gone])

    def touch(self, fact_ids: Iterable[int]) -> int:
        """Count one use of each fact, and return how many of them are in this namespace."""
        ids = checked_items(fact_ids, "fact_ids")
        for fact_id in ids:
            checked_id(fact_id, "fact_ids")
        with self._file.engine.write() as transaction:
            uses, now = dict.fromkeys(ids, 1), clock.utc_now()
            return sum(
                fact_table.touch(transaction, uses, namespace, now)
                for namespace in self.facts.namespaces
            )

    # -- finding -----------------------------------------------------------------------------

    @keywords(FactSearch, limit=10, context=0, active_only=True, touch=True)
    def search(self, query: str, **asked: Unpack[FactSearch]) -> SearchHits:
        """Find facts by words and by meaning, best first.

        Any text is a query; its words are literals. Facts that hold only some of the words are
        found too. If the query cannot be embedded the words answer alone, and ``words_only`` of
        the result says why.

        Args:
            query: a question or some words.
            limit: how many facts at most, 1 to 1000.
            context: how many neighbours each fact gets on either side of it in its thread, 0 to
                10. They have its owners, and are found if it could be (tasks never are); each is
                there once, and none that was found itself.
            subject: only facts about this.
            category: only facts of this category.
            filters: conditions on metadata: ``{"key": value}``, or ``[("key", "<=", value)]``
                with ``= != < <= > >=``; see :class:`memstore.MetadataFilter`.
            namespaces: search these instead of the store's own; ``"all"`` for all.
            scope: what belongs to just these owners, an owner that is not named being not set;
                without one, what belongs to nobody; ``"all"`` for everybody's.
            active_only: leave superseded and expired facts out.
            tasks: whether tasks are found, too; ``None``: if their subject, ``todo``, is asked for.
            created_after, created_before: only what was stored between these moments; they are
                outside themselves.
            valid_after, valid_before: only what holds since then: ``valid_at``, or when it was
                stored.
            word_weight: what the words count, 0.6 by default.
            vector_weight: what the meaning counts, 0.4 by default.
            half_lives_seconds: for categories, the age at which a score has halved; 0 for never.
                Given ones replace the default of 30 days for ``note``.
            ranking: ``"threads"`` (the default) looks at conversations, names, dates and what the
                question asks for, too; ``"classic"`` at words and meaning alone, with the weights
                above. A call that gives a weight is classic, and so is the answer of a store whose
                index is being built: :attr:`SearchHits.ranking` tells.
            min_relevance: find nothing if none of the first ten hits is so relevant, 0 to 1; the
                command line and the tools ask for 0.075.
            touch: count the facts found as used.

        Raises:
            ValueError: a limit, weight or filter out of range.
        """
        return self.search_batch([query], **asked)[0]

    @keywords(FactSearch, limit=10, context=0, active_only=True, touch=True)
    def search_batch(self, queries: Sequence[str], **asked: Unpack[FactSearch]) -> list[SearchHits]:
        """Search for several queries with one call to the embedder; see :meth:`search`."""
        if isinstance(queries, str):
            raise InvalidArgumentType("must be a list of texts, not one text", argument="queries")
        queries = checked_items(queries, "queries")
        touch = asked.pop("touch")
        ranking = taken(asked, FactRanking)
        request = requests.for_facts(self._filter(asked), **ranking)
        found = self._file.searches.facts.batch(queries, request)
        if touch and not self._file.read_only:
            self._file.use_counts.note(hit.fact.id for hits in found for hit in hits)
        return found

    @keywords(FactRecall, active_only=True, touch=True)
    def recall(
        self,
        query: str,
        *,
        tokens: int,
        counter: Callable[[str], int] | None = None,
        episodes: bool = True,
        **asked: Unpack[FactRecall],
    ) -> Recalled:
        """Return what fits a question best as a text for a prompt, of so many tokens at most.

        One line for each fact or episode, with its id and date; each is said once. A larger budget
        holds all that a smaller one held. What was stored is data and not instructions: a line of
        it is never more than one line.

        Args:
            query: a question or some words.
            tokens: the most that the text may take.
            counter: returns how many tokens a text takes, for the model that will read it; by
                default a number that no current model exceeds.
            episodes: recall episodes, too; times narrow them, and what narrows facts otherwise (a
                subject, a category, metadata, superseded ones) leaves them out.
            subject: as the other keywords, see :meth:`search`. ``min_relevance`` is asked of facts
                and of episodes, each by themselves.

        Raises:
            ValueError: a budget below 1, or a filter out of range.
        """
        checked_number(tokens, "tokens", 1, MAX_NUMBER)
        touch, relevance = asked.pop("touch"), asked.pop("min_relevance")
        also_of_episodes = {*Periods.__annotations__, "namespaces", "scope"}
        narrowing: Any = {name: value for name, value in asked.items() if name in also_of_episodes}
        wanted = self._filter(asked)
        narrowed = wanted.subject or wanted.category or wanted.metadata or not wanted.active_only
        request = requests.for_facts(wanted, limit=recall.FOUND, min_relevance=relevance)
        facts = self._file.searches.facts.find(query, request)
        said = episode_records.EpisodeHits()
        if episodes and not narrowed:
            said = self.episodes.search(
                query, limit=recall.FOUND, min_relevance=relevance, **narrowing
            )
        found = recall.recalled(facts, said, tokens, counter)
        if touch and not self._file.read_only:
            self._file.use_counts.note(found.facts)
        return found

    def get(self, fact_id: int) -> Fact:
        """Return one fact, in whatever state: its ``status`` tells.

        Raises:
            NotFound: no such fact in this namespace, or it was erased.
        """
        self._file.write_use_counts()
        return self.facts.get(fact_id)

    @keywords(
        FactList,
        active_only=True,
        tasks=True,
        include_deleted=False,
        offset=0,
        newest_first=False,
    )
    def list(self, **asked: Unpack[FactList]) -> builtins.list[Fact]:
        """Return facts by id; what narrows them is as in :meth:`search`, but tasks are facts.

        Args:
            tasks: ``False`` leaves them out.
            include_deleted: deleted ones too.
            limit: how many at most; ``None`` for all.
            offset: how many to pass over first.
            newest_first: the newest first.
        """
        self._file.write_use_counts()
        page = taken(asked, Page)
        checked_page(page["limit"], page["offset"])
        wanted = self._filter(asked)
        with self._file.engine.read() as transaction:
            return [*fact_table.select(transaction, wanted, **page)]

    @keywords(FactCount, active_only=True, tasks=True, include_deleted=False)
    def count(self, **asked: Unpack[FactCount]) -> int:
        """Return how many facts :meth:`list` would return without a limit."""
        wanted = self._filter(asked)
        with self._file.engine.read() as transaction:
            return fact_table.count(transaction, wanted)

    def exists(self, content: str, *, subject: str, scope: AskedScope = None) -> bool:
        """Whether an active fact says just this about this subject; ``scope`` as in `search`."""
        return self.facts.exists(content, subject, asked_scope(scope))

    def check_owners(self, scope: AskedScope, *fact_ids: int) -> None:
        """Refuse facts of other owners than these; no other method looks at whose an id is.

        Raises:
            NotFound: there is no such fact, or it has other owners.
        """
        self.facts.check_owners(asked_scope(scope), *fact_ids)

    def history(
        self,
        fact_id: int | None = None,
        *,
        subject: str | None = None,
        scope: AskedScope = None,
    ) -> builtins.list[Fact]:
        """Return how what is held true came to be, oldest first.

        Args:
            fact_id: any member of a chain, for the whole chain.
            subject: or a subject, for every fact there ever was about it.
            scope: of a subject, facts of just these owners, or of nobody; ``"all"`` for all. Of
                a chain, which is anybody's without it, only if it belongs to just these.

        Raises:
            NotFound: no such fact.
            ValueError: both were given, or neither.
        """
        if fact_id is not None and subject is None:
            return self.facts.history(fact_id, scope if isinstance(scope, Scope) else None)
        if subject is not None and fact_id is None:
            return self.facts.history_of_subject(subject, asked_scope(scope))
        raise InvalidArgument("either a fact's id or a subject is needed, and not both")

    def journal(self, fact_id: int) -> builtins.list[JournalLine]:
        """Return the journal of the chain a fact is in: every change, when and by whom."""
        return self.facts.journal(fact_id)

    # -- embedding ---------------------------------------------------------------------------

    def embed_pending(
        self,
        *,
        limit: int | None = None,
        everywhere: bool = False,
        retry_quarantined: bool = False,
        progress: Progress | None = None,
    ) -> EmbedReport:
        """Embed the facts and episodes that wait for it.

        Args:
            everywhere: those of every namespace in the file, not just of this one. Their texts
                go to this store's embedder.
            limit: how many texts at most, a long episode being several; ``None`` for all.
            retry_quarantined: give what this namespace has in quarantine another chance first.
            progress: called with how many are done, and of how many.

        Raises:
            EmbedderError: this store has no embedder.
            EmbedderMismatch: the file switched to another model in the meantime.
        """
        if everywhere:
            self._reach.check_all()
        embedder = self._file.needed_embedder()
        if retry_quarantined:
            with self._file.engine.write() as transaction:
                active = generation_table.active(transaction)
                for table in vector_table.TABLES:
                    vector_table.release_quarantine(transaction, table, active.id, self.namespace)
        namespace = None if everywhere else self.namespace
        return pending.embed_pending(
            self._file.engine, self._file.author, embedder, namespace, limit, progress
        )

    def embed_in_background(self, interval_seconds: float = 5.0) -> None:
        """Keep embedding what is pending in the file, in a thread that ends with the store.

        Of all processes that do this one works at a time, for every namespace.
        """
        self._file.embed_in_background(interval_seconds)

    def keep_embedding(
        self,
        tell: Callable[[EmbedReport | Reason], object],
        *,
        everywhere: bool = False,
        interval_seconds: float = 5.0,
    ) -> None:
        """Embed what is pending, now and whenever something is, until the process is interrupted.

        Where another process does it already, this one waits to take over.

        Args:
            tell: called with what was done, or with why nothing could be.
            everywhere: for every namespace in the file, not just this one.
            interval_seconds: how long to wait between two looks.

        Raises:
            EmbedderError: this store has no embedder.
            KeyboardInterrupt: the process was interrupted; nothing is left half done.
        """
        background.BackgroundEmbedding(
            self._file.engine,
            self._file.author,
            self._file.needed_embedder(),
            None if everywhere else self.namespace,
            interval_seconds,
            tell=tell,
        ).run()

    def reembed(
        self, embedder: Embedder, *, again: bool = False, progress: Progress | None = None
    ) -> ReembedReport:
        """Switch the file to another embedding model; until then searches use the old one.

        Every fact and episode of the file, whatever its namespace, is embedded again beside the old
        vectors; then one transaction switches. Stopped or killed at any point, the same call goes
        on from there. The old vectors stay until ``generations.drop``, and ``generations.switch``
        goes back to them at once. Other processes notice the switch with their next search.

        Args:
            embedder: of the new model. This store uses it afterwards, if it used one before.
            again: make the vectors of the model the file has already once more.
            progress: called with how many are done, and of how many.

        Raises:
            Conflict: the file's vectors are of this model, or another one is being staged.
            EmbedderMismatch: the embedder changed its dimension on the way.
        """
        return self.generations.reembed(embedder, again=again, progress=progress)

    def warm(self) -> None:
        """Load the model and the index now, so that the first search need not."""
        self._file.searches.warm()

    def save_index(self) -> None:
        """Write the index that searches need beside the file, if one is due and not too large.

        A program that searches once and ends calls this at its end; the next one then has the
        index. It takes some seconds the first time. Others need not: they save as they go.
        """
        self._file.searches.save_index()

    def probe_embedder(self, timeout_seconds: float = 3.0) -> Probe | None:
        """Ask the embedder for a vector now, and return what came of it; ``None`` without one.

        Args:
            timeout_seconds: how long to wait; one that does not answer by then does not work.
        """
        return self._file.probe_embedder(timeout_seconds)

    def similarities(self, text: str, others: Sequence[str]) -> builtins.list[float]:
        """Return the cosine of a text with each of the others, -1 to 1. Nothing is stored.

        The texts are compared as they are: stored vectors stand for a fact with its subject.

        Raises:
            EmbedderError: the store has no embedder, or it failed.
        """
        return self._file.needed_embedder().current.similarities(text, others)

    # -- carrying over -----------------------------------------------------------------------

    def export(
        self, *, namespaces: Namespaces = None, progress: Progress | None = None
    ) -> Iterator[str]:
        """Yield an export as lines of JSON: everything but the embeddings, all from one state.

        The first line comes when everything has been read, in short steps; no one has to wait for
        whoever takes the lines.

        Args:
            namespaces: which ones; the store's own by default, ``"all"`` for all.
            progress: called with how many facts and episodes are read, and of how many.
        """
        self._file.write_use_counts()
        return transfer.export(self._file.engine, self._reach.select(namespaces), progress)

    def import_(
        self,
        lines: Iterable[str],
        *,
        keep_namespaces: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Bring an export in. Doing it twice changes nothing more.

        All of it is checked before anything is written, and then comes in by short transactions,
        none of which shows a fact that was superseded. Interrupted, the same import again completes
        it; until then, or until :meth:`give_up_imports`, :meth:`status` counts it as incomplete.
        Words find facts and episodes at
        once; :meth:`embed_pending` embeds them.

        Args:
            lines: what :meth:`export` yielded.
            keep_namespaces: leave each fact in the namespace it came from, rather than in the
                store's own.
            progress: called with how many facts are in, and of how many.

        Raises:
            TransferError: the export is damaged; the line is named.
        """
        if keep_namespaces:
            self._reach.check_all()
        incoming = transfer.read(lines)
        if not keep_namespaces and len(incoming.namespaces) > 1:
            raise InvalidArgument(
                "the export holds several namespaces", remedy=Remedy.KEEP_NAMESPACES
            )
        home = None if keep_namespaces else self.namespace
        return transfer.write(
            self._file.engine, self._file.author, incoming, home, satellite, progress
        )

    def give_up_imports(self) -> int:
        """Stop counting interrupted imports as incomplete; return how many there were.

        What they brought in stays, and the same import still completes it.
        """
        with self._file.engine.write() as transaction:
            return imports_table.give_up(transaction, self.namespace)

    def import_from(
        self,
        source: str,
        path: str | os.PathLike[str],
        *,
        keep_namespaces: bool = False,
        skip_damaged: bool = False,
        progress: Progress | None = None,
    ) -> ImportFromReport:
        """Bring in what another program remembers. Doing it twice changes nothing more.

        The file is read whole before anything is written, and then comes in by batches; after an
        interruption the same import goes on. Its embeddings are another model's and stay behind:
        :meth:`embed_pending` makes new ones.

        Args:
            source: ``"engram"`` (JSON Lines, or its DuckDB file with the extra ``duckdb``),
                ``"memstore"`` (the original's SQLite file, of any version), ``"mem0"`` (an export
                as JSON) or ``"server-memory"`` (its JSON Lines).
            path: the file, which is left as it is.
            keep_namespaces: make the source's namespaces and groups namespaces here, rather than
                bring everything into the store's own.
            skip_damaged: leave out what cannot be read, and report it.
            progress: called with how many things are in, and of how many.

        Returns:
            What came in, and what could not be carried over.

        Raises:
            TransferError: something cannot be read; its place is named, and nothing was imported.
            StorageError: the file cannot be opened.
            ValueError: an unknown source.
        """
        if keep_namespaces:
            self._reach.check_all()
        return importing.import_from(
            self._file.engine,
            self._file.author,
            source,
            file_at(path),
            satellite,
            namespace=None if keep_namespaces else self.namespace,
            skip_damaged=skip_damaged,
            progress=progress,
        )

    def backup(self, target: str | os.PathLike[str], *, progress: Progress | None = None) -> Path:
        """Write a consistent copy of the live file, also while others write to it.

        Raises:
            StorageError: there is a file already, or it cannot be written.
        """
        file = file_at(target, "target").absolute()
        if file.exists():
            raise StorageError(f"{str(file)!r} exists already", remedy=Remedy.NEW_TARGET)
        if not file.parent.is_dir():
            raise StorageError(f"{str(file.parent)!r} is no folder", remedy=Remedy.NEW_TARGET)
        self._file.write_use_counts()
        self._file.engine.backup(file, progress)
        return file

    def backup_in_background(
        self,
        every_seconds: float,
        keep: int,
        folder: str | os.PathLike[str] | None = None,
        *,
        tell: Callable[[Path | Reason], object] = lambda _: None,
    ) -> None:
        """Make a backup whenever the newest is so old, in a thread, until the store is closed.

        Of several processes that do this for one file, one at a time makes a backup.

        Args:
            every_seconds: how old the newest backup may get, 60 or more.
            keep: how many are kept. Only files named like this method's are ever removed.
            folder: where they are; ``None`` for ``<file>.backups``.
            tell: called with the file of each backup, or with why there is none; then nothing is
                removed, and it is tried again after a minute.
        """
        self._file.backup_in_background(self._backups(every_seconds, keep, folder, tell))

    def keep_backups(
        self,
        every_seconds: float,
        keep: int,
        folder: str | os.PathLike[str] | None = None,
        *,
        tell: Callable[[Path | Reason], object] = lambda _: None,
    ) -> None:
        """Do as :meth:`backup_in_background` does, in this thread, until it is interrupted.

        Raises:
            KeyboardInterrupt: the process was interrupted; no half backup is left.
        """
        self._backups(every_seconds, keep, folder, tell).run()

    def _backups(
        self,
        every_seconds: float,
        keep: int,
        folder: str | os.PathLike[str] | None,
        tell: Callable[[Path | Reason], object],
    ) -> ScheduledBackups:
        if self._file.read_only:
            raise StorageError(
                "a store that is open for reading only cannot agree with others on who makes the "
                "backups",
                remedy=Remedy.OPEN_WRITABLE,
            )
        if folder is None and self.path == ":memory:":
            raise InvalidArgument("is needed for a store in memory", argument="folder")
        where = None if folder is None else file_at(folder, "folder").absolute()
        return scheduled.ScheduledBackups(self._file.engine, every_seconds, keep, where, tell=tell)

    @property
    def is_replaced(self) -> bool:
        """Whether the file was replaced, moved or removed while it was open.

        Every call then raises :class:`memstore.FileReplaced`.
        """
        return self._file.engine.is_lost

    # -- looking after the file --------------------------------------------------------------

    def status(self, *, scope: AskedScope = None) -> StoreStatus:
        """Count what the namespace holds, and say where and how it is kept.

        Args:
            scope: count what belongs to just these owners, or to nobody; ``"all"`` for all.
        """
        self._file.write_use_counts()
        now = clock.utc_now()
        owners = asked_scope(scope)
        active = FactFilter((self.namespace,), now, scope=owners)
        records = EpisodeFilter((self.namespace,), now, scope=owners)
        embedder = self._file.embedder
        engine = self._file.engine
        # Not within the transaction: another engine may ask for them in one of its own.
        size_bytes, log_bytes = engine.size_bytes(), engine.log_bytes()
        with engine.read() as transaction:
            stored = generation_table.active(transaction)
            return status.StoreStatus(
                namespace=self.namespace,
                **fact_table.count_states(transaction, active),
                **piece_table.count_episodes(transaction, records),
                unlearnt=len(reading_table.unlearnt(transaction, records)),
                **vector_table.count_waiting(transaction, vector_table.FACTS, stored.id, active),
                incomplete_imports=imports_table.count(transaction, self.namespace),
                subjects=fact_table.count_by(transaction, "subject", active),
                categories=fact_table.count_by(transaction, "category", active),
                model=stored.model,
                dimension=stored.dimension,
                embedder=None if embedder is None else embedder.embedder.model,
                path=self.path,
                size_bytes=size_bytes,
                log_bytes=log_bytes,
                durability=engine.durability,
                schema_version=meta_table.schema_version(transaction),
                locks=engine.locks,
                exposed=engine.exposed(),
                namespaces=self._reach.visible(fact_table.count_namespaces(transaction)),
            )

    def examine(
        self, *, deep: bool = False, progress: Progress | None = None
    ) -> builtins.list[Finding]:
        """Prove that derived data agrees with the rows; an empty list means all is well.

        Args:
            deep: read every line of the journal too, and compare it with its checksum.
            progress: called with how many checks are done, and of how many.
        """
        return doctor.examine(self._file.engine, satellite, deep=deep, progress=progress)

    def rebuild(self, *, progress: Progress | None = None) -> builtins.list[str]:
        """Rebuild the word index, and reset embeddings that do not fit; say what was done.

        No model is asked; :meth:`memstore.Extractor.rebuild` derives facts from episodes again.

        Args:
            progress: called with how many steps are done, and of how many.
        """
        return doctor.rebuild(self._file.engine, self._file.author, satellite, progress)

    def _filter(self, asked: Any) -> FactFilter:
        if asked["tasks"] is None:
            subject = asked["subject"]
            asked["tasks"] = isinstance(subject, str) and subject_key(subject) == TODO
        asked |= {bound: clock.moment(asked[bound], bound) for bound in Periods.__annotations__}
        return FactFilter(
            self._reach.select(asked.pop("namespaces", None)),
            clock.utc_now(),
            metadata=parse_filters(asked.pop("filters")),
            scope=asked_scope(asked.pop("scope")),
            **asked,
        )
