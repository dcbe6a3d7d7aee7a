"""Extraction: a text becomes facts, each compared with what is held, and every step on record.

The order is what makes a failure harmless: the text is stored first; then the model is asked about
every piece of it; then what it found is compared; and at last all of it is written in one
transaction. Whatever fails, doing it again goes on where nothing was lost: the text is the same
episode, and a fact that is there already is a duplicate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME, checked_text
from memstore.domain.records import Scope
from memstore.errors import Conflict
from memstore.learn.comparison import POLICIES, Comparison
from memstore.learn.reading import Reader, facts_in, said_at
from memstore.learn.rebuilding import rebuild
from memstore.prompting.reading_log import ReadingOptions
from memstore.text.chunks import PROMPT_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memstore.database.engine import Progress
    from memstore.domain.protocols import Generator
    from memstore.domain.records import Episode
    from memstore.facts.batch import Applied
    from memstore.learn.comparison import Pair
    from memstore.learn.reading import Item
    from memstore.store.store import Store

ERASED: Final = "it was erased before, and this text says it still: add it by hand if it is meant"

LATEST: Final = datetime.max.replace(tzinfo=UTC)
"""When a new text without a time was written: now, which is after everything that is held."""

MOST_ATTEMPTS: Final = 5
"""How often facts are compared anew because another process changed them meanwhile."""


class Outcome(StrEnum):
    """What became of one item."""

    STORED = "stored"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"
    """Stored, and an older fact retired for it."""
    PROPOSED = "proposed"
    """Stored, and put forward to replace an older fact; both are active."""
    OUTDATED = "outdated"
    """Stored as superseded already: a fact that was said later takes its place."""
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """One item of a reply: what happened to it and why."""

    outcome: Outcome
    content: str
    subject: str
    category: str
    fact_id: int | None = None
    """The fact that says it now: the new one, or of a duplicate the one that was there."""
    other_id: int | None = None
    """The older fact that was retired, or may be; of what is outdated, the fact said later."""
    proposal_id: int | None = None
    similarity: float | None = None
    """Cosine of the two contents."""
    evidence: Mapping[str, Any] | None = None
    """What spoke for retiring or proposing; it is in the journal too."""
    reason: str | None = None
    """Why it was rejected, in a few words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What an extraction did."""

    episode: Episode
    """The text it was done on, as it is on record."""
    items: list[Extracted]
    """Every item of the model's reply, in its order."""
    not_compared: str | None = None
    """Why items were stored without a look at older facts; ``None`` if they were compared."""

    def of(self, outcome: str) -> list[Extracted]:
        """Return the items with this outcome."""
        return [item for item in self.items if item.outcome == outcome]


