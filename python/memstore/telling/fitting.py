"""Fitting: what searches found, best first, as a text within a token budget.

The best results are taken until the next one does not fit; the room that is left is filled with
the next ones that fit.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from functools import cache
from itertools import islice, starmap
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from memstore.errors import InvalidArgumentType
from memstore.named import NamedTuple
from memstore.providers.local import TokenCounter
from memstore.telling.recall import (
    Length,
    Recalled,
    best_once,
    line_of,
    matching,
    noted,
    shown_about,
    text_of_items,
    whose,
)
from memstore.text.dated import remark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from memstore.domain.episodes import EpisodeHits
    from memstore.domain.records import SearchHits
    from memstore.telling.recall import FoundText

FIRST_CHARACTERS: Final = 120
"""The least that is shown of a text. The first one that does not fit may be shown in part."""

MAX_TRIED: Final = 3
"""How many of the results after the first that does not fit may fill the room that is left."""

NOT_OF_OTHERS: Final[Mapping[str, str]] = MappingProxyType({})


def recalled(
    facts: SearchHits,
    episodes: EpisodeHits,
    tokens: int,
    counter: Callable[[str], int] | None,
    sources: Mapping[str, str] = NOT_OF_OTHERS,
    question: str = "",
) -> Recalled:
    """Return the best results as a text of at most this many tokens.

    ``sources`` are those of the text of others, by the names of what has it.
    """
    found = fitted(facts, episodes, tokens, counter, sources, question)
    return Recalled(
        text=found.text,
        facts=tuple(item.id for item in found.shown if item.is_fact),
        episodes=tuple(item.id for item in found.shown if not item.is_fact),
        left_out=len(found.items) - len(found.shown),
        words_only=facts.words_only,
        hidden=facts.hidden + episodes.hidden,
        respelt=tuple(dict.fromkeys([*facts.respelt, *episodes.respelt])),
        provisional=facts.provisional or episodes.provisional,
        about=shown_about(whose(facts, episodes), found.shown),
    )


class Fitted(NamedTuple):
    """What both searches found, and what of it fits into a budget."""

    items: Sequence[FoundText]
    """All of it, best first."""
    text: str
    shown: Sequence[FoundText]
    """What is in the text, best first."""
    count: Callable[[str], int]
    """Counts the tokens of a text."""

    def tokens_of(self, item: FoundText) -> int:
        """Return how many tokens the line of an item takes."""
        return self.count(str(line_of(item)))


def fitted(
    facts: SearchHits,
    episodes: EpisodeHits,
    tokens: int,
    counter: Callable[[str], int] | None,
    sources: Mapping[str, str],
    question: str = "",
) -> Fitted:
    """Return the best results as a text; arguments as of :func:`recalled`."""
    count = TokenCounter() if counter is None else checked_counter(counter)
    best = noted(best_once(facts, matching(episodes), question), whose(facts, episodes))
    items = [
        item._replace(marks=(_source_mark(sources[item.name]), *item.marks))
        if item.name in sources
        else item
        for item in best
    ]
    return Fitted(items, *_fitting(items, tokens, count), count)


def _source_mark(source: str) -> str:
    """Return where the text of others is from."""
    return f"from {json.dumps(source)}"


def _fitting(
    items: Sequence[FoundText], tokens: int, count: Callable[[str], int]
) -> tuple[str, list[FoundText]]:
    """Return a text of the best items that fits, and the items in it, best first."""
    length = Length(count)
    if length.fits(items, tokens):
        return text_of_items(items), [*items]
    steps = [*_steps(items)]
    # The longest footer, so that each step takes more than the one before it.
    footer = _footer(len(items))

    @cache
    def cut(place: int, characters: int) -> FoundText:
        return items[place].cut(characters)

    def fits(shown: Mapping[int, int]) -> bool:
        return length.fits(starmap(cut, shown.items()), tokens, footer)

    # The most steps that fit; all of them do not.
    fit = bisect_left(range(1, len(steps)), True, key=lambda most: not fits(dict(steps[:most])))
    shown = _filled(items, dict(steps[:fit]), fits)
    while True:  # once, unless the counter is not monotonic
        told = text_of_items(starmap(cut, shown.items()))
        text = "\n".join(filter(None, (told, _footer(len(items) - len(shown)))))
        if count(text) <= tokens:
            return text, [items[place] for place in shown]
        if not shown:
            return "", []
        shown.popitem()


def _filled(
    items: Sequence[FoundText], shown: dict[int, int], fits: Callable[[Mapping[int, int]], bool]
) -> dict[int, int]:
    """Add the next items that fit whole.

    They take the place of an item of which no more than its first characters fit; the best one
    stays.
    """
    last = max(shown, default=-1)
    is_cut = last >= 0 and shown[last] < len(items[last].words)
    after = last + (1 if is_cut else 2)  # the first that does not fit whole
    filled = dict(shown)
    if is_cut and last > 0 and shown[last] == FIRST_CHARACTERS:
        del filled[last]
    for place, item in islice(enumerate(items), after, after + MAX_TRIED):
        longer = {**filled, place: len(item.words)}
        if fits(longer):
            filled = longer
    return filled if len(filled) >= len(shown) else shown


def _steps(items: Sequence[FoundText]) -> Iterator[tuple[int, int]]:
    """Yield how a text grows: the place of an item, and how many of its characters are shown."""
    for place, item in enumerate(items):
        characters = FIRST_CHARACTERS
        while characters < len(item.words):
            yield place, characters
            characters *= 2
        yield place, len(item.words)


def _footer(left_out: int) -> str:
    return remark(f"{left_out} more left out") if left_out else ""


def checked_counter(counter: Callable[[str], int]) -> Callable[[str], int]:
    """Return a caller's function that counts tokens, with a check of what it returns."""
    if not callable(counter):
        raise InvalidArgumentType(
            f"must be a function, not {type(counter).__name__}", argument="counter"
        )

    def count(text: str) -> int:
        number = counter(text)
        if isinstance(number, bool) or not isinstance(number, int):
            raise InvalidArgumentType(
                f"must return a whole number, not {number!r}", argument="counter"
            )
        return number

    return count
