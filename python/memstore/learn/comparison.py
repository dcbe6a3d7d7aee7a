"""Comparing new facts with those that are held: which one may take the place of which."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.errors import EmbedderError, Reason
from memstore.facts.batch import AddFact, MayReplace, MayYieldTo, YieldsTo
from memstore.learn.supersession import MOST_CANDIDATES, Verdict, judge, metadata_conflicts

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from memstore.domain.protocols import Generator
    from memstore.domain.records import Fact, NewFact, Scope
    from memstore.learn.supersession import Judgement
    from memstore.store.store import Store

MOST_HITS: Final = 1000
"""What a search returns at most."""

POLICIES: Final = ("auto", "propose", "off")


class Pair(NamedTuple):
    """A new fact, and one that is held, of which one may replace the other."""

    other: Fact
    similarity: float
    judgement: Judgement
    later: bool = False
    """Whether the other was said later: then it is the one that may replace the new fact."""


class Comparison:
    """Compares facts that one model found with those of a store.

    Args:
        store: where they are held.
        policy: ``auto``, ``propose`` or ``off``; see :class:`memstore.Extractor`.
        generator: the model; its name goes into the evidence.
    """

    def __init__(self, store: Store, policy: str, generator: Generator) -> None:
        self._store = store
        self._policy = policy
        self.model = generator.model

    def compare(
        self,
        usable: Sequence[NewFact],
        scope: Scope,
        said_at: datetime,
        *,
        leaving: Collection[int] = (),
        resurfacing: Sequence[Fact] = (),
        said: Collection[tuple[str, str]] = (),
    ) -> tuple[dict[int, Pair], str | None]:
        """Return for each new fact the one that may replace it or be replaced, and why none.

        An older fact has one successor: of several that may replace it the nearest does. Facts
        of one text are not compared with each other, nor with what it says once more: it says
        them all.

        Args:
            usable: the new facts.
            scope: whose facts to compare with.
            said_at: when the text was written; what was said later is not replaced by it.
            leaving: facts that are about to be taken back, which are not compared with.
            resurfacing: superseded facts that will hold again then, which are.
            said: what else the text says, as subjects and contents.

        Returns:
            The pairs by the new fact's place; and why nothing was compared, or ``None``.
        """
        if self._policy == "off":
            return {}, 'the policy is "off"'
        pairs: dict[int, Pair] = {}
        said_again = {*said, *((new.subject.strip(), new.content) for new in usable)}
        try:
            for place, new in enumerate(usable):
                candidates, why_not = self._candidates(new, scope, leaving)
                if why_not is not None:
                    return {}, why_not
                candidates += [fact for fact in resurfacing if fact.subject == new.subject]
                pair = self._pair(new, candidates, said_at, said_again)
                if pair is not None:
                    pairs[place] = pair
        except EmbedderError as error:
            return {}, Reason.of(error)
        return _nearest(pairs), None

    def _candidates(
        self, new: NewFact, scope: Scope, leaving: Collection[int]
    ) -> tuple[list[Fact], str | None]:
        """Return the nearest facts of the same subject, or why none could be looked for."""
        hits = self._store.search(
            new.content,
            subject=new.subject,
            scope=scope,
            limit=min(MOST_CANDIDATES + len(leaving), MOST_HITS),
            word_weight=0,
            vector_weight=1,
            half_lives_seconds={"note": 0},  # how old a fact is says nothing of what replaces it
            touch=False,
        )
        why = hits.words_only.reason if hits.words_only else None
        return [hit.fact for hit in hits if hit.fact.id not in leaving], why

    def _pair(
        self,
        new: NewFact,
        candidates: Sequence[Fact],
        said_at: datetime,
        said_again: Collection[tuple[str, str]],
    ) -> Pair | None:
        """Return the nearest fact of which one may give way."""
        if any(fact.content == new.content for fact in candidates):
            return None
        others = [
            fact
            for fact in candidates
            if _comparable(fact, new) and (fact.subject, fact.content) not in said_again
        ]
        if not others:
            return None
        cosines = self._store.similarities(new.content, [fact.content for fact in others])
        for similarity, fact in sorted(
            zip(cosines, others, strict=True), key=lambda pair: (-pair[0], -pair[1].id)
        ):
            later = (fact.valid_at or fact.created_at) > said_at
            old, by = (new.content, fact.content) if later else (fact.content, new.content)
            judgement = judge(old, by, similarity)
            if judgement.verdict != Verdict.KEEP:
                return Pair(fact, similarity, judgement, later)
        return None

    def addition(self, new: NewFact, pair: Pair | None) -> AddFact:
        """Return the change that stores a new fact, and what becomes of its pair."""
        if pair is None:
            return AddFact(fact=new, unless_known=True)
        beside: MayReplace | MayYieldTo | YieldsTo | None
        if self._policy == "auto" and pair.judgement.verdict == Verdict.RETIRE:
            beside = YieldsTo(pair.other.id) if pair.later else None
            new = new if pair.later else replace(new, supersedes=pair.other.id)
        else:
            case = MayYieldTo if pair.later else MayReplace
            beside = case(pair.other.id, pair.similarity)
        evidence = {
            **pair.judgement.evidence,
            "policy": self._policy,
            "model": self.model,
            "episode": new.episode_id,
        }
        return AddFact(fact=new, unless_known=True, beside=beside, evidence=evidence)


def _comparable(fact: Fact, new: NewFact) -> bool:
    # A task ends by its status, never because somebody spoke of another one.
    return fact.metadata.get("kind") != "task" and not metadata_conflicts(
        fact.metadata, new.metadata
    )


def _nearest(pairs: dict[int, Pair]) -> dict[int, Pair]:
    """Return the pairs without those whose older fact has a nearer successor."""
    nearest: dict[int, int] = {}
    for place, pair in pairs.items():
        rival = nearest.setdefault(pair.other.id, place)
        if pair.similarity > pairs[rival].similarity:
            nearest[pair.other.id] = place
    return {
        place: pair
        for place, pair in pairs.items()
        if pair.later or nearest[pair.other.id] == place
    }
