"""Extraction: a text becomes facts, each compared with the stored facts.

The order makes a failure harmless: the text is stored first; then the model reads each piece of it;
then the facts are compared; last, all of them are written in one transaction. After a failure the
same call continues: the text is the same episode, and a fact that was stored is a duplicate.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memstore.database import journal
from memstore.database.journal import Kind
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables.readings import CLOSED, EXTRACT
from memstore.domain import clock, moments
from memstore.domain.arguments import MAX_NAME, checked_choice, checked_text
from memstore.domain.records import NewFact
from memstore.errors import (
    Conflict,
    GeneratorError,
    GeneratorUnavailable,
    LearningError,
    NotFound,
    Remedy,
)
from memstore.facts import provenance, repairs
from memstore.facts.batch import AddFact, YieldsTo, carry_out, settle
from memstore.facts.rules import confirmed_by, covers
from memstore.frozen import frozen, replace
from memstore.lazy import lazy_import
from memstore.learn.catching_up import retry_each
from memstore.learn.comparison import MAX_ATTEMPTS, POLICIES, Comparison, claim_of
from memstore.learn.conversation import CONVERSATION
from memstore.learn.reading import EpisodeReader, ReadingWatch, facts_in, said_at
from memstore.learn.witness import judging
from memstore.prompting.reading_log import ReadingOptions
from memstore.providers import given_generator
from memstore.store.store import facts_of, file_of, given_store, standing_of
from memstore.text.chunks import PROMPT_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Progress, Transaction
    from memstore.domain.episodes import Episode
    from memstore.domain.protocols import Generator
    from memstore.domain.records import AtLeast, Fact, JournalLine, Scope
    from memstore.facts.batch import Applied
    from memstore.facts.writer import FactWriter
    from memstore.learn import background
    from memstore.learn.background import BackgroundLearning
    from memstore.learn.comparison import Rivals
    from memstore.learn.reading import Item
    from memstore.store.store import Store

    Claims: TypeAlias = Mapping[tuple[str, str], NewFact]
    """The claims of an episode, each once, by :func:`claim_of`."""
else:
    background = lazy_import("memstore.learn.background")


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


MAX_PASSES: Final = 5
"""The most passes over the episodes; another one is needed only if a fact was withdrawn."""

LEFT: Final = {
    "conversations": "conversations left alone {}: their decisions depended on earlier memories",
    "closed": "episodes left alone since a fact of them was erased {}",
    "expired": "expired episodes left unread {}",
}
"""The reasons for which episodes are skipped, as reported."""

NAMED: Final = 10
"""How many episodes an error names; the others are counted."""


def rebuild(
    store: Store,
    reader: EpisodeReader,
    comparison: Comparison,
    owners: Scope | AtLeast | None,
    progress: Progress | None,
) -> list[str]:
    """Derive facts from the log again; see :meth:`memstore.Extractor.rebuild`."""
    with facts_of(store).reading() as transaction:
        ids = episode_table.ids(transaction, store.namespace, owners)
    work = _Rebuilding(store, reader, comparison)
    for _ in range(MAX_PASSES):
        if not work.go_over(ids, progress):
            break
        progress = None
    if work.failures:
        raise _failed(work) from next(iter(work.failures.values()))
    return work.report()


class _Rebuilding:
    def __init__(self, store: Store, reader: EpisodeReader, comparison: Comparison) -> None:
        self._store = store
        self._reader = reader
        self._reconciler = Reconciler(store, comparison)
        self._done: Counter[str] = Counter()
        self._unavailable = False
        self.failures: dict[int, GeneratorError] = {}

    def go_over(self, ids: Sequence[int], progress: Progress | None) -> bool:
        """Reconcile every episode, oldest first; return whether a fact was withdrawn.

        If so, another pass is needed: an earlier episode may have the same claim, which it did not
        store because that fact existed.
        """
        before = self._reconciler.done["withdrawn"]
        for name in ("episodes", *LEFT):
            self._done[name] = 0
        for done, episode_id in enumerate(ids):
            if progress is not None:
                progress(done, len(ids))
            if episode_id in self.failures:
                continue
            try:
                episode = self._store.episodes.get(episode_id)
            except NotFound:  # erased in the meantime
                continue
            self.reconcile(episode)
        if progress is not None:
            progress(len(ids), len(ids))
        return self._reconciler.done["withdrawn"] > before

    def report(self) -> list[str]:
        n = self._done + self._reconciler.done
        sentences = [
            f"derived facts from the log again: episodes read {n['episodes']}, questions to the "
            f"model {n['asked']}, facts added {n['added']}, deleted because they were not found "
            f"again {n['withdrawn']}, restored {n['returned']}"
        ]
        sentences += [why.format(n[name]) for name, why in LEFT.items() if n[name]]
        return sentences

    def reconcile(self, episode: Episode) -> None:
        """Reconcile the facts of an episode with its text, or note why it cannot be read."""
        how = self._how(episode)
        if not how:
            return
        try:
            wanted = self._wanted(episode, how)
        except GeneratorError as error:
            self._unavailable = self._unavailable or isinstance(error, GeneratorUnavailable)
            self.failures[episode.id] = error
            return
        self._done["episodes"] += 1
        when = max(said_at(episode, options) for options in how)
        self._reconciler.reconcile(episode, wanted, when)
        self._store.readings.end_learning(episode.id)

    def _how(self, episode: Episode) -> list[ReadingOptions]:
        """Return the options to read an episode with; empty if it is skipped."""
        readings = self._store.readings.of(episode.id)
        kinds = {row.kind for row in readings}
        if CLOSED in kinds:
            self._done["closed"] += 1
            return []
        if EXTRACT in kinds:
            return [ReadingOptions.from_text(row.asked) for row in readings if row.kind == EXTRACT]
        if kinds or episode.source == CONVERSATION:
            self._done["conversations"] += 1
            return []
        if episode.status == "expired":
            self._done["expired"] += 1
            return []
        return [self._reader.usual(episode)]

    def _wanted(
        self, episode: Episode, how: Sequence[ReadingOptions]
    ) -> dict[tuple[str, str], NewFact]:
        """Return the claims of an episode, each once."""
        found: dict[tuple[str, str], NewFact] = {}
        for options in how:
            replies = self._reader.begin(episode, options, only_kept=self._unavailable)
            try:
                items = self._reader.read(episode, options, replies)
            finally:
                self._done["asked"] += replies.questions
            for new in facts_in(episode, items, EXTRACT, options.at, options.metadata):
                found.setdefault(claim_of(new), new)
        return found


def _failed(work: _Rebuilding) -> LearningError:
    ids = [*work.failures]
    first = work.failures[ids[0]]
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return LearningError(
        f"episodes {', '.join(map(str, ids[:NAMED]))}{more} could not be read and were left "
        f"alone: {first} (the rest is done: {'; '.join(work.report())}; another rebuild continues)",
        step="extract",
        episode_id=ids[0],
        remedy=first.remedy,
    )


ERASED: Final = "it was erased, and this text still says it: add it by hand if you want it"


class Outcome(StrEnum):
    """The outcome for one item of a reply."""

    STORED = "stored"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    """Stored, and supersedes an older fact."""
    PROPOSED = "proposed"
    """Stored, and proposed to supersede an older fact; both are active."""
    OUTDATED = "outdated"
    """Stored, and superseded at once by a fact that was said later."""
    REJECTED = "rejected"


@frozen(kw_only=True)
class Extracted:
    """One item of a reply, with its outcome and the reason."""

    outcome: Outcome
    content: str
    subject: str
    category: str
    fact_id: int | None = None
    """The fact that says it: the new one, or for a duplicate the existing one."""
    other_id: int | None = None
    """The older fact that is or may be superseded; for ``OUTDATED``, the fact said later."""
    proposal_id: int | None = None
    also_ids: tuple[int, ...] | None = None
    """Further older facts that it supersedes."""
    similarity: float | None = None
    """Cosine of the two contents."""
    evidence: Mapping[str, Any] | None = None
    """The reasons for superseding or proposing; they are also in the journal."""
    reason: str | None = None
    """Why it was rejected."""


@frozen(kw_only=True)
class Extraction:
    """The result of an extraction."""

    episode: Episode
    """The record of the text."""
    items: list[Extracted]
    """Every item of the model's reply, in order."""
    not_compared: str | None = None
    """Why items were not compared with older facts; ``None`` if they were."""

    def of(self, outcome: str) -> list[Extracted]:
        """Return the items with this outcome."""
        return [item for item in self.items if item.outcome == outcome]


