"""Extraction: a text becomes facts, each compared with what is held, and every step on record.

The order is what makes a failure harmless: the text is stored first; then the model is asked about
every piece of it; then what it found is compared; and at last all of it is written in one
transaction. Whatever fails, doing it again goes on where nothing was lost: the text is the same
episode, and a fact that is there already is a duplicate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memstore import clock
from memstore.arguments import MAX_NAME, checked_text
from memstore.changes import AddFact
from memstore.errors import Conflict, EmbedderError
from memstore.learn.items import read_items
from memstore.learn.pieces import MOST_CHARACTERS
from memstore.learn.supersession import MOST_CANDIDATES, Verdict, judge, metadata_conflicts
from memstore.model import NewFact, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.changes import Applied
    from memstore.learn.items import Item
    from memstore.learn.supersession import Judgement
    from memstore.model import Episode, Fact
    from memstore.protocols import Generator
    from memstore.store import Store

POLICIES: Final = ("auto", "propose", "off")

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
    """The older fact that was retired, or may be."""
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


class _Pair(NamedTuple):
    """A new item, and the older fact it may replace."""

    old: Fact
    similarity: float
    judgement: Judgement


class Extractor:
    """Turns texts into facts of one store.

    Args:
        store: where to.
        generator: the model that reads.
        policy: what becomes of an older fact that a new one may replace. ``"propose"``: it is put
            forward in ``store.proposals`` and nothing is retired. ``"auto"``: it is retired where
            the two are near, their words tell that they cannot both hold, and the text is not older
            than that fact, else proposed; undone by ``store.reinstate``. ``"off"``: nothing is
            compared.
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
        max_characters: int = MOST_CHARACTERS,
    ) -> None:
        if policy not in POLICIES:
            raise ValueError(f"policy must be auto, propose or off, not {policy!r}")
        self._store = store
        self._generator = generator
        self._policy = policy
        self._scope = scope or Scope()
        self._max_characters = max_characters

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
        episode = self._store.episodes.record(
            text, source=source, metadata=metadata, valid_at=at, scope=self._scope
        )
        items = read_items(
            text,
            self._generator,
            subject_hint,
            # A text that is read again counts from when it was first recorded.
            at=at or episode.valid_at or episode.created_at,
            max_characters=self._max_characters,
        )
        return self._learn(episode, items, metadata, at)

    def _learn(
        self,
        episode: Episode,
        items: Sequence[Item],
        metadata: Mapping[str, Any] | None,
        at: datetime | None,
    ) -> Extraction:
        usable = [
            NewFact(
                content=item.content,
                subject=item.subject,
                category=item.category,
                metadata=metadata,
                valid_at=at,
                source=episode.source,
                episode_id=episode.id,
            )
            for item in items
            if item.refused is None
        ]
        for attempt in range(1, MOST_ATTEMPTS + 1):
            since = self._store.newest_id()
            pairs, not_compared = self._compare(usable)
            changes = [
                self._addition(new, pairs.get(place), episode) for place, new in enumerate(usable)
            ]
            try:
                applied = self._store.apply(
                    changes,
                    scope=self._scope,
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

    def _compare(self, usable: Sequence[NewFact]) -> tuple[dict[int, _Pair], str | None]:
        """Return for each item the older fact it may replace, and why none was looked for.

        An older fact has one successor: of several items that may replace it the nearest does.
        Items of one text are not compared with each other: it says them all.
        """
        if self._policy == "off":
            return {}, 'the policy is "off"'
        pairs: dict[int, _Pair] = {}
        try:
            for place, new in enumerate(usable):
                pair, why_not = self._pair(new)
                if why_not is not None:
                    return {}, why_not
                if pair is not None:
                    pairs[place] = pair
        except EmbedderError as error:
            return {}, str(error)
        nearest: dict[int, int] = {}
        for place, pair in pairs.items():
            rival = nearest.setdefault(pair.old.id, place)
            if pair.similarity > pairs[rival].similarity:
                nearest[pair.old.id] = place
        return {place: pairs[place] for place in nearest.values()}, None

    def _pair(self, new: NewFact) -> tuple[_Pair | None, str | None]:
        """Return the nearest older fact that may give way, or why none could be looked for."""
        hits = self._store.search(
            new.content,
            subject=new.subject,
            scope=self._scope,
            limit=MOST_CANDIDATES,
            word_weight=0,
            vector_weight=1,
            half_lives_seconds={"note": 0},  # how old a fact is says nothing of what replaces it
            touch=False,
        )
        if hits.words_only is not None:
            return None, hits.words_only
        older = [hit.fact for hit in hits if _comparable(hit.fact, new)]
        if not older or any(fact.content == new.content for fact in older):
            return None, None
        cosines = self._store.similarities(new.content, [fact.content for fact in older])
        for similarity, fact in sorted(
            zip(cosines, older, strict=True), key=lambda pair: (-pair[0], -pair[1].id)
        ):
            judgement = judge(fact.content, new.content, similarity)
            if judgement.verdict != Verdict.KEEP:
                return _Pair(fact, similarity, judgement), None
        return None, None

    def _addition(self, new: NewFact, pair: _Pair | None, episode: Episode) -> AddFact:
        if pair is None:
            return AddFact(fact=new, unless_known=True)
        evidence = {
            **pair.judgement.evidence,
            "policy": self._policy,
            "model": self._generator.model,
            "episode": episode.id,
        }
        told = clock.moment(new.valid_at, "valid_at") or episode.valid_at or episode.created_at
        # An older text, or one that is read again, is no news about a fact that came later.
        news = told >= (pair.old.valid_at or pair.old.created_at)
        if not news:
            evidence["told"] = clock.to_text(told)
        retires = news and self._policy == "auto" and pair.judgement.verdict == Verdict.RETIRE
        return AddFact(
            fact=replace(new, supersedes=pair.old.id) if retires else new,
            unless_known=True,
            proposes=None if retires else pair.old.id,
            similarity=pair.similarity,
            evidence=evidence,
        )


def _comparable(fact: Fact, new: NewFact) -> bool:
    # A task ends by its status, never because somebody spoke of another one.
    return fact.metadata.get("kind") != "task" and not metadata_conflicts(
        fact.metadata, new.metadata
    )


def _outcomes(
    items: Sequence[Item], applied: Sequence[Applied], pairs: Mapping[int, _Pair]
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


def _outcome(item: Item, done: Applied, pair: _Pair | None) -> Extracted:
    found = Extracted(
        outcome=Outcome.DUPLICATE if done.known else Outcome.STORED,
        content=item.content,
        subject=item.subject,
        category=item.category,
        fact_id=done.fact.id,
    )
    if done.known or pair is None:
        return found
    return replace(
        found,
        outcome=Outcome.PROPOSED if done.previous is None else Outcome.SUPERSEDED,
        other_id=pair.old.id,
        proposal_id=done.proposal_id,
        similarity=pair.similarity,
        evidence=done.change.evidence,
    )
