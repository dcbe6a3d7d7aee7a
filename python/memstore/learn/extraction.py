"""Extraction: a text becomes facts, each compared with the stored facts.

The order makes a failure harmless: the text is stored first; then the model reads each piece of it;
then the facts are compared; last, all of them are written in one transaction. After a failure the
same call continues: the text is the same episode, and a fact that was stored is a duplicate.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from memstore.database.tables.readings import EXTRACT
from memstore.domain import clock, moments
from memstore.domain.arguments import MAX_NAME, checked_choice, checked_text
from memstore.errors import Conflict
from memstore.frozen import frozen, replace
from memstore.lazy import lazy_import
from memstore.learn.catching_up import retry_each
from memstore.learn.comparison import MAX_ATTEMPTS, POLICIES, Comparison
from memstore.learn.reading import EpisodeReader, Watch, facts_in, said_at
from memstore.learn.rebuilding import rebuild
from memstore.learn.witness import judging
from memstore.prompting.reading_log import ReadingOptions
from memstore.providers import given_generator
from memstore.store.store import file_of, given_store, standing_of
from memstore.text.chunks import PROMPT_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Progress
    from memstore.domain.episodes import Episode
    from memstore.domain.protocols import Generator
    from memstore.facts.batch import Applied
    from memstore.learn import background
    from memstore.learn.background import BackgroundLearning
    from memstore.learn.comparison import Rivals
    from memstore.learn.reading import Item
    from memstore.store.store import Store
else:
    background = lazy_import("memstore.learn.background")

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
        watch = Watch(progress, cancelled)
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
        watch: Watch = Watch(),  # noqa: B008 (frozen)
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
                applied = self._store.of(episode.scope).apply(
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
