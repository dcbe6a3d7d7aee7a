"""The result of a recall: a text for a prompt, and the ids of what it contains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.domain.records import Record
from memstore.frozen import frozen

if TYPE_CHECKING:
    from memstore.domain.records import AboutOthers
    from memstore.domain.results import Respelt, WordsOnly


@frozen(kw_only=True)
class Recalled(Record):
    """Memories as a text that fits a token budget; ``str()`` returns the text."""

    text: str
    """The date of each day, and below it one line for each memory of that day: ``#12`` (fact) or
    ``e12`` (episode), and the content. The day with the best memory is first; the lines of a
    thread are kept together, in order."""
    facts: tuple[int, ...] = ()
    """Ids of the facts in it, best first."""
    episodes: tuple[int, ...] = ()
    left_out: int = 0
    """How many more were found that did not fit."""
    words_only: WordsOnly | None = None
    """Why a search by meaning went by words alone; ``None`` if it did not."""
    hidden: int = 0
    """How many facts and episodes ``min_relevance`` left out."""
    about: AboutOthers | None = None
    """That the answer is about others than the one whom the query names; the text says so too."""
    respelt: tuple[Respelt, ...] = ()
    """What was searched for instead of misspelt words; see :attr:`SearchHits.respelt`."""
    provisional: bool = False
    """Whether the choice is provisional, because the index is still being built."""

    def __str__(self) -> str:
        return self.text
