"""Storing and correcting facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database.changes import Changes, Line
from memstore.database.filters import FactFilter
from memstore.database.journal import Author, Kind
from memstore.database.tables import facts as fact_table
from memstore.database.tables import generations as generation_table
from memstore.database.tables import vectors as vector_table
from memstore.database.tables.readings import EXTRACT
from memstore.domain import clock, metadata
from memstore.domain.arguments import MAX_QUERY, checked_id, checked_text, stored_text
from memstore.domain.records import TODO, Fact, json_value, made, set_fields
from memstore.embedding.compatibility import ActiveGeneration
from memstore.errors import (
    Conflict,
    EmbedderMismatch,
    IdempotencyConflict,
    NotFound,
    Reason,
    Remedy,
)
from memstore.frozen import replace
from memstore.lazy import lazy_import
from memstore.text.folding import subject_key
from memstore.text.secrets import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from memstore.database.engine import Engine, Row, Statement, Transaction
    from memstore.database.satellite import Satellite
    from memstore.database.tables import episodes as episode_table
    from memstore.database.tables import threads
    from memstore.database.tables.episodes import Origin
    from memstore.domain import repairs
    from memstore.domain.records import JournalLine, NewFact, Scope
    from memstore.domain.repairs import Repair
    from memstore.embedding.current import CurrentEmbedder
    from memstore.facts import new as checking
    from memstore.facts import provenance
    from memstore.facts.new import Prepared
    from memstore.history import erasing
else:
    episode_table = lazy_import("memstore.database.tables.episodes")
    erasing = lazy_import("memstore.history.erasing")
    checking = lazy_import("memstore.facts.new")
    provenance = lazy_import("memstore.facts.provenance")
    repairs = lazy_import("memstore.domain.repairs")
    threads = lazy_import("memstore.database.tables.threads")


class Facts:
    def __init__(
        self,
        engine: Engine,
        author: Author,
        namespace: str,
        embedder: CurrentEmbedder | None,
        satellite: Satellite,
        screen: Screen = Screen(),  # noqa: B008 (frozen)
    ) -> None:
        self._engine = engine
        self._screen = screen
        self.author = author
        self.namespace = namespace
        self.namespaces: tuple[str, ...] = (namespace,)
        """The namespaces that are read if the caller names none."""
        self._embedder = embedder
        self._satellite = satellite
        self._active = ActiveGeneration(engine.path, author)

    def add_many(self, new_facts: Iterable[NewFact], *, unless_known: bool = False) -> list[Fact]:
        """Store facts in one transaction: all of them, or none.

        With ``unless_known``, a fact that is already known is confirmed and returned instead.
        """
        prepared = self.prepare(new_facts)
        if not prepared:
            return []
        with self.writing() as transaction:
            return self.store(transaction, prepared, unless_known=unless_known)

    def store(
        self, transaction: Transaction, prepared: Sequence[Prepared], *, unless_known: bool
    ) -> list[Fact]:
        """Store prepared facts, as :meth:`add_many` does."""
        self.look_up(transaction, prepared, claims=unless_known)
        now = clock.utc_now()
        return [
            (unless_known and self._held(transaction, one))
            or self.insert(transaction, one, now=now)
            for one in prepared
        ]

    def _held(self, transaction: Transaction, prepared: Prepared) -> Fact | None:
        known = self.same_key(transaction, prepared)
        return None if known else self.confirm_held(transaction, prepared, equal)

    def look_up(
        self, transaction: Transaction, prepared: Sequence[Prepared], *, claims: bool
    ) -> None:
        """Find out together which facts have new keys and claims, to save a query for each."""
        if len(prepared) < 2:
            return
        keyed = {n: key for n, one in enumerate(prepared) if (key := one.fact.idempotency_key)}
        if keyed:
            keys_held = fact_table.keys_held(transaction, self.namespace, [*keyed.values()])
            for place, key in keyed.items():
                prepared[place].has_new_key = key not in keys_held
                keys_held.add(key)
        if claims:
            said = [one.encoded.found_by.claim_hash or 0 for one in prepared]
            claims_held = fact_table.claims_held(transaction, self.namespace, said)
            for one, claim in zip(prepared, said, strict=True):
                one.has_new_claim = claim not in claims_held
                claims_held.add(claim)

    def prepare(self, new_facts: Iterable[NewFact]) -> list[Prepared]:
        """Check facts and embed them, before a transaction is opened."""
        every = checking.all_prepared(list(new_facts), self._screen)
        if len(every) > 1:
            counter = threads.Counter(threads.FACTS)
            for one in every:
                one.counter = counter
        if self._embedder is not None and every:
            embedding = self._embedder.current
            blobs = embedding.for_writing([(one.fact.subject, one.fact.content) for one in every])
            for one, blob in zip(every, blobs, strict=True):
                one.blob, one.model = blob, embedding.model
        return every

    def writing(self) -> AbstractContextManager[Transaction]:
        return self._engine.write()

    def changes(self, transaction: Transaction) -> Changes:
        return Changes(transaction, self.author)

    def reading(self) -> AbstractContextManager[Transaction]:
        return self._engine.read()

    def insert(
        self,
        transaction: Transaction,
        prepared: Prepared,
        evidence: Mapping[str, Any] | None = None,
        *,
        now: datetime | None = None,
    ) -> Fact:
        """Store a prepared fact, and retire the one it supersedes.

        The evidence is journalled with the retired fact, or with the new one if none is retired.
        """
        new = prepared.fact
        known = self.same_key(transaction, prepared)
        if known is not None and known.deleted_at is None:
            return known
        if known is not None:
            raise Conflict(
                f"the idempotency key {known.idempotency_key!r} belongs to fact {known.id}, which "
                "is deleted",
                remedy=Remedy.NEW_KEY,
            )
        old = None if new.supersedes is None else self._retirable(transaction, new.supersedes)
        if old is not None and not new.across:
            check_alike(old, new)
        episode = None if new.episode_id is None else self._origin(transaction, new.episode_id)
        now = now or clock.utc_now()
        uuid, created_at = provenance.identity(transaction, self.namespace, new, episode, now)
        why = evidence if old is None else None
        blob = self._admitted(transaction, prepared)
        values = new.columns()
        values["id"] = fact_table.new_id(transaction)
        values["uuid"] = uuid
        values["namespace"] = self.namespace
        values["created_at"] = created_at
        if episode is not None and new.valid_at is None:
            values["valid_at"] = episode.valid_at
        values["pinned_at"] = None if old is None else old.pinned_at
        if not (new.thread is None and episode is None and old is None):
            values["thread"], values["seq"] = self._place(transaction, prepared, episode, old)
        values["embedded"] = blob is not None
        fact = made(Fact, values)
        row = fact_table.row_of(fact, prepared.encoded)
        line = Line(Kind.ADD, fact.id, after=journalled_text(row), evidence=why, at=now)
        fact_table.insert(self.changes(transaction), fact, row, lambda _: line, blob)
        if old is not None:
            # An extracted fact replaces an older one as of the time when its text was recorded, so
            # that extracting both again gives the same chain.
            since = fact.created_at if fact.derivation == EXTRACT else None
            self.retire(transaction, old, fact.id, evidence, since=since)
        return fact

    def _origin(self, transaction: Transaction, episode_id: int) -> Origin:
        found = episode_table.origin(transaction, episode_id, self.namespace)
        if found is None:
            raise NotFound(
                f"there is no episode {episode_id} in namespace {self.namespace!r}",
                remedy=Remedy.FIND_ID,
            )
        return found

    def _place(
        self,
        transaction: Transaction,
        prepared: Prepared,
        episode: Origin | None,
        old: Fact | None,
    ) -> tuple[str | None, int | None]:
        """Return the thread of a new fact and its place in it.

        The defaults come from its episode, or else from the fact it supersedes.
        """
        new = prepared.fact
        thread, seq = new.thread, new.seq
        if episode is not None:
            default, place = provenance.thread_of(episode)
            if thread in (None, default):
                thread, seq = default, place if seq is None else seq
        elif thread is None and old is not None and old.scope == new.scope:
            thread, seq = old.thread, old.seq
        if thread is None:
            return None, None
        counter = prepared.counter or threads.Counter(threads.FACTS)
        whose = threads.Thread(self.namespace, thread, new.user_id, new.agent_id, new.run_id)
        return thread, counter.place(transaction, whose, seq)

    def _admitted(self, transaction: Transaction, prepared: Prepared) -> bytes | None:
        """Return the embedding if it matches the file's vectors; else the fact is pending."""
        if prepared.blob is None or prepared.model is None:
            return None
        try:
            self._active.admit(transaction, prepared.model, prepared.blob)
        except EmbedderMismatch as error:  # store the fact without its embedding
            if self._embedder is not None and not self._embedder.follow(error.stored):
                self._embedder.current.note_trouble(Reason.of(error))
            return None
        return prepared.blob

    def confirm_held(
        self,
        transaction: Transaction,
        prepared: Prepared,
        alike: Callable[[Fact, NewFact], bool],
        evidence: Mapping[str, Any] | None = None,
    ) -> Fact | None:
        """Confirm and return the active fact that a new one repeats; ``None`` if there is none.

        It supersedes the fact that the new one would have superseded. ``alike`` compares
        everything but the text; tasks are never alike.
        """
        new = prepared.fact
        held = next(
            (
                fact
                for fact in self._saying(transaction, prepared)
                if not is_task(fact.subject, fact.metadata)
                and not is_task(new.subject, new.metadata)
                and alike(fact, new)
            ),
            None,
        )
        if held is None:
            return None
        if new.supersedes is not None:
            old = self._retirable(transaction, new.supersedes)
            if not new.across:
                check_alike(old, new)
            self.retire(transaction, old, held.id, evidence)
        if new.episode_id is not None:
            return self.confirm_by(transaction, held, new.episode_id)
        return self._confirm(transaction, held)

    def confirm_by(self, transaction: Transaction, held: Fact, episode_id: int) -> Fact:
        """Let an episode confirm a fact once; a fact's own episode does not confirm it."""
        if self.confirmed_by(transaction, held, episode_id):
            return held
        return self._confirm(transaction, held, {"episode": episode_id})

    def confirmed_by(self, transaction: Transaction, fact: Fact, episode_id: int) -> bool:
        return fact.episode_id == episode_id or any(
            line.kind == Kind.CONFIRM and line.evidence == {"episode": episode_id}
            for line in journal.of_fact(transaction, fact.id)
        )

    def same(self, transaction: Transaction, prepared: Prepared) -> Fact | None:
        """Return an active fact of the same owners that says the same, with any metadata."""
        return next(self._saying(transaction, prepared), None)

    def _saying(self, transaction: Transaction, prepared: Prepared) -> Iterator[Fact]:
        new = prepared.fact
        if prepared.has_new_claim:
            return
        for fact in fact_table.saying(
            transaction, self.namespace, new.subject, new.content, new.scope
        ):
            if fact.status == "active" and fact.id != new.supersedes:
                yield fact

    def same_key(self, transaction: Transaction, prepared: Prepared) -> Fact | None:
        """Return the fact that already has the idempotency key."""
        new, key = prepared.fact, prepared.fact.idempotency_key
        if key is None or prepared.has_new_key:
            return None
        known = fact_table.find(transaction, self.namespace, idempotency_key=key)
        if known is None:
            return None
        if known.scope != new.scope:
            raise IdempotencyConflict(
                f"the idempotency key {key!r} already belongs to a fact of other owners",
                remedy=Remedy.NEW_KEY,
            )
        if known.content != new.content or subject_key(known.subject) != subject_key(new.subject):
            raise IdempotencyConflict(
                f"the idempotency key {key!r} already belongs to fact {known.id}, which has "
                "different content",
                remedy=Remedy.NEW_KEY,
            )
        if new.supersedes is not None:
            old = fact_table.get(transaction, new.supersedes, self.namespace)
            if old is None or old.superseded_by != known.id:
                raise IdempotencyConflict(
                    f"the idempotency key {key!r} already belongs to fact {known.id}, which did "
                    f"not supersede fact {new.supersedes}",
                    remedy=Remedy.SUPERSEDE,
                )
        return known

    def newest_id(self) -> int:
        with self._engine.read() as transaction:
            return fact_table.newest_id(transaction)

    def refuse_newer(
        self, transaction: Transaction, since: int, subjects: Iterable[str], scope: Scope | None
    ) -> None:
        """Raise ``Conflict`` if a fact about one of the subjects was stored since then."""
        for subject in subjects:
            wanted = FactFilter((self.namespace,), clock.utc_now(), subject=subject, scope=scope)
            found = fact_table.newer(transaction, since, wanted)
            if found is not None:
                raise Conflict(
                    f"fact {found} about {subject!r} was stored in the meantime; nothing was "
                    "changed",
                    remedy=Remedy.RETRY,
                )

    def get(self, fact_id: int) -> Fact:
        with self._engine.read() as transaction:
            return self.known(transaction, fact_id)

    def exists(self, content: str, subject: str, scope: Scope | None) -> bool:
        """Return whether an active fact of these owners has exactly this text and subject.

        Superseded facts do not count: what was once true may become true again.
        """
        wanted = FactFilter(
            (self.namespace,),
            clock.utc_now(),
            subject=stored_text(subject, "subject"),
            content=stored_text(content, "content"),
            scope=scope,
        )
        with self._engine.read() as transaction:
            return fact_table.count(transaction, wanted) > 0

    def subjects(self, beginning: str, scope: Scope | None, limit: int) -> list[str]:
        """Return subjects of active facts that begin with a text, in alphabetical order."""
        now, key = clock.utc_now(), subject_key(beginning)
        found: dict[str, str] = {}
        with self._engine.read() as transaction:
            for namespace in self.namespaces:
                wanted = FactFilter((namespace,), now, scope=scope)
                found = fact_table.subjects(transaction, wanted, key, limit) | found
        return [found[key] for key in sorted(found)[:limit]]

    def supersede(self, old_id: int, new_id: int, *, across: bool = False) -> Fact:
        if old_id == new_id:
            raise Conflict(f"fact {old_id} cannot supersede itself")
        with self._engine.write() as transaction:
            old = self._retirable(transaction, old_id)
            new = self.known(transaction, new_id)
            if new.status != "active":
                raise Conflict(
                    f"fact {new_id} is {standing(new)}, so it cannot supersede fact {old_id}",
                    remedy=way_out(new),
                )
            if not across:
                check_alike(old, new)
            self.retire(transaction, old, new_id)
            return self.known(transaction, old_id)

    def _retirable(self, transaction: Transaction, fact_id: int) -> Fact:
        old = self.known(transaction, fact_id)
        if old.superseded_by is not None:
            newest = fact_table.chain(transaction, fact_id)[-1]
            ended = newest.status not in ("active", "expired")
            raise Conflict(
                f"fact {fact_id} is already superseded by fact {old.superseded_by}; the newest of "
                f"its chain is fact {newest.id}" + (f", which is {newest.status}" if ended else ""),
                remedy=Remedy.ADD_AGAIN if ended else Remedy.USE_NEWEST,
            )
        if old.deleted_at is not None:
            raise Conflict(f"fact {fact_id} is deleted", remedy=Remedy.RESTORE)
        return old

    def retire(
        self,
        transaction: Transaction,
        old: Fact,
        new_id: int,
        evidence: Mapping[str, Any] | None = None,
        *,
        since: datetime | None = None,
    ) -> None:
        """Let a newer fact supersede an active one as of ``since`` or now; both were checked.

        A pin passes on to the newer fact, whose text holds in its place.
        """
        at = clock.utc_now() if since is None else max(since, old.created_at)
        line, statement = retirement(old.id, new_id, at, evidence)
        self.changes(transaction).write(line, statement)
        if old.pinned_at is not None:
            self._pin(transaction, self.known(transaction, new_id), {"supersedes": old.id})

    def check_owners(self, scope: Scope | None, *fact_ids: int) -> None:
        """Raise ``NotFound`` for facts of other owners; the owners of a fact never change."""
        with self._engine.read() as transaction:
            for fact_id in fact_ids:
                self.known(transaction, fact_id, scope)

    def history(self, fact_id: int, scope: Scope | None) -> list[Fact]:
        """Return the whole chain of any of its facts, oldest first."""
        with self._engine.read() as transaction:
            return self._chain(transaction, fact_id, scope)

    def history_of_subject(self, subject: str, scope: Scope | None) -> list[Fact]:
        """Return every fact there ever was about a subject, oldest first."""
        name = checked_text(subject, "subject", MAX_QUERY)
        with self._engine.read() as transaction:
            found = fact_table.of_subject(transaction, self.namespace, name)
        return [fact for fact in found if scope is None or fact.scope == scope]

    def journal(self, fact_id: int) -> list[JournalLine]:
        with self._engine.read() as transaction:
            ids = [fact.id for fact in self._chain(transaction, fact_id)]
            return journal.of_facts(transaction, ids)

    def _chain(
        self, transaction: Transaction, fact_id: int, scope: Scope | None = None
    ) -> list[Fact]:
        self.known(transaction, fact_id, scope)
        # A chain may contain facts of other owners, and in files of the original of other
        # namespaces: those are left out. Erased facts have no owners any more.
        return [
            fact
            for fact in fact_table.chain(transaction, fact_id)
            if fact.namespace == self.namespace
            and (scope is None or fact.scope == scope or fact.status == "erased")
        ]

    def confirm(self, fact_id: int) -> Fact:
        with self._engine.write() as transaction:
            return self._confirm(transaction, self._unretired(transaction, fact_id))

    def pin(self, fact_id: int) -> Fact:
        with self._engine.write() as transaction:
            fact = self._unretired(transaction, fact_id)
            return self._pin(transaction, fact)

    def unpin(self, fact_id: int) -> Fact:
        with self._engine.write() as transaction:
            fact = self._unretired(transaction, fact_id)
            if fact.pinned_at is None:
                return fact
            return self._change(transaction, fact, Kind.UNPIN, {"pinned_at": None})

    def _pin(
        self, transaction: Transaction, fact: Fact, evidence: Mapping[str, Any] | None = None
    ) -> Fact:
        if fact.pinned_at is not None:
            return fact
        return self._change(transaction, fact, Kind.PIN, {"pinned_at": clock.utc_now()}, evidence)

    def _unretired(self, transaction: Transaction, fact_id: int) -> Fact:
        """Return a fact that is neither superseded nor deleted; it may have expired."""
        fact = self.known(transaction, fact_id)
        if fact.status in ("superseded", "deleted"):
            raise Conflict(f"fact {fact_id} is {standing(fact)}", remedy=way_out(fact))
        return fact

    def _confirm(
        self, transaction: Transaction, fact: Fact, evidence: Mapping[str, Any] | None = None
    ) -> Fact:
        changes = {
            "confirmed_count": fact.confirmed_count + 1,
            "last_confirmed_at": clock.utc_now(),
        }
        return self._change(transaction, fact, Kind.CONFIRM, changes, evidence)

    def update_metadata(
        self,
        fact_id: int,
        patch: Mapping[str, Any],
        check: Callable[[Fact, Mapping[str, Any]], Mapping[str, Any]] | None = None,
    ) -> Fact:
        """Apply a merge patch to the metadata; null removes a key.

        ``check`` is called inside the transaction and returns the patch to apply, or raises.
        """
        patch = self._screen.value(metadata.checked_mapping(patch), "metadata")
        with self._engine.write() as transaction:
            fact = self.known(transaction, fact_id)
            if fact.deleted_at is not None:
                raise Conflict(f"fact {fact_id} is deleted", remedy=Remedy.RESTORE)
            merged = metadata.merge_patch(fact.metadata, check(fact, patch) if check else patch)
            # Compared as text: 1, 1.0 and true are equal in Python, but not in JSON.
            before, after = metadata.encode(fact.metadata) or "", metadata.encode(merged) or ""
            if before == after:
                return fact
            if len(after) > len(before):
                metadata.checked_new(merged)
            return self._change(transaction, fact, Kind.METADATA, {"metadata": merged})

    def delete(self, fact_id: int) -> Fact:
        with self._engine.write() as transaction:
            fact = self.known(transaction, fact_id)
            if fact.deleted_at is not None:
                return fact
            return self.delete_in(transaction, fact)

    def delete_in(
        self,
        transaction: Transaction,
        fact: Fact,
        evidence: Mapping[str, Any] | None = None,
        at: datetime | None = None,
    ) -> Fact:
        changes = {"deleted_at": at or clock.utc_now()}
        return self._change(transaction, fact, Kind.DELETE, changes, evidence)

    def older(self, fact_id: int) -> Fact | None:
        with self._engine.read() as transaction:
            self.known(transaction, fact_id)
            found = [
                fact
                for fact in fact_table.superseded_by(transaction, fact_id)
                if fact.namespace == self.namespace and fact.status == "superseded"
            ]
        return found[-1] if found else None

    def restore(self, fact_id: int) -> Repair:
        """Restore a deleted fact, or the text of a superseded one as the newest of its chain."""
        with self._engine.write() as transaction:
            fact = self.known(transaction, fact_id)
            if fact.deleted_at is not None:
                back = self.restore_in(transaction, fact)
                newer = None if back.superseded_by is None else self._newest(transaction, fact_id)
                return repairs.Repair(kind="restore", fact=back, newer=newer)
            if fact.superseded_by is None:
                raise Conflict(
                    f"fact {fact_id} is {standing(fact)}, so there is nothing to restore"
                )
            chain = {one.id: one for one in fact_table.chain(transaction, fact_id)}
            newest = [*chain.values()][-1]
            if newest.deleted_at is not None:
                raise Conflict(
                    f"the newest fact of this chain, fact {newest.id}, is {newest.status}",
                    remedy=Remedy.RESTORE if newest.content else Remedy.ADD_AGAIN,
                )
            replaced, step = [fact], fact
            while step.superseded_by in chain and step.superseded_by != newest.id:
                replaced.append(step := chain[step.superseded_by])
            others = [one for step in replaced for one in self._with(transaction, step)]
            back = self.insert(transaction, self._again(transaction, fact, newest.id))
            return repairs.Repair(
                kind="restore",
                fact=back,
                others=self._back_too(transaction, others),
                newer=self.known(transaction, newest.id),
            )

    def restore_deleted(self, at: datetime, scope: Scope | None) -> int:
        """Restore the facts deleted at one moment, some per transaction; return how many."""
        with self._engine.read() as transaction:
            left = fact_table.deleted_at(transaction, self.namespace, at, scope)
        restored = 0
        for start in range(0, len(left), RESTORED_AT_ONCE):
            with self._engine.write() as transaction:
                ids = left[start : start + RESTORED_AT_ONCE]
                for fact in fact_table.get_many(transaction, ids).values():
                    if fact.deleted_at == at and fact.content:  # not changed in the meantime
                        self.restore_in(transaction, fact)
                        restored += 1
        return restored

    def restore_in(
        self, transaction: Transaction, fact: Fact, evidence: Mapping[str, Any] | None = None
    ) -> Fact:
        return self._change(transaction, fact, Kind.RESTORE, {"deleted_at": None}, evidence)

    def reinstate(self, fact_id: int) -> Repair:
        """Store the text of a superseded fact again, next to the fact that superseded it."""
        with self._engine.write() as transaction:
            fact = self.known(transaction, fact_id)
            if fact.status != "superseded":
                raise Conflict(
                    f"fact {fact_id} is {standing(fact)}, not superseded, so there is nothing to "
                    "reinstate",
                    remedy=way_out(fact),
                )
            again = self._again(transaction, fact, None)
            same = self.same(transaction, again)
            if same is not None:
                raise Conflict(f"active fact {same.id} already says the same as fact {fact_id}")
            others = self._with(transaction, fact)
            back = self.insert(transaction, again, {"reinstates": fact_id})
            if fact.pinned_at is not None:
                back = self._pin(transaction, back, {"reinstates": fact_id})
            return repairs.Repair(
                kind="reinstate",
                fact=back,
                others=self._back_too(transaction, others),
                newer=self._newest(transaction, fact_id),
            )

    def _newest(self, transaction: Transaction, fact_id: int) -> Fact:
        return fact_table.chain(transaction, fact_id)[-1]

    def _with(self, transaction: Transaction, fact: Fact) -> list[Fact]:
        """Return the facts that were superseded together with one, by a consolidation.

        They are found by each fact's own lines, because the ids inside a line may be those of the
        file that it was imported from.
        """
        retired = fact_table.superseded_by(transaction, fact.superseded_by or 0)
        together = {
            line.fact_id
            for line in journal.of_facts(transaction, [one.id for one in retired])
            if line.kind == Kind.SUPERSEDE and "consolidates" in (line.evidence or {})
        }
        if fact.id not in together:
            return []
        return [one for one in retired if one.id in together and one.id != fact.id]

    def _back_too(self, transaction: Transaction, others: Iterable[Fact]) -> tuple[Fact, ...]:
        """Bring back the facts of an undone consolidation, except those deleted since."""
        found = []
        for one in others:
            again = self._again(transaction, one, None)
            if one.deleted_at is None and self.same(transaction, again) is None:
                found.append(self.insert(transaction, again, {"reinstates": one.id}))
        return tuple(found)

    def again(self, transaction: Transaction, fact: Fact, evidence: Mapping[str, Any]) -> Fact:
        """Return the active fact with the text of a superseded one, storing it if necessary.

        A new one has the old one's time of creation and derivation.
        """
        repeated = self._again(transaction, fact, None)
        repeated.fact = replace(
            repeated.fact, derivation=fact.derivation, created_at=fact.created_at
        )
        return self.same(transaction, repeated) or self.insert(transaction, repeated, evidence)

    def active(self, transaction: Transaction, fact_id: int) -> Fact:
        fact = self.known(transaction, fact_id)
        if fact.status != "active":
            verb = "has" if fact.status == "expired" else "was"
            raise Conflict(
                f"fact {fact_id} {verb} {standing(fact)} in the meantime; nothing was changed",
                remedy=Remedy.RETRY,
            )
        return fact

    def _again(self, transaction: Transaction, fact: Fact, supersedes: int | None) -> Prepared:
        """Return a new fact with the text of an old one, which was checked when it was stored."""
        new = checking.CheckedFact(
            content=fact.content,
            subject=fact.subject,
            category=fact.category,
            metadata=fact.metadata,
            supersedes=supersedes,
            across=True,  # the chain may already cross subjects
            valid_at=fact.valid_at,
            source=fact.source,
            episode_id=fact.episode_id,
            thread=fact.thread,
            seq=fact.seq,
            **fact.scope.ids,
        )
        active = generation_table.active(transaction)
        blob = vector_table.get(transaction, vector_table.FACTS, active.id, fact.id)
        encoded = fact_table.encoded(fact)
        return checking.Prepared(new, encoded, blob, active.model)

    def erase(self, fact_id: int) -> bool:
        with self._engine.write() as transaction:
            fact = self._stored(transaction, fact_id)
            erasing.erase_fact(self.changes(transaction), fact, self._satellite)
        return self._engine.compact()

    def known(self, transaction: Transaction, fact_id: int, scope: Scope | None = None) -> Fact:
        """Return one fact of the namespace, unless it was erased.

        With a scope, facts of other owners are not found: knowing an id gives no access.
        """
        fact = self._stored(transaction, fact_id)
        if fact.status == "erased" or (scope is not None and fact.scope != scope):
            raise not_found(fact_id, self.namespace)
        return fact

    def _stored(self, transaction: Transaction, fact_id: int) -> Fact:
        checked_id(fact_id, "fact_id")
        fact = fact_table.get(transaction, fact_id, self.namespace)
        if fact is None:
            raise not_found(fact_id, self.namespace)
        return fact

    def _change(
        self,
        transaction: Transaction,
        fact: Fact,
        kind: Kind,
        columns: Mapping[str, Any],
        evidence: Mapping[str, Any] | None = None,
    ) -> Fact:
        before = {name: json_value(getattr(fact, name)) for name in columns}
        after = {name: json_value(value) for name, value in columns.items()}
        self.changes(transaction).write(
            Line(kind, fact.id, before=before, after=after, evidence=evidence),
            fact_table.updating(fact.id, **columns),
        )
        return self.known(transaction, fact.id)


