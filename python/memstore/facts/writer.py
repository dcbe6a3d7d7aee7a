"""Writing facts in an open transaction, each change with its line in the journal."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memstore.database import acts
from memstore.database.changes import Changes, Line
from memstore.database.filters import FactFilter
from memstore.database.journal import Kind
from memstore.database.tables import facts as fact_table
from memstore.database.tables.readings import EXTRACT
from memstore.domain import clock, metadata
from memstore.domain.arguments import MAX_UNSEARCHED, checked_id, shown
from memstore.domain.records import DEFAULT_CATEGORY, Fact, json_value
from memstore.domain.trust import Trust
from memstore.errors import Conflict, IdempotencyConflict, NotFound, Remedy
from memstore.facts import rules
from memstore.frozen import derived, replace
from memstore.lazy import cached_property, lazy_import
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.database.journal import Author
    from memstore.database.tables import episodes as episode_table
    from memstore.database.tables import proposals as proposal_table
    from memstore.database.tables import threads
    from memstore.database.tables.episodes import Origin
    from memstore.domain.records import NewFact
    from memstore.domain.standing import Standing
    from memstore.domain.trust import Credit
    from memstore.facts import provenance
    from memstore.facts.checks import Prepared
    from memstore.history import trust

    Admission: TypeAlias = Callable[[Transaction, Prepared], bytes | None]
    """Returns the embedding of a new fact if it belongs to the file's vectors."""

    Evidence: TypeAlias = Mapping[str, Any] | None
else:
    episode_table = lazy_import("memstore.database.tables.episodes")
    proposal_table = lazy_import("memstore.database.tables.proposals")
    provenance = lazy_import("memstore.facts.provenance")
    trust = lazy_import("memstore.history.trust")
    threads = lazy_import("memstore.database.tables.threads")


OF_OTHERS: Final = attrgetter("supersedes", "episode_id", "thread", "external_key")
"""What a new fact has to do with what is stored."""


