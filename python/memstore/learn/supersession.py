"""Decides whether a new fact may supersede an older one, beside what their words say.

A deletion that a model wants loses a text without putting another in its place, so the model's word
is not enough: the fact must name what the memory is about, and deny it or give it another value.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memstore.text.faithfulness import shared
from memstore.text.judging.judge import Claim, speaks_against

if TYPE_CHECKING:
    from collections.abc import Mapping

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
