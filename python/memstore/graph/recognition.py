"""Recognising names by their capitals, based on all facts of a namespace.

A capitalised word inside a sentence is a name, unless it is common or occurs more often in lower
case. At the beginning of a sentence a capital proves nothing by itself. German capitalises every
noun: there several capitalised words in a row are a name, or one before a verb used of people.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.graph.lexicon import (
    AFTER_CONNECTOR,
    COMMON,
    CONNECTORS,
    GERMAN,
    PERSON_VERBS,
    ROMANCE,
    SHORT,
    TITLES,
    WHOLE_BEFORE_OF,
)
from memstore.text.lexicon import FUNCTION
from memstore.text.names import lowered, plain, word_spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.text.names import Span

_ENDS: Final = frozenset('.!?:;…\n"“„«(。！？：')
"""After one of these a capital may only mark the start of a sentence."""

_HEADING: Final = 4
"""The fewest words of a sentence that can be a heading, with a capital in every word."""

_MYSELF: Final = frozenset(("i", "i'm", "i’m", "i've", "i’ve", "i'll", "i’ll", "i'd", "i’d"))
"""Always capitalised, so its capital proves nothing."""

_MAX_WORDS: Final = 6
"""The most words of a name; a longer run of capitalised words is a heading or a list."""


class Sentences(NamedTuple):
    text: str
    words: list[Span]
    low: list[str]
    starts: list[int]
    """Indexes of the words that begin a sentence."""

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield for each sentence the index of its first word and the one after its last."""
        yield from pairwise([*self.starts, len(self.words)])

    def written(self, place: int) -> str:
        start, end = self.words[place]
        return self.text[start:end]

    def gap(self, place: int) -> str:
        """Return the text between a word and the one before it."""
        return self.text[self.words[place - 1][1] : self.words[place][0]]


def cut(content: str) -> Sentences:
    text = plain(content)
    low = lowered(text)
    words = word_spans(text)
    found = Sentences(text, words, [low[start:end] for start, end in words], [0] if words else [])
    end = words[0][1] if words else 0
    for place, (start, next_end) in enumerate(words):
        # Most words are one space apart.
        if start - end > 1 or text[end:start] not in " ":
            gap = text[end:start]
            if place and not _ENDS.isdisjoint(gap) and not _abbreviated(found, place, gap):
                found.starts.append(place)
        end = next_end
    return found


def _abbreviated(sentences: Sentences, place: int, gap: str) -> bool:
    """Whether the full stop before a word belongs to an initial or a title."""
    before = sentences.written(place - 1)
    initial = len(before) == 1 and before.isupper()
    return gap == ". " and (initial or sentences.low[place - 1] in TITLES)


class _Run(NamedTuple):
    """Consecutive words with capitals, as written."""

    words: tuple[str, ...]
    gaps: tuple[str, ...]
    """The text before each word; empty for the first."""
    begins: bool
    """Whether it begins a sentence."""
    german: bool


class Capitals:
    """Collects evidence text by text; :meth:`names` then decides which words are names."""

    def __init__(self) -> None:
        self._capital: Counter[str] = Counter()
        self._lower: Counter[str] = Counter()
        self._people: set[str] = set()
        self._runs: dict[_Run, None] = {}

    def read(self, sentences: Sentences) -> None:
        capital = [
            sentences.written(place) != word and not word[0].isdigit() and word not in _MYSELF
            for place, word in enumerate(sentences.low)
        ]
        lower = [word for word, high in zip(sentences.low, capital, strict=True) if not high]
        self._lower.update(lower)
        german = not GERMAN.isdisjoint(lower)
        connecting = not german and ROMANCE.isdisjoint(lower)
        for first, last in sentences.ranges():
            sentence = capital[first:last]
            if True not in sentence or self._is_heading(sentences.low[first:last], sentence):
                continue
            self._weigh(sentences.low[first:last], sentence)
            for begin, end in _runs(sentences, capital, first, last, connecting):
                words = tuple(sentences.written(place) for place in range(begin, end))
                gaps = ("", *(sentences.gap(place) for place in range(begin + 1, end)))
                self._runs[_Run(words, gaps, begin == first, german)] = None

    @staticmethod
    def _is_heading(words: list[str], capital: list[bool]) -> bool:
        """Whether small words are capitalised too, so that capitals prove nothing."""
        if len(words) < _HEADING:
            return False
        small = [high for word, high in zip(words, capital, strict=True) if word in FUNCTION]
        named = [high for word, high in zip(words, capital, strict=True) if word not in FUNCTION]
        return all(named) and True in small[capital[0] and words[0] in FUNCTION :]

    def _weigh(self, words: list[str], capital: list[bool]) -> None:
        self._capital.update(
            word for word, high in zip(words[1:], capital[1:], strict=True) if high
        )
        if capital[0] and len(words) > 1 and words[1] in PERSON_VERBS:
            self._capital[words[0]] += 1
            self._people.add(words[0])

    def names(self) -> list[str]:
        """Return the names as written, in the order in which they first occurred."""
        found = {name: None for run in self._runs if (name := self._name(run)) is not None}
        return [*found]

    def _name(self, run: _Run) -> str | None:
        first = 0
        while first < len(run.words) and self._is_no_part(run.words[first], run, first):
            first += 1
        words = run.words[first:]
        if not words or len(words) > _MAX_WORDS:
            return None
        if len(words) > 1:
            return words[0] + "".join(
                map("".join, zip(run.gaps[first + 1 :], words[1:], strict=True))
            )
        return words[0] if self._stands_alone(words[0], run.german) else None

    def _is_no_part(self, word: str, run: _Run, place: int) -> bool:
        """Whether the first word of a run is capitalised for another reason."""
        low = lowered(word)
        if low in COMMON:
            return low in SHORT or not word.isupper() or len(word) < 2  # US may be a part
        if word == low:  # de, van: left over because the word before was not part of the name
            return True
        return run.begins and place == 0 and self._lower[low] > self._capital[low]

    def _stands_alone(self, word: str, german: bool) -> bool:
        low = lowered(word)
        if len(word) < 2 or low in COMMON:
            return False
        if any(letter.isupper() for letter in word[1:]):  # GitHub, IBM
            return True
        if german:
            return low in self._people
        return 0 < self._capital[low] >= self._lower[low]


def _runs(
    sentences: Sentences, capital: list[bool], first: int, last: int, connecting: bool
) -> Iterator[tuple[int, int]]:
    """Yield the runs of capitalised words, including the small words of a name."""
    place = first
    while place < last:
        if not capital[place]:
            place += 1
            continue
        end = place + 1
        while (following := _next(sentences, capital, end, last, connecting)) is not None:
            end = following + 1
        yield place, end
        place = end


def _next(
    sentences: Sentences, capital: list[bool], place: int, last: int, connecting: bool
) -> int | None:
    """Return the index of the next word of a name, if the name continues."""
    words = sentences.low
    at = place
    if connecting and at < last and not capital[at] and _connects(words, at):
        at += 1
        if at < last and not capital[at] and words[at] in AFTER_CONNECTOR:
            at += 1
    if at >= last or not capital[at]:
        return None
    gaps = {sentences.gap(step) for step in range(place, at + 1)}
    return at if gaps <= {" ", ". "} else None


def _connects(words: list[str], place: int) -> bool:
    word = words[place]
    return word in CONNECTORS or (word == "of" and words[place - 1] in WHOLE_BEFORE_OF)