class Extractor:
    """Turns texts into facts of one store.

    Args:
        store: where to.
        generator: the model that reads.
        policy: what becomes of an older fact that a new one may replace. ``"propose"``: it is put
            forward in ``store.proposals`` and nothing is retired. ``"auto"``: it is retired where
            the two are near and their words tell that they cannot both hold, else proposed; undone
            by ``store.reinstate``. ``"off"``: nothing is compared.
        scope: whose the facts are; they are compared with those of the same owners only.
        max_characters: longer texts are cut, and the model is asked about each piece.
    """

    def __init__(
        self,
        store: Store,
        generator: Generator,
        *,
        policy: str = "propose",
        scope: Scope | None = None,
        max_characters: int = PROMPT_CHARACTERS,
    ) -> None:
        if policy not in POLICIES:
            raise ValueError(f"policy must be auto, propose or off, not {policy!r}")
        self._store = store
        self._generator = generator
        self._policy = policy
        self._scope = scope
        self._comparison = Comparison(store, policy, generator)
        self._reader = Reader(store, generator, max_characters)

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
    ) -> Extraction:
        """Record a text, and store the facts in it.

        Args:
            text: any text; it is kept word for word as an episode.
            subject_hint: whom or what it is about, for facts that do not say.
            metadata: given to the episode and to each fact. A fact whose metadata has another value
                under a key of it is not replaced.
            source: where the text comes from.
            at: when it was written: "tomorrow" is counted from there, and its facts hold since.

        Raises:
            GeneratorError: no usable reply. The text is kept, no fact was stored; calling again
                goes on with the same episode.
            StorageError: it could not be written; all of the facts are stored, or none.
            ValueError: an empty text, a bad time, metadata that is no JSON.
        """
        if subject_hint is not None:
            checked_text(subject_hint, "subject_hint", MAX_NAME)
        at = clock.moment(at, "at")
        begun = clock.utc_now()
        episode = self._store.episodes.record(
            text, source=source, metadata=metadata, valid_at=at, scope=self._scope or Scope()
        )
        options = ReadingOptions(
            hint=subject_hint,
            at=at,
            metadata=metadata,
            max_characters=self._reader.max_characters,
        )
        # What is recorded just now was said after all that is held, also after what others store
        # in this moment; a text that was on record is as old as it is.
        fresh = at is None and episode.created_at >= begun
        return self._learn(episode, options, LATEST if fresh else said_at(episode, options))

    def extract_episode(self, episode_id: int, subject_hint: str | None = None) -> Extraction:
        """Store the facts in an episode that is on record, for its own owners.

        What was said later than the episode is not replaced by it; see ``Outcome.OUTDATED``.

        Args:
            episode_id: the episode.
            subject_hint: whom or what it is about, for facts that do not say.

        Raises:
            NotFound: there is no such episode, or it was erased.
            GeneratorError: no usable reply; no fact was stored.
        """
        if subject_hint is not None:
            checked_text(subject_hint, "subject_hint", MAX_NAME)
        episode = self._store.episodes.get(episode_id)
        options = replace(self._reader.usual(episode), hint=subject_hint)
        return self._learn(episode, options, said_at(episode, options))

    def rebuild(self, *, progress: Progress | None = None) -> list[str]:
        """Make what is derived anew, facts from the episodes too, and say what was done.

        First :meth:`memstore.Store.rebuild`. Then facts are derived from the episodes again,
        oldest first, and what was never extracted is extracted now; with a scope, from its
        episodes only. A fact that comes out again stays the very same row; one that is missing is
        added; an extracted one that no longer comes out is deleted (``store.restore`` brings it
        back), unless a person had a hand in it. What people did survives. What the model answered
        before is not asked again. After a failure or a kill, calling again completes it.

        Args:
            progress: called with how many episodes are done, and of how many.

        Raises:
            LearningError: some episodes could not be read, and were left as they are; the rest is
                done.
        """
        done = self._store.rebuild()
        return done + rebuild(self._store, self._reader, self._comparison, self._scope, progress)

    def _learn(self, episode: Episode, options: ReadingOptions, when: datetime) -> Extraction:
        items = self._reader.read(episode, options, self._reader.begin(episode, options))
        usable = facts_in(episode, options, items)
        for attempt in range(1, MOST_ATTEMPTS + 1):
            since = self._store.newest_id()
            pairs, not_compared = self._comparison.compare(usable, episode.scope, when)
            changes = [
                self._comparison.addition(new, pairs.get(place)) for place, new in enumerate(usable)
            ]
            try:
                applied = self._store.apply(
                    changes,
                    scope=episode.scope,
                    # A crowd of writers may keep two facts side by side, but stops nobody.
                    since=since if not_compared is None and attempt < MOST_ATTEMPTS else None,
                )
                break
            except Conflict:
                # Another process changed or added facts about the same: look again.
                if attempt == MOST_ATTEMPTS:
                    raise
        return Extraction(
            episode=episode,
            items=[*_outcomes(items, applied, pairs)],
            not_compared=not_compared,
        )


def _outcomes(
    items: Sequence[Item], applied: Sequence[Applied], pairs: Mapping[int, Pair]
) -> Iterator[Extracted]:
    place = -1
    for item in items:
        if item.refused is not None:
            yield Extracted(
                outcome=Outcome.REJECTED,
                content=item.content,
                subject=item.subject,
                category=item.category,
                reason=item.refused,
            )
            continue
        place += 1
        yield _outcome(item, applied[place], pairs.get(place))


def _outcome(item: Item, done: Applied, pair: Pair | None) -> Extracted:
    found = Extracted(
        outcome=Outcome.DUPLICATE if done.known else Outcome.STORED,
        content=item.content,
        subject=item.subject,
        category=item.category,
        fact_id=done.fact.id,
    )
    if done.known and done.fact.status == "erased":
        return replace(found, outcome=Outcome.REJECTED, fact_id=None, reason=ERASED)
    if done.known or pair is None:
        return found
    outcome = Outcome.SUPERSEDED if done.previous is not None else Outcome.OUTDATED
    return replace(
        found,
        outcome=Outcome.PROPOSED if done.proposal_id is not None else outcome,
        other_id=pair.other.id,
        proposal_id=done.proposal_id,
        similarity=pair.similarity,
        evidence=done.change.evidence,
    )
