"""Writes values for readers: escaped hidden characters, times, counts.

Stored text is anybody's. What would act on a terminal, or hide in a text from people while models
read it, is spelt out, by the one pattern here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memstore.domain import zones
from memstore.text.escaping import HIDDEN, visible

if TYPE_CHECKING:
    from datetime import datetime


def visible_lines(text: str) -> str:
    """Return text with its own line ends kept, and everything else as in :func:`visible`."""
    lines = text.replace("\r\n", "\n").replace("\t", "    ").split("\n")
    return "\n".join(map(visible, lines))


def as_json(text: str) -> str:
    """Return text with its hidden characters spelt as JSON spells them: ``\\u202e``."""
    if text.isascii() and text.isprintable():
        return text
    return HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def second(moment: datetime) -> str:
    """Return a moment to the second, by the user's clock, as RFC 3339 has it."""
    return zones.stamp(moment)


def minute(moment: datetime) -> str:
    """Return a moment to the minute, by the user's clock."""
    return zones.minute(moment)


def counted(number: int, noun: str = "fact") -> str:
    """Return ``1 fact``, ``1,234 facts``, ``2 entities`` or ``2 keys``."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{number:,} {noun[:-1]}ies"
    return f"{number:,} {noun}s"
