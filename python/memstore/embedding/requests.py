"""Requests to an embedder: the text of a fact, the size of a batch, the pause after a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH: Final = 64
"""Texts embedded at once, and committed together."""

BATCH_CHARACTERS: Final = 100_000
"""The most characters in a batch, unless one text alone has more: a small model embeds 64 short
facts in a moment, but would miss its deadline with 64 long ones."""

PROBE: Final = "memory"
"""A text that no embedder refuses; shows whether a text or the embedder is at fault."""

FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 60.0
"""After a failure the embedder is not called for this long, doubling each time, so that a dead
server does not slow down every write and search by its time-out."""


def text_of(subject: str, content: str) -> str:
    """Return the text to embed for a fact: its content, with the subject added if missing.

    People often search for "prefers tea" by Alice's name, which only the subject contains.
    """
    return content if subject.casefold() in content.casefold() else f"{subject}: {content}"


def first_batch(texts: Sequence[str]) -> int:
    """Return how many of the first texts go into one call; at least one."""
    characters = 0
    for number, text in enumerate(texts[:BATCH]):
        characters += len(text)
        if characters > BATCH_CHARACTERS:
            return max(1, number)
    return min(len(texts), BATCH)
