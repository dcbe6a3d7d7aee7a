"""The store: one file, bound to one namespace, with everything a caller can do to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.database.filters import FactFilter
from memstore.database.tables import facts as fact_table
from memstore.domain import clock
from memstore.domain.metadata import Filters, parse_filters
from memstore.domain.records import DEFAULT_CATEGORY, Fact, JournalLine, NewFact, Scope, SearchHits
from memstore.errors import InvalidArgumentType
from memstore.facts.batch import apply
from memstore.facts.tasks import refuse_task_keys
from memstore.graph import satellite
from memstore.store.upkeep import Upkeep

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Progress
    from memstore.facts.batch import Applied, Change


class Store(Upkeep):
    """An open file of memories. Made by :func:`memstore.open`; a context manager."""

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
        return self.facts.add_many(
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
        return self.facts.add_many(
            fact if isinstance(fact, NewFact) else NewFact(**fact) for fact in facts
        )

    def supersede(self, old_id: int, new_id: int) -> Fact:
        """Retire a fact in favour of a newer one that is stored already; return the retired one.

        Raises:
            NotFound: one of them is not in this namespace.
            Conflict: the old one is superseded already, the new one not active, or both the same.
        """
        return self.facts.supersede(old_id, new_id)

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
        return self.facts.update_metadata(fact_id, patch, refuse_task_keys)

    def delete(self, fact_id: int) -> Fact:
        """Put a tombstone on a fact: no search finds it, and :meth:`restore` brings it back.

        Raises:
            NotFound: no such fact.
        """
        return self.facts.delete(fact_id)

    def restore(self, fact_id: int) -> Fact:
        """Bring a fact back and return the one that was brought back.

        A deleted fact loses its tombstone, and is again what it was. The text of a superseded
        one becomes a new fact that supersedes the newest of its chain; a chain only grows.

        Raises:
            NotFound: no such fact.
            Conflict: it is active, or the newest of its chain is deleted.
        """
        return self.facts.restore(fact_id)

    def reinstate(self, fact_id: int) -> Fact:
        """Undo a supersession that should not have been: return the old text as a new fact.

        The newer fact stays as it is, and both are active. (:meth:`restore` instead lets the old
        text replace what replaced it.)

        Raises:
            NotFound: no such fact.
            Conflict: it is not superseded, or an active fact says the same already.
        """
        return self.facts.reinstate(fact_id)

    def newest_id(self) -> int:
        """Return the id of the newest fact of the file, for ``since`` of :meth:`apply`."""
        return self.facts.newest_id()

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
            changes: :class:`memstore.facts.batch.AddFact`, ``SupersedeFact``, ``DeleteFact`` and
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
        return apply(self.facts, [*changes], scope, since)

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
        return self.facts.erase(fact_id)

    def clear(self) -> bool:
        """Erase every fact, task and episode of the namespace in one transaction, for good.

        Its graph goes with them, and what was decided about entities.

        Returns:
            Whether the bytes have left the files already; see :meth:`erase`.
        """
        from memstore.history.erasing import erase_namespace

        return erase_namespace(self._engine, self._author, self.namespace, satellite)

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
        from memstore.search import requests

        if isinstance(queries, str):
            raise InvalidArgumentType("must be a list of texts, not one text", argument="queries")
        request = requests.for_facts(
            FactFilter(
                self._namespaces(namespaces),
                clock.utc_now(),
                subject=subject,
                category=category,
                metadata=parse_filters(filters),
                active_only=active_only,
                scope=scope,
            ),
            limit=limit,
            word_weight=word_weight,
            vector_weight=vector_weight,
            half_lives_seconds=half_lives_seconds,
        )
        found = self._wake()[1].batch(queries, request)
        if touch and not self._read_only:
            self._touches.note(hit.fact.id for hits in found for hit in hits)
        return found

    def get(self, fact_id: int) -> Fact:
        """Return one fact, in whatever state: its ``status`` tells.

        Raises:
            NotFound: no such fact in this namespace, or it was erased.
        """
        self._flush_touches()
        return self.facts.get(fact_id)

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
        return self.facts.select(wanted, limit=limit, offset=offset, newest_first=newest_first)

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
        return self.facts.exists(content, subject)

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
            return self.facts.history(fact_id)
        if subject is not None and fact_id is None:
            return self.facts.history_of_subject(subject)
        raise ValueError("history takes either a fact's id or a subject")

    def journal(self, fact_id: int) -> builtins.list[JournalLine]:
        """Return the journal of the chain a fact is in: every change, when and by whom."""
        return self.facts.journal(fact_id)

    # -- deriving again ----------------------------------------------------------------------

    def rebuild(self, *, progress: Progress | None = None) -> builtins.list[str]:
        """Make the word index anew, and embeddings that do not fit; say what was done.

        No model is asked; :meth:`memstore.Extractor.rebuild` derives facts from episodes again.

        Args:
            progress: called with how many steps are done, and of how many.
        """
        from memstore.upkeep import doctor

        return doctor.rebuild(self._engine, self._author, satellite, progress)