class Extractor:
    """Turns texts into facts of one store.

    Args:
        store: where the facts are stored; they are compared only with facts of the same owners.
        generator: the model that reads the texts, or the name of its provider, such as
            ``"ollama"``.
        policy: what to do if a new fact may replace an older one. ``"propose"``: add a proposal to
            ``store.proposals``; both stay active. ``"judged"``, earlier called ``"auto"``:
            supersede the older fact if the words prove it, propose it if they suggest it;
            ``store.reinstate`` undoes it. ``"off"``: do not compare.
        max_characters: longer texts are read in pieces of this length.
        without_rules: rules of the judge that are switched off, by name, such as ``"VALUE"``,
            beside those of :func:`memstore.open`.
    """

    def __init__(
        self,
        store: Store,
        generator: str | Generator,
        *,
        policy: str = "propose",
        max_characters: int = PROMPT_CHARACTERS,
        without_rules: Iterable[str] = (),
    ) -> None:
        checked_choice(policy, POLICIES, "policy")
        self._store = store = given_store(store)
        self._generator = generator = given_generator(generator)
        self._policy = policy
        self._owners = standing_of(store).bound
        self._comparison = Comparison(store, policy, generator, judging(store, without_rules))
        self._reader = EpisodeReader(store, generator, max_characters)

    def __repr__(self) -> str:
        return f"Extractor({self._store!r}, {self._generator.model!r}, policy={self._policy!r})"

    def extract(
        self,
        text: str,
        subject_hint: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        source: str | None = None,
        at: datetime | str | None = None,
        thread: str | None = None,
    ) -> Extraction:
        """Record a text, and store the facts in it.

        Args:
            text: any text; it is recorded word for word as an episode.
            subject_hint: the subject of facts for which the model finds none.
            metadata: stored with the episode and each fact. Facts whose metadata has another value
                under one of its keys are not replaced.
            source: where the text comes from.
            at: when it was written: "tomorrow" is relative to it, and its facts are valid from it.
            thread: the conversation that the text and its facts are appended to.

        Raises:
            GeneratorError: no usable reply. The text is recorded and no fact stored; calling again
                continues with the same episode.
            StorageError: the facts could not be written; all of them are stored, or none.
        """
        if subject_hint is not None:
            checked_text(subject_hint, "subject_hint", MAX_NAME)
        screen = file_of(self._store).screen
        text, subject_hint = screen.value(text, "text"), screen.value(subject_hint, "subject_hint")
        metadata = screen.value(metadata, "metadata")
        at = moments.instant(at, "at")
        begun = clock.utc_now()
        episode = self._store.episodes.record(
            text,
            source=source,
            metadata=metadata,
            valid_at=at,
            thread=thread,
        )
        options = ReadingOptions(
            hint=subject_hint, at=at, metadata=metadata, max_characters=self._reader.max_characters
        )
        # A new text is later than all stored facts, including those that other processes are
        # storing right now; a text that was already recorded is as old as its record.
        fresh = at is None and episode.created_at >= begun
        return self._learn(episode, options, clock.LATEST if fresh else said_at(episode, options))

    def extract_episode(
        self,
        episode_id: int,
        subject_hint: str | None = None,
        *,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Extraction:
        """Store the facts in a recorded episode, for the owners of the episode.

        They do not replace facts that were said later; see ``Outcome.OUTDATED``.

        Args:
            episode_id: the episode.
            subject_hint: the subject of facts for which the model finds none.
            progress: called with the number of pieces of the text that were read, and their total.
            cancelled: returns whether to give up, before each piece.

        Raises:
            NotFound: there is no such episode, or it was erased.
            GeneratorError: no usable reply; no fact was stored.
            Cancelled: it was given up; no fact was stored.
        """
        if subject_hint is not None:
            checked_text(subject_hint, "subject_hint", MAX_NAME)
        episode = self._store.episodes.get(episode_id)
        options = replace(self._reader.usual(episode), hint=subject_hint)
        watch = ReadingWatch(progress, cancelled)
        return self._learn(episode, options, said_at(episode, options), watch)

    def retry(self, *, patient: bool = False, progress: Progress | None = None) -> list[Extraction]:
        """Store the facts in the texts whose extraction failed, oldest first.

        ``Store.status().not_learned`` counts them. A store of owners has only theirs. They
        count as written when they were recorded, so they replace nothing said later.

        Args:
            patient: ask a model that is unavailable again after pauses, for six minutes.
            progress: called with the number of texts done and the total.

        Raises:
            LearningError: some failed again; the others are done.
        """
        waiting = self._store.readings.not_extracted(self._store.namespace, self._owners)
        return retry_each(
            waiting, self._extract_again, patient=patient, progress=progress, noun="texts"
        )

    def retry_in_background(self, interval_seconds: float = 60.0) -> BackgroundLearning:
        """Retry what failed in a thread of this process until it is stopped.

        As :meth:`memstore.Memory.retry_in_background`.

        Raises:
            ValueError: the interval is not above 0.
        """
        return background.BackgroundLearning(
            file_of(self._store).engine,
            f"extract {self._store.namespace}",
            lambda: bool(self._store.readings.not_extracted(self._store.namespace, self._owners)),
            self.retry,
            interval_seconds,
        ).start()

    def _extract_again(self, one: tuple[int, ReadingOptions]) -> Extraction:
        episode_id, options = one
        episode = self._store.episodes.get(episode_id)
        return self._learn(episode, options, said_at(episode, options))

    def rebuild(self, *, progress: Progress | None = None) -> list[str]:
        """Rebuild all derived data, including the extracted facts, and report what was done.

        First :meth:`memstore.File.rebuild` runs. Then facts are derived again from the episodes,
        oldest first, including those that were never extracted; of a store of owners, from their
        episodes only. A fact that is found again keeps its row; a missing one is added; an
        extracted one that is no longer found is deleted (``store.restore`` undoes that) unless a
        person changed or confirmed it. The model's stored replies are reused. After a failure,
        calling again completes it.

        Args:
            progress: called with the number of episodes done, and their total.

        Raises:
            LearningError: some episodes could not be read and were left alone; the others are done.
        """
        done = self._store.file.rebuild()
        return done + rebuild(self._store, self._reader, self._comparison, self._owners, progress)

    def _learn(
        self,
        episode: Episode,
        options: ReadingOptions,
        when: datetime,
        watch: ReadingWatch = ReadingWatch(),  # noqa: B008 (frozen)
    ) -> Extraction:
        replies = self._reader.begin(episode, options, counted=True)
        items = self._reader.read(episode, options, replies, watch)
        usable = facts_in(episode, items, EXTRACT, options.at, options.metadata)
        for attempt in range(1, MAX_ATTEMPTS + 1):
            since = file_of(self._store).newest_id()
            rivals, not_compared = self._comparison.compare(usable, episode.scope, when)
            changes = [
                self._comparison.addition(new, rivals.get(place))
                for place, new in enumerate(usable)
            ]
            try:
                applied = self._store.of(episode.scope).ledger.apply(
                    changes,
                    since=since if not_compared is None and attempt < MAX_ATTEMPTS else None,
                )
                break
            except Conflict:
                # Another process changed or added facts with these subjects: compare again.
                if attempt == MAX_ATTEMPTS:
                    raise
        self._store.readings.end_learning(episode.id)
        return Extraction(
            episode=episode, items=[*_outcomes(items, applied, rivals)], not_compared=not_compared
        )


def _outcomes(
    items: Sequence[Item], applied: Sequence[Applied], rivals: Mapping[int, Rivals]
) -> Iterator[Extracted]:
    stored = enumerate(applied)
    for item in items:
        told = Extracted(
            outcome=Outcome.REJECTED,
            content=item.content,
            subject=item.subject,
            category=item.category,
            reason=item.refused,
        )
        if item.refused is None:
            place, done = next(stored)
            told = _outcome(told, done, rivals.get(place))
        yield told


def _outcome(extracted: Extracted, done: Applied, rivals: Rivals | None) -> Extracted:
    if done.known and done.fact.status == "erased":
        return replace(extracted, reason=ERASED)
    outcome = Outcome.DUPLICATE if done.known else Outcome.STORED
    extracted = replace(extracted, outcome=outcome, fact_id=done.fact.id)
    if done.known or rivals is None:
        return extracted
    if done.proposal_id is not None:
        outcome = Outcome.PROPOSED
    else:
        outcome = Outcome.SUPERSEDED if done.previous is not None else Outcome.OUTDATED
    return replace(
        extracted,
        outcome=outcome,
        other_id=rivals.first.fact.id,
        also_ids=tuple(fact.id for fact in done.also) or None,
        proposal_id=done.proposal_id,
        similarity=rivals.first.similarity,
        evidence=done.change.evidence,
    )
