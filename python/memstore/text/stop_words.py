"""Stop words: words in nearly every question of a language, which do not distinguish facts.

The words themselves are in the kernel's lexicon, one file for each language.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

from memstore._kernel import language

ENGLISH: Final = frozenset(language.stop_words("en"))

OTHERS: Final = tuple(map(language.stop_words, ("de", "es", "fr", "it", "pt", "nl")))


def stop_words(words: list[str]) -> frozenset[str]:
    """Return the stop words of a question's language; ``words`` is the question in lower case.

    The language is the one with the most stop words in the question; another one than English
    needs more of them than English, and at least two. Accents may be left out.
    """
    languages = _languages()
    found = [0] * len(OTHERS)
    for word in words:
        if word in languages:
            for place in languages[word]:
                found[place] += 1
    most = max(found)
    if most < 2 or most <= sum(word in ENGLISH for word in words):
        return ENGLISH
    return _forms(found.index(most))


@cache
def _languages() -> dict[str, tuple[int, ...]]:
    """Return the languages of each stop word, as indexes into ``OTHERS``."""
    of: dict[str, tuple[int, ...]] = {}
    for place in range(len(OTHERS)):
        for word in _forms(place):
            of[word] = (*of.get(word, ()), place)
    return of


@cache
def _forms(place: int) -> frozenset[str]:
    """Return a language's stop words, with and without their accents."""
    written = OTHERS[place]
    return frozenset(written) | {_bare(word) for word in written if not word.isascii()}


def _bare(word: str) -> str:
    decomposed = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
