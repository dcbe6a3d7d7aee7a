"""The store: one namespace of an open file, and all operations on it."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack, overload

from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.database.tables import counts
from memstore.database.tables import facts as fact_table
from memstore.domain import clock, zones
from memstore.domain.arguments import (
    MAX_NAME,
    MAX_NUMBER,
    MAX_QUERY,
    checked_choice,
    checked_id,
    checked_ids,
    checked_items,
    checked_key,
    checked_limit,
    checked_number,
    checked_page,
    checked_records,
    checked_text,
    stored_text,
)
from memstore.domain.queries import (
    ActList,
    DifferenceList,
    FactCount,
    FactList,
    FactRanking,
    FactRecall,
    FactSearch,
    Page,
)
from memstore.domain.records import (
    EVERYBODY,
    NOBODY,
    AtLeast,
    Fact,
    Head,
    JournalLine,
    NewFact,
    Scope,
    SearchHit,
    SearchHits,
    chosen_owners,
    is_among,
)
from memstore.domain.standing import Namespaces, Standing
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.facts import rules
from memstore.facts.facts import Facts, Unchanged
from memstore.frozen import replace
from memstore.keywords import keywords, part
from memstore.lazy import cached_property, lazy_import
from memstore.text.secrets import Screen

if TYPE_CHECKING:
    import builtins
    import os
    import pathlib
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import date, datetime, tzinfo
    from typing import Self

    from memstore import importing, transfer
    from memstore.access import tokens
    from memstore.briefing import briefing
    from memstore.briefing.briefing import Briefing
    from memstore.database import journal
    from memstore.database import meta as meta_table
    from memstore.database.engine import Progress, Transaction
    from memstore.database.journal import Author
    from memstore.database.tables import generations as generation_table
    from memstore.database.tables import imports as imports_table
    from memstore.database.tables import pieces as piece_table
    from memstore.database.tables import readings as reading_table
    from memstore.database.tables import searches as search_table
    from memstore.database.tables import unread as unread_table
    from memstore.database.tables import vectors as vector_table
    from memstore.domain import episodes as episode_records
    from memstore.domain import erasures, plans, searches, status
    from memstore.domain import log as logs
    from memstore.domain import moments as given_moments
    from memstore.domain.episodes import EpisodeHits
    from memstore.domain.explanations import Explanation
    from memstore.domain.log import Act, DayActivity, LogLine
    from memstore.domain.records import OwnersSelection
    from memstore.domain.repairs import RepairedFact
    from memstore.domain.searches import GivenFact, RecordedSearch
    from memstore.domain.status import Others, Owner, StoreCounts, StoreStatus, Subject
    from memstore.domain.support import Leg
    from memstore.domain.trust import Credit, TrustChange
    from memstore.embedding import background, pending
    from memstore.embedding.pending import EmbedReport
    from memstore.episodes import episodes as log
    from memstore.episodes import passages, since
    from memstore.episodes.episodes import Episodes
    from memstore.facts import batch, following, keyed, proposals, sources, tasks
    from memstore.facts.batch import Applied, Change
    from memstore.facts.following import FilesReading, Followed
    from memstore.facts.keyed import DeleteKey
    from memstore.facts.proposals import Proposals
    from memstore.facts.tasks import Tasks
    from memstore.graph import dependents, graph
    from memstore.graph.graph import Graph
    from memstore.history import activity as activities
    from memstore.history import differences as comparing
    from memstore.history import erasing, erasure, moments, reverting, trust
    from memstore.history import log as acts
    from memstore.history.differences import Differences
    from memstore.history.erasure import ErasurePlan, ErasureTarget
    from memstore.history.reverting import Plan
    from memstore.importing import ImportFromReport
    from memstore.prompting.reading_log import Readings
    from memstore.search import bearing, recall, reminder, requests, why_not
    from memstore.search.index import residents
    from memstore.search.recall import Recalled
    from memstore.search.why_not import WhyNot
    from memstore.store import questions
    from memstore.store import view as views
    from memstore.store.file import File
    from memstore.store.view import View
    from memstore.transfer import ImportReport
    from memstore.upkeep import doctor, scheduled, verification
    from memstore.upkeep.findings import Finding
else:
    activities = lazy_import("memstore.history.activity")
    acts = lazy_import("memstore.history.log")
    background = lazy_import("memstore.embedding.background")
    batch = lazy_import("memstore.facts.batch")
    bearing = lazy_import("memstore.search.bearing")
    comparing = lazy_import("memstore.history.differences")
    briefing = lazy_import("memstore.briefing.briefing")
    doctor = lazy_import("memstore.upkeep.doctor")
    episode_records = lazy_import("memstore.domain.episodes")
    erasing = lazy_import("memstore.history.erasing")
    erasure = lazy_import("memstore.history.erasure")
    erasures = lazy_import("memstore.domain.erasures")
    generation_table = lazy_import("memstore.database.tables.generations")
    graph = lazy_import("memstore.graph.graph")
    importing = lazy_import("memstore.importing")
    journal = lazy_import("memstore.database.journal")
    imports_table = lazy_import("memstore.database.tables.imports")
    following = lazy_import("memstore.facts.following")
    keyed = lazy_import("memstore.facts.keyed")
    log = lazy_import("memstore.episodes.episodes")
    logs = lazy_import("memstore.domain.log")
    meta_table = lazy_import("memstore.database.meta")
    passages = lazy_import("memstore.episodes.passages")
    pathlib = lazy_import("pathlib")
    pending = lazy_import("memstore.embedding.pending")
    piece_table = lazy_import("memstore.database.tables.pieces")
    proposals = lazy_import("memstore.facts.proposals")
    reading_table = lazy_import("memstore.database.tables.readings")
    plans = lazy_import("memstore.domain.plans")
    recall = lazy_import("memstore.search.recall")
    given_moments = lazy_import("memstore.domain.moments")
    moments = lazy_import("memstore.history.moments")
    reverting = lazy_import("memstore.history.reverting")
    reminder = lazy_import("memstore.search.reminder")
    requests = lazy_import("memstore.search.requests")
    residents = lazy_import("memstore.search.index.residents")
    dependents = lazy_import("memstore.graph.dependents")
    since = lazy_import("memstore.episodes.since")
    scheduled = lazy_import("memstore.upkeep.scheduled")
    search_table = lazy_import("memstore.database.tables.searches")
    searches = lazy_import("memstore.domain.searches")
    status = lazy_import("memstore.domain.status")
    sources = lazy_import("memstore.facts.sources")
    tasks = lazy_import("memstore.facts.tasks")
    trust = lazy_import("memstore.history.trust")
    tokens = lazy_import("memstore.access.tokens")
    transfer = lazy_import("memstore.transfer")
    unread_table = lazy_import("memstore.database.tables.unread")
    vector_table = lazy_import("memstore.database.tables.vectors")
    questions = lazy_import("memstore.store.questions")
    views = lazy_import("memstore.store.view")
    verification = lazy_import("memstore.upkeep.verification")
    why_not = lazy_import("memstore.search.why_not")


MAX_KEPT: Final = 1_000
"""Stores of owners that a store keeps."""

OWNERS_AT_ONCE: Final = 1_000
"""Sets of owners read together, to find those that a store is of."""


class Store(zones.Zoned):
    """One namespace of an open file of memories; returned by :func:`memstore.open`.

    It is a context manager. Any number of threads may use it.
    """

    def __init__(
        self,
        file: File,
        standing: Standing,
        *,
        closes_file: bool = False,
        author: Author | None = None,
        unchanged: Unchanged | None = None,
        facts: Facts | None = None,
    ) -> None:
        self._file = file
        self._author = file.author if author is None else author
        self._zone = file.zone
        self._standing = standing
        self._closes_file = closes_file
        self._unchanged = unchanged
        self._of: dict[OwnersSelection, Self] = {}
        """The stores of owners that were asked for, since a server needs the same ones often."""
        self._facts = facts or Facts(
            file.engine,
            self._author,
            standing,
            file.embedder,
            dependents,
            file.screen,
            unchanged,
        )

    # The parts of a store are created, and their modules imported, on first use.

    @cached_property
    def tasks(self) -> Tasks:
        """Tasks: ``create``, ``update``, ``list``."""
        file = self._file
        made = tasks.Tasks(file.engine, self._facts, self._author.source)
        return zones.bound(made, self._zone)

    @cached_property
    def episodes(self) -> Episodes:
        """The log of episodes: ``add``, ``search``, ``list``, ``get``, ``update``, ``erase``."""
        file = self._file
        alone = self._standing.alone
        made = log.Episodes(file.engine, self._author, alone, file.searches, file.screen)
        return zones.bound(made, self._zone)

    @cached_property
    def proposals(self) -> Proposals:
        """Changes that need a decision: ``list``, ``get``, ``accept``, ``reject``."""
        return zones.bound(proposals.Proposals(self._file.engine, self._facts), self._zone)

    @property
    def readings(self) -> Readings:
        """The log of how models read episodes, which a rebuild repeats."""
        return self._file.readings

    @cached_property
    def graph(self) -> Graph:
        """Entities and relations, built from facts on request: ``build``, ``neighbours``."""
        return graph.Graph(self._file.engine, self._author, self._standing)

    @property
    def timezone(self) -> tzinfo | None:
        """The time zone that it was opened with; ``None`` for the user's of each call."""
        return self._zone

    @property
    def file(self) -> File:
        """The whole file: backups, exports of every namespace, repairs, models, access tokens.

        Raises:
            AccessDenied: this store is confined to its namespace.
        """
        self._standing.check_all()
        return self._file

    @property
    def namespace(self) -> str:
        """The partition that every read and write is bound to."""
        return self._standing.namespace

    @property
    def path(self) -> str:
        """The file, as an absolute path."""
        return self._file.engine.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        owners = self._standing.owners
        whose = "" if owners is None else f", owners={owners!r}"
        return f"{type(self).__name__}({self.path!r}, namespace={self.namespace!r}{whose})"

    def close(self) -> None:
        """Write buffered use counts, checkpoint and close the file; a second call does nothing.

        A store made by :meth:`within` does nothing: the store it was made from closes the file.
        """
        if self._closes_file:
            self._file.close()

    def of(
        self,
        owners: OwnersSelection | None = None,
        /,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Self:
        """Return a store of the memories of owners, sharing the connections and the model.

        It sees, changes, counts and exports only what is theirs; the id of anything else is not
        found. What it stores is theirs. A store that was just opened asks for memories without
        owners, but takes the id of any memory. It is closed with this one.

        Args:
            owners: :class:`memstore.Scope`, exactly these owners; :class:`memstore.AtLeast`, at
                least these: what is stored has to name its own; or ``"all"``, any owners.
            user_id: instead of ``owners``: exactly these, of which a missing one is not set.
                ``of()`` is of memories without owners.
            agent_id: the agent.
            run_id: the run.

        Raises:
            AccessDenied: this store is confined to owners that do not include these.
        """
        owners = chosen_owners(owners, user_id, agent_id, run_id)
        known = self._of.get(owners) if isinstance(owners, Scope | AtLeast | str) else None
        if known is not None:
            return known
        standing = self._standing.of(owners)
        store = type(self)(
            self._file,
            standing,
            author=self._author,
            unchanged=self._unchanged,
            facts=self._facts.of(standing),
        )
        if len(self._of) >= MAX_KEPT:
            self._of.clear()
        return self._of.setdefault(owners, store)

    def within(
        self, namespace: str | None = None, *, confined: bool = False, source: str | None = None
    ) -> Self:
        """Return a store for another namespace of this file, sharing its connections and model.

        It is closed with this one.

        Args:
            namespace: the namespace of the other store; by default the same one.
            confined: refuse every argument that names another namespace and, if the store has
                owners (:meth:`of`), every other owners. Such a store has no :attr:`file`.
            source: the program or interface that its changes are made through, for the journal; by
                default the same one.

        Raises:
            AccessDenied: this store is confined to another namespace.
        """
        standing = self._standing
        if namespace is not None:
            standing.check(namespace)
            standing = replace(standing, namespace=namespace, shared=None)
        author = self._author
        if source is not None:
            author = author._replace(source=checked_text(source, "source", MAX_NAME))
        if confined:
            standing = standing.bounded
        return self._bound(standing, author, self._unchanged)

    def unless_changed(self, fact_ids: Iterable[int], since: int) -> Self:
        """Return the same store, which changes facts only while these are as they were.

        Each of its changes of facts, tasks and proposals first looks, in its own transaction,
        whether a line of the journal after ``since`` changed one of the facts. So a decision that
        rests on what was read is carried out on just that, while others write. New embeddings and
        decided proposals do not count as changes. Do not keep the store: its own change is one.

        Args:
            fact_ids: the facts that the decision rests on.
            since: the last line of the journal when they were read, such as
                ``store.file.head().line``.

        Raises:
            FactChanged: by its changes, if one was changed; nothing was done.
        """
        checked_number(since, "since", -1, MAX_NUMBER)
        ids = checked_ids(fact_ids, "fact_ids")
        if self._standing.bound is not None:
            with self._file.engine.read() as transaction:
                for one in ids:
                    rules.known(transaction, self._standing, one)
        unchanged = Unchanged(tuple(ids), since)
        return self._same(self._author, unchanged)

    def _same(self, author: Author, unchanged: Unchanged | None) -> Self:
        return self._bound(self._standing, author, unchanged)

    def _bound(self, standing: Standing, author: Author, unchanged: Unchanged | None) -> Self:
        return type(self)(self._file, standing, author=author, unchanged=unchanged)

    @property
    def alone(self) -> Self:
        """A store that reads only its own namespace, for comparing and correcting facts.

        A store opened for a project (``namespace="auto"``) also reads ``default``.
        """
        return self if self._standing.shared is None else self.within(self.namespace)

    # -- storing and correcting ------------------------------------------------------------

    def add(
        self,
        content: str,
        *,
        subject: str,
        category: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        supersedes: int | None = None,
        any_subject: bool = False,
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
        slots: Mapping[str, str] | None = None,
        external_key: str | None = None,
        unsearched: bool = False,
        unless_known: bool = False,
    ) -> Fact:
        """Store a fact; it is on disk when this returns, even if the embedder fails.

        Args:
            content: the claim, in words that can be understood without context.
            subject: the person or thing it is about, always under the same name.
            category: ``preference``, ``identity``, ``project``, … ; a ``note`` loses rank with age.
                By default that of the fact that it supersedes, else ``note``.
            metadata: a JSON object of your own.
            supersedes: the id of the active fact that this one replaces, in the same transaction.
            any_subject: allow it to replace a fact of another subject, or a task.
            created_at: when it was learned, if not now.
            valid_at: since when it holds; by default, the ``valid_at`` of its episode.
            expired_at: when it expires.
            source: where it comes from.
            idempotency_key: storing again with the same key returns the same fact.
            user_id: the user it belongs to; see :class:`memstore.Scope`.
            agent_id: the agent it belongs to.
            run_id: the run it belongs to.
            episode_id: the episode it was extracted from.
            thread: the conversation it belongs to. The default is that of its episode (an episode
                without a thread is one by itself), else the thread and place of the fact that it
                supersedes. Threads are separate for each set of owners.
            seq: its place in the thread, 0 or more; by default that of the episode, or after the
                last one. Facts at the same place are ordered as they were stored.
            slots: texts by name, by which it is compared with later facts: ``holder``,
                ``attribute``, ``value``, ``cardinality`` (``one`` or ``many``), ``holds_from`` and
                ``holds_until``. Extraction fills them.
            external_key: what your program calls it: exactly this text, among the facts of these
                owners in this namespace. A current fact that has it is superseded; one that is
                equal stays, with the new expiry. See :meth:`put`.
            unsearched: no search finds it, so that it may be large: up to 16 MiB of text, and as
                much metadata (otherwise 1,000,000 characters and bytes of UTF-8, and 64 KiB).
            unless_known: if an active fact with the same owners, category, metadata and expiry
                already says this (ignoring spacing and a final full stop, but not case), confirm
                that fact, let it supersede ``supersedes``, and return it.

        Raises:
            NotFound: there is no fact ``supersedes``, or no episode ``episode_id``, in this
                namespace.
            Conflict: that fact is already superseded, deleted, or of another subject or kind.
            IdempotencyConflict: the key was already used with different content.
            ValueError: an empty or over-long text, a bad time, metadata that is not JSON.
        """
        new = NewFact(
            content=content,
            subject=subject,
            category=category,
            metadata=metadata,
            supersedes=supersedes,
            any_subject=any_subject,
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
            slots=slots,
            external_key=external_key,
            unsearched=unsearched,
        )
        return self._facts.add_many([new], unless_known=unless_known)[0]

    def add_many(
        self, facts: Iterable[NewFact | Mapping[str, Any]], *, unless_known: bool = False
    ) -> list[Fact]:
        """Store several facts in one transaction: all of them, or none.

        Those without a ``created_at`` of their own are all created at the same moment.

        Args:
            facts: :class:`NewFact` objects, or mappings of :meth:`add`'s arguments.
            unless_known: as for :meth:`add`, for each of them.
        """
        new_facts = checked_records(NewFact, facts, "facts")
        return self._facts.add_many(new_facts, unless_known=unless_known)

    def put(
        self, items: Iterable[NewFact | DeleteKey | Mapping[str, Any]]
    ) -> builtins.list[Fact | None]:
        """Put facts under their external keys, and delete keys, in one transaction.

        A fact supersedes the current one with its key and its owners, whoever stored that and
        however much it counts, with its chain, its journal and its undo; if both are equal (text,
        subject, category, metadata, source, …), nothing changes but the expiry. After a deletion, a
        key begins a new chain. It is looked up in the transaction that writes, so any number of
        threads and processes may put one key. Keys are those of the store's own namespace.

        Args:
            items: :class:`NewFact` objects with an ``external_key``, mappings of their fields, or
                :class:`memstore.facts.keyed.DeleteKey`, in order.

        Returns:
            The current fact for each; for a deletion the deleted one, ``None`` if there was none.

        Raises:
            ValueError: a fact without a key, or that cannot be stored; nothing was done.
        """
        return self._facts.put(keyed.checked_items_to_put(items))

    def delete_keys(self, external_keys: Iterable[str]) -> builtins.list[Fact]:
        """Delete the current facts with these external keys, in one transaction; return them.

        Args:
            external_keys: the keys; those that no current fact has are skipped.
        """
        keys = checked_items(external_keys, "external_keys")
        wanted = [keyed.DeleteKey(external_key=key) for key in keys]
        return [fact for fact in self._facts.put(wanted) if fact is not None]

    def change_keys(
        self,
        decide: Callable[[dict[str, Fact]], Iterable[NewFact | DeleteKey | Mapping[str, Any]]],
        *,
        external_keys: Iterable[str] = (),
        external_key_prefix: str | None = None,
    ) -> builtins.list[Fact | None]:
        """Put facts and delete keys by what is there, in the transaction that has read it.

        So nothing is lost that others write at the same time, and no caller has to try again.
        ``decide`` gets the active facts, by key, and returns what :meth:`put` takes. It is called
        before the transaction, so that no lock is held while new texts are embedded; if the facts
        changed in the meantime, it is called again in the transaction, and the new texts are
        embedded later. It must do nothing else: above all, it must not use the store. If it raises,
        nothing was done.

        Args:
            decide: what to put and delete; nothing, to leave all as it is.
            external_keys: the keys whose facts it gets.
            external_key_prefix: it also gets every fact whose key begins like this.

        Returns:
            As :meth:`put`.

        Raises:
            ValueError: a fact without a key, or that cannot be stored; nothing was done.
        """
        if not callable(decide):
            raise InvalidArgumentType(
                f"must be a function, not {type(decide).__name__}", argument="decide"
            )
        keys, standing = keyed.checked_keys(external_keys), self._standing
        prefix = external_key_prefix
        if prefix is not None:
            prefix = stored_text(prefix, "external_key_prefix")
        return self._facts.change_keys(
            lambda transaction: keyed.under(transaction, standing, keys, prefix),
            lambda facts: keyed.checked_items_to_put(decide(facts)),
        )

    @overload
    def supersede(
        self,
        old_id: int,
        new_id: int,
        *,
        any_subject: bool = False,
        dry_run: Literal[False] = False,
    ) -> Fact: ...
    @overload
    def supersede(
        self, old_id: int, new_id: int, *, any_subject: bool = False, dry_run: Literal[True]
    ) -> Act: ...
    def supersede(
        self, old_id: int, new_id: int, *, any_subject: bool = False, dry_run: bool = False
    ) -> Fact | Act:
        """Let a stored fact supersede an older one; return the superseded fact.

        Args:
            old_id: the active fact that no longer holds.
            new_id: the active fact that holds instead.
            any_subject: allow a fact to replace one of another subject, or a task.
            dry_run: write nothing, and return the act that it would be, as :meth:`log` would tell
                it: also where a fact that counts less would only be proposed.

        Raises:
            NotFound: one of them is not in this namespace.
            Conflict: the old one is already superseded, the new one is not active, both are the
                same, or they differ in subject or kind.
        """
        facts = self._facts
        if dry_run:
            return facts.rehearsed(
                lambda write: facts.superseded(write, old_id, new_id, any_subject=any_subject)
            )
        return facts.supersede(old_id, new_id, any_subject=any_subject)

    def confirm(self, fact_id: int) -> Fact:
        """Count one more confirmation that a fact holds true.

        Raises:
            NotFound: no such fact.
            Conflict: it is superseded or deleted.
        """
        return self._facts.confirm(fact_id)

    def pin(self, fact_id: int) -> Fact:
        """Pin a fact: every session of its project begins with it, until it is unpinned.

        A fact that supersedes a pinned one is pinned too. Pinning it again changes nothing.

        Raises:
            NotFound: no such fact.
            Conflict: it is superseded or deleted.
        """
        return self._facts.pin(fact_id)

    def unpin(self, fact_id: int) -> Fact:
        """Remove the pin of a fact; one that is not pinned stays as it is.

        Raises:
            NotFound: no such fact.
            Conflict: it is superseded or deleted.
        """
        return self._facts.unpin(fact_id)

    def update_metadata(self, fact_id: int, patch: Mapping[str, Any]) -> Fact:
        """Apply a JSON merge patch (RFC 7396) to the metadata; ``None`` removes a key.

        Raises:
            NotFound: no such fact.
            Conflict: it is deleted; or it is a task, and the patch has a key that :attr:`tasks`
                manages.
        """
        return self._facts.update_metadata(fact_id, patch, tasks.refuse_task_keys)

    def set_expiry(self, fact_id: int, expired_at: datetime | str | None) -> Fact:
        """Change when a fact expires; one that has expired may hold again.

        Args:
            fact_id: its id.
            expired_at: the time, which may be past; ``None`` for never.

        Raises:
            NotFound: no such fact.
            Conflict: it is superseded or deleted.
            ValueError: not a time, or none after the fact's ``valid_at``.
        """
        return self._facts.set_expiry(fact_id, given_moments.until(expired_at, "expired_at"))

    @overload
    def delete(self, fact_id: int, *, dry_run: Literal[False] = False) -> Fact: ...
    @overload
    def delete(self, fact_id: int, *, dry_run: Literal[True]) -> Act: ...
    def delete(self, fact_id: int, *, dry_run: bool = False) -> Fact | Act:
        """Delete a fact: searches no longer find it, but :meth:`restore` can bring it back.

        Args:
            fact_id: its id.
            dry_run: write nothing, and return the act that it would be, as :meth:`log` would tell
                it; one without changes if the fact is deleted already.

        Raises:
            NotFound: no such fact.
        """
        facts = self._facts
        if dry_run:
            return facts.rehearsed(lambda write: facts.deleted(write, fact_id))
        return facts.delete(fact_id)

    def delete_all(self, *, include_expired: bool = False) -> int:
        """Delete every active fact of the owners of a store, and return how many; tasks stay.

        A few hundred are deleted per transaction; after an interruption, the same call deletes the
        rest. All of them count as deleted at the same moment, so :meth:`restore_deleted` brings
        back what one call deleted.

        Args:
            include_expired: also delete facts that have expired.

        Raises:
            ValueError: the store is not :meth:`of` some owners: there is no default.
        """
        if self._standing.bound is None:
            raise InvalidArgument("are needed: call it on store.of(user_id=…)", argument="owners")
        return len(deleted_all(self, include_expired=include_expired))

    def restore(self, fact_id: int) -> RepairedFact:
        """Restore a deleted fact, or a superseded one whose newer fact was wrong; return it.

        The text of a superseded fact becomes a new fact that supersedes the newest of its chain,
        because chains only grow. If the newest was a consolidation, its other facts become active
        again too. A deleted fact loses its tombstone and is as it was before.

        If the old and the new fact both hold, use :meth:`reinstate`.

        Raises:
            NotFound: no such fact.
            Conflict: it is active, or the newest of its chain is deleted.
        """
        return self._facts.restore(fact_id)

    def restore_deleted(self, deleted_at: datetime | str) -> int:
        """Restore every fact that was deleted at exactly this moment; return how many.

        :meth:`memstore.Memory.delete_all` deletes all its memories at one moment. They are restored
        a few hundred per transaction; after an interruption, the same call restores the rest.

        Args:
            deleted_at: the ``deleted_at`` of any of them.
        """
        at = clock.moment(deleted_at, "deleted_at")
        if at is None:
            raise InvalidArgument("is required", argument="deleted_at")
        return self._facts.restore_deleted(at)

    def reinstate(self, fact_id: int) -> RepairedFact:
        """Bring back a fact that should not have been superseded, because both facts hold.

        The old text becomes a new fact; the newer fact does not change. All facts of a
        consolidation come back together.

        If the newer fact is wrong, use :meth:`restore`.

        Raises:
            NotFound: no such fact.
            Conflict: it is not superseded, or an active fact already says the same.
        """
        return self._facts.reinstate(fact_id)

    def revert(
        self,
        *,
        episode: int | None = None,
        source: str | None = None,
        run: str | None = None,
        actor: str | None = None,
        since: datetime | str | None = None,
        lines: Iterable[int] | None = None,
        acts: Iterable[int] | None = None,
    ) -> Plan:
        """Plan to take back changes of facts, and change nothing; ``apply()`` of the plan does it.

        Added facts are deleted; superseded ones are active again, deleted ones restored; metadata,
        the status of tasks, pins and confirmations go back to what they were; open proposals are
        rejected. What was changed again by something else is a conflict and is left alone, unless
        ``apply(decide={12: "undo"})`` says otherwise. Episodes stay; :meth:`Episodes.erase` removes
        one. Each condition narrows the selection.

        Args:
            episode: the changes that an episode caused, and the facts drawn from it.
            source: the changes made through this program or interface, and the facts that have it
                as their source or were drawn from an episode of it, such as ``"web:example.org"``.
            run: the changes of one opening of the file or session of a server, as in the journal.
            actor: the changes by this person or program.
            since: the changes from this moment on; as in :meth:`log`.
            lines: the changes in these lines of the journal, such as ``lines`` of what ``apply()``
                returned.
            acts: all changes of these acts, each by the number that :meth:`log` gives it.

        Raises:
            ValueError: nothing was selected, or something that cannot be read.
        """
        chosen = plans.selection(
            episode=episode,
            source=source,
            run=run,
            actor=actor,
            since=questions.first_time(self._file, self._standing, since),
            lines=lines,
            acts=acts,
        )
        return reverting.plan(self._file.engine, self._author, chosen, self._standing)

    def apply(
        self, changes: Iterable[Change], *, since: int | None = None
    ) -> builtins.list[Applied]:
        """Apply several changes in one transaction: all of them, or none.

        Changes that were decided earlier are checked again: every fact they name must still be
        active.

        Args:
            changes: :class:`memstore.facts.batch.AddFact`, ``SupersedeFact``, ``DeleteFact`` and
                ``KeepFact``, applied in order.
            since: :meth:`memstore.File.newest_id` from before the caller read the facts it decided
                on. If a subject has got a new fact since then, adding to it is refused.

        Returns:
            The result of each change, in order.

        Raises:
            NotFound: a fact is not in this namespace, or has other owners.
            Conflict: a fact is no longer active; re-read and decide again.
            ValueError: a text, a time or metadata that cannot be stored.
        """
        return batch.apply(self._facts, checked_items(changes, "changes"), since)

    def erase(self, fact_id: int) -> bool:
        """Permanently remove a fact's text from the file, the index and the journal.

        Its empty row stays in its chain. The whole file is rewritten, so that no old page keeps the
        text. Earlier copies (backups, exports) keep it, and so does the episode that it was
        extracted from: ``episodes.erase`` removes that. If it was the newest of its chain, nothing
        of the chain is left active. :meth:`erasure` erases several facts by a plan.

        Returns:
            False while another process writes or still reads an older state: the text can no
            longer be read, but its bytes remain until :meth:`erase` is called again or the last
            process closes the file.

        Raises:
            NotFound: no such fact.
        """
        is_gone = self._facts.erase(fact_id)
        return self._file.searches.facts.index.rewrite() and is_gone

    def erasure(
        self,
        *,
        episode: int | None = None,
        subject: str | None = None,
        source: str | None = None,
        owner: Scope | str | None = None,
        run: str | None = None,
        facts: Iterable[int] | None = None,
        drawn: bool = True,
    ) -> ErasurePlan:
        """Plan to erase facts and episodes, and change nothing; ``apply()`` of the plan does it.

        Facts drawn from an episode that goes go with it, unless they have another leg
        (:meth:`support`): those stay and lose only this one. Each condition narrows the selection;
        with a subject or facts, no episode goes.

        Args:
            episode: this episode, and the facts drawn from it.
            subject: the facts about this subject, in any state.
            source: the facts and episodes that have it as their source, such as
                ``"web:example.org"``, or that were recorded through this program or interface.
            owner: all that belongs to a user, given by id, whatever the agent and the run; or to
                the owners of a scope, as far as its ids are set.
            run: what was recorded in one opening of the file or session of a server, as in the
                journal.
            facts: these facts, by their ids.
            drawn: whether facts that were only drawn from episodes go with them.

        Raises:
            NotFound: there is no such episode or fact, or nothing is stored that is selected.
            ValueError: nothing was selected, or something that cannot be read.
        """
        chosen = erasures.selection(
            episode=episode,
            subject=subject,
            source=source,
            owner=owner,
            run=run,
            facts=facts,
            drawn=drawn,
        )
        standing = self._standing
        if standing.owners is None and owner is not None:
            standing = replace(standing, owners=EVERYBODY)
        file = self._file
        with nullcontext() if file.read_only else self._facts.writing():
            pass  # adopts what other programs have inserted
        return erasure.plan(self._place(), chosen, standing)

    def _check_unbound(self, does: str) -> None:
        if self._standing.bound is not None:
            raise InvalidArgument(f"cannot limit this, which {does}", argument="owners")

    def _place(self) -> ErasureTarget:
        file = self._file
        return erasure.ErasureTarget(
            file.engine,
            self._author,
            dependents,
            file.searches.rewrite,
            () if self._standing.confined else file.copies(),
        )

    def clear(self) -> bool:
        """Permanently erase every fact, task and episode of the namespace.

        Its graph and the decisions about entities are erased too. It works in short transactions,
        so that other writers wait about a second; what they store meanwhile stays. After an
        interruption, clearing again completes it.

        Returns:
            Whether the bytes are already gone from the files; see :meth:`erase`.

        Raises:
            ValueError: the store is :meth:`of` some owners; :meth:`erasure` erases what is theirs.
        """
        self._check_unbound("erases what everybody has")
        with self._facts.writing():
            pass  # adopts what other programs have inserted
        return erasure.clear(self._place(), self.namespace)

    def touch(self, fact_ids: Iterable[int]) -> int:
        """Count one use of each fact; return how many of them are in this namespace."""
        ids = checked_items(fact_ids, "fact_ids")
        for fact_id in ids:
            checked_id(fact_id, "fact_ids")
        with self._file.engine.write() as transaction:
            if self._standing.bound is not None:
                known = fact_table.get_many(transaction, ids).values()
                ids = [fact.id for fact in known if rules.is_seen(fact, self._standing)]
            uses, now = dict.fromkeys(ids, 1), clock.utc_now()
            return sum(
                fact_table.touch(transaction, uses, namespace, now)
                for namespace in self._facts.namespaces
            )

    # -- finding -----------------------------------------------------------------------------

    @keywords(FactSearch, limit=10, context=0, active_only=True, matched=False, touch=True)
    def search(self, query: str, **asked: Unpack[FactSearch]) -> SearchHits:
        """Find facts by words and by meaning, best first.

        Any text is a query; its words have no special syntax. Facts that contain only some of the
        words are found too. If the query cannot be embedded, the search uses words only, and
        ``words_only`` of the result says why.

        Args:
            query: a question or some words.
            limit: the maximum number of facts, 1 to 1000.
            context: the number of neighbours to return on either side of each fact in its thread, 0
                to 10. They have the same owners and pass the same filters, but are never tasks.
                Each is returned once, and hits are not repeated as neighbours.
            subject: only facts about this.
            category: only facts of this category.
            filters: conditions on metadata: ``{"key": value}``, or ``[("key", "<=", value)]``
                with ``= != < <= > >= in contains``; see :class:`memstore.MetadataFilter`, which has
                nested keys too, :class:`memstore.AnyOf` and :class:`memstore.Not`.
            namespaces: search these instead of the store's own; ``"all"`` for all.
            external_key_prefix: only facts with an external key that begins like this.
            active_only: leave out superseded and expired facts.
            valid_on: only facts that held then, as far as is known now: a time, or a day
                at some time of which they held. A fact holds from its ``valid_at``, or else
                ``created_at``, until :attr:`Fact.holds_until`; superseded and expired facts pass.
            tasks: whether to find tasks too; ``None``: only if ``subject`` is ``todo``.
            created_after, created_before: only facts stored between these times (exclusive).
            valid_after, valid_before: only facts whose ``valid_at``, or else ``created_at``, is
                between these times (exclusive).
            offset: skip this many, to read an answer in pages: the first page has ``offset=0``. All
                pages are parts of one order of at most 1,000 facts, in which newer facts are named,
                but not moved next to those that they may replace; it takes longer than a search
                without an offset.
            word_weight: the weight of the words, 0.6 by default.
            vector_weight: the weight of the meaning, 0.4 by default.
            half_lives_seconds: by category, the time in which :attr:`SearchHit.decay` is halved; 0
                for never. A category that is not in the table does not age, so ``{}`` switches age
                off. ``None`` stands for the table that the store was opened with. Age only orders
                facts that match equally well; in the classic ranking it multiplies the score.
            ranking: ``"contextual"`` (the default) also uses conversations, names, dates and the
                kind of answer that the question asks for; ``"classic"`` uses only words and
                meaning, with the weights above. The ranking is also classic if a weight is given or
                while the index is being built; :attr:`SearchHits.ranking` says which one was used.
            min_relevance: leave out what is less relevant, 0 to 1, unless it has a rare word, name
                or identifier of the query, or ranks near a hit that is relevant;
                :attr:`SearchHits.hidden` counts it. 0.075 by default, in the classic ranking 0. A
                search by words alone leaves nothing out.
            matched: let each hit say which of its words match the query: exactly, without accents,
                by their stems, as the search found them; also in scripts without spaces.
            touch: count a use of every fact found.

        Raises:
            ValueError: a limit, weight or filter out of range.
        """
        return self._search([query], asked)[0]

    def briefing(
        self,
        *,
        max_tokens: int = 500,
        session: str | None = None,
        agent: str | None = None,
        traces: bool = True,
        last_sessions: int = 2,
        counter: Callable[[str], int] | None = None,
    ) -> Briefing:
        """Return what an agent should know when a session begins, as a text.

        Open tasks, due and urgent ones first; who the user is and what they prefer; what is pinned
        in the project, what is used or confirmed, and the newest; how the last two sessions began
        and ended and what they did; what others changed since. Each group has a share of the
        budget, and passes on what it does not need. No two facts say the same, and nothing counts
        as used.

        Args:
            max_tokens: the longest the text may be, 50 or more.
            session: the thread of the session that begins, if it was recorded before; it is not
                among the last ones.
            agent: the agent that begins, by the source of its episodes; its own changes are left
                out of those of others, which count since its own last session.
            traces: tell the files, commits and failed commands of the last sessions.
            last_sessions: how many of the last sessions are told, 0 to 2.
            counter: counts the tokens of a text; the default is never less than any current
                language model's count.

        Raises:
            ValueError: a budget out of range.
        """
        checked_number(max_tokens, "max_tokens", 50, MAX_NUMBER)
        checked_number(last_sessions, "last_sessions", 0, briefing.MAX_SESSIONS)
        if counter is not None:
            counter = recall.checked_counter(counter)
        return briefing.briefing(
            self._file.engine,
            self._standing.namespaces,
            self.tasks.list(surface="startup"),
            self._standing.selected,
            max_tokens,
            session=session,
            agent=agent,
            traces=traces,
            last_sessions=last_sessions,
            counter=counter,
        )

    @keywords(FactSearch, limit=10, context=0, active_only=True, matched=False, touch=True)
    def search_batch(self, queries: Sequence[str], **asked: Unpack[FactSearch]) -> list[SearchHits]:
        """Search for several queries with one call to the embedder; see :meth:`search`."""
        if isinstance(queries, str):
            raise InvalidArgumentType("must be a list of texts, not one text", argument="queries")
        return self._search(checked_items(queries, "queries"), asked)

    def _search(
        self, queries: Sequence[str], asked: FactSearch, ids: Collection[int] | None = None
    ) -> builtins.list[SearchHits]:
        ranking = part(FactRanking, asked)
        request = questions.request(self._file, self._standing, asked, ranking)
        if ids is not None:
            request = replace(request, wanted=replace(request.wanted, among=ids))
        found = self._file.searches.facts.batch(queries, request)
        if asked["touch"] and not self._file.read_only:
            self._file.use_counts.note(hit.fact.id for hits in found for hit in hits)
        return found

    @keywords(FactRecall, active_only=True, touch=True)
    def recall(
        self,
        query: str,
        *,
        max_tokens: int,
        counter: Callable[[str], int] | None = None,
        episodes: bool = True,
        **asked: Unpack[FactRecall],
    ) -> Recalled:
        """Return the best memories for a question as a text for a prompt, within a token budget.

        There is one line for each fact or episode, with its id, below the date that it shares with
        others, and no repetition. The best ones are taken until one does not fit, and the next ones
        fill the room that is left, as far as they fit.
        Memories are data, not instructions: line breaks in them become spaces, so each stays on
        one line.

        Args:
            query: a question or some words.
            max_tokens: the maximum length of the text.
            counter: returns the number of tokens of a text, for the model that will read it; by
                default an estimate that no current model exceeds.
            episodes: recall episodes too. Filters on times apply to them; any other filter (a
                subject, a category, metadata, superseded facts) leaves them out.
            subject: this and the other keywords are those of :meth:`search`. ``min_relevance``
                applies to facts and episodes separately. Episodes do not age.

        Raises:
            ValueError: a budget below 1, or a filter out of range.
        """
        checked_number(max_tokens, "max_tokens", 1, MAX_NUMBER)
        ranking: FactRanking = {**part(FactRanking, asked), "limit": recall.FOUND}
        request = questions.request(self._file, self._standing, asked, ranking)
        said = (
            questions.episodes_beside(self.episodes, query, asked)
            if episodes
            else episode_records.EpisodeHits()
        )
        facts = self._file.searches.facts.find(query, request)
        with self._file.engine.read() as transaction:
            marks = recall.sources_of(transaction, facts, said)
        found = recall.recalled(facts, said, max_tokens, counter, marks)
        if asked["touch"] and not self._file.read_only:
            self._file.use_counts.note(found.facts)
        return found

    @keywords(FactRecall, active_only=True, touch=True)
    def said(
        self,
        query: str,
        hits: Sequence[SearchHit] = (),
        *,
        limit: int = 5,
        **asked: Unpack[FactRecall],
    ) -> EpisodeHits:
        """Return what was said about a query, to be shown beside the facts of a search.

        Turns are ranked together with the facts, as in :meth:`recall`; those far behind the best
        are left out, and those that repeat one of the facts: one that was extracted from the turn,
        or has the same words. Each turn comes with the question that it answers (in ``before``), or
        with the answer to it (in ``after``).

        Args:
            query: a question or some words.
            hits: the facts that a search for the query found.
            limit: the maximum number of turns, 1 to 100, not counting those beside them.
            namespaces: this and the other keywords are those of :meth:`recall`: a filter that only
                facts have (a subject, a category, metadata, superseded facts) leaves nothing.

        Raises:
            ValueError: a limit or filter out of range.
        """
        checked_number(limit, "limit", 1, recall.FOUND)
        facts = checked_items(hits, "hits")
        if not all(isinstance(hit, SearchHit) for hit in facts):
            raise InvalidArgumentType("must be the hits of a search", argument="hits")
        found = questions.episodes_beside(self.episodes, query, asked)
        turns = recall.said(facts, found, limit)
        with self._file.engine.read() as transaction:
            return replace(found, items=passages.exchanges(transaction, turns), newest_first=0)

    def remind(
        self,
        prompt: str,
        *,
        max_tokens: int = 500,
        thread: str | None = None,
        thread_before: datetime | str | None = None,
        known: Iterable[str] = (),
        turns: bool = True,
    ) -> Recalled:
        """Return the memories that bear on a prompt, as a text for a model; often nothing.

        The text is empty unless one of the best facts or turns has a name or an identifier of the
        prompt, or words of it that are rare enough together. Then it has the facts and turns that
        answer it, as :meth:`recall` writes them, each whole; a long one is cut after 500
        characters. A turn that was corrected later in its thread, or from which a fact was drawn
        that was superseded, comes with what came after it.

        Args:
            prompt: what a user wrote to an agent. Of a long one, the beginning and the end count.
            max_tokens: the maximum length of the text.
            thread: the conversation that goes on; its turns are left out, for they are in the
                agent's context.
            thread_before: except for its turns before this time, which are no longer there.
            known: names (``#12``, ``e31``) of what the agent has been shown already. They are left
                out, unless the prompt has the name itself.
            turns: tell turns, too; otherwise only facts.

        Raises:
            ValueError: a budget below 1, or a time that cannot be read.
        """
        checked_number(max_tokens, "max_tokens", 1, MAX_NUMBER)
        before = given_moments.before(thread_before, "thread_before")
        names = frozenset(stored_text(name, "known") for name in checked_items(known, "known"))
        context = reminder.Context(thread, before, names)
        asked = reminder.shortened(stored_text(prompt, "prompt"))
        named, both = reminder.named(asked), self._file.searches
        found = self.search(asked, limit=reminder.FOUND, tasks=False, touch=False)
        said = (
            self.episodes.search(asked, limit=reminder.FOUND)
            if turns
            else episode_records.EpisodeHits()
        )
        with self._file.engine.read() as transaction:
            others = reminder.Foreign(transaction)
            facts = others.without_facts(context.without(found, named))
            heard = others.without_turns(context.without_turns(said, named))
        told = {hit.fact.id: hit.fact.content for hit in facts}
        if not bearing.bears(asked, both.facts, told):
            facts = []
        told = {hit.episode.id: hit.episode.content for hit in heard}
        if not bearing.bears(asked, both.episodes, told):
            heard = []
        with self._file.engine.read() as transaction:
            later = partial(
                since.since,
                transaction,
                namespaces=self._facts.namespaces,
                found=[hit.episode for hit in said],
            )
            others = reminder.Foreign(transaction)
            return reminder.reminded(
                facts,
                heard,
                lambda turn: others.without_later(later(turn)),
                max_tokens,
                recall.whose(found, said),
            )

    def may_replace(self, fact_id: int) -> builtins.list[Fact]:
        """Return the active facts that a fact would replace by what it says, or be asked about.

        They are on its subject, of the same owners, and older. The nearest ten are compared, and
        those that may be replaced returned, nearest first: pass one of them to :meth:`supersede`.
        Nothing while the index is being built.

        Raises:
            NotFound: no such fact in this namespace.
        """
        fact = self.get(fact_id)
        two = self.of(fact.scope).list(subject=fact.subject, tasks=False, limit=2)
        if fact.status != "active" or len(two) < 2:
            return []  # without loading an index
        wanted = FactFilter((fact.namespace,), clock.utc_now(), scope=fact.scope, tasks=False)
        return self._file.searches.may_replace(fact, wanted, self._file.without_rules)

    @keywords(FactSearch, limit=10, context=0, active_only=True, matched=False, touch=True)
    def why_not(
        self,
        query: str,
        fact_id: int,
        *,
        max_tokens: int | None = None,
        counter: Callable[[str], int] | None = None,
        episodes: bool = True,
        **asked: Unpack[FactSearch],
    ) -> WhyNot:
        """Say why a search does not find a fact: the first stage that lost it, with numbers.

        Or that it is found, and at which place. Nothing counts as used.

        Args:
            query: the query of the search.
            fact_id: a fact in any state.
            max_tokens: examine a :meth:`recall` with this budget instead of a :meth:`search`; only
                the keywords of a recall then count.
            counter: as of :meth:`recall`, like the next.
            episodes: whether the recall has episodes too.
            subject: this and the other keywords are those of :meth:`search`. If the store was not
                made by :meth:`of`, the answer for a fact with owners is that it belongs to others.

        Raises:
            NotFound: no such fact, or the caller may not see it.
            ValueError: a limit, budget or filter out of range.
        """
        searched = self._standing.select(asked["namespaces"])
        within = None if searched is None else (*self._facts.namespaces, *searched)
        fact = self._facts.find(fact_id, within)
        turns = self.episodes if episodes else None
        budget = questions.Budget(max_tokens, counter)
        return questions.why_not(self._file, self._standing, turns, query, fact, asked, budget)

    # -- what agents asked -----------------------------------------------------------------

    def record_search(
        self,
        query: str,
        *,
        facts: Iterable[int] = (),
        episodes: Iterable[int] = (),
        tool: str = "search",
        tokens: int | None = None,
        milliseconds: float | None = None,
    ) -> None:
        """Record what an agent asked, and what it was given, for :meth:`searches`.

        The library records nothing by itself; ``memstore-mcp`` calls this for each search. It is
        written within some seconds, when no other writer is active, and is no part of the
        memories: the journal and exports do not have it. A read-only file records nothing.

        Args:
            query: what was asked. Secrets in it are redacted, unless the store keeps them.
            facts: the ids of the facts that were given, best first.
            episodes: the ids of the episodes that were given.
            tool: the tool or method that was called.
            tokens: the length of the answer.
            milliseconds: how long it took.
        """
        if self._file.read_only:
            return
        text = stored_text(query, "query")[:MAX_QUERY].replace("\x00", " ")
        screen = self._file.screen
        if screen.policy == "refuse":
            screen = Screen("redact")
        run, owners = self._author.run, self._standing.selected
        self._file.search_record.note(
            searches.RecordedSearch(
                id=0,
                at=clock.utc_now(),
                namespace=self.namespace,
                scope=NOBODY if owners is None else Scope(**owners.ids),
                actor=self._author.actor,
                client=self._author.source,
                run=None if run is None else clock.uuid_text(run),
                tool=checked_text(tool, "tool", MAX_NAME),
                query=screen.value(text, "query"),
                facts=tuple(checked_ids(facts, "facts")),
                episodes=tuple(checked_ids(episodes, "episodes")),
                tokens=tokens,
                milliseconds=milliseconds,
            )
        )

    def searches(
        self,
        *,
        client: str | None = None,
        run: str | None = None,
        fact: int | None = None,
        is_empty: bool | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        before: int | None = None,
        limit: int | None = 50,
    ) -> builtins.list[RecordedSearch]:
        """Return what agents asked in this namespace, and what they were given, newest first.

        The newest 10,000 searches of a file are kept for at most 30 days. A query is blank
        (``None``) after something was erased that it was given, or that had the same words.

        Args:
            client: only searches of this program.
            run: only searches of this session of a server.
            fact: only searches that were given this fact.
            is_empty: whether nothing was given.
            since: only searches at or after this time.
            until: only searches at or before this time.
            before: only searches before the one with this id; with the last one of a page, the next
                page.
            limit: the maximum number; ``None`` for all.

        Raises:
            ValueError: a time, a run or a number that cannot be read.
        """
        checked_limit(limit)
        for value, name in ((fact, "fact"), (before, "before")):
            if value is not None:
                checked_id(value, name)
                checked_number(value, name, -MAX_NUMBER, MAX_NUMBER)
        self._file.write_searches()
        wanted = search_table.SearchFilter(
            (self.namespace,),
            self._standing.selected,
            client=client,
            run=None if run is None else plans.run_bytes(run, "run"),
            fact=fact,
            is_empty=is_empty,
            since=questions.first_time(self._file, self._standing, since),
            until=questions.last_time(self._file, self._standing, until),
            before=before,
        )
        with self._file.engine.read() as transaction:
            return search_table.select(transaction, wanted, limit)

    def given(
        self,
        *,
        never: bool = False,
        before_id: int | None = None,
        limit: int = 50,
    ) -> builtins.list[GivenFact]:
        """Return the active facts that recorded searches were given most often, or never.

        Args:
            never: those that were given in none, the newest first.
            before_id: of these, only those with smaller ids; with the last one of a page, the next
                page.
            limit: the maximum number, 1 to 1000.
        """
        checked_number(limit, "limit", 1, 1000)
        checked_page(None, 0, before_id)
        self._file.write_searches()
        wanted = FactFilter((self.namespace,), clock.utc_now(), scope=self._standing.selected)
        with self._file.engine.read() as transaction:
            if never:
                found = dict.fromkeys(
                    search_table.never_given(transaction, wanted, before_id, limit), 0
                )
            else:
                found = dict(search_table.most_given(transaction, wanted, limit))
            facts = fact_table.get_many(transaction, [*found])
        return [
            searches.GivenFact(fact=facts[id_], searches=number) for id_, number in found.items()
        ]

    def clear_searches(self) -> int:
        """Remove the recorded searches of this namespace; return how many there were."""
        self._file.write_searches()
        with self._file.engine.write() as transaction:
            return search_table.remove(
                transaction, [self.namespace], owners=self._standing.selected
            )

    def get(self, fact_id: int) -> Fact:
        """Return one fact in any state; see its ``status``.

        Raises:
            NotFound: no such fact in this namespace, or it was erased.
        """
        self._file.write_use_counts()
        return self._facts.get(fact_id)

    def get_many(self, fact_ids: Iterable[int]) -> builtins.list[Fact]:
        """Return facts in any state, in the order of their ids as given.

        Those that are not in this namespace, or were erased, are left out.

        Args:
            fact_ids: their ids.
        """
        self._file.write_use_counts()
        return self._facts.get_many(checked_items(fact_ids, "fact_ids"))

    def uuids(self, fact_ids: Iterable[int]) -> dict[int, str]:
        """Return the UUIDs of facts of this namespace by their ids, also of erased ones.

        A fact's UUID is the same wherever it was imported, restored or copied to.
        """
        ids = checked_ids(fact_ids)
        standing = self._standing.alone
        with self._file.engine.read() as transaction:
            if standing.bound is not None:
                known = fact_table.get_many(transaction, ids).values()
                ids = [fact.id for fact in known if rules.is_seen(fact, standing)]
            return fact_table.uuids_of(transaction, self.namespace, ids)

    def identity(self) -> str | None:
        """Return what tells this memory from all others, whatever its file is called.

        Backups and copies of it have the same, and so has the file after a backup was restored;
        one into which its export was imported has another. ``None`` before the first write.
        """
        with self._file.engine.read() as transaction:
            return journal.beginning(transaction)

    def by_key(self, external_key: str) -> Fact | None:
        """Return the active fact with an external key; ``None`` if there is none.

        Args:
            external_key: the key, exactly as it was given.
        """
        return self.by_keys([external_key]).get(external_key)

    def by_keys(self, external_keys: Iterable[str]) -> dict[str, Fact]:
        """Return the active facts with these external keys, by key; see :meth:`by_key`."""
        self._file.write_use_counts()
        return self._facts.by_keys(keyed.checked_keys(external_keys))

    def first_stored(self, external_keys: Iterable[str]) -> dict[str, datetime]:
        """Return when there was first a fact with each of these external keys, by key.

        Putting again does not change it; after a deletion it begins anew. Keys that no fact has had
        since are left out.

        Args:
            external_keys: the keys.
        """
        keys, owners = keyed.checked_keys(external_keys), self._standing.selected
        with self._file.engine.read() as transaction:
            return fact_table.first_stored(transaction, self.namespace, keys, owners)

    def forget_versions(
        self,
        external_key_prefix: str,
        *,
        keep: int | None = None,
        superseded_before: datetime | str | None = None,
    ) -> int:
        """Erase old facts under keys that begin alike; return how many were erased.

        What is current stays, and so do deleted facts. Erased facts cannot be brought back; the
        journal says that they were erased. :meth:`first_stored` counts from the oldest left.

        Args:
            external_key_prefix: how the keys begin; ``""`` for every key.
            keep: of each key, keep this many of the newest superseded facts; ``None``: any number.
            superseded_before: erase those superseded before this time, such as ``"30d"`` ago.

        Raises:
            ValueError: neither a number nor a time is given, or the number is negative.
            Conflict: one of the facts was changed at the same time; nothing was done.
        """
        prefix = stored_text(external_key_prefix, "external_key_prefix")
        before = given_moments.before(superseded_before, "superseded_before")
        if keep is None and before is None:
            raise InvalidArgument("or superseded_before is required", argument="keep")
        if keep is not None:
            checked_number(keep, "keep", 0, MAX_NUMBER)
        with self._file.engine.read() as transaction:
            old = fact_table.old_versions(transaction, self.namespace, prefix, keep, before)
        if old:
            everybody = self if self._standing.bound else self.of(EVERYBODY)
            everybody.erasure(facts=old).apply()
        return len(old)

    def key_folders(self, prefix: str = "", *, delimiter: str = "/") -> dict[str, int]:
        """Return the folders that external keys are in, with the number of active facts in each.

        A folder is a key up to the first delimiter after the prefix, and with it: of ``a/b/c``,
        ``a/`` is one after no prefix, ``a/b/`` after ``a/``. Keys without one are left out.

        Args:
            prefix: how the keys begin.
            delimiter: what ends a folder's name.
        """
        wanted = FactFilter(
            (self.namespace,),
            clock.utc_now(),
            scope=self._standing.selected,
            external_key_prefix=stored_text(prefix, "prefix"),
        )
        delimiter = checked_key(delimiter, "delimiter")
        with self._file.engine.read() as transaction:
            return fact_table.key_folders(transaction, wanted, delimiter)

    @keywords(
        FactList,
        active_only=True,
        tasks=True,
        include_deleted=False,
        pinned=False,
        offset=0,
        newest_first=False,
    )
    def list(self, **asked: Unpack[FactList]) -> builtins.list[Fact]:
        """Return facts ordered by id. The filters are those of :meth:`search`.

        Args:
            tasks: ``False`` leaves tasks out.
            include_deleted: also return deleted facts.
            pinned: only pinned facts.
            states: only facts whose status is one of these, such as ``["active", "superseded"]``;
                ``active_only`` and ``include_deleted`` then say nothing.
            source: only facts from exactly this source.
            thread: only facts of the conversation with this name.
            episode: only facts extracted from this episode.
            limit: the maximum number; ``None`` for all.
            offset: how many to skip.
            newest_first: return the newest first.
            before_id: only facts with smaller ids. With the last id of a page, the next page:
                unlike an ``offset``, it stays right while others write, and costs the same
                everywhere.
            after_id: only facts with larger ids.
        """
        self._file.write_use_counts()
        wanted, page = questions.counting(self._standing, asked), part(Page, asked)
        checked_page(page["limit"], page["offset"], page["before_id"], page["after_id"])
        return self._file.searches.list_facts(wanted, **page)

    @keywords(FactCount, active_only=True, tasks=True, include_deleted=False, pinned=False)
    def count(self, **asked: Unpack[FactCount]) -> int:
        """Return how many facts :meth:`list` would return without a limit."""
        wanted = questions.counting(self._standing, asked)
        with self._file.engine.read() as transaction:
            return counts.facts(transaction, wanted)

    def exists(self, content: str, *, subject: str) -> bool:
        """Return whether an active fact has this text and subject."""
        return self._facts.exists(content, subject)

    def subjects(
        self,
        prefix: str = "",
        *,
        order: str = "name",
        after: Subject | None = None,
        limit: int = 100,
        changed_after: datetime | str | None = None,
        changed_before: datetime | str | None = None,
    ) -> builtins.list[Subject]:
        """Return the subjects of active facts, each with its size and its last change.

        Case does not matter; each is spelled as in its newest fact.

        Args:
            prefix: how they begin.
            order: ``name``; ``size``, for those with the most facts first; or ``changed``, for the
                one that changed last first.
            after: the last one of the page before. The next page begins where it was in the order,
                also if it has changed since.
            limit: the maximum number.
            changed_after, changed_before: only subjects that changed last between these times
                (exclusive); only in the order ``changed``.

        Raises:
            ValueError: no such order, or a limit out of range.
        """
        checked_number(limit, "limit", 1, MAX_NUMBER)
        if after is not None and not isinstance(after, status.Subject):
            raise InvalidArgumentType(
                f"must be a Subject, not {type(after).__name__}", argument="after"
            )
        wanted = status.SubjectOrder(checked_choice(order, [*status.SubjectOrder], "order"))
        changed = questions.changed(changed_after, changed_before)
        if any(changed) and wanted != status.SubjectOrder.CHANGED:
            raise InvalidArgument(
                "must be changed with changed_after or changed_before", argument="order"
            )
        return self._facts.subjects(stored_text(prefix, "prefix"), wanted, after, limit, changed)

    def owners(self, *, limit: int = 100, after: Owner | None = None) -> builtins.list[Owner]:
        """Return the sets of owners that memories of the namespace belong to, the largest first.

        Memories without owners are one of them.

        Args:
            limit: the maximum number.
            after: the last one of the page before.
        """
        checked_number(limit, "limit", 1, MAX_NUMBER)
        if after is not None and not isinstance(after, status.Owner):
            raise InvalidArgumentType(
                f"must be an Owner, not {type(after).__name__}", argument="after"
            )
        with self._file.engine.read() as transaction:
            every = partial(counts.of_owners, transaction, self._facts.namespaces)
            if self._standing.bound is None:
                return every(limit, after)
            found: builtins.list[Owner] = []
            while len(found) < limit and (page := every(OWNERS_AT_ONCE, after)):
                found += [one for one in page if is_among(one.scope, self._standing.bound)]
                after = page[-1]
            return found[:limit]

    def namespaces(self, prefix: str = "") -> dict[str, int]:
        """Return the namespaces that hold anything, with their active facts, in the names' order.

        One that holds only episodes has 0. A confined store has only its own.

        Args:
            prefix: how their names begin.
        """
        stored_text(prefix, "prefix")
        owners = self._standing.bound
        if not self.namespace.startswith(prefix) and self._standing.confined:
            return {}
        among = self._standing.nameable
        wanted = FactFilter(among, clock.utc_now(), scope=owners)
        with self._file.engine.read() as transaction:
            beginning = prefix if among is None else self.namespace
            held = counts.active_by_namespace(transaction, wanted, beginning)
        return self._standing.visible(held)

    def history(
        self,
        fact_id: int | None = None,
        *,
        subject: str | None = None,
        external_key: str | None = None,
    ) -> builtins.list[Fact]:
        """Return the history of a fact, a subject or an external key, oldest first.

        Args:
            fact_id: any fact of a chain, for the whole chain.
            subject: instead of an id: a subject, for every fact there ever was about it.
            external_key: instead of both: a key, for every fact that had it.

        Raises:
            NotFound: no such fact.
            ValueError: several or none of ``fact_id``, ``subject`` and ``external_key`` were given.
        """
        if external_key is not None and fact_id is None and subject is None:
            return self._facts.history_of_key(checked_key(external_key, "external_key"))
        if external_key is not None:
            raise InvalidArgument("is one of three ways to name a history", argument="external_key")
        if fact_id is not None and subject is None:
            return self._facts.history(fact_id)
        if subject is not None and fact_id is None:
            return self._facts.history_of_subject(subject)
        raise InvalidArgument("either a fact's id or a subject is needed, but not both")

    def histories(self, fact_ids: Iterable[int]) -> dict[int, builtins.list[Fact]]:
        """Return the chain of each of these facts, oldest first, by the id that was given.

        Those that are not in this namespace, or were erased, are left out.

        Args:
            fact_ids: any facts of the chains.
        """
        ids = checked_items(fact_ids, "fact_ids")
        return self._facts.histories(ids)

    def support(self, fact_id: int) -> builtins.list[Leg]:
        """Return why a fact is believed, oldest first: who said or confirmed it, and where.

        A leg of the kind ``denied`` speaks against it. An episode that was erased is no leg any
        more, so a fact may have none left.

        Raises:
            NotFound: no such fact, or it was erased.
        """
        return self._facts.support(fact_id)

    def explain(self, fact_id: int) -> Explanation:
        """Explain why a fact is believed, or no longer; ``str()`` of the answer is a text.

        Its verdict, then in order what spoke for it, what it replaced or was replaced by, and the
        proposals against it, with the reasons that the journal keeps. Facts and episodes of other
        owners or another namespace are mentioned but not named, and nothing erased is shown.

        Args:
            fact_id: a fact in any state, even if it was erased.

        Raises:
            NotFound: no such fact; or it was erased, so that its owners are not known any more, and
                the store is :meth:`of` owners.
        """
        return self._facts.explain(fact_id)

    def trust(self, source: str, level: str | None = None) -> TrustChange:
        """Set how much the text of a source counts, or take a :meth:`distrust` back.

        Nothing that counts less retires what counts more: that becomes a proposal. Text of the
        level ``external`` never becomes a task, and hooks never show it.

        Args:
            source: a source, or the beginning of several: ``web:`` stands for all that begin so,
                ``web:a.org`` for ``web:a.org/x`` too. The longest one that is known decides.
            level: ``person``, ``agent``, ``tool`` or ``external``; ``default`` for what holds if
                nothing was set. ``None`` leaves the level as it is.

        Returns:
            The level of each source, as :meth:`sources`, and what came back, or left.

        Raises:
            ValueError: no such level.
            AccessDenied: this store is confined to its namespace; the levels are the file's.
        """
        self._standing.check_all()
        return sources.trust(self._facts, source, level)

    def distrust(self, source: str) -> TrustChange:
        """Hide what rests on a source alone, until :meth:`trust` takes that back.

        No search, list or count has it any more, also if it is stored later; the same holds for
        the episodes of the source. :meth:`get`, :meth:`history` and :meth:`support` still show it,
        as ``distrusted``. A fact that something else speaks for stays.

        Args:
            source: a source, or the beginning of several, as for :meth:`trust`; or a program that
                changes are made through, such as ``mcp``.

        Returns:
            The level of each source, as :meth:`sources`, and how much left.

        Raises:
            AccessDenied: this store is confined to its namespace; the levels are the file's.
        """
        self._standing.check_all()
        return sources.distrust(self._facts, source)

    def sources(self) -> dict[str, str]:
        """Return the level of trust of each source that has one, by the beginning of its name.

        Raises:
            AccessDenied: this store is confined to its namespace.
        """
        self._standing.check_all()
        with self._file.engine.read() as transaction:
            return trust.table(transaction).effective

    def as_of(self, moment: datetime | str) -> View:
        """Return the memory as it was at an earlier moment, for reading.

        Args:
            moment: a time, for the state after the last change at or before it; a date, for the
                state at its end; ``"yesterday"`` or an age such as ``"2h"``; ``"op:1234"``,
                the state after the act of this line of the journal; ``"run:UUID"`` or
                ``"episode:12"``, the state before a run began, or before an episode was recorded.

        Raises:
            NotFound: no such line, run or episode.
            ValueError: before the first line, in the future, or text that cannot be read.
        """
        return views.as_of(self._file, self._author, self._standing, moment)

    def journal(self, fact_id: int) -> builtins.list[JournalLine]:
        """Return the journal of a fact's chain: every change, when it was made and by whom."""
        return self._facts.journal(fact_id)

    @keywords(ActList, limit=50)
    def log(self, **asked: Unpack[ActList]) -> builtins.list[Act]:
        """Return what was done to this namespace, an act at a time, newest first.

        An act is what one transaction changed. Only those of its changes are shown that match and
        that are about facts and episodes of these owners; and, unless this store is confined, those
        of the whole file, such as levels of trust.

        Args:
            since: acts from this moment on: a time, a date, ``"yesterday"``, an age such as
                ``"2h"``, ``"op:1234"`` (after the act of this line), ``"run:UUID"`` or
                ``"episode:12"`` (from when it began, or was recorded).
            until: acts up to this moment, as :meth:`as_of` reads it; a date means the end of its
                day.
            run: acts of one opening of the file or session of a server.
            source: acts through this program, and what was drawn from this source; as in
                :meth:`revert`.
            actor: acts by this person or program.
            fact: what was done to this fact, and what it replaced.
            kinds: kinds of lines of the journal, such as ``delete``; by default all but ``embed``
                and ``quarantine``.
            limit: the maximum number of acts; ``None`` for all.
            before: acts before that of this line; with the ``line`` of the last act, the next page.
            after: acts after that of this line.

        Raises:
            NotFound: no such line, run or episode.
            ValueError: no such kind, or something that cannot be read.
        """
        return questions.acts(self._file, self._standing, asked)

    def changes(
        self,
        *,
        before: int | None = None,
        after: int | None = None,
        actor: str | None = None,
        source: str | None = None,
        run: str | None = None,
        kinds: Iterable[str] | None = None,
        fact: int | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        limit: int | None = 50,
        newest_first: bool = True,
    ) -> builtins.list[LogLine]:
        """Return the lines of the journal one by one, in words, newest first.

        Where :meth:`log` tells an act as a whole, however many lines it has, this is a page of
        lines. The conditions narrow each other and are those of :meth:`log`.

        Args:
            before: only lines before this one; with the last ``line`` of a page, the next page.
            after: only lines after this one.
            actor: lines by this person or program.
            source: lines through this program, or of what was drawn from this source.
            run: lines of one opening of the file or session of a server.
            kinds: kinds of lines, such as ``delete``; by default all but ``embed`` and
                ``quarantine``.
            fact: what was done to this fact, and what it replaced.
            since: lines at or after this time.
            until: lines at or before this time; a date, up to its end.
            limit: the maximum number; ``None`` for all.
            newest_first: ``False`` returns the oldest first: with ``after``, the lines that follow.

        Raises:
            ValueError: no such kind, or something that cannot be read.
        """
        wanted = logs.log_filter(
            since=questions.first_time(self._file, self._standing, since),
            until=questions.last_time(self._file, self._standing, until),
            run=run,
            source=source,
            actor=actor,
            fact=fact,
            kinds=kinds,
            known=[*journal.Kind],
            limit=limit,
            before=before,
            after=after,
        )
        return acts.changes(
            self._file.engine,
            wanted,
            self._standing,
            newest_first=newest_first,
        )

    def activity(
        self,
        days: int = 28,
        zone: tzinfo | str | None = None,
        *,
        until: date | None = None,
    ) -> builtins.list[DayActivity]:
        """Return how much was done on each of the last days, by kind of change, oldest first.

        Args:
            days: how many days, with the last one, 1 to 3660.
            zone: the time zone in which a day begins and ends, such as ``"Europe/Berlin"``; by
                default the user's (docs/days.md).
            until: the last day; by default today.

        Raises:
            ValueError: a number of days out of range, or a time zone that is not known.
        """
        return self._file.activity.days(
            days,
            zones.user() if zone is None else zones.checked(zone, "zone"),
            until,
            self._standing,
        )

    @keywords(DifferenceList, offset=0)
    def diff(
        self, a: datetime | str, b: datetime | str = "now", **asked: Unpack[DifferenceList]
    ) -> Differences:
        """Return what changed between two moments, in the order in which it did.

        Only the net effect counts: a fact that was stored and deleted in between is no difference,
        but is counted (``passed``). Applied to the list of active facts at ``a``, the differences
        give that at ``b``. ``str()`` of them reads like a changelog. What was erased since is told
        without a word of it; it has no owner or subject any more.

        Args:
            a: the earlier moment: a time, ``"yesterday"``, ``"2h"``, ``"op:1234"`` (the state after
                the act of this line), ``"run:UUID"`` or ``"episode:12"`` (the state before them). A
                date means the end of its day.
            b: the later moment.
            subject: only facts about this subject.
            category: only facts in this category.
            limit: the maximum number; ``None`` for all.
            offset: how many to skip.

        Raises:
            NotFound: no such line, run or episode.
            ValueError: a moment before the first line, in the future, or that cannot be read; or
                ``b`` is before ``a``.
        """
        return questions.differences(self._file, self._standing, a, b, asked)

    # -- embedding ---------------------------------------------------------------------------

    def embed_pending(
        self,
        *,
        limit: int | None = None,
        retry_quarantined: bool = False,
        progress: Progress | None = None,
    ) -> EmbedReport:
        """Embed the namespace's pending facts and episodes.

        Args:
            limit: the maximum number of texts (a long episode is several); ``None`` for all.
            retry_quarantined: first release this namespace's quarantined facts and episodes.
            progress: called with the number done and the total.

        Raises:
            EmbedderError: this store has no embedder.
            EmbedderMismatch: the file switched to another model in the meantime.
        """
        return self._file.embed_pending(
            self.namespace,
            limit=limit,
            retry_quarantined=retry_quarantined,
            progress=progress,
        )

    # -- carrying over -----------------------------------------------------------------------

    def export(self, *, progress: Progress | None = None) -> Iterator[str]:
        """Yield the namespace's memories as lines of JSON: all but embeddings, from one snapshot.

        Everything is read, in short steps, before the first line is yielded, so a slow consumer
        does not block other users of the file.

        Args:
            progress: called with the number of facts and episodes read and the total.
        """
        self._file.write_use_counts()
        standing = self._standing
        every = transfer.export(
            self._file.engine, standing.namespaces, progress, levels=not standing.confined
        )
        return (
            every
            if standing.bound is None
            else transfer.of_owners(self._file.engine, every, standing.bound)
        )

    def import_(
        self,
        lines: Iterable[str],
        *,
        unverified: bool = False,
        erasures: bool = True,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Import an export into this namespace. Importing it again changes nothing.

        Everything is checked before anything is written. It is then written in short transactions,
        in such an order that no superseded fact is ever active. After an interruption, running the
        same import again completes it; until then, or until :meth:`memstore.File.give_up_imports`,
        :meth:`status` counts it as incomplete. Searches by words find the memories at once;
        :meth:`embed_pending` embeds them.

        Known facts are superseded, deleted, restored and erased as at the source; the report counts
        what else happened to them there (``left``). What was erased there is erased here, which
        cannot be undone, and what was erased here stays erased.

        Args:
            lines: the lines of :meth:`export`.
            unverified: also take an export that was changed after it was written.
            erasures: erase known records here that were erased at the source. Say false for an
                export of somebody who must not erase anything here; the report counts them.
            dry_run: write nothing, and return what would be reported.
            progress: called with the number of facts imported and the total.

        Raises:
            TransferError: the export is damaged, and the error names the line; or it was changed.
            Conflict: this store's source counts less than an agent, and an export has the acts of
                others, by their names.
            ValueError: the store is :meth:`of` some owners: an export has owners of its own.
        """
        self._check_unbound("imports what anybody has")
        return self._file.import_(
            lines,
            namespace=self.namespace,
            unverified=unverified,
            erasures=erasures,
            dry_run=dry_run,
            progress=progress,
            author=self._author,
        )

    def import_from(
        self,
        source: str,
        path: str | os.PathLike[str],
        *,
        skip_damaged: bool = False,
        include: Collection[str] = (),
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportFromReport:
        """Import the memories of another program; importing them again changes nothing.

        The whole file is read before anything is written, in batches. After an interruption, the
        same import resumes. Embeddings are not imported, because they are of another model;
        :meth:`embed_pending` computes new ones.

        Args:
            source: ``"engram"`` (JSON Lines, or its DuckDB file with the extra ``duckdb``),
                ``"memstore"`` (the original's SQLite file, of any version), ``"mem0"`` (an export
                as JSON), ``"server-memory"`` (its JSON Lines), ``"chatgpt"`` or ``"claude"`` (the
                ZIP archive of their data export, or what is in it), ``"markdown"`` (a folder of
                notes, or one file), ``"mcp-memory-service"`` or
                ``"claude-mem"`` (SQLite or JSON), ``"letta"`` (an agent file) or ``"langgraph"``
                (its SQLite store).
            path: the file or folder, which is not changed.
            skip_damaged: skip entries that cannot be read, and report them.
            include: what of conversations is left out otherwise: ``"branches"``, ``"hidden"``,
                ``"reasoning"``, ``"tools"``.
            dry_run: check the source and count, without importing anything.
            progress: called with the number of bytes or rows read and the total, then with the
                number of entries imported and the total.

        Returns:
            What was imported, and what could not be.

        Raises:
            TransferError: an entry cannot be read; the error says where, and nothing was imported.
            StorageError: the file cannot be opened.
            ValueError: an unknown source.
        """
        return self._file.import_from(
            source,
            path,
            namespace=self.namespace,
            owners=self._standing.imported,
            skip_damaged=skip_damaged,
            include=include,
            dry_run=dry_run,
            progress=progress,
            author=self._author,
        )

    # -- counting ----------------------------------------------------------------------------

    def counts(self) -> StoreCounts:
        """Return how many facts and episodes the namespace has, by state.

        Unlike :meth:`status` it names no subjects, so it takes a few milliseconds however many
        there are.
        """
        now, owners = clock.utc_now(), self._standing.selected
        active = FactFilter((self.namespace,), now, scope=owners)
        records = EpisodeFilter((self.namespace,), now, scope=owners)
        with self._file.engine.read() as transaction:
            return status.StoreCounts(**self._counted(transaction, active, records))

    def _counted(
        self, transaction: Transaction, active: FactFilter, records: EpisodeFilter
    ) -> dict[str, Any]:
        generation = generation_table.active(transaction).id
        waiting = vector_table.count_waiting(transaction, vector_table.FACTS, generation, active)
        return {
            "namespace": self.namespace,
            **counts.states(transaction, active),
            **waiting,
            "episodes": counts.episodes(transaction, records),
            **piece_table.count_waiting(transaction, records),
            "not_learned": reading_table.count_waiting(transaction, records),
        }

    def status(self) -> StoreStatus:
        """Return counts of the namespace's memories, and facts about the file."""
        self._file.write_use_counts()
        now = clock.utc_now()
        first_day = zones.today() - timedelta(days=status.DAYS - 1)
        owners = self._standing.selected
        active = FactFilter((self.namespace,), now, scope=owners)
        records = EpisodeFilter((self.namespace,), now, scope=owners)
        embedder = self._file.embedder
        engine = self._file.engine
        # Outside the transaction, because another engine may need one of its own for this.
        size_bytes, log_bytes = engine.size_bytes(), engine.log_bytes()
        durability, weakened_by = engine.durability, engine.weakened_by
        with engine.read() as transaction:
            stored = generation_table.active(transaction)
            subjects, categories = (
                counts.names(transaction, column, active, status.MAX_NAMES)
                for column in ("subject", "category")
            )
            return status.StoreStatus(
                **self._counted(transaction, active, records),
                unread=unread_table.count(transaction, records),
                incomplete_imports=imports_table.count(transaction, self.namespace),
                others=self._others(transaction, active, records),
                subjects=subjects.most,
                subject_count=subjects.number,
                categories=categories.most,
                category_count=categories.number,
                facts_by_day=counts.by_day(transaction, "fact", active, first_day),
                episodes_by_day=counts.by_day(transaction, "episode", records, first_day),
                model=stored.model,
                dimension=stored.dimension,
                embedder=None if embedder is None else embedder.embedder.model,
                path=self.path,
                size_bytes=size_bytes,
                log_bytes=log_bytes,
                durability=durability,
                weakened_by=weakened_by,
                index_bytes=residents.RESIDENTS.bytes,
                max_index_bytes=residents.RESIDENTS.max_bytes,
                head=str(journal.head(transaction)),
                schema_version=meta_table.schema_version(transaction),
                locks=engine.locks,
                exposed=engine.exposed(),
                namespaces=self._standing.visible(counts.namespaces(transaction)),
            )

    def verify(
        self, head: Head | str | None = None, *, progress: Progress | None = None
    ) -> builtins.list[Finding]:
        """Check that nobody rewrote the file past the journal; return what differs, if anything.

        Every line is compared with the chain of hashes, every fact, episode and proposal with the
        journal replayed, and what searches read with the rows. It works in a copy and holds up
        nobody.

        Args:
            head: the end of the journal at an earlier time, kept elsewhere; as it is written:
                ``COUNT:HASH``. Without one, lines removed from the end together with what they did,
                and a journal written anew as a whole, are not noticed.
            progress: called with the number of checks done and the total.

        Raises:
            AccessDenied: this store is confined to its namespace.
            InvalidArgument: the head is not one.
        """
        if head is not None and not isinstance(head, Head):
            head = Head.parse(head)
        return verification.verify(self.file.engine, head, progress)

    def _others(
        self, transaction: Transaction, active: FactFilter, records: EpisodeFilter
    ) -> Others:
        if active.scope is None or not self._standing.may_count_others:
            return status.Others()
        facts = counts.facts(transaction, replace(active, scope=None))
        episodes = counts.episodes(transaction, replace(records, scope=None))
        facts -= counts.facts(transaction, active)
        episodes -= counts.episodes(transaction, records)
        if not (facts or episodes):
            return status.Others()
        most = counts.of_owners(transaction, active.namespaces, status.FIRST_OWNERS + 1)
        held = [one.scope for one in most if one.facts or one.episodes]
        first = [one for one in held if not is_among(one, active.scope)][: status.FIRST_OWNERS]
        return status.Others(facts=facts, episodes=episodes, first=tuple(first))


def facts_of(store: Store) -> Facts:
    """Return the operations on facts that run in a caller's own transaction, for ``learn``."""
    return store._facts


def in_run(store: Store, run: bytes) -> Store:
    """Return the same store, whose changes are journalled as those of another run."""
    return store._same(store._author._replace(run=run), store._unchanged)


def for_project(store: Store, namespace: str, shared: str, source: str) -> Store:
    """Return a store for a project, as opening the file for it gives; a program changes it.

    Args:
        shared: the namespace of what is about the user.
        source: the program.
    """
    standing = Standing(namespace, shared=None if namespace == shared else shared)
    author = store._author._replace(actor="agent", source=source)
    return store._bound(replace(standing, owners=store._standing.owners), author, None)


def follow_files(store: Store, reading: FilesReading) -> Followed:
    """Bring facts up to date with the files of others; see :mod:`memstore.facts.following`."""

    def alike(text: str) -> Sequence[int]:
        hits = store.search(text[:1_000], limit=5, touch=False)
        return [hit.fact.id for hit in hits]

    return following.follow(store._facts, reading, alike)


def by_actor(store: Store, actor: str) -> Store:
    """Return the same store, whose changes are journalled as made by somebody else."""
    author = store._author._replace(actor=checked_text(actor, "actor", MAX_NAME))
    return store._same(author, store._unchanged)


def through(store: Store, program: str) -> Store:
    """Return the same store, whose changes are journalled as made through a program.

    One whose own source counts less than that keeps it: a detour makes nobody count more.
    """
    author = store._author._replace(source=checked_text(program, "source", MAX_NAME))
    with store._file.engine.read() as transaction:
        own, new = (trust.of_author(transaction, one) for one in (store._author, author))
    is_more = new.trust.rank > own.trust.rank
    return store if is_more else store._same(author, store._unchanged)


def file_of(store: Store) -> File:
    """Return the whole file, even of a confined store: for our own modules, never for callers."""
    return store._file


def in_project(store: Store, namespace: str) -> Store:
    """Return the store of another project; a store of a fixed namespace stays the same.

    Args:
        store: one that was opened with ``namespace="auto"``.
        namespace: that of the project.
    """
    shared = store._standing.shared
    if shared is None or namespace == store.namespace:
        return store
    standing = replace(store._standing, namespace=namespace)
    return store._bound(standing, store._author, store._unchanged)


def with_sources(
    store: Store, fact_ids: Sequence[int], names: Iterable[str]
) -> tuple[dict[int, str], frozenset[str]]:
    """Return the facts that rest on text of others alone, each with its source.

    Then those of the ``names`` of sources whose text is of others.
    """
    with store._file.engine.read() as transaction:
        levels = trust.table(transaction)
        external = frozenset(name for name in names if levels.is_foreign(name))
        return trust.foreign_facts(transaction, fact_ids), external


def credits_of(store: Store, fact_ids: Sequence[int]) -> dict[int, Credit]:
    """Return how much each of these facts counts, by its best leg."""
    with store._file.engine.read() as transaction:
        return dict(trust.of_facts(transaction, fact_ids))


def deleted_all(store: Store, *, include_expired: bool = False) -> list[Fact]:
    """Delete like :meth:`Store.delete_all`, also those of any owners; return the facts."""
    states = ("active", "expired") if include_expired else None
    now, owners = clock.utc_now(), store._standing.selected
    wanted = FactFilter((store.namespace,), now, scope=owners, tasks=False, states=states)
    return store._facts.delete_all(wanted)


@keywords(FactSearch, limit=10, context=0, active_only=True, matched=False, touch=True)
def search_among(
    store: Store, ids: Collection[int], query: str, **asked: Unpack[FactSearch]
) -> SearchHits:
    """Search like :meth:`Store.search` among the facts with these ids, which a caller selected."""
    return store._search([query], asked, ids)[0]


def others_of(store: Store, *, namespaces: Namespaces = None) -> Others:
    """Return how much other owners hold than those of a store; for ``"all"``, nothing.

    Args:
        store: the store to look in, whose owners are left out.
        namespaces: look in these instead of the store's own.
    """
    now, owners = clock.utc_now(), store._standing.selected
    where = store._standing.select(namespaces)
    active = FactFilter(where, now, scope=owners)
    with store._file.engine.read() as transaction:
        return store._others(transaction, active, EpisodeFilter(where, now, scope=owners))


def standing_of(store: Store) -> Standing:
    """Return the namespace and the owners that a store is bound to, for our own modules."""
    return store._standing


def elsewhere(store: Store, *, namespaces: Namespaces = None) -> dict[str, status.Contents]:
    """Return what the other namespaces of the file hold; nothing for a confined store.

    Args:
        store: the store whose own namespaces are left out.
        namespaces: leave out these instead.
    """
    seen = store._standing.select(namespaces)
    if store._standing.confined or seen is None:
        return {}
    with store._file.engine.read() as transaction:
        held = counts.contents(transaction)
    return {
        name: one for name, one in held.items() if name not in seen and (one.facts or one.episodes)
    }


def given_store(store: object) -> Store:
    """Return the namespace's part of the store that a caller passed.

    Raises:
        InvalidArgumentType: it is something else, such as an ``AsyncStore``.
    """
    if not isinstance(store, Store):
        raise InvalidArgumentType(f"must be a Store, not {type(store).__name__}", argument="store")
    return store.alone