def check_alike(old: Fact, new: Fact | NewFact) -> None:
    """Refuse a supersession across subjects, or between a task and a fact."""
    if subject_key(old.subject) != subject_key(new.subject):
        raise Conflict(
            f"fact {old.id} is about {old.subject!r}, but the fact to supersede it is about "
            f"{new.subject!r}",
            remedy=Remedy.SAY_ACROSS,
        )
    if is_task(old.subject, old.metadata) != is_task(new.subject, new.metadata):
        old_kind, new_kind = "a task", "not"
        if is_task(new.subject, new.metadata):
            old_kind, new_kind = "not a task", "one"
        raise Conflict(
            f"fact {old.id} is {old_kind}, but the fact to supersede it is {new_kind}",
            remedy=Remedy.SAY_ACROSS,
        )


def retirement(
    fact_id: int, new_id: int, at: datetime, evidence: Mapping[str, Any] | None = None
) -> tuple[Line, Statement]:
    """Return the journal line and the statement for a supersession."""
    after = {"superseded_by": new_id, "superseded_at": clock.to_text(at)}
    return (
        Line(Kind.SUPERSEDE, fact_id, after=after, evidence=evidence),
        fact_table.updating(fact_id, superseded_by=new_id, superseded_at=at),
    )


RESTORED_AT_ONCE: Final = 200
"""Facts restored in one transaction, so that other writers need not wait long."""

