"""The store: one namespace of an open file, and what is written to it."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.database.tables import facts as fact_table
from memstore.domain import clock, zones
from memstore.domain.arguments import (
    MAX_NAME,
    MAX_NUMBER,
    checked_choice,
    checked_ids,
    checked_items,
    checked_number,
    checked_records,
    checked_text,
    stored_text,
)
from memstore.domain.records import (
    AtLeast,
    NewFact,
    Scope,
    chosen_owners,
    is_among,
    unchecked,
)
from memstore.domain.standing import Namespaces, Standing
from memstore.errors import Conflict, InvalidArgument, InvalidArgumentType, Remedy
from memstore.facts import reading, rules
from memstore.frozen import replace
from memstore.lazy import cached_property, lazy_import
from memstore.store.view import View
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime, tzinfo
    from typing import Self

    from memstore.database import journal
    from memstore.database import meta as meta_table
    from memstore.database.engine import Transaction
    from memstore.database.journal import Author
    from memstore.database.tables import counts, key_counts, owner_counts
    from memstore.database.tables import generations as generation_table
    from memstore.database.tables import imports as imports_table
    from memstore.database.tables import pieces as piece_table
    from memstore.database.tables import proposals as proposal_table
    from memstore.database.tables import readings as reading_table
    from memstore.database.tables import searches as search_table
    from memstore.database.tables import sessions as session_table
    from memstore.database.tables import unread as unread_table
    from memstore.database.tables import vectors as vector_table
    from memstore.domain import episodes as episode_records
    from memstore.domain import moments as given_moments
    from memstore.domain import queries, status
    from memstore.domain.log import Act
    from memstore.domain.queries import FactSearch
    from memstore.domain.records import Fact, OwnersSelection, SearchHits
    from memstore.domain.repairs import RepairedFact
    from memstore.domain.searches import SearchTotals
    from memstore.domain.status import Others, Owner, StoreCounts, StoreStatus, Subject
    from memstore.domain.trust import Credit
    from memstore.episodes import episodes as log
    from memstore.episodes.episodes import Episodes
    from memstore.facts import (
        following,
        proposals,
        rehearsing,
        repairs,
        subjects,
        tasks,
        transactions,
    )
    from memstore.facts.following import FilesReading, Followed
    from memstore.facts.proposals import Proposals
    from memstore.facts.tasks import Tasks
    from memstore.facts.transactions import FactTransactions, Unchanged
    from memstore.file.file import File
    from memstore.graph import dependents, graph
    from memstore.graph.graph import Graph
    from memstore.history import erasing, erasure, trust
    from memstore.prompting.reading_log import Readings
    from memstore.search import tallies
    from memstore.search.index import residents
    from memstore.search.index.contents import FeedContents
    from memstore.search.lookups.sequel import Sequels
    from memstore.store import keys, ledger, recorded_searches, sources
    from memstore.store import transfer as carrying
    from memstore.store import view as views
    from memstore.store.keys import Keys
    from memstore.store.ledger import Ledger
    from memstore.store.recorded_searches import RecordedSearches
    from memstore.store.sources import Sources
    from memstore.store.transfer import Transfer
    from memstore.telling import bearing, briefing, fitting, recall, reminder, since
    from memstore.telling.briefing import Briefing
    from memstore.telling.recall import Found, Recalled
else:
    bearing = lazy_import("memstore.telling.bearing")
    briefing = lazy_import("memstore.telling.briefing")
    carrying = lazy_import("memstore.store.transfer")
    counts = lazy_import("memstore.database.tables.counts")
    key_counts = lazy_import("memstore.database.tables.key_counts")
    owner_counts = lazy_import("memstore.database.tables.owner_counts")
    dependents = lazy_import("memstore.graph.dependents")
    episode_records = lazy_import("memstore.domain.episodes")
    erasing = lazy_import("memstore.history.erasing")
    erasure = lazy_import("memstore.history.erasure")
    fitting = lazy_import("memstore.telling.fitting")
    following = lazy_import("memstore.facts.following")
    generation_table = lazy_import("memstore.database.tables.generations")
    given_moments = lazy_import("memstore.domain.moments")
    graph = lazy_import("memstore.graph.graph")
    imports_table = lazy_import("memstore.database.tables.imports")
    journal = lazy_import("memstore.database.journal")
    keys = lazy_import("memstore.store.keys")
    ledger = lazy_import("memstore.store.ledger")
    log = lazy_import("memstore.episodes.episodes")
    meta_table = lazy_import("memstore.database.meta")
    piece_table = lazy_import("memstore.database.tables.pieces")
    proposal_table = lazy_import("memstore.database.tables.proposals")
    proposals = lazy_import("memstore.facts.proposals")
    reading_table = lazy_import("memstore.database.tables.readings")
    search_table = lazy_import("memstore.database.tables.searches")
    session_table = lazy_import("memstore.database.tables.sessions")
    queries = lazy_import("memstore.domain.queries")
    recall = lazy_import("memstore.telling.recall")
    recorded_searches = lazy_import("memstore.store.recorded_searches")
    rehearsing = lazy_import("memstore.facts.rehearsing")
    reminder = lazy_import("memstore.telling.reminder")
    repairs = lazy_import("memstore.facts.repairs")
    residents = lazy_import("memstore.search.index.residents")
    tallies = lazy_import("memstore.search.tallies")
    since = lazy_import("memstore.telling.since")
    sources = lazy_import("memstore.store.sources")
    status = lazy_import("memstore.domain.status")
    subjects = lazy_import("memstore.facts.subjects")
    tasks = lazy_import("memstore.facts.tasks")
    transactions = lazy_import("memstore.facts.transactions")
    trust = lazy_import("memstore.history.trust")
    unread_table = lazy_import("memstore.database.tables.unread")
    vector_table = lazy_import("memstore.database.tables.vectors")
    views = lazy_import("memstore.store.view")

MAX_KEPT: Final = 1_000
"""Stores of owners that a store keeps."""


class Store(View):
    """One namespace of an open file of memories; returned by :func:`memstore.open`.

    A view of now that also writes. What most programs need is here; the rest is in its rooms:
    :attr:`tasks`, :attr:`episodes`, :attr:`proposals`, :attr:`keys`, :attr:`ledger`,
    :attr:`searches`, :attr:`sources`, :attr:`transfer`, :attr:`graph` and :attr:`file`. It is a
    context manager. Any number of threads may use it.
    """

    def __init__(
        self,
        file: File,
        standing: Standing,
        *,
        closes_file: bool = False,
        author: Author | None = None,
        unchanged: Unchanged | None = None,
        parent: Store | None = None,
    ) -> None:
        super().__init__(file, standing, file.author if author is None else author, None)
        self._closes_file = closes_file
        self._unchanged = unchanged
        self._of: dict[OwnersSelection, Self] = {}
        """The stores of owners that were asked for, since a server needs the same ones often."""
        self._parent = parent
        """The store of other owners that it was made of."""

    @cached_property
    def _facts(self) -> FactTransactions:
        """The transactions that write facts; stores of owners share what they know of the file."""
        if self._parent is not None:
            return self._parent._facts.of(self._standing)
        file = self._file
        return transactions.FactTransactions(
            file.engine, self._author, self._standing, file.embedder, file.screen, self._unchanged
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

    @cached_property
    def keys(self) -> Keys:
        """Facts under external keys: ``put``, ``get``, ``delete``, ``change``, ``folders``, …"""
        return keys.Keys(self._file, self._facts)

    @cached_property
    def ledger(self) -> Ledger:
        """What was done: ``log``, ``diff``, ``journal``, ``explain``, ``revert``, ``erasure``, …"""
        return ledger.Ledger(self._file, self._facts)

    @cached_property
    def searches(self) -> RecordedSearches:
        """What agents asked: ``record``, ``list``, ``most_used``, ``never_used``, ``clear``."""
        return recorded_searches.RecordedSearches(self._file, self._facts)

    @cached_property
    def sources(self) -> Sources:
        """How much sources count: ``trust``, ``distrust``, ``levels``."""
        return zones.bound(sources.Sources(self._facts), self._zone)

    @cached_property
    def transfer(self) -> Transfer:
        """Memories carried elsewhere and from elsewhere: ``export``, ``import_``, …"""
        return carrying.Transfer(self._file, self._author, self._standing)

    @cached_property
    def graph(self) -> Graph:
        """Entities and relations, built from facts on request: ``build``, ``neighbours``."""
        return graph.Graph(self._file.engine, self._author, self._standing, self._file.searches)

    @property
    def _log(self) -> Episodes:
        return self.episodes

    @property
    def readings(self) -> Readings:
        """The log of how models read episodes, which a rebuild repeats."""
        return self._file.readings

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
            parent=self,
        )
        if len(self._of) >= MAX_KEPT:
            self._of.clear()
        return self._of.setdefault(owners, store)

    def within(
        self,
        namespace: str | None = None,
        *,
        confined: bool = False,
        source: str | None = None,
        project: str | None = None,
    ) -> Self:
        """Return a store for another namespace of this file, sharing its connections and model.

        It is closed with this one.

        Args:
            namespace: the namespace of the other store; by default the same one.
            confined: refuse every argument that names another namespace and, if the store has
                owners (:meth:`of`), every other owners. Such a store has no :attr:`file`.
            source: the program or interface that its changes are made through, for the journal; by
                default the same one.
            project: the project that the caller works in, where the namespace holds those of
                several: what is stored gets it as the member ``project`` of its metadata, and what
                comes from another one counts less and says so (:attr:`SearchHit.project`).

        Raises:
            AccessDenied: this store is confined to another namespace.
        """
        standing = self._standing
        if namespace is not None:
            standing.check(namespace)
            standing = replace(standing, namespace=namespace, shared=None)
        if project is not None:
            standing = replace(standing, project=project)
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
                :attr:`line`.

        Raises:
            FactChanged: by its changes, if one was changed; nothing was done.
        """
        checked_number(since, "since", -1, MAX_NUMBER)
        ids = checked_ids(fact_ids, "fact_ids")
        if self._standing.bound is not None:
            with self._file.engine.read() as transaction:
                for one in ids:
                    rules.known(transaction, self._standing, one)
        unchanged = transactions.Unchanged(tuple(ids), since)
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
                equal stays, with the new expiry. See :meth:`Store.keys.put`.
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
        values = {
            "content": content,
            "subject": subject,
            "category": category,
            "metadata": metadata,
            "supersedes": supersedes,
            "any_subject": any_subject,
            "created_at": created_at,
            "valid_at": valid_at,
            "expired_at": expired_at,
            "source": source,
            "idempotency_key": idempotency_key,
            "user_id": user_id,
            "agent_id": agent_id,
            "run_id": run_id,
            "episode_id": episode_id,
            "thread": thread,
            "seq": seq,
            "slots": slots,
            "external_key": external_key,
            "unsearched": unsearched,
        }
        return self._facts.add(unchecked(NewFact, values), unless_known=unless_known)

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
            dry_run: write nothing, and return the act that it would be, as :meth:`Store.ledger.log`
                would tell it: also where a fact that counts less would only be proposed.

        Raises:
            NotFound: one of them is not in this namespace.
            Conflict: the old one is already superseded, the new one is not active, both are the
                same, or they differ in subject or kind.
        """

        def supersede(transaction: Transaction) -> Fact | None:
            if old_id == new_id:
                raise Conflict(f"fact {old_id} cannot supersede itself")
            _, writer = self._facts.found(transaction, old_id, acts=False)
            return writer.supersede(old_id, new_id, any_subject=any_subject)

        if dry_run:
            return self._rehearsed(supersede)
        with self._facts.writing() as transaction:
            superseded = supersede(transaction)
        if superseded is not None:
            return superseded
        raise Conflict(
            f"fact {new_id} counts less than fact {old_id}, so replacing it was only proposed",
            remedy=Remedy.ACCEPT,
        )

    def confirm(self, fact_id: int) -> Fact:
        """Count one more confirmation that a fact holds true.

        Raises:
            NotFound: no such fact.
            Conflict: it is superseded or deleted.
        """
        with self._facts.changing(fact_id, acts=False) as (fact, writer):
            rules.check_unretired(fact)
            return writer.confirm(fact)

    def pin(self, fact_id: int) -> Fact:
        """Pin a fact: every session of its project begins with it, until it is unpinned.

        A fact that supersedes a pinned one is pinned too. Pinning it again changes nothing.

        Raises:
            NotFound: no such fact.
            Conflict: it is superseded or deleted.
        """
        with self._facts.changing(fact_id) as (fact, writer):
            rules.check_unretired(fact)
            return writer.pin(fact)

    def unpin(self, fact_id: int) -> Fact:
        """Remove the pin of a fact; one that is not pinned stays as it is.

        Raises:
            NotFound: no such fact.
            Conflict: it is superseded or deleted.
        """
        with self._facts.changing(fact_id) as (fact, writer):
            rules.check_unretired(fact)
            return writer.unpin(fact)

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
        until = given_moments.until(expired_at, "expired_at")
        with self._facts.changing(fact_id) as (fact, writer):
            rules.check_unretired(fact)
            rules.check_holds(fact.valid_at, until)
            return writer.set_expiry(fact, until)

    @overload
    def delete(self, fact_id: int, *, dry_run: Literal[False] = False) -> Fact: ...
    @overload
    def delete(self, fact_id: int, *, dry_run: Literal[True]) -> Act: ...
    def delete(self, fact_id: int, *, dry_run: bool = False) -> Fact | Act:
        """Delete a fact: searches no longer find it, but :meth:`restore` can bring it back.

        Args:
            fact_id: its id.
            dry_run: write nothing, and return the act that it would be, as :meth:`Store.ledger.log`
                would tell it; one without changes if the fact is deleted already.

        Raises:
            NotFound: no such fact.
        """

        def delete(transaction: Transaction) -> Fact:
            fact, writer = self._facts.found(transaction, fact_id)
            return fact if fact.deleted_at is not None else writer.delete(fact)

        if dry_run:
            return self._rehearsed(delete)
        with self._facts.writing() as transaction:
            return delete(transaction)

    def delete_all(self, *, include_expired: bool = False) -> int:
        """Delete every active fact of the owners of a store, and return how many; tasks stay.

        A few hundred are deleted per transaction; after an interruption, the same call deletes the
        rest. All of them count as deleted at the same moment, so
        :meth:`Store.ledger.restore_deleted` brings back what one call deleted.

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
        with self._facts.changing(fact_id) as (fact, writer):
            return repairs.restore(writer, fact)

    def reinstate(self, fact_id: int) -> RepairedFact:
        """Bring back a fact that should not have been superseded, because both facts hold.

        The old text becomes a new fact; the newer fact does not change. All facts of a
        consolidation come back together.

        If the newer fact is wrong, use :meth:`restore`.

        Raises:
            NotFound: no such fact.
            Conflict: it is not superseded, or an active fact already says the same.
        """
        with self._facts.changing(fact_id) as (fact, writer):
            return repairs.reinstate(writer, fact)

    def erase(self, fact_id: int) -> bool:
        """Permanently remove a fact's text from the file, the index and the journal.

        Its empty row stays in its chain. The whole file is rewritten, so that no old page keeps the
        text. Earlier copies (backups, exports) keep it, and so does the episode that it was
        extracted from: ``episodes.erase`` removes that. If it was the newest of its chain, nothing
        of the chain is left active. :meth:`Store.ledger.erasure` erases several facts by a plan.

        Returns:
            False while another process writes or still reads an older state: the text can no
            longer be read, but its bytes remain until :meth:`erase` is called again or the last
            process closes the file.

        Raises:
            NotFound: no such fact.
        """
        with self._facts.writing() as transaction:
            fact = rules.reached(transaction, self._standing, fact_id)
            writer = self._facts.writer(transaction, fact.namespace)
            writer.check_acts(fact)
            erasing.erase_fact(writer.changes, fact, dependents)
        is_gone = self._file.engine.compact()
        return self._file.searches.facts.index.rewrite() and is_gone

    def clear(self) -> bool:
        """Permanently erase every fact, task and episode of the namespace.

        Its graph and the decisions about entities are erased too. It works in short transactions,
        so that other writers wait about a second; what they store meanwhile stays. After an
        interruption, clearing again completes it.

        Returns:
            Whether the bytes are already gone from the files; see :meth:`erase`.

        Raises:
            ValueError: the store is :meth:`of` some owners; :meth:`Store.ledger.erasure` erases
                what is theirs.
        """
        self._standing.check_unbound("erases what everybody has")
        with self._facts.writing():
            pass  # adopts what other programs have inserted
        target = ledger.erasure_target(self._file, self._facts)
        return erasure.clear(target, self.namespace)

    def _rehearsed(self, work: Callable[[Transaction], object]) -> Act:
        """Return the act that some work in a transaction would be; nothing is written."""
        facts = self._facts
        return rehearsing.rehearse(facts.writing(), work, self._author, facts.namespaces)

    # -- finding -----------------------------------------------------------------------------

    def briefing(
        self,
        *,
        max_tokens: int = 500,
        session: str | None = None,
        agent: str | None = None,
        traces: bool = True,
        last_sessions: int = 5,
        counter: Callable[[str], int] | None = None,
    ) -> Briefing:
        """Return what an agent should know when a session begins, as a text.

        Open tasks, due and urgent ones first; who the user is and what they prefer; what is pinned
        in the project, what is used or confirmed, and the newest; how the last sessions began and
        ended and what they did; what others changed since; on Mondays, that the last sessions wait
        to be distilled, if no model has read any of them. Each group has a share of the
        budget, and passes on what it does not need. No two facts say the same, and nothing counts
        as used.

        Args:
            max_tokens: the longest the text may be, 50 or more.
            session: the thread of the session that begins, if it was recorded before; it is not
                among the last ones.
            agent: the agent that begins, by the source of its episodes; its own changes are left
                out of those of others, which count since its own last session.
            traces: tell the files, commits and failed commands of the last sessions.
            last_sessions: how many of the last sessions are told at most, 0 to 5.
            counter: counts the tokens of a text; the default is never less than any current
                language model's count.

        Raises:
            ValueError: a budget out of range.
        """
        checked_number(max_tokens, "max_tokens", 50, MAX_NUMBER)
        checked_number(last_sessions, "last_sessions", 0, briefing.MAX_SESSIONS)
        if counter is not None:
            counter = fitting.checked_counter(counter)
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
            project=self.project,
        )

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
        asked = bearing.Prompt.read(reminder.shortened(stored_text(prompt, "prompt")))
        named, both = reminder.named(asked.text), self._file.searches

        def search(question: str, _is_judged: bool, sequels: Sequels | None) -> Found:
            # What is not relevant by itself is judged here, beside the others.
            limits: dict[str, Any] = {"limit": reminder.FOUND, "min_relevance": 0}
            wanted = queries.FactSearch(**limits, tasks=False, touch=False)
            request = self._request(wanted)
            if sequels:
                request = replace(request, sequel=sequels.facts)
            said = episode_records.EpisodeHits()
            if turns:
                of_turns = queries.EpisodeSearch(**limits)
                sequel = sequels.turns if sequels else None
                said = log.found(self.episodes, question, of_turns, sequel, fills=False)
            return recall.Found(both.facts.find(question, request), said)

        topic, (found, said, _) = self._of_the_project(asked.topic, search)
        with self._file.engine.read() as transaction:
            others = reminder.Foreign(transaction)
            first = self._identified_first(transaction, topic, found, said)
            found, said = first.facts, first.turns
            facts = others.without_facts(context.without(found, named))
            heard = others.without_turns(context.without_turns(said, named))
        facts = [*bearing.facts_told(asked, both.facts, facts)]
        heard = [*bearing.turns_told(asked, both.episodes, heard, first.following)]
        with self._file.engine.read() as transaction:
            later = partial(
                since.since,
                transaction,
                namespaces=self._standing.namespaces,
                found=[hit.episode for hit in said],
            )
            others = reminder.Foreign(transaction)
            return reminder.reminded(
                facts,
                heard,
                lambda turn: others.without_later(later(turn)),
                max_tokens,
                recall.whose(found, said),
                topic,
                first.following,
            )

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
        changed = (
            given_moments.after(changed_after, "changed_after"),
            given_moments.before(changed_before, "changed_before"),
        )
        if any(changed) and wanted != status.SubjectOrder.CHANGED:
            raise InvalidArgument(
                "must be changed with changed_after or changed_before", argument="order"
            )
        active = FactFilter(self._standing.namespaces, self.at, scope=self._standing.selected)
        begin = subject_key(stored_text(prefix, "prefix"))

        def found(
            transaction: Transaction, contents: FeedContents | None
        ) -> builtins.list[Subject]:
            return subjects.subjects(
                transaction, contents, active, begin, wanted, after, limit, changed
            )

        return self._file.searches.read_facts(found)

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
            return owner_counts.of_owners(
                transaction, self._standing.namespaces, limit, after, self._standing.bound
            )

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

    def may_replace(self, fact_id: int) -> builtins.list[Fact]:
        """Return the active facts that a fact would replace by what it says, or be asked about.

        They are on its subject, of the same owners, and older. The nearest ten are compared, and
        those that may be replaced returned, nearest first: pass one of them to
        :meth:`supersede`. Nothing while the index is being built.

        Raises:
            NotFound: no such fact in this namespace.
        """
        with self._file.engine.read() as transaction:
            fact = reading.get(transaction, self._standing, fact_id)
            wanted = FactFilter((fact.namespace,), clock.utc_now(), scope=fact.scope, tasks=False)
            same = replace(wanted, subject=fact.subject)
            others = [*fact_table.select(transaction, same, queries.Page(limit=2))]
        if fact.status != "active" or len(others) < 2:
            return []  # without loading an index
        return self._file.searches.may_replace(fact, wanted, self._file.without_rules)

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
            return status.StoreCounts(**self._counts_by_state(transaction, active, records))

    def _counts_by_state(
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

        def read(transaction: Transaction, contents: FeedContents | None) -> StoreStatus:
            stored = generation_table.active(transaction)
            subjects, categories = (
                key_counts.names(tally, status.MAX_NAMES)
                for tally in tallies.of_keys(transaction, contents, active, "subject", "category")
            )
            return status.StoreStatus(
                **self._counts_by_state(transaction, active, records),
                unread=unread_table.count(transaction, records),
                incomplete_imports=imports_table.count(transaction, self.namespace),
                others=self._others(transaction, active, records),
                subjects=subjects.most,
                subject_count=subjects.number,
                categories=categories.most,
                category_count=categories.number,
                facts_by_day=tallies.by_day(transaction, contents, active, first_day),
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

        return self._file.searches.read_facts(read)

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
        most = owner_counts.of_owners(transaction, active.namespaces, status.FIRST_OWNERS + 1)
        held = [one.scope for one in most if one.facts or one.episodes]
        first = [one for one in held if not is_among(one, active.scope)][: status.FIRST_OWNERS]
        return status.Others(facts=facts, episodes=episodes, first=tuple(first))


def facts_of(store: Store) -> FactTransactions:
    """Return the transactions that write facts of a store, for ``learn``."""
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

    One whose own source counts less than the program keeps it, so that going through another
    program never makes it count more.
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


def may_hold_several(store: Store) -> bool:
    """Return whether a store's namespace may hold several projects: it was not chosen as one's."""
    return store._standing.shared is None


def working_in(store: Store, project: str | None) -> Store:
    """Return the store for a caller in a project, unless its namespace is that project's."""
    if project is None or project in (store.namespace, store.project):
        return store
    return store.within(project=project) if may_hold_several(store) else store


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
    """Return how much each of these facts counts, by its best support."""
    with store._file.engine.read() as transaction:
        return dict(trust.of_facts(transaction, fact_ids))


def deleted_all(store: Store, *, include_expired: bool = False) -> list[Fact]:
    """Delete like :meth:`Store.delete_all`, also those of any owners; return the facts."""
    states = ("active", "expired") if include_expired else None
    owners = store._standing.selected
    return store._facts.delete_all(
        FactFilter((store.namespace,), clock.utc_now(), scope=owners, tasks=False, states=states)
    )


def search_among(
    store: Store, ids: Collection[int] | None, query: str, asked: FactSearch
) -> SearchHits:
    """Search like :meth:`Store.search` among the facts with these ids; ``None`` for all."""
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


def latest_turns(store: Store, namespaces: Iterable[str]) -> dict[str, datetime]:
    """Return when the last episode of each of these namespaces of the file was recorded."""
    if store._standing.confined:
        return {}
    with store._file.engine.read() as transaction:
        found = {one: session_table.latest_turn(transaction, one) for one in namespaces}
    return {name: clock.from_text(at) for name, at in found.items() if at is not None}


def open_questions(store: Store, namespaces: Iterable[str]) -> dict[str, int]:
    """Return how many proposals wait for a decision in each of these namespaces of the file."""
    if store._standing.confined:
        return {}
    with store._file.engine.read() as transaction:
        found = proposal_table.open_by_namespace(transaction)
    return {name: found.get(name, 0) for name in namespaces}


def searches_since(store: Store, since: datetime) -> SearchTotals:
    """Return how much was asked and given in the namespace since a time, by any owner."""
    store._file.write_searches()
    with store._file.engine.read() as transaction:
        return search_table.totals(transaction, store.namespace, since)


def given_store(store: object) -> Store:
    """Return the namespace's part of the store that a caller passed.

    Raises:
        InvalidArgumentType: it is something else, such as an ``AsyncStore``.
    """
    if not isinstance(store, Store):
        raise InvalidArgumentType(f"must be a Store, not {type(store).__name__}", argument="store")
    return store.alone
