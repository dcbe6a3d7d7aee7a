"""Comparing new facts with stored ones, to find which may supersede which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.domain.arguments import MAX_QUERY
from memstore.errors import EmbedderError, Reason
from memstore.facts.batch import AddFact, MayReplace, MayYieldTo, YieldsTo
from memstore.facts.rules import covers
from memstore.frozen import replace
from memstore.learn.supersession import MAX_CANDIDATES, metadata_conflicts
from memstore.store.store import file_of
from memstore.text.folding import folded, subject_key
from memstore.text.judge import Claim, Verdict, judge

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from memstore.domain.protocols import Generator
    from memstore.domain.records import Fact, NewFact, Scope
    from memstore.store.store import Store
    from memstore.text.judge import Judgement, Rule

MAX_HITS: Final = 1000
"""The highest limit of a search."""

MAX_ATTEMPTS: Final = 5
"""How often to compare if other processes change the facts in the meantime."""

POLICIES: Final = ("auto", "propose", "off")


class Rival(NamedTuple):
    """A stored fact that a new fact may supersede, or the other way round."""

    fact: Fact
    similarity: float
    judgement: Judgement
    later: bool = False
    """Whether the stored fact was said later, so that it may supersede the new one."""


class Comparison:
    """Finds which facts may supersede which.

    Args:
        without: rules of the judge that are switched off.
    """

    def __init__(
        self,
        store: Store,
        policy: str,
        generator: Generator,
        *,
        without: Collection[Rule] = (),
    ) -> None:
        self._store = store
        self._without = without
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
    ) -> tuple[dict[int, Rival], str | None]:
        """Return the rivals by the new fact's index, and why nothing was compared, or ``None``.

        An older fact has one successor: of several new facts that may supersede it, the nearest.
        The facts of one text are not rivals of each other, nor of facts that the text repeats.

        Args:
            said_at: when the text was written; it does not supersede later facts.
            leaving: facts that are about to be withdrawn, so they are not rivals.
            resurfacing: superseded facts that then become active again, so they can be rivals.
            said: the other claims of the text, each as :func:`claim_of`.
        """
        if self._policy == "off":
            return {}, 'the policy is "off"'
        rivals: dict[int, Rival] = {}
        said_again = {*said, *map(claim_of, usable)}
        try:
            for place, new in enumerate(usable):
                candidates, why_not = self._candidates(new, scope, leaving)
                if why_not is not None:
                    return {}, why_not
                key = subject_key(new.subject)
                candidates += [fact for fact in resurfacing if subject_key(fact.subject) == key]
                rival = self._rival(new, candidates, said_at, said_again)
                if rival is not None:
                    rivals[place] = rival
        except EmbedderError as error:
            return {}, Reason.of(error)
        return _nearest(rivals), None

    def _candidates(
        self, new: NewFact, scope: Scope, leaving: Collection[int]
    ) -> tuple[list[Fact], str | None]:
        """Return the nearest facts of the same subject, or why they could not be searched."""
        hits = self._store.search(
            new.content[:MAX_QUERY],
            subject=new.subject,
            scope=scope,
            limit=min(MAX_CANDIDATES + len(leaving), MAX_HITS),
            word_weight=0,
            vector_weight=1,
            half_lives_seconds={},  # a fact's age does not matter here
            touch=False,
        )
        why = hits.words_only.reason if hits.words_only else None
        return [hit.fact for hit in hits if hit.fact.id not in leaving], why

    def _rival(
        self,
        new: NewFact,
        candidates: Sequence[Fact],
        said_at: datetime,
        said_again: Collection[tuple[str, str]],
    ) -> Rival | None:
        """Return the fact that the new one may supersede, or the other way round.

        A proof goes before a question; of equals the nearest is returned.
        """
        if any(folded(f.content) == folded(new.content) and covers(f, new) for f in candidates):
            return None
        others = [
            fact
            for fact in candidates
            if _comparable(fact, new) and claim_of(fact) not in said_again
        ]
        if not others:
            return None
        asked: Rival | None = None
        cosines = file_of(self._store).similarities(new.content, [fact.content for fact in others])
        for similarity, fact in sorted(
            zip(cosines, others, strict=True), key=lambda found: (-found[0], -found[1].id)
        ):
            later = (fact.valid_at or fact.created_at) > said_at
            claims = Claim(fact.content, new.subject), Claim(new.content, new.subject)
            old, by = reversed(claims) if later else claims
            judgement = judge(old, by, similarity, without=self._without)
            rival = Rival(fact, similarity, judgement, later)
            if judgement.verdict is Verdict.RETIRE:
                return rival
            if judgement.verdict is Verdict.ASK and asked is None:
                asked = rival
        return asked

    def addition(self, new: NewFact, rival: Rival | None) -> AddFact:
        if rival is None:
            return AddFact(fact=new, unless_known=True)
        precedence: MayReplace | MayYieldTo | YieldsTo | None
        if self._policy == "auto" and rival.judgement.verdict == Verdict.RETIRE:
            precedence = YieldsTo(rival.fact.id) if rival.later else None
            new = new if rival.later else replace(new, supersedes=rival.fact.id, any_subject=True)
        else:
            case = MayYieldTo if rival.later else MayReplace
            precedence = case(rival.fact.id, rival.similarity)
        evidence = {
            **rival.judgement.evidence(rival.similarity),
            "policy": self._policy,
            "model": self.model,
            "episode": new.episode_id,
        }
        return AddFact(fact=new, unless_known=True, precedence=precedence, evidence=evidence)


def claim_of(fact: Fact | NewFact) -> tuple[str, str]:
    """Return a fact's normalised subject and its content."""
    return subject_key(fact.subject), fact.content


def _comparable(fact: Fact, new: NewFact) -> bool:
    # A task ends by its status, never by a fact.
    return fact.metadata.get("kind") != "task" and not metadata_conflicts(
        fact.metadata, new.metadata
    )


def _nearest(rivals: dict[int, Rival]) -> dict[int, Rival]:
    """Keep each older fact only as the rival of the nearest new fact."""
    nearest: dict[int, int] = {}
    for place, rival in rivals.items():
        best = nearest.setdefault(rival.fact.id, place)
        if rival.similarity > rivals[best].similarity:
            nearest[rival.fact.id] = place
    return {
        place: rival
        for place, rival in rivals.items()
        if rival.later or nearest[rival.fact.id] == place
    }
