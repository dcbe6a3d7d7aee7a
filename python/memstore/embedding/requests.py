"""Requests to an embedder: which text stands for a fact, how many go at once, how long to pause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH: Final = 64
"""Texts embedded at once, and committed together."""

BATCH_CHARACTERS: Final = 100_000
"""No more than this at once, unless one text alone has more: 64 short facts take a small model a
moment, 64 long ones would take it past its deadline."""

PROBE: Final = "memory"
"""A text no embedder refuses: tells a failing text from a failing embedder."""

FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 60.0
"""After a failure the embedder is left alone this long, doubling, so that a dead server does not
slow every write and search down by its time-out."""


def text_of(subject: str, content: str) -> str:
    """Return the text that stands for a fact: what it says, with its subject named.

    A fact about Alice that says "prefers tea" is looked for by her name as often as not.
    """
    return content if subject.casefold() in content.casefold() else f"{subject}: {content}"


def first_batch(texts: Sequence[str]) -> int:
    """Return how many of the first texts are embedded in one call; at least one."""
    characters = 0
    for number, text in enumerate(texts[:BATCH]):
        characters += len(text)
        if characters > BATCH_CHARACTERS:
            return max(1, number)
    return min(len(texts), BATCH)
