"""The second witness of what a model wants: what the words of a fact say about a memory.

A model alone retires nothing, and neither do the words alone where they only suggest a change. Both
together do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from memstore.errors import EmbedderError
from memstore.frozen import frozen
from memstore.store.store import file_of
from memstore.text.judging.judge import Claim, Judgement, judge
from memstore.text.judging.rule_names import rules
from memstore.text.judging.slots import slots_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memstore.domain.records import Fact, NewFact
    from memstore.store.store import Store

Judge: TypeAlias = Callable[[Claim, Claim], Judgement]
"""Judges an older claim and a newer one."""

Cosines: TypeAlias = Callable[[str, Sequence[str]], list[float]]
"""Returns the cosine of a text with each of several; raises ``EmbedderError``."""


def judging(store: Store, without: Iterable[str]) -> Judge:
    """Return the judge without the rules that the store has switched off, and without others.

    Raises:
        InvalidArgument: there is no such rule.
    """
    off = file_of(store).without_rules | rules(without)
    return partial(judge, without=off) if off else judge


class Testimony(NamedTuple):
    """What the words say about a memory and a newer fact."""

    judgement: Judgement
    similarity: float

    @property
    def evidence(self) -> dict[str, Any]:
        """The reasons, as JSON for the journal."""
        return self.judgement.evidence(self.similarity)


@frozen
class Witness:
    judge: Judge
    cosines: Cosines

    def about(self, memory: Fact, fact: NewFact) -> Testimony:
        """Return what the words of a newer fact say about a memory."""
        try:
            [similarity] = self.cosines(fact.content, [memory.content])
        except EmbedderError:  # the words decide; nearness alone proves nothing
            similarity = 0.0
        return Testimony(self.judge(as_claim(memory), as_claim(fact)), similarity)


def as_claim(fact: Fact | NewFact) -> Claim:
    """Return what a judge sees of a fact."""
    return Claim(fact.content, fact.subject, slots_of(fact.slots))