class FactWriter:
    """Reads and writes the facts of one namespace, in one transaction.

    Args:
        transaction: an open transaction for writing.
        author: who makes the changes.
        standing: where the facts are, and whose facts are reached.
        admit: decides whether a new fact's embedding is stored.
    """

    def __init__(
        self, transaction: Transaction, author: Author, standing: Standing, admit: Admission
    ) -> None:
        self.transaction = transaction
        self.standing = standing
        self.namespace = standing.namespace
        self.changes = Changes(transaction, author)
        self._admit = admit
        self._new_keys: set[str] = set()
        """Idempotency keys that certainly no fact has."""
        self._new_external_keys: set[str] = set()
        """External keys that certainly no fact has."""
        self._new_claims: set[int] = set()
        """Hashes of claims that certainly no fact makes."""
        self._places = threads.Counter(threads.FACTS)
        self.proposed: dict[int, int | None] = {}
        """The proposals that were made because a new fact counts less than the one that it should
        have retired, by the id of the new one; ``None`` if it was proposed before."""

    # -- reading ---------------------------------------------------------------------------

    def known(self, fact_id: int) -> Fact:
        """Return one fact, unless it was erased or has other owners."""
        return rules.known(self.transaction, self.standing, fact_id)

    def active(self, fact_id: int) -> Fact:
        """Return a fact that was active before; raise ``Conflict`` if it is no longer."""
        fact = self.known(fact_id)
        if fact.status != "active":
            verb = "has" if fact.status == "expired" else "was"
            raise Conflict(
                f"fact {fact_id} {verb} {rules.standing(fact)} in the meantime; nothing was "
                "changed",
                remedy=Remedy.RETRY,
            )
        return fact

    def retirable(self, fact_id: int) -> Fact:
        """Return a fact that a newer one may supersede."""
        old = self.known(fact_id)
        if old.superseded_by is not None:
            newest = fact_table.chain(self.transaction, fact_id)[-1]
            ended = newest.status not in ("active", "expired", "distrusted")
            raise Conflict(
                f"fact {fact_id} is already superseded by fact {old.superseded_by}; the newest of "
                f"its chain is fact {newest.id}" + (f", which is {newest.status}" if ended else ""),
                remedy=Remedy.ADD_AGAIN if ended else Remedy.USE_NEWEST,
            )
        rules.check_undeleted(old)
        return old

    def of_its_kind(self, new: Prepared) -> Prepared:
        """Return a new fact with its category, if that is the one of the fact it supersedes."""
        if new.category or new.supersedes is None:
            return new
        checked_id(new.supersedes, "fact_id")
        old = fact_table.get(self.transaction, new.supersedes, self.namespace)
        return self._of_kind(new, old)

    @staticmethod
    def _of_kind(new: Prepared, old: Fact | None) -> Prepared:
        if new.category:
            return new
        category = DEFAULT_CATEGORY if old is None else old.category
        return replace(new, category=category, encoded=new.encoded.with_category(category))

    def look_up(self, prepared: Sequence[Prepared], *, claims: bool) -> None:
        """Find out together which keys and claims are new, to save a query for each."""
        if len(prepared) < 2:
            return
        keys = {new.idempotency_key for new in prepared if new.idempotency_key}
        if keys:
            self._new_keys = keys - fact_table.used_keys(self.transaction, self.namespace, [*keys])
        named = {new.external_key for new in prepared if new.external_key}
        if named:
            used = fact_table.used_external_keys(self.transaction, self.namespace, [*named])
            self._new_external_keys = named - used
        if claims:
            said = {new.encoded.found_by.claim_hash or 0 for new in prepared}
            known = fact_table.used_claims(self.transaction, self.namespace, [*said])
            self._new_claims = said - known

    def same(self, new: Prepared) -> Fact | None:
        """Return an active fact of the same owners that says the same, with any metadata."""
        return next((fact for fact in self._saying(new) if fact.status == "active"), None)

    def _saying(self, new: Prepared) -> Iterator[Fact]:
        """Yield the facts that a new one repeats; what is distrusted may be heard elsewhere too."""
        if new.encoded.found_by.claim_hash in self._new_claims:
            return
        for fact in fact_table.saying(
            self.transaction, self.namespace, new.subject, new.content, new.scope
        ):
            if fact.status in ("active", "distrusted") and fact.id != new.supersedes:
                yield fact

    def same_key(self, new: Prepared) -> Fact | None:
        """Return the fact that already has the idempotency key."""
        key = new.idempotency_key
        if key is None or key in self._new_keys:
            return None
        known = fact_table.find(self.transaction, self.namespace, idempotency_key=key)
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
            old = fact_table.get(self.transaction, new.supersedes, self.namespace)
            if old is None or not (
                old.superseded_by == known.id
                or proposal_table.pairs(self.transaction, old.id, known.id)
            ):
                raise IdempotencyConflict(
                    f"the idempotency key {key!r} already belongs to fact {known.id}, which did "
                    f"not supersede fact {new.supersedes}",
                    remedy=Remedy.SUPERSEDE,
                )
        return known

    def under_key(self, new: Prepared) -> list[Fact]:
        """Return the current facts with the external key and the owners of a new one."""
        if new.external_key in self._new_external_keys:
            return []
        return fact_table.of_external_key(self.transaction, new, self.namespace)

    def refuse_newer(self, since: int, subjects: Iterable[str]) -> None:
        """Raise ``Conflict`` if a fact about one of the subjects was stored since then."""
        for subject in subjects:
            wanted = FactFilter(
                (self.namespace,), clock.utc_now(), subject=subject, scope=self.standing.bound
            )
            found = fact_table.newer(self.transaction, since, wanted)
            if found is not None:
                raise Conflict(
                    f"fact {found} about {subject!r} was stored in the meantime; nothing was "
                    "changed",
                    remedy=Remedy.RETRY,
                )

    # -- storing ---------------------------------------------------------------------------

    def insert(
        self,
        new: Prepared,
        evidence: Evidence = None,
        *,
        now: datetime | None = None,
        decided: bool = False,
    ) -> Fact:
        """Store a prepared fact, and retire the one it supersedes.

        The evidence is journalled with the retired fact, or with the new one if none is retired. If
        the new fact counts less than the old one, that is only proposed (:attr:`proposed`), unless
        it was ``decided``.
        """
        known = self.same_key(new)
        if known is not None and known.deleted_at is None:
            return known
        if known is not None:
            raise Conflict(
                f"the idempotency key {known.idempotency_key!r} belongs to fact {known.id}, which "
                "is deleted",
                remedy=Remedy.NEW_KEY,
            )
        old = self._to_supersede(new)
        new = self._of_kind(new, old)
        outranking = None
        if old is not None or fact_table.is_task(new.subject, new.metadata):
            credit = self._credit(new)
            rules.check_task(new, credit)
            if old is not None and not (decided or self._may_retire(old, credit, evidence)):
                old, outranking = None, old
        episode = None if new.episode_id is None else self._origin(new.episode_id)
        now = now or self.changes.moment
        blob = self._admit(self.transaction, new)
        fact = self._complete(new, old, episode, now, embedded=blob is not None)
        why = evidence if old is None else None
        fact_table.insert(self.changes, fact, new.encoded, blob, evidence=why)
        self._new_keys.discard(new.idempotency_key or "")
        self._new_claims.discard(new.encoded.found_by.claim_hash or 0)
        self._new_external_keys.discard(new.external_key or "")
        if old is not None:
            self._retire(old, fact.id, evidence, self.replaces_since(fact), new.episode_id)
        if outranking is not None:
            self._propose(outranking, fact.id, evidence, new.episode_id)
        return fact

    def stands_alone(self, new: Prepared, *, unless_known: bool) -> bool:
        """Whether a new fact can be stored without another look at what is stored.

        It is no task, belongs to no other fact, episode or thread, and what :meth:`look_up` found
        says that it is not stored yet. If so, it has taken its key: :meth:`insert_all` follows.
        """
        key, claim = new.idempotency_key, new.encoded.found_by.claim_hash
        if (
            OF_OTHERS(new) != (None, None, None, None)
            or (key is not None and key not in self._new_keys)
            or (unless_known and claim not in self._new_claims)
            or self._hides
            or fact_table.is_task(new.subject, new.metadata)
        ):
            return False
        self._new_keys.discard(key or "")
        self._new_claims.discard(claim or 0)
        return True

    def insert_all(self, new_facts: Sequence[Prepared], now: datetime) -> list[Fact]:
        """Store facts together, each of which :meth:`stands_alone`.

        They were embedded together, so that one model and one dimension are those of all.
        """
        transaction, namespace = self.transaction, self.namespace
        blobs = [new.blob for new in new_facts]
        embedded = next((new for new in new_facts if new.blob is not None), None)
        if embedded is not None and self._admit(transaction, embedded) is None:
            blobs = [None] * len(blobs)
        uuids = clock.new_uuids(now, len(new_facts))
        ids = fact_table.new_ids(transaction, len(new_facts))
        facts = [
            derived(
                Fact,
                new,
                id=id_,
                uuid=uuid if new.created_at is None else clock.new_uuid(new.created_at),
                namespace=namespace,
                created_at=new.created_at or now,
                embedded=blob is not None,
                holds_until=new.expired_at,
            )
            for new, blob, id_, uuid in zip(new_facts, blobs, ids, uuids, strict=True)
        ]
        encoded = [new.encoded for new in new_facts]
        fact_table.insert_all(self.changes, facts, encoded, blobs)
        return facts

    def replaces_since(self, fact: Fact) -> datetime | None:
        """Return since when a new fact replaces older ones; ``None`` for now.

        An extracted fact does as of the time when its text was recorded, so that extracting both
        again gives the same chain.
        """
        return fact.created_at if fact.derivation == EXTRACT else None

    def _to_supersede(self, new: NewFact) -> Fact | None:
        if new.supersedes is None:
            return None
        old = self.retirable(new.supersedes)
        if not new.any_subject:
            rules.check_alike(old, new)
        return old

    def _complete(
        self, new: Prepared, old: Fact | None, episode: Origin | None, now: datetime, embedded: bool
    ) -> Fact:
        """Return the fact with all its values."""
        valid_at, thread, seq = new.valid_at, new.thread, new.seq
        if episode is None:
            created_at = new.created_at or now
            uuid = clock.new_uuid(created_at)
        else:
            valid_at = valid_at or episode.valid_at
            uuid, created_at = provenance.identity(
                self.transaction, self.namespace, new, episode, now
            )
        if not (thread is None and episode is None and old is None):
            thread, seq = self._place(new, episode, old)
        return derived(
            Fact,
            new,
            id=fact_table.new_id(self.transaction),
            uuid=uuid,
            namespace=self.namespace,
            created_at=created_at,
            valid_at=valid_at,
            thread=thread,
            seq=seq,
            pinned_at=None if old is None else old.pinned_at,
            external_key=new.external_key or self._passed_on(old, new),
            embedded=embedded,
            distrusted=self._hides and self._credit(new).trust is Trust.DISTRUSTED,
            holds_until=new.expired_at,
        )

    @staticmethod
    def _passed_on(old: Fact | None, new: Prepared) -> str | None:
        """Return the external key that passes on to a new fact."""
        return None if old is None or old.scope != new.scope else old.external_key

    @cached_property
    def _hides(self) -> bool:
        """Whether any source is distrusted."""
        has_levels = acts.of(self.transaction).has_levels
        return has_levels and bool(trust.table(self.transaction).distrusted)

    def _credit(self, new: NewFact) -> Credit:
        return trust.of_new(self.transaction, self.changes.author, new)

    def _origin(self, episode_id: int) -> Origin:
        found = episode_table.origin(self.transaction, episode_id, self.namespace)
        if found is None or not self.standing.reaches(found):
            raise NotFound(
                f"there is no episode {shown(episode_id)} in namespace {self.namespace!r}",
                remedy=Remedy.FIND_ID,
            )
        return found

    def _place(
        self, new: Prepared, episode: Origin | None, old: Fact | None
    ) -> tuple[str | None, int | None]:
        """Return the thread of a new fact and its place in it.

        The defaults come from its episode, or else from the fact it supersedes.
        """
        thread, seq = new.thread, new.seq
        if episode is not None:
            default, place = provenance.thread_of(episode)
            if thread in (None, default):
                thread, seq = default, place if seq is None else seq
        elif thread is None and old is not None and old.scope == new.scope:
            thread, seq = old.thread, old.seq
        if thread is None:
            return None, None
        whose = threads.Thread(self.namespace, thread, new.user_id, new.agent_id, new.run_id)
        return thread, self._places.place(self.transaction, whose, seq)

    # -- retiring and confirming -----------------------------------------------------------

    def retire(
        self,
        old: Fact,
        new_id: int,
        evidence: Evidence = None,
        *,
        since: datetime | None = None,
        decided: bool = False,
        episode_id: int | None = None,
    ) -> bool:
        """Let a newer fact supersede an active one as of ``since`` or now; both were checked.

        A pin passes on to the newer fact, whose text holds in its place, and an external key to one
        without a key. If the newer fact counts
        less, that is only proposed (:attr:`proposed`); return whether it was done.
        """
        if not decided and not self._may_retire(
            old, trust.of_facts(self.transaction, [new_id])[new_id], evidence
        ):
            self._propose(old, new_id, evidence, episode_id)
            return False
        self._retire(old, new_id, evidence, since, episode_id)
        if old.external_key is not None:
            new = self.known(new_id)
            if new.external_key is None and new.scope == old.scope:
                key = {"external_key": old.external_key}
                self._change(new, Kind.UPDATE, key, {"supersedes": old.id}, episode_id)
        return True

    def _may_retire(self, old: Fact, credit: Credit, evidence: Evidence) -> bool:
        """Whether something that counts so much may retire a fact: what counts less never does.

        Without evidence, somebody named the fact. An agent that does so acts for the person that
        it works for; through a program that counts less, nobody counts more than it does.
        """
        own = trust.of_author(self.transaction, self.changes.author)
        if own.trust.rank < Trust.AGENT.rank:
            credit = min(credit, own, key=lambda one: one.trust.rank)
        least = Trust.PERSON if evidence else Trust.AGENT
        if credit.trust.rank >= least.rank:
            return True
        return credit.trust.rank >= trust.of_facts(self.transaction, [old.id])[old.id].trust.rank

    def check_acts(self, *facts: Fact) -> None:
        """Raise ``Conflict`` if a fact counts more than who wants to change it."""
        ids = [fact.id for fact in facts]
        trust.check_acts(self.transaction, self.changes.author, ids)

    def outranks(self, fact: Fact, evidence: Evidence) -> bool:
        """Whether a fact counts more than the episode for which a model wants to retire it."""
        episode_id = (evidence or {}).get("episode")
        if not isinstance(episode_id, int):
            return False
        credit = trust.of_episodes(self.transaction, [episode_id]).get(episode_id)
        return credit is not None and not self._may_retire(fact, credit, evidence)

    def _propose(
        self, old: Fact, new_id: int, evidence: Evidence, episode_id: int | None = None
    ) -> None:
        why = {**(evidence or {}), "outranked": True}
        similarity = why.get("similarity")
        near = similarity if isinstance(similarity, float) else 0.0
        self.proposed[new_id] = proposal_table.insert(
            self.changes, old.id, new_id, near, why, episode_id
        )

    def _retire(
        self,
        old: Fact,
        new_id: int,
        evidence: Evidence,
        since: datetime | None,
        episode_id: int | None,
    ) -> None:
        at = self.changes.moment if since is None else max(since, old.created_at)
        line, statement = fact_table.retirement(old.id, new_id, at, evidence, episode_id)
        self.changes.write(line, statement)
        if old.pinned_at is not None:
            self.pin(self.known(new_id), {"supersedes": old.id}, episode_id)

    def supersede(self, old_id: int, new_id: int, *, any_subject: bool) -> Fact | None:
        """Let a stored fact supersede another; return that, or ``None`` if it was only proposed."""
        old = self.retirable(old_id)
        new = self.known(new_id)
        if new.status != "active":
            raise Conflict(
                f"fact {new_id} is {rules.standing(new)}, so it cannot supersede fact {old_id}",
                remedy=rules.way_out(new),
            )
        if not any_subject:
            rules.check_alike(old, new)
        is_person = trust.is_person(self.transaction, self.changes.author)
        return self.known(old_id) if self.retire(old, new_id, decided=is_person) else None

    def confirm_known(
        self,
        new: Prepared,
        alike: Callable[[Fact, NewFact], bool],
        evidence: Evidence = None,
    ) -> Fact | None:
        """Confirm and return the active fact that a new one repeats; ``None`` if there is none.

        It supersedes the fact that the new one would have superseded. ``alike`` compares
        everything but the text; tasks are never alike.
        """
        held = next(
            (
                fact
                for fact in self._saying(new)
                if not fact_table.is_task(fact.subject, fact.metadata)
                and not fact_table.is_task(new.subject, new.metadata)
                and alike(fact, new)
            ),
            None,
        )
        if held is None:
            return None
        if (old := self._to_supersede(new)) is not None:
            self.retire(old, held.id, evidence, episode_id=new.episode_id)
        if new.episode_id is not None:
            return self.confirm_by(held, new.episode_id)
        return self.confirm(held, {provenance.RESTATED: new.source or ""})

    def confirm_by(self, known: Fact, episode_id: int, evidence: Evidence = None) -> Fact:
        """Let an episode confirm a fact once; a fact's own episode does not confirm it."""
        if rules.confirmed_by(self.transaction, known, episode_id):
            return known
        return self.confirm(known, {**(evidence or {}), "episode": episode_id})

    def confirm(self, fact: Fact, evidence: Evidence = None) -> Fact:
        changes = {
            "confirmed_count": fact.confirmed_count + 1,
            "last_confirmed_at": self.changes.moment,
        }
        confirmed = self._change(fact, Kind.CONFIRM, changes, evidence)
        if not fact.distrusted:
            return confirmed
        trust.settle(self.transaction)
        return self.known(fact.id)

    # -- other changes of a fact -----------------------------------------------------------

    def pin(self, fact: Fact, evidence: Evidence = None, episode_id: int | None = None) -> Fact:
        if fact.pinned_at is not None:
            return fact
        now = {"pinned_at": self.changes.moment}
        return self._change(fact, Kind.PIN, now, evidence, episode_id)

    def unpin(self, fact: Fact) -> Fact:
        if fact.pinned_at is None:
            return fact
        return self._change(fact, Kind.UNPIN, {"pinned_at": None})

    def patch_metadata(self, fact: Fact, patch: Mapping[str, Any]) -> Fact:
        """Apply a merge patch to the metadata; null removes a key."""
        merged = metadata.merge_patch(fact.metadata, patch)
        # Compared as text: 1, 1.0 and true are equal in Python, but not in JSON.
        before, after = metadata.encode(fact.metadata) or "", metadata.encode(merged) or ""
        if before == after:
            return fact
        if len(after) > len(before):
            metadata.checked_new(merged, MAX_UNSEARCHED if fact.unsearched else metadata.MAX_BYTES)
        return self._change(fact, Kind.METADATA, {"metadata": merged})

    def set_expiry(self, fact: Fact, expired_at: datetime | None) -> Fact:
        if fact.expired_at == expired_at:
            return fact
        changed = self._change(fact, Kind.UPDATE, {"expired_at": expired_at})
        return replace(changed, holds_until=expired_at)  # nothing supersedes it

    def delete(self, fact: Fact, evidence: Evidence = None, at: datetime | None = None) -> Fact:
        return self._change(fact, Kind.DELETE, {"deleted_at": at or self.changes.moment}, evidence)

    def restore(self, fact: Fact, evidence: Evidence = None) -> Fact:
        if (holder := self.key_holder(fact)) is not None:
            raise Conflict(
                f"the external key {fact.external_key!r} belongs to fact {holder.id} now",
                remedy=Remedy.DELETE_HOLDER,
            )
        return self._change(fact, Kind.RESTORE, {"deleted_at": None}, evidence)

    def key_holder(self, fact: Fact) -> Fact | None:
        """Return the current fact that took the external key of a deleted one."""
        if fact.superseded_by is not None:
            return None
        return next(iter(fact_table.of_external_key(self.transaction, fact, fact.namespace)), None)

    def keep(self, fact: Fact, evidence: Evidence = None) -> None:
        self.changes.write(Line(Kind.KEEP, fact.id, evidence=evidence))

    def _change(
        self,
        fact: Fact,
        kind: Kind,
        columns: Mapping[str, Any],
        evidence: Evidence = None,
        episode_id: int | None = None,
    ) -> Fact:
        before = {name: json_value(getattr(fact, name)) for name in columns}
        after = {name: json_value(value) for name, value in columns.items()}
        self.changes.write(
            Line(kind, fact.id, episode_id, before, after, evidence),
            fact_table.updating(fact.id, **columns),
        )
        return derived(Fact, fact, **columns)
