"""Fusion: one order over facts and episodes, each found by a search of its own.

Both searches score by the same formula, but what they found is not worth the same beside each
other. A fact stands for itself; a turn was said in passing, at greater length. A conversation that
both searches point to is likely the right one, above all where a fact and a turn say the same. And
a text that repeats a better one adds little.

``docs/finding.md`` has the formula, and what each part contributes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.text.words import terms

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

EPISODE_WEIGHT: Final = 0.65
"""What an episode's score counts beside a fact's."""

THREAD_WEIGHT: Final = 0.15
"""The share of the best score of the other kind in the same thread that is added."""

SUPPORT_WEIGHT: Final = 0.1
"""The share of the score of a text of the other kind in the same thread that is added if it has all
the words of this one, or this one all of its."""

LONG_CHARACTERS: Final = 400
LONG_POWER: Final = 0.25
"""Longer texts rank lower: at 16 times this length, half the score counts."""

REPEATED_FROM: Final = 0.75
REPEATED_LOSS: Final = 0.2
"""A text that has at least this part of its words in common with a better one loses this share of
its worth, times that part."""

COMPARED: Final = 70
"""How many of the best are compared with each other, word by word."""


class FoundText(NamedTuple):
    """A result of either search, as one line of a text."""

    is_fact: bool
    id: int
    score: float
    date: str
    """The date above its line."""
    thread: Hashable
    """Equal for facts and episodes of one conversation."""
    place: tuple[int, int]
    """Its place among the thread's lines of one date."""
    name: str
    """The id, with the sign of its kind."""
    words: str
    marks: tuple[str, ...] = ()
    """What is said about it beside its name: where it is from, or that it ends."""
    newer: str | None = None
    """The name of a later fact that may replace it."""
    is_over: bool = False
    """Whether it is a fact that is not active."""
    note: str | None = None
    """What is said about it on the line after it."""

    def cut(self, characters: int) -> FoundText:
        """Return the text with no more of its words than these characters."""
        if characters >= len(self.words):
            return self
        return self._replace(words=f"{self.words[:characters].rsplit(' ', 1)[0]}…")


class Weighed(NamedTuple):
    """A result that is compared with others."""

    place: int
    worth: float
    terms: int
    """Its words, each a bit: pairs are compared some thousand times."""
    number: int
    """How many words it has."""


def in_order(found: Iterable[FoundText]) -> list[FoundText]:
    """Return the results of both searches, best first."""
    items = [*found]
    worths = [*_worths(items)]
    order = sorted(range(len(items)), key=lambda place: -worths[place])
    best = _without_repetition(_supported([*_weighed(items, worths, order[:COMPARED])], items))
    return [items[place] for place in (*best, *order[COMPARED:])]


def _weighed(
    items: Sequence[FoundText], worths: Sequence[float], order: Iterable[int]
) -> Iterator[Weighed]:
    bits: dict[str, int] = {}
    for place in order:
        words = {*terms(items[place].words.casefold())}
        held = 0
        for word in words:
            held |= bits.setdefault(word, 1 << len(bits))
        yield Weighed(place, worths[place], held, len(words))


def _worths(items: Sequence[FoundText]) -> Iterator[float]:
    weighed = [item.score * (1.0 if item.is_fact else EPISODE_WEIGHT) for item in items]
    best: dict[tuple[Hashable, bool], float] = {}
    for item, score in zip(items, weighed, strict=True):
        kind = item.thread, item.is_fact
        best[kind] = max(best.get(kind, 0.0), score)
    for item, score in zip(items, weighed, strict=True):
        other = best.get((item.thread, not item.is_fact), 0.0)
        yield (score + THREAD_WEIGHT * other) * _shortness(item.words)


def _shortness(text: str) -> float:
    return math.pow(min(1.0, LONG_CHARACTERS / max(len(text), 1)), LONG_POWER)


def _supported(near: Sequence[Weighed], items: Sequence[FoundText]) -> list[Weighed]:
    """Add what the best text of the other kind in its thread that says the same adds to each."""
    threads: dict[Hashable, list[Weighed]] = {}
    for one in near:
        threads.setdefault(items[one.place].thread, []).append(one)
    supported = []
    for one in near:
        item = items[one.place]
        others = (o for o in threads[item.thread] if items[o.place].is_fact != item.is_fact)
        most = max((_shared(one, other) * other.worth for other in others), default=0.0)
        supported.append(one._replace(worth=one.worth + SUPPORT_WEIGHT * most))
    return supported


def _without_repetition(left: Sequence[Weighed]) -> Iterator[int]:
    """Yield the places by what each adds to the texts before it."""
    adds = {one.place: one.worth for one in left}
    waiting = {one.place: one for one in left}
    while adds:
        place = max(adds, key=adds.__getitem__)
        best = waiting.pop(place)
        del adds[place]
        yield place
        for other, one in waiting.items():
            shared = _shared(one, best)
            if shared >= REPEATED_FROM:
                adds[other] = min(adds[other], one.worth * (1.0 - REPEATED_LOSS * shared))


def _shared(one: Weighed, other: Weighed) -> float:
    """Return the part of the words of the shorter text that the other has too."""
    fewer = min(one.number, other.number)
    return (one.terms & other.terms).bit_count() / fewer if fewer else 0.0
