"""Comparing new facts with stored ones, to find which may supersede which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain.arguments import MAX_QUERY
from memstore.errors import EmbedderError, Reason
from memstore.facts.batch import AddFact, AlsoReplaces, MayReplace, MayYieldTo, YieldsTo
from memstore.facts.rules import covers
from memstore.frozen import replace
from memstore.learn.witness import MAX_CANDIDATES, as_claim, metadata_conflicts
from memstore.named import NamedTuple
from memstore.store.store import file_of
from memstore.text.folding import spaced, subject_key
from memstore.text.judging.judge import Verdict, judge
from memstore.text.judging.slots import told_at

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from memstore.domain.protocols import Generator
    from memstore.domain.records import Fact, NewFact, Scope
    from memstore.learn.witness import Judge
    from memstore.store.store import Store
    from memstore.text.judging.judge import Judgement

MAX_HITS: Final = 1000
"""The highest limit of a search."""

MAX_ATTEMPTS: Final = 5
"""How often to compare if other processes change the facts in the meantime."""

POLICIES: Final = ("judged", "auto", "propose", "off")
RETIRING: Final = ("judged", "auto")
"""The policies that let a new fact supersede an older one; ``auto`` is the earlier name."""


class Rival(NamedTuple):
    """A stored fact that a new fact may supersede, or the other way round."""

    fact: Fact
    similarity: float
    judgement: Judgement
    later: bool = False
    """Whether the stored fact was said later, so that it may supersede the new one."""

    @property
    def proven(self) -> bool:
        """Whether the words prove that one of the two supersedes the other."""
        return self.judgement.verdict == Verdict.RETIRE


class Rivals(NamedTuple):
    """What the comparison found for one new fact: what it supersedes, or what to ask."""

    first: Rival
    """The nearest fact that it certainly supersedes or yields to; else the one to ask about."""
    also: tuple[Rival, ...] = ()
    """Further facts that it certainly supersedes."""

    def replacing(self, facts: Mapping[int, Fact]) -> Rivals:
        """Return these with other facts in the place of some, by id."""
        first, *also = (r._replace(fact=facts.get(r.fact.id, r.fact)) for r in self.all)
        return Rivals(first, tuple(also))

    @property
    def all(self) -> tuple[Rival, ...]:
        return self.first, *self.also


class Comparison:
    """Finds which facts may supersede which.

    Args:
        judge: decides about two claims.
    """

    def __init__(
        self, store: Store, policy: str, generator: Generator, judge: Judge = judge
    ) -> None:
        self._store = store
        self._policy = policy
        self._judge = judge
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
    ) -> tuple[dict[int, Rivals], str | None]:
        """Return the rivals by the new fact's index, and why nothing was compared, or ``None``.

        An older fact has one successor: of several new facts that may supersede it, one that
        certainly does, then the nearest. The facts of one text are not rivals of each other, nor of
        facts that the text repeats.

        Args:
            said_at: when the text was written; it does not supersede later facts.
            leaving: facts that are about to be withdrawn, so they are not rivals.
            resurfacing: superseded facts that then become active again, so they can be rivals.
            said: the other claims of the text, each as :func:`claim_of`.
        """
        if self._policy == "off":
            return {}, 'the policy is "off"'
        rivals: dict[int, list[Rival]] = {}
        said_again = {*said, *map(claim_of, usable)}
        try:
            for place, new in enumerate(usable):
                candidates, why_not = self._candidates(new, scope, leaving)
                if why_not is not None:
                    return {}, why_not
                key = subject_key(new.subject)
                candidates += [fact for fact in resurfacing if subject_key(fact.subject) == key]
                rivals[place] = self._rivals(new, candidates, said_at, said_again)
        except EmbedderError as error:
            return {}, Reason.of(error)
        return _chosen(rivals), None

    def _candidates(
        self, new: NewFact, scope: Scope, leaving: Collection[int]
    ) -> tuple[list[Fact], str | None]:
        """Return the nearest facts of the same subject, or why they could not be searched."""
        hits = self._store.of(scope).search(
            new.content[:MAX_QUERY],
            subject=new.subject,
            limit=min(MAX_CANDIDATES + len(leaving), MAX_HITS),
            word_weight=0,
            vector_weight=1,
            half_lives_seconds={},  # a fact's age does not matter here
            touch=False,
        )
        why = hits.words_only.reason if hits.words_only else None
        return [hit.fact for hit in hits if hit.fact.id not in leaving], why

    def _rivals(
        self,
        new: NewFact,
        candidates: Sequence[Fact],
        said_at: datetime,
        said_again: Collection[tuple[str, str]],
    ) -> list[Rival]:
        """Return the facts that the new one may supersede, or the other way round, nearest first.

        Every candidate is looked at: the nearest need not be the one that changed.
        """
        if any(spaced(f.content) == spaced(new.content) and covers(f, new) for f in candidates):
            return []
        others = [
            fact
            for fact in candidates
            if _comparable(fact, new) and claim_of(fact) not in said_again
        ]
        if not others:
            return []
        cosines = file_of(self._store).similarities(new.content, [fact.content for fact in others])
        found = []
        for similarity, fact in sorted(
            zip(cosines, others, strict=True), key=lambda found: (-found[0], -found[1].id)
        ):
            later = (told_at(fact.slots, fact.valid_at) or fact.created_at) > said_at
            old, by = (new, fact) if later else (fact, new)
            judgement = self._judge(as_claim(old), as_claim(by))
            if judgement.verdict != Verdict.KEEP:
                found.append(Rival(fact, similarity, judgement, later))
        return found

    def addition(self, new: NewFact, rivals: Rivals | None) -> AddFact:
        if rivals is None:
            return AddFact(fact=new, unless_known=True)
        rival, also = rivals.first, rivals.also
        precedence: MayReplace | MayYieldTo | YieldsTo | None
        if self._policy in RETIRING and rival.proven:
            precedence = YieldsTo(rival.fact.id) if rival.later else None
            new = new if rival.later else replace(new, supersedes=rival.fact.id, any_subject=True)
        else:
            case = MayYieldTo if rival.later else MayReplace
            precedence, also = case(rival.fact.id, rival.similarity), ()
        return AddFact(
            fact=new,
            unless_known=True,
            precedence=precedence,
            also=tuple(AlsoReplaces(one.fact.id, self._evidence(one, new)) for one in also),
            evidence=self._evidence(rival, new),
        )

    def _evidence(self, rival: Rival, new: NewFact) -> dict[str, Any]:
        return {
            **rival.judgement.evidence(rival.similarity),
            "policy": self._policy,
            "model": self.model,
            "episode": new.episode_id,
        }


def claim_of(fact: Fact | NewFact) -> tuple[str, str]:
    """Return a fact's normalised subject and its content."""
    return subject_key(fact.subject), fact.content


def _comparable(fact: Fact, new: NewFact) -> bool:
    # A task ends by its status, never by a fact.
    return fact.metadata.get("kind") != "task" and not metadata_conflicts(
        fact.metadata, new.metadata
    )


def _chosen(found: Mapping[int, Sequence[Rival]]) -> dict[int, Rivals]:
    """Return what becomes of each new fact: a proof goes before a question, and before nearness.

    A fact that a later one certainly supersedes supersedes none itself.
    """
    claims: dict[int, list[tuple[bool, float, int]]] = {}
    for place, rivals in found.items():
        for rival in rivals:
            strength = (rival.proven, rival.similarity, -place)
            claims.setdefault(rival.fact.id, []).append(strength)
    successors = {fact_id: -max(strengths)[-1] for fact_id, strengths in claims.items()}
    chosen = {}
    for place, rivals in found.items():
        own = [r for r in rivals if r.later or successors[r.fact.id] == place]
        proven = [rival for rival in own if rival.proven]
        outdating = [rival for rival in proven if rival.later]
        if outdating:
            chosen[place] = Rivals(outdating[0])
        elif proven:
            chosen[place] = Rivals(proven[0], tuple(proven[1:]))
        elif own:
            chosen[place] = Rivals(own[0])
    return chosen
