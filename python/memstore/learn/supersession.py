"""Judging whether a new fact supersedes an older one about the same subject.

A cosine of 0.85 alone is wrong about as often as right: two facts that differ by a date are similar
whatever they say. So a fact is superseded if it is similar *and* the words show that both cannot be
true; if the words show nothing, the supersession is proposed and both stay.

A deletion that a model wants loses a text without putting another in its place, so the model's word
is not enough: the fact must name what the memory is about, and deny it or give it another value.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from memstore.errors import InvalidArgument
from memstore.frozen import frozen
from memstore.text import lexicon
from memstore.text.difference import Difference, DifferenceKind, Token, compare
from memstore.text.faithfulness import shared
from memstore.text.folding import folded

if TYPE_CHECKING:
    from collections.abc import Mapping

SIMILARITY: Final = 0.85
"""The lowest cosine of the contents, without subjects, at which a fact may be superseded."""

RELATED: Final = 0.6
"""The lowest cosine at which a supersession is worth proposing."""

MAX_CANDIDATES: Final = 10
"""How many older facts a new one is compared with, nearest first."""

SHOWN_TOKENS: Final = 8
"""How many tokens of each side of a difference the evidence keeps in the journal."""

RETIRING: Final = frozenset(
    {
        DifferenceKind.CONTRADICTION,
        DifferenceKind.ENDED,
        DifferenceKind.NEW_VALUE,
    }
)
COEXISTING: Final = frozenset(
    {
        DifferenceKind.EQUAL,
        DifferenceKind.EVENTS,
        DifferenceKind.SEVERAL,
        DifferenceKind.OTHER_HOLDER,
        DifferenceKind.OTHER_CLAIM,
    }
)


class Verdict(StrEnum):
    RETIRE = "retire"
    PROPOSE = "propose"
    KEEP = "keep"


@frozen
class Judgement:
    verdict: Verdict
    evidence: dict[str, Any]
    """JSON: ``similarity``, ``finding``, ``changes`` as ``[[old, new], …]``, ``negated``."""


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


def judge(old: str, new: str, similarity: float) -> Judgement:
    """Judge whether a new fact supersedes an older one, by their contents without subjects.

    ``similarity`` is the cosine of the vectors of these two texts, not of the stored vectors: those
    may include the subject (``embedding.text_of``), which makes any two facts more similar.
    """
    if not -1.001 <= similarity <= 1.001:
        raise InvalidArgument(
            f"must be a cosine from -1 to 1, not {similarity}", argument="similarity"
        )
    found = compare(old, new)
    return Judgement(_verdict(found.kind, similarity), _shown(found, similarity))


def _verdict(kind: DifferenceKind, similarity: float) -> Verdict:
    if kind in COEXISTING or similarity < RELATED:
        return Verdict.KEEP
    if kind in RETIRING and similarity >= SIMILARITY:
        return Verdict.RETIRE
    return Verdict.PROPOSE


def _shown(found: Difference, similarity: float) -> dict[str, Any]:
    return {
        "similarity": round(float(similarity), 4),
        "finding": found.kind.value,
        "changes": [[_text(r.old), _text(r.new)] for r in found.regions[:SHOWN_TOKENS]],
        "negated": found.negated,
    }


def _text(tokens: tuple[Token, ...]) -> str:
    shown = " ".join(token.text[:40] for token in tokens[:SHOWN_TOKENS])
    return shown + (" …" if len(tokens) > SHOWN_TOKENS else "")


def not_retracted(memory: str, fact: str, subject: str) -> str | None:
    """Return why a fact does not retract a memory, by their texts; ``None`` if it does.

    The words of their subject do not count as common words.
    """
    if not shared(fact, memory, subject):
        return "the fact and the memory have no word in common besides the subject"
    found = compare(memory, fact)
    if found.kind in RETIRING or _endings(fact) - _endings(memory):
        return None
    # "is not allergic to milk" says nothing about "is allergic to nuts".
    other = len(found.regions) == 1 and found.regions[0].old and found.regions[0].new
    if found.negated and not other:
        return None
    return "the fact neither denies the memory nor gives another value"


def _endings(text: str) -> set[str]:
    plain = f" {folded(text)} "
    return {phrase for phrase in (*lexicon.OVER, *lexicon.ENDINGS) if f" {phrase} " in plain}
