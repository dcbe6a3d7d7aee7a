"""Covering: which words of a question texts have, so that lines together have as many as possible.

A question may ask for two things. The best-scoring lines may all be about one of them, so a text
gains for words of the question that no better text has. A word weighs more the fewer of the texts
have it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.text.references import references
from memstore.text.words import terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memstore.text import stop_words
else:
    stop_words = lazy_import("memstore.text.stop_words")

REPEATED_FROM: Final = 0.75
REPEATED_LOSS: Final = 0.2
"""A text that has at least this part of its words in common with a better one loses this share of
its worth, times that part."""

COVERED_GAIN: Final = 0.3
"""The part of the best worth that a text gains which alone has all words of a question; it gains
less by those of lower weight, and nothing by those that a text before it has."""

MIN_STEM: Final = 4
"""Words that begin with the same letters, this many or more, count as one: pushed, push."""


class Weighed(NamedTuple):
    """A result that is compared with others."""

    place: int
    worth: float
    terms: int
    """Its words, each a bit: pairs are compared some thousand times."""
    number: int
    """How many words it has."""


class Covered(NamedTuple):
    """Which words of a question texts have; each word is a bit."""

    parts: Sequence[int]
    """Of each text."""
    weights: Sequence[float] = ()
    """Of each word; their sum is 1, unless no text has any."""

    @property
    def whole(self) -> int:
        """All words."""
        return (1 << len(self.weights)) - 1

    def weight(self, words: int) -> float:
        """Return the sum of the weights of words."""
        found = 0.0
        while words:
            low = words & -words
            found += self.weights[low.bit_length() - 1]
            words ^= low
        return found


def covered(question: str, texts: Sequence[Iterable[str]]) -> Covered:
    """Return which words of a question, without stop words, each text has, given by its words.

    A question that consists of ids has none: the number in "7" is no word of a text.
    """
    written = [] if any(references(question)) else terms(question.casefold())
    stops = stop_words.stop_words(written)
    asked = [*dict.fromkeys(word for word in written if word not in stops)]
    if not asked:
        return Covered([0] * len(texts))
    by_letter: dict[str, list[tuple[int, str]]] = {}
    for place, word in enumerate(asked):
        by_letter.setdefault(word[0], []).append((1 << place, word))
    known: dict[str, int] = {}
    parts = [_part(words, by_letter, known) for words in texts]
    weights = [
        _rarity(sum(part >> place & 1 for part in parts), len(parts)) for place in range(len(asked))
    ]
    total = sum(weights)
    return Covered(parts, [one / total for one in weights] if total else weights)


def _part(
    words: Iterable[str], asked: Mapping[str, Sequence[tuple[int, str]]], known: dict[str, int]
) -> int:
    """Return the words of a question, by their first letters, that a text has."""
    part = 0
    for word in words:
        if word not in known:
            known[word] = sum(bit for bit, one in asked.get(word[0], ()) if alike(word, one))
        part |= known[word]
    return part


def _rarity(having: int, texts: int) -> float:
    """Return what a word weighs; one that no text has weighs nothing."""
    return math.log((texts + 1) / having) if having else 0.0


def alike(word: str, other: str) -> bool:
    """Return whether two words are one, or forms of one."""
    if word[0] != other[0]:
        return False
    stem = max(MIN_STEM, min(len(word), len(other)) - 1)
    return word == other or (word[:stem] == other[:stem] and len(word) >= MIN_STEM)


def without_repetition(left: Sequence[Weighed], covered: Covered) -> Iterator[int]:
    """Yield the places by what each adds to the texts before it.

    That is less if it repeats one of them, and more if it has words of the question that none has.
    """
    parts = dict(zip((one.place for one in left), covered.parts, strict=True))
    gain = COVERED_GAIN * max((one.worth for one in left), default=0.0)
    gains = {place: gain * covered.weight(part) for place, part in parts.items()}
    adds = {one.place: one.worth + gains[one.place] for one in left}
    waiting = {one.place: (one.terms, one.number, one.worth) for one in left}
    missing = covered.whole
    while adds:
        place = max(adds, key=adds.__getitem__)
        words, number, _ = waiting.pop(place)
        del adds[place]
        yield place
        new = parts[place] & missing
        missing &= ~new
        for other in waiting if new else ():
            if parts[other] & new:
                less = gain * covered.weight(parts[other] & missing)
                adds[other] += less - gains[other]
                gains[other] = less
        for other, (terms_, own, worth) in waiting.items():  # some thousand times
            same = (terms_ & words).bit_count()
            fewer = own if own < number else number
            if same and same >= REPEATED_FROM * fewer:
                less = worth * (1.0 - REPEATED_LOSS * (same / fewer)) + gains[other]
                adds[other] = min(adds[other], less)
