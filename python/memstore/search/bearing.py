"""Bearing: whether a memory has anything to say about a prompt that did not ask for it.

Whoever searches wants the best there is. A prompt is another matter: nobody asked, and lines about
something else cost the model's attention. So one of the best rows must have a name or an identifier
of the prompt, or words of it that are rare enough together (:meth:`Corpus.bearings`); in a question
fewer words tell, because an order consists of other words than what it is about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.search.requests import JUDGED
from memstore.text.questions import asks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.search.hybrid import Search
    from memstore.search.lookup import Bearing

LEAST_IN_AN_ORDER: Final = 6.0
LEAST_IN_A_QUESTION: Final = 4.2
"""What the words in one row must weigh together. One word has 5.5 at most, and one that no other of
a hundred rows has 4.2."""

LEAST_OF_MOST: Final = 3.0
MOST: Final = 0.7
"""In a question, less is enough if it is this part of the weight of all its words."""


def bears(prompt: str, search: Search[Any, Any], ids: Sequence[int]) -> bool:
    """Return whether one of the best rows is about a prompt; ``ids`` are theirs, best first."""
    is_question = asks(prompt)
    return any(_bears(row, is_question) for row in search.bearings(prompt, ids[:JUDGED]))


def _bears(row: Bearing, is_question: bool) -> bool:
    if not row.is_enough:
        return False
    if row.named or row.identified or row.weight >= LEAST_IN_AN_ORDER:
        return True
    mostly = row.weight >= LEAST_OF_MOST and row.coverage >= MOST
    return is_question and (mostly or row.weight >= LEAST_IN_A_QUESTION)