JOURNALLED: Final = tuple(
    name
    for name in fact_table.STORED
    if name not in ("id", "use_count", "last_used_at")  # use is not journalled
)

METADATA: Final = fact_table.STORED.index("metadata")
JOURNALLED_KEYS: Final = tuple(
    (place, f'"{name}": ')
    for place, name in enumerate(fact_table.STORED)
    if name in JOURNALLED and name != "metadata"
)
"""The places in a fact's row of what is journalled as it is, and their keys in JSON."""


def journalled(fact: Fact) -> dict[str, Any]:
    """Return the values of a fact that the journal keeps."""
    return set_fields(fact, JOURNALLED)


def journalled_text(row: Row) -> str:
    """Return :func:`journalled` as JSON text, from the fact's row; this takes half the time."""
    parts = [
        key + metadata.quoted(value) if type(value) is str else f"{key}{value}"
        for place, key in JOURNALLED_KEYS
        if (value := row[place]) is not None
    ]
    return f'{{{", ".join(parts)}, "metadata": {row[METADATA] or "{}"}}}'


def is_task(subject: str, metadata: Mapping[str, Any] | None) -> bool:
    return (metadata or {}).get("kind") == "task" and subject_key(subject) == TODO


def equal(fact: Fact, new: NewFact) -> bool:
    """Return whether a fact has the same category, metadata and expiry as a new one."""
    return (fact.category, fact.expired_at) == (new.category, new.expired_at) and metadata.same(
        fact.metadata, new.metadata or {}
    )


def covers(fact: Fact, new: NewFact) -> bool:
    """Return whether a fact's metadata includes all the metadata of a new one."""
    shared = {key: fact.metadata[key] for key in new.metadata or {} if key in fact.metadata}
    return metadata.same(shared, new.metadata or {})


def standing(fact: Fact) -> str:
    if fact.status == "superseded":
        return f"superseded by fact {fact.superseded_by}"
    return fact.status


def way_out(fact: Fact) -> Remedy | None:
    return {"superseded": Remedy.USE_NEWEST, "deleted": Remedy.RESTORE}.get(fact.status)


def not_found(fact_id: int, namespace: str) -> NotFound:
    return NotFound(f"there is no fact {fact_id} in namespace {namespace!r}", remedy=Remedy.FIND_ID)
