"""Bearing: whether a memory has anything to say about a prompt that did not ask for it.

Whoever searches wants the best there is. A prompt is another matter: nobody asked, and lines about
something else cost the model's attention. So one of the best rows must have a name or an identifier
of the prompt, or words of it that are rare enough together (:class:`Bearing`). In a question fewer
words tell, because an order consists of other words than what it is about; likeness of meaning
counts there too, and so does a date. A rule that has most of the words of an order is about it,
too: "never force-push to main", when something is to be pushed to main.

A request to be told something is a question, too. An echo of the prompt is no memory, and a short
turn beside one that bears on it has to have something of it, too. The further down a line stands
among the best, the more it has to have of the prompt, most of all a turn that names nothing
(:func:`is_told`).
"""

from __future__ import annotations

import math
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, Self

from memstore.named import NamedTuple
from memstore.search.requests import JUDGED
from memstore.settings import MIN_RELEVANCE
from memstore.telling.covering import alike
from memstore.text import asking
from memstore.text.utterances import asks, is_rule, only_asks
from memstore.text.words import parts_of_identifiers, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from memstore._kernel.ranking import Bearing
    from memstore.domain.episodes import Episode, EpisodeHit
    from memstore.domain.records import SearchHit
    from memstore.domain.results import ScoreParts
    from memstore.search.hybrid import Search
    from memstore.search.lookups.base import About

MIN_ORDER_WEIGHT: Final = 6.0
"""What the words in one row must weigh together. One word has 5.5 at most, and one that no other of
a hundred rows has 4.2."""

MIN_QUESTION_WEIGHT: Final = 4.4
OF_RELEVANCE: Final = 8.0
"""In a question, the weight with this much of its relevance (0 to 1) must be enough. Relevance
does not count in scripts without spaces, of which the built-in model knows characters only."""

ALIKE: Final = 0.3
"""What is this relevant to a question by a model of the user's alone bears on it without a word."""

MIN_RULE_WEIGHT: Final = 4.7
COVERED_BY_RULE: Final = 0.45
"""The part of an order's weight that the words of a rule must have to be about it."""

COVERED: Final = 0.2
"""And the words must have this part of the question's weight: in a long one a few always match."""

MANY_ROWS: Final = 1000
FEWEST_ROWS: Final = 10
LESS: Final = 0.45
"""Among few rows fewer match by chance: the least falls by this for each power of e below many."""


SHORT_CHARACTERS: Final = 60
"""A turn of fewer says one thing: "Noted.", or the answer."""

MIN_TURN_RELEVANCE: Final = 0.05
"""A short turn without a word of the prompt or the kind of its answer is told from here on."""

OF_AN_ORDER: Final = 0.5
"""A turn that has this part of its words in common with an order is that order, or its answer."""

FURTHER: Final = 0.06
"""A line has to have this much more of the prompt, of 1, for each place that it stands below the
best one."""

GOES_WITH: Final = 0.5
"""What it counts that a line goes on with one that is told."""

OF_THAT_DAY: Final = 0.2
"""What it counts that a line is of a day of the prompt."""

OF_TRACES: Final = -0.3
"""What it counts that nobody said a line: it lists what was done in a session."""

OF_NOTHING_NAMED: Final = -0.3
"""What it counts that a turn has neither a name nor a number: "let people export the list" is work
that was asked for, and tells nothing that holds."""


class Prompt(NamedTuple):
    """What a user wrote to an agent."""

    text: str
    topic: str
    """Without the words that only ask to be told it."""
    is_question: bool
    is_request: bool = False
    """Whether it asks to be told something that is no file or other thing with an identifier."""

    @classmethod
    def read(cls, text: str) -> Self:
        topic = asking.topic(text)
        if topic is None:
            return cls(text, text, asks(text) and not asking.is_at_hand(text))
        return cls(text, topic, True, not parts_of_identifiers(text))


def facts_told(
    prompt: Prompt, search: Search[Any, Any], hits: Sequence[SearchHit]
) -> Sequence[SearchHit]:
    """Return what a search found, or nothing if none of the best is about the prompt."""
    texts = {hit.fact.id: hit.fact.content for hit in hits}
    near = {hit.fact.id: hit.vector_score for hit in hits}
    return hits if _bears(prompt, search, texts, near) else ()


def turns_told(
    prompt: Prompt,
    search: Search[Any, Any],
    hits: Sequence[EpisodeHit],
    following: Container[int] = (),
) -> Sequence[EpisodeHit]:
    """Return the turns that are no echoes; nothing if none of the best is about the prompt.

    Args:
        following: ids of turns that go on with one that has what the prompt names.
    """
    heard = [hit for hit in hits if not echoes(hit.episode.content, prompt)]
    texts = {hit.episode.id: hit.episode.content for hit in heard}
    near = {hit.episode.id: hit.similarity or 0.0 for hit in heard}
    if not _bears(prompt, search, texts, near):
        return ()
    doubted = {
        hit.episode.id: hit.episode.content
        for hit in heard
        if _is_doubted(hit) and hit.episode.id not in following
    }
    found = search.about(
        prompt.topic,
        doubted,
        {},
        asks=prompt.is_question,
        found=[hit.episode.id for hit in hits],
    )
    bare = {*_bare(found, doubted)}
    places = {_place(hit.episode) for hit in heard if hit.episode.id not in bare}
    return [hit for hit in heard if hit.episode.id not in bare or _place(hit.episode, -1) in places]


