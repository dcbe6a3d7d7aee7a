"""Reads since when a claim holds as "now": since May, seit dem Umzug, since version 4.

What holds since then holds now, so the claim is judged once more with "now" in the place of that.
What holds in May, until May, or from May on ("as of May" may lie ahead) is another matter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memstore._kernel.claims import DATE, DAY, MONTH, NUMERIC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore._kernel.claims import Reading, Word

NOW_WORDS: Final = {
    "since": "now",
    "seit": "jetzt",
    "depuis": "maintenant",
    "desde": "ahora",
    "dal": "ora",
    "dallo": "ora",
    "sinds": "nu",
}
"""Words before a time from which on something holds, with the word for "now" in their language."""

NAMED: Final = frozenset({"version", "release", "versión", "versione", "versie"})
"""What may stand before a number there: since version 2."""

TODAY: Final = re.compile(r"aujourd['’]hui", re.IGNORECASE)

EVENTS: Final = re.compile(
    r"(?:the (?:weekend|migration|merger|sale|move|audit|upgrade|release)"
    r"|de[mr] (?:wochenende|migration|fusion|verkauf|umzug|audit|upgrade|release)"
    r"|(?:la |le |l['’])(?:week-end|migration|fusion|vente|déménagement|audit)"
    r"|(?:el |la )(?:fin de semana|migración|fusión|venta|mudanza|auditoría)"
    r"|(?:de |het )(?:weekend|migratie|fusie|verkoop|verhuizing|audit))(?=$|[\s.,;!])",
    re.IGNORECASE,
)
"""What happened once. What somebody did ("since Ben is away") may pass."""

BEFORE: Final = re.compile(rf"\b({'|'.join(NOW_WORDS)})\s+(?=\S)", re.IGNORECASE)

PART: Final = re.compile(r"\s*(\w+)\.?(?=[\s.,;!]|$)")
"""A word of a date."""

MAX_DATE: Final = 3
"""The most words of a date: 3 March 2026."""


def as_now(text: str, reading: Reading) -> str | None:
    """Return a text with "now" where it says since when; ``None`` if it does not."""
    if reading.is_cut:
        return None
    for found in BEFORE.finditer(text):
        end = _end(text, found.end(), reading.words)
        if end is not None:
            now = NOW_WORDS[found[1].lower()]
            now = now.capitalize() if found[1][:1].isupper() else now
            return text[: found.start()] + now + text[end:]
    return None


def _end(text: str, start: int, words: Sequence[Word]) -> int | None:
    """Return where a time ends that begins at a place of a text; ``None`` if none does."""
    for pattern in (TODAY, EVENTS):
        if (event := pattern.match(text, start)) is not None:
            return event.end()
    dates = {word.text for word in words if word.roles & (MONTH | DAY) or word.kind == DATE}
    numbers = {word.text for word in words if word.kind == NUMERIC}
    end, says_when, is_named = start, False, False
    for place, found in enumerate(PART.finditer(text, start)):
        word = found[1]
        if place == MAX_DATE or found.start() != end:
            break
        if not (word in dates or word in numbers or (not place and word.lower() in NAMED)):
            break
        is_named |= word.lower() in NAMED
        says_when |= word in dates or is_named
        end = found.end(1)
    return end if says_when and end > start else None
