"""What a recall returns: a text for a prompt, and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memstore.domain.records import Record

if TYPE_CHECKING:
    from memstore.domain.results import WordsOnly


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled(Record):
    """A text that fits a budget of tokens; ``str()`` of it is the text."""

    text: str
    """One line for each: ``#12`` (fact) or ``e12`` (episode), the date, the words. Lines of one
    thread stand together, in their order; threads, the one with the best first."""
    facts: tuple[int, ...] = ()
    """Ids of the facts in it, best first."""
    episodes: tuple[int, ...] = ()
    left_out: int = 0
    """How many more were found that had no room."""
    words_only: WordsOnly | None = None
    """Why meaning took no part although it was asked for; ``None`` if it did."""

    def __str__(self) -> str:
        return self.text
