"""Misspelt words in a query: searched for as the memory spells what they are near.

A word is taken for misspelt only if no row of this memory has it, facts or turns, nor the built-in
model's vocabulary, and a row that the search may find has a word a letter or two away. What has
digits or is written like a name of a program is never changed, and of a name one letter at most,
not its first.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from memstore._kernel.words import edits as distances
from memstore._kernel.words import near_words
from memstore.domain.results import Respelt
from memstore.lazy import lazy_pattern
from memstore.named import NamedTuple
from memstore.providers.local import is_word
from memstore.text.words import has_unspaced, terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.search.corpus import Corpus

MAX_TERMS: Final = 12
"""Of a longer query each word counts little, and a text that somebody pasted is no query."""

MAX_SOUGHT: Final = 3
"""For so many unknown words of a query the index's stems are compared: of a query with more of
them, most is not in this memory, however it is spelt."""

MIN_LETTERS: Final = 5
"""Shorter words have too many neighbours."""

TWO_EDITS_FROM: Final = 8
"""How many letters a word needs for two mistakes in it, or one in its first letter."""

MIN_LETTERS_OF_NAME: Final = 6

FORMS: Final = ("ing", "ings", "ed", "s", "er", "ers", "ly")
"""Endings of English words that a vocabulary may lack."""

MIN_LETTERS_OF_STEM: Final = 4
"""Before such an ending."""

CHUNK: Final = lazy_pattern(r"\S+")
ENDS: Final = ".,;:!?()[]{}<>\"'`´‘’“”„«»…"
WORD: Final = lazy_pattern(r"[^\W\d_]+")

MAX_READ: Final = 20_000
"""Characters of a row in which the right spelling is looked for."""


class Respelling(NamedTuple):
    """A query in the spelling of the memory, and what was changed."""

    text: str
    changed: tuple[Respelt, ...]


def respelling(corpus: Corpus[Any, Any], query: str, wanted: Any) -> Respelling | None:
    """Return how the memory spells a query; ``None`` if as it is written, or if it is unknown."""
    if not corpus.lookup.has_contexts or len(asked := terms(query)) > MAX_TERMS:
        return None
    told = {term.casefold() for term in asked}
    text, changed = query, []
    asked_for = (word for word in dict.fromkeys(_readable(query)) if word.casefold() in told)
    unknown = (word for word in asked_for if _is_unknown(corpus, word, wanted))
    for word in islice(unknown, MAX_SOUGHT):
        if (right := _right(corpus, word, wanted)) is not None:
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", right, text)
            changed.append(Respelt(word, right))
    return Respelling(text, tuple(changed)) if changed else None


def _readable(query: str) -> Iterator[str]:
    """Yield the words that may be misspelt: letters alone, of a script with spaces."""
    for chunk in CHUNK.findall(query):
        word = chunk.strip(ENDS)
        inner = word[1:]
        is_plain = word.isalpha() and (inner.islower() or inner == inner.lower())
        if is_plain and len(word) >= MIN_LETTERS and not has_unspaced(word):
            yield word


def _is_unknown(corpus: Corpus[Any, Any], word: str, wanted: Any) -> bool:
    if word[0].isupper() and len(word) < MIN_LETTERS_OF_NAME:
        return False
    return not (is_word(word) or _is_form(word) or corpus.knows(word, wanted))


def _is_form(word: str) -> bool:
    """Return whether a word is an English form of one that the model's vocabulary has.

    That vocabulary has "conduct" and not "conducting", which is not misspelt for "connecting".
    """
    for ending in FORMS:
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < MIN_LETTERS_OF_STEM:
            continue
        bases = [stem] if ending == "s" else [stem, f"{stem}e"]
        if stem[-1] == stem[-2] and ending != "s":  # "planned"
            bases.append(stem[:-1])
        if any(map(is_word, bases)):
            return True
    return False


def _right(corpus: Corpus[Any, Any], word: str, wanted: Any) -> str | None:
    """Return the nearest word of the rows that may be found, for an unknown word."""
    lookup, plain = corpus.lookup, _plain(word)
    is_long, is_name = len(word) >= TWO_EDITS_FROM, word[0].isupper()
    most = 2 if is_long and not is_name else 1
    texts = [text[:MAX_READ] for text in corpus.texts(lookup.similar(plain, most, wanted))]
    # German's "Wetter" is not "better", nor is "tissue" an "issue".
    keeps_first = is_name or not is_long
    found = []
    for other, edits in _near(plain, texts, most):
        is_other = _plain(other)[0] != plain[0]
        is_longer = abs(len(other) - len(word)) > most  # a letter may be two without its accent
        if 0 < edits <= (1 if is_other else most) and not (is_longer or (is_other and keeps_first)):
            found.append((edits, is_other, other))
    return min(found)[-1] if found else None


def _near(plain: str, texts: Sequence[str], most: int) -> Iterator[tuple[str, int]]:
    """Yield the words of texts that are near one, with their edits."""
    ascii_texts = [text for text in texts if text.isascii()]
    yield from near_words(plain, ascii_texts, most)
    if len(ascii_texts) < len(texts):
        held = {word for text in texts if not text.isascii() for word in WORD.findall(text)}
        words = [*held]
        yield from zip(words, distances(plain, [*map(_plain, words)], most), strict=True)


def _plain(word: str) -> str:
    """Return a word in the letters of terms: lower case, without accents."""
    lower = word.lower()
    if lower.isascii():
        return lower
    bare = (c for c in unicodedata.normalize("NFD", lower) if not unicodedata.combining(c))
    return unicodedata.normalize("NFC", "".join(bare))