def is_told(
    place: int,
    parts: ScoreParts,
    *,
    goes_with: bool,
    is_trace: bool,
    names_nothing: Callable[[], bool],
) -> bool:
    """Return whether a line has enough of a prompt for its place among the best, from 0.

    What counts is what it has by itself, in words and in meaning, not what its neighbours have.

    Args:
        goes_with: the line before it, or another one of its place, in its thread is told, or one
            that it replaces.
        is_trace: nobody said it: it lists what was done in a session.
        names_nothing: whether it is a turn without a name, a number or a rule; asked only where
            that decides. On a day of the prompt it need have none.
    """
    if place == 0:
        return True
    has = parts.words + parts.meaning + parts.terms
    if goes_with:
        has += GOES_WITH
    if parts.date > 0:
        has += OF_THAT_DAY
    if is_trace:
        has += OF_TRACES
    least = FURTHER * place
    if has < least or has + OF_NOTHING_NAMED >= least or is_trace or parts.date > 0:
        return has >= least
    return not names_nothing()


def echoes(turn: str, prompt: Prompt) -> bool:
    """Return whether a turn only asks, or says what an order says, or that it was carried out.

    Besides the words of a question it needs none: "port 5499" confirms "is it port 5499?".
    """
    if only_asks(turn):
        return True
    if prompt.is_question or is_rule(turn):
        return False
    words, ordered = ({*terms(text.casefold())} for text in (turn, prompt.text))
    same = sum(any(alike(word, one) for one in ordered) for word in words)
    return same >= OF_AN_ORDER * len(words)


def _is_doubted(hit: EpisodeHit) -> bool:
    """Return whether a turn is short, and has neither the kind of answer nor the day asked for."""
    is_short = len(hit.episode.content) < SHORT_CHARACTERS
    return is_short and hit.parts.kind <= 0 and hit.parts.date <= 0


def _place(turn: Episode, offset: int = 0) -> tuple[str, str | None, int] | int:
    """Return where in its thread a turn of its speaker is, or one so many after it."""
    if turn.thread is None or turn.seq is None:
        return -turn.id
    return turn.thread, turn.speaker, turn.seq + offset


def _bears(
    prompt: Prompt, search: Search[Any, Any], texts: Mapping[int, str], near: Mapping[int, float]
) -> bool:
    """Return whether one of the best rows is about a prompt.

    Args:
        texts: theirs by id, best first.
        near: their cosines with the prompt.
    """
    best = dict(list(texts.items())[:JUDGED])
    if not best:
        return False
    found = search.about(prompt.topic, best, near, asks=prompt.is_question)
    if found.has_name or any(map(_tells, found.bearings)):
        return True
    if any(map(_rules, found.bearings, best.values())):
        return True
    # The date of a pasted log is not what is asked about.
    is_of_its_date = "\n" not in prompt.text and found.is_dated
    return prompt.is_question and (is_of_its_date or _answers(found, prompt))


def _bare(found: About, ids: Iterable[int]) -> Iterator[int]:
    """Yield the ids of rows that have nothing of a prompt; what came before an event need not."""
    if found.has_event:
        return
    for id_, row, relevance in zip(
        ids, found.bearings, found.relevances or repeat(0.0), strict=False
    ):
        if not (row.weight or row.named or row.identified or relevance >= MIN_TURN_RELEVANCE):
            yield id_


def _tells(row: Bearing) -> bool:
    return row.named or row.identified or (row.is_enough and row.weight >= MIN_ORDER_WEIGHT)


def _rules(row: Bearing, text: str) -> bool:
    is_of_the_order = row.coverage >= COVERED_BY_RULE and row.weight >= MIN_RULE_WEIGHT
    return is_of_the_order and is_rule(text)


def _answers(found: About, prompt: Prompt) -> bool:
    fewer = math.log(MANY_ROWS / max(FEWEST_ROWS, min(found.rows, MANY_ROWS)))
    least = MIN_QUESTION_WEIGHT - LESS * fewer
    # Who asks for what was so at another time, or to be told it, asks as in a search.
    is_search = prompt.is_request or found.is_conditional
    return max(found.likenesses, default=0.0) >= ALIKE or any(
        (row.coverage >= COVERED and row.weight + OF_RELEVANCE * relevance >= least)
        or (is_search and (row.is_enough or relevance >= MIN_RELEVANCE))
        for row, relevance in zip(found.bearings, found.relevances or repeat(0.0), strict=False)
    )
