"""Judging which of two claims about one subject replaces the other, by their words.

A pure function of two texts, their subject, the cosine of their vectors, and the slots that an
extractor found in them. Nearness cannot tell a correction from a second fact; the words around the
value that differs often can.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal

from memstore.frozen import frozen
from memstore.text.difference import DifferenceKind, compare

if TYPE_CHECKING:
    from typing import Any


class Verdict(StrEnum):
    """What a newer claim does to an older one."""

    RETIRE = "retire"
    """The words prove that it replaces the older one."""
    ASK = "ask"
    """The words show that it may; a person decides."""
    KEEP = "keep"
    """Both stay."""


class Rule(StrEnum):
    """The rule that decided; its value is what evidence quotes."""

    SAME = "says the same"
    HEDGED = "is hedged or asked"
    ADDED = "adds to the other"
    OTHER_HOLDER = "is about another holder"
    NOTHING_ALIGNED = "has nothing to align with the other"


DENYING: Final = frozenset({Rule.HEDGED, Rule.ADDED, Rule.OTHER_HOLDER})
"""Rules that see in the words of the newer claim that it replaces nothing, whoever says so.
:attr:`Rule.NOTHING_ALIGNED` and others merely see no sign of a change."""


@frozen
class Slots:
    """What an extractor found in a claim, each word of it found in the text."""

    holder: str | None = None
    attribute: str | None = None
    value: str | None = None
    cardinality: Literal["one", "many"] | None = None
    holds_from: str | None = None
    holds_until: str | None = None


@frozen
class Claim:
    """One side of a comparison: a fact's text and subject."""

    text: str
    subject: str = ""
    slots: Slots | None = None


@frozen
class Judgement:
    verdict: Verdict
    rule: Rule
    changes: tuple[tuple[str, str], ...] = ()
    """The words that differ, as (old, new)."""

    @property
    def denies(self) -> bool:
        """Whether the newer claim says itself that it replaces nothing: a hedge, "also", …"""
        return self.rule in DENYING

    def evidence(self, cosine: float) -> dict[str, Any]:
        """Return it as JSON for the journal: ``rule``, ``changes``, ``similarity``."""
        return {
            "similarity": round(float(cosine), 4),
            "rule": self.rule.value,
            "changes": [list(change) for change in self.changes],
        }


def judge(old: Claim, new: Claim, cosine: float) -> Judgement:
    """Judge whether the newer claim replaces the older one.

    Args:
        cosine: of the vectors of the two texts without their subjects, −1 to 1.
    """
    found = compare(old.text, new.text)
    if found.kind is DifferenceKind.EQUAL:
        return Judgement(Verdict.KEEP, Rule.SAME)
    return Judgement(Verdict.KEEP, Rule.NOTHING_ALIGNED)
