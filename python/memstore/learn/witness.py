"""The second witness of what a model wants: what the words of a fact say about a memory.

A model alone retires nothing, and neither do the words alone where they only suggest a change. Both
together do.

A deletion loses a text without putting another in its place. So for a deletion the fact must also
name what the memory is about, and deny it or give it another value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memstore.errors import EmbedderError
from memstore.frozen import frozen
from memstore.named import NamedTuple
from memstore.store.store import file_of
from memstore.text.faithfulness import shared
from memstore.text.judging.judge import Claim, Judgement, judge, named_rules, speaks_against
from memstore.text.judging.slots import slots_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memstore.domain.records import Fact, NewFact
    from memstore.store.store import Store


MAX_CANDIDATES: Final = 10
"""How many older facts a new one is compared with, nearest first."""


def metadata_conflicts(a: Mapping[str, Any] | None, b: Mapping[str, Any] | None) -> bool:
    """Whether any common top-level key has different values.

    If either side is empty there is no conflict. Values are compared as text, because 8080 and
    "8080" are one port; 1 and 1.0 are one number.
    """
    if not a or not b:
        return False
    return any(_differ(a[key], b[key]) for key in a if key in b)


def _differ(one: object, other: object) -> bool:
    numbers = not isinstance(one, bool) and not isinstance(other, bool)
    return not (numbers and one == other) and _text_of(one) != _text_of(other)


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def not_retracted(memory: str, fact: str, subject: str) -> str | None:
    """Return why a fact does not retract a memory, by their texts; ``None`` if it does.

    The words of their subject do not count as common words.
    """
    if not shared(fact, memory, subject):
        return "the fact and the memory have no word in common besides the subject"
    if speaks_against(Claim(memory, subject), Claim(fact, subject)):
        return None
    return "the fact neither denies the memory nor gives another value"


Judge: TypeAlias = Callable[[Claim, Claim], Judgement]
"""Judges an older claim and a newer one."""

Cosines: TypeAlias = Callable[[str, Sequence[str]], list[float]]
"""Returns the cosine of a text with each of several; raises ``EmbedderError``."""


def judging(store: Store, without: Iterable[str]) -> Judge:
    """Return the judge without the rules that the store has switched off, and without others.

    Raises:
        InvalidArgument: there is no such rule.
    """
    off = file_of(store).without_rules | named_rules(without)
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
