"""Bearing: whether a memory has anything to say about a prompt that did not ask for it.

Whoever searches wants the best there is. A prompt is another matter: nobody asked, and lines about
something else cost the model's attention. So one of the best rows must have a name or an identifier
of the prompt, or words of it that are rare enough together (:class:`Bearing`). In a question fewer
words tell, because an order consists of other words than what it is about; likeness of meaning
counts there too, and so does a date. A rule that has most of the words of an order is about it,
too: "never force-push to main", when something is to be pushed to main.

A request to be told something is a question, too. An echo of the prompt is no memory.
"""

from __future__ import annotations

import math
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

from memstore.search.requests import JUDGED
from memstore.text.utterances import asks, is_rule, only_asks, requests
from memstore.text.words import terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore._kernel.ranking import Bearing
    from memstore.search.hybrid import Search
    from memstore.search.lookups.base import About

MIN_ORDER_WEIGHT: Final = 6.0
"""What the words in one row must weigh together. One word has 5.5 at most, and one that no other of
a hundred rows has 4.2."""

MIN_QUESTION_WEIGHT: Final = 4.7
OF_RELEVANCE: Final = 8.0
"""In a question, the weight with this much of its relevance (0 to 1) must be enough. Relevance
does not count in scripts without spaces, of which the built-in model knows characters only."""

MIN_RULE_WEIGHT: Final = 4.7
COVERED_BY_RULE: Final = 0.45
"""The part of an order's weight that the words of a rule must have to be about it."""

COVERED: Final = 0.2
"""And the words must have this part of the question's weight: in a long one a few always match."""

MANY_ROWS: Final = 1000
FEWEST_ROWS: Final = 10
LESS: Final = 0.45
"""Among few rows fewer match by chance: the least falls by this for each power of e below many."""


def bears(prompt: str, search: Search[Any, Any], texts: Mapping[int, str]) -> bool:
    """Return whether one of the best rows is about a prompt; ``texts`` are theirs by id."""
    best = dict(list(texts.items())[:JUDGED])
    is_question = asks(prompt) or requests(prompt)
    if not best:
        return False
    found = search.about(prompt, best, asks=is_question)
    if found.has_name or any(map(_tells, found.bearings)):
        return True
    if any(map(_rules, found.bearings, best.values())):
        return True
    # The date of a pasted log is not what is asked about.
    is_of_its_date = "\n" not in prompt and found.is_dated
    return is_question and (is_of_its_date or _answers(found))


def echoes(turn: str, prompt: str) -> bool:
    """Return whether a turn only asks, or has no word besides those of an order.

    Besides those of a question it needs none: "port 5499" confirms "is it port 5499?".
    """
    if only_asks(turn):
        return True
    return not asks(prompt) and not {*terms(turn.casefold())} - {*terms(prompt.casefold())}


def _tells(row: Bearing) -> bool:
    return row.named or row.identified or (row.is_enough and row.weight >= MIN_ORDER_WEIGHT)


def _rules(row: Bearing, text: str) -> bool:
    is_of_the_order = row.coverage >= COVERED_BY_RULE and row.weight >= MIN_RULE_WEIGHT
    return is_of_the_order and is_rule(text)


def _answers(found: About) -> bool:
    fewer = math.log(MANY_ROWS / max(FEWEST_ROWS, min(found.rows, MANY_ROWS)))
    least = MIN_QUESTION_WEIGHT - LESS * fewer
    return any(
        row.coverage >= COVERED and row.weight + OF_RELEVANCE * relevance >= least
        for row, relevance in zip(found.bearings, found.relevances or repeat(0.0), strict=False)
    )
