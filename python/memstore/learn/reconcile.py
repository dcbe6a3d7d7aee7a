"""Reconciling the facts of an episode with its text, in one transaction."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from memstore.database import journal
from memstore.database.journal import Kind
from memstore.database.tables import facts as fact_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables.readings import EXTRACT
from memstore.domain.records import NewFact
from memstore.errors import Conflict, Remedy
from memstore.facts import provenance, repairs
from memstore.facts.batch import AddFact, YieldsTo, carry_out, settle
from memstore.facts.rules import confirmed_by, covers
from memstore.frozen import frozen, replace
from memstore.learn.comparison import MAX_ATTEMPTS, claim_of
from memstore.store.store import facts_of, file_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact, JournalLine
    from memstore.facts.writer import FactWriter
    from memstore.learn.comparison import Comparison
    from memstore.store.store import Store

    Claims: TypeAlias = Mapping[tuple[str, str], NewFact]
    """The claims of an episode, each once, by :func:`claim_of`."""


@frozen
class _Plan:
    """How the stored facts of an episode differ from its claims."""

    missing: tuple[NewFact, ...]
    returning: tuple[Fact, ...]
    """Deleted by an earlier rebuild, and found again."""
    leaving: tuple[Fact, ...]
    """No longer found, and not changed or confirmed by a person."""
    resurfacing: tuple[Fact, ...]
    """Superseded by a leaving fact, and not by a person."""
    repeated: tuple[Fact, ...]
    """Facts from elsewhere that the episode repeats but has not confirmed yet."""

    def __bool__(self) -> bool:
        return bool(self.missing or self.returning or self.leaving or self.repeated)

    @property
    def outline(self) -> tuple[object, ...]:
        """The plan without irrelevant details that may change in the meantime, like use counts."""
        ids = [
            [fact.id for fact in facts]
            for facts in (self.returning, self.leaving, self.resurfacing, self.repeated)
        ]
        return self.missing, *ids


class Reconciler:
    """Makes the facts of episodes agree with their texts, without undoing what people changed."""

    def __init__(self, store: Store, comparison: Comparison) -> None:
        self._store = store
        self._facts = facts_of(store)
        self._comparison = comparison
        self.done: Counter[str] = Counter()
        """How many facts were ``added``, ``withdrawn`` and ``returned``."""

    def reconcile(self, episode: Episode, wanted: Claims, when: datetime) -> None:
        """Make the facts of an episode agree with the claims of its text, written ``when``.

        Raises:
            Conflict: other processes kept changing its facts; the episode was skipped.
        """
        for _ in range(1, MAX_ATTEMPTS):
            with suppress(Conflict):  # others changed its facts in the meantime
                self._try(episode, wanted, when, last=False)
                return
        self._try(episode, wanted, when, last=True)

    def _try(self, episode: Episode, wanted: Claims, when: datetime, *, last: bool) -> None:
        since = file_of(self._store).newest_id()
        with self._facts.reading() as transaction:
            plan = self._plan(transaction, episode, wanted)
        if not plan:
            return
        news = [*plan.missing, *(_as_new(fact) for fact in plan.returning)]
        rivals, why_not = self._comparison.compare(
            news,
            episode.scope,
            when,
            leaving={fact.id for fact in plan.leaving},
            resurfacing=plan.resurfacing,
            said=wanted,
        )
        prepared = self._facts.prepare(plan.missing)
        owners = self._facts.standing.of(episode.scope)
        with self._facts.writing() as transaction:
            writer = self._facts.of(owners).writer(transaction)
            if self._plan(transaction, episode, wanted).outline != plan.outline:
                raise Conflict(
                    f"the facts of episode {episode.id} were changed in the meantime",
                    remedy=Remedy.RETRY,
                )
            if why_not is None and not last:
                subjects = {new.subject for new in news}
                writer.refuse_newer(since, subjects)
            again = self._withdraw(writer, episode, plan)
            # A superseded rival is replaced by the fact that repeats it.
            rivals = {n: r.replacing(again) for n, r in rivals.items()}
            changes = [self._comparison.addition(new, rivals.get(n)) for n, new in enumerate(news)]
            additions, returns = changes[: len(plan.missing)], changes[len(plan.missing) :]
            prepared = [
                replace(new, supersedes=change.fact.supersedes)
                for new, change in zip(prepared, additions, strict=True)
            ]
            carry_out(writer, additions, prepared)
            for fact, change in zip(plan.returning, returns, strict=True):
                self._bring_back(writer, episode, fact, change)
            for fact in plan.repeated:
                writer.confirm_by(fact, episode.id)
        self.done["added"] += len(plan.missing)
        self.done["withdrawn"] += len(plan.leaving)
        self.done["returned"] += len(plan.returning)

    def _plan(self, transaction: Transaction, episode: Episode, wanted: Claims) -> _Plan:
        own = fact_table.of_episode(transaction, self._facts.namespace, episode.id)
        lines = _lines(transaction, own)
        by_claim: dict[tuple[str, str], list[Fact]] = {}
        for fact in own:
            by_claim.setdefault(claim_of(fact), []).append(fact)
        missing, returning, repeated = [], [], []
        for claim, new in wanted.items():
            if claim not in by_claim:
                held = self._equal_fact(transaction, episode, new)
                if held is None and not self._erased(transaction, episode, new):
                    missing.append(new)
                elif held is not None and self._confirmable(transaction, held, episode):
                    repeated.append(held)
                continue
            theirs = by_claim[claim]
            if all(fact.deleted_at is not None for fact in theirs):
                gone = next((f for f in theirs if provenance.withdrawn(lines[f.id])), None)
                if gone is not None and self._equal_fact(transaction, episode, new) is None:
                    returning.append(gone)
        leaving = [
            fact
            for fact in own
            if fact.derivation == EXTRACT
            and fact.deleted_at is None
            and claim_of(fact) not in wanted
            and self._untouched(transaction, fact, lines[fact.id])
        ]
        resurfacing = [
            old
            for fact in leaving
            if fact.superseded_by is None
            for old in fact_table.superseded_by(transaction, fact.id)
            if old.deleted_at is None
        ]
        return _Plan(
            tuple(missing), tuple(returning), tuple(leaving), tuple(resurfacing), tuple(repeated)
        )

    def _erased(self, transaction: Transaction, episode: Episode, new: NewFact) -> bool:
        """Whether a fact with this claim was erased after the text was recorded."""
        return provenance.erased_since(
            transaction, self._facts.namespace, new.subject, new.content, episode.created_at
        )

    def _confirmable(self, transaction: Transaction, fact: Fact, episode: Episode) -> bool:
        is_held = fact.status in ("active", "distrusted")
        return is_held and not confirmed_by(transaction, fact, episode.id)

    def _equal_fact(self, transaction: Transaction, episode: Episode, new: NewFact) -> Fact | None:
        """Return an equal fact from elsewhere that did not end before the text was written.

        The text then only repeated its claim, so that fact stands for it, whatever its state.
        """
        others = [
            fact
            for fact in fact_table.saying(
                transaction, self._facts.namespace, new.subject, new.content, episode.scope
            )
            if fact.episode_id != episode.id
        ]
        lines = _lines(transaction, others)
        return next(
            (
                fact
                for fact in others
                if (covers(fact, new) or any(x.kind == Kind.METADATA for x in lines[fact.id]))
                and not _ended(fact, episode.created_at)
                and not (fact.deleted_at is not None and provenance.withdrawn(lines[fact.id]))
            ),
            None,
        )

    def _untouched(
        self, transaction: Transaction, fact: Fact, lines: Sequence[JournalLine]
    ) -> bool:
        """Whether only programs changed or confirmed a fact, or let it supersede others."""
        if not provenance.untouched(lines) or proposal_table.decided_about(transaction, fact.id):
            return False
        olds = fact_table.superseded_by(transaction, fact.id)
        return all(
            provenance.automatic(line)
            for own in _lines(transaction, olds).values()
            for line in own
            if line.kind == Kind.SUPERSEDE
        )

    def _withdraw(self, writer: FactWriter, episode: Episode, plan: _Plan) -> dict[int, Fact]:
        """Delete facts that are no longer found, and add those again that they had superseded.

        Returns the added facts by the ids of the superseded ones.
        """
        gone = {provenance.REBUILT: "no longer derived", "model": self._comparison.model}
        for fact in plan.leaving:
            writer.delete(fact, gone | {"episode": episode.id})
        again: dict[int, Fact] = {}
        for old in plan.resurfacing:
            why = {provenance.REBUILT: "holds again", "reinstates": old.id, "episode": episode.id}
            again[old.id] = repairs.again(writer, old, why)
        return again

    def _bring_back(
        self, writer: FactWriter, episode: Episode, fact: Fact, change: AddFact
    ) -> None:
        """Restore a fact that an earlier rebuild deleted, and supersede or propose its rival."""
        why = {provenance.REBUILT: "derived again", "episode": episode.id}
        writer.restore(fact, why)
        if fact.superseded_by is not None:
            return
        if change.fact.supersedes is not None:
            old = writer.active(change.fact.supersedes)
            writer.retire(old, fact.id, change.evidence, episode_id=fact.episode_id)
            for one in change.also:
                held = writer.active(one.fact_id)
                writer.retire(held, fact.id, one.evidence, episode_id=fact.episode_id)
        if isinstance(change.precedence, YieldsTo):
            held = writer.active(fact.id)
            writer.retire(
                held, change.precedence.fact_id, change.evidence, episode_id=fact.episode_id
            )
        else:
            settle(writer, fact, change)


def _lines(transaction: Transaction, facts: Sequence[Fact]) -> dict[int, list[JournalLine]]:
    found: dict[int, list[JournalLine]] = {fact.id: [] for fact in facts}
    for line in journal.of_facts(transaction, [*found]):
        found[line.fact_id or 0].append(line)
    return found


def _ended(fact: Fact, when: datetime) -> bool:
    ends = (fact.superseded_at, fact.deleted_at, fact.expired_at)
    return any(end is not None and end <= when for end in ends)


def _as_new(fact: Fact) -> NewFact:
    columns = ("content", "subject", "category", "metadata", "valid_at", "episode_id", "slots")
    return NewFact(**{name: getattr(fact, name) for name in columns})
