"""Finds the tokens of a text's segments in the text, to show which of them matched."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from memstore.named import NamedTuple
from memstore.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Placed(NamedTuple):
    """A part of a normalized text, and the characters of the text that it comes from."""

    text: str
    start: int
    stop: int


def placed_segments(text: str) -> list[Placed]:
    """Return the tokens of :func:`memstore.text.words.segments`, each with its place."""
    if text.isascii():
        return []
    plain = [*_normalized(text)]
    bare = _bare(plain)
    written = set(words.split(unicodedata.normalize("NFC", text)))
    return [
        token
        for word in _words(bare)
        if re.search(words.UNSPACED_RUN, joined := _joined(word)) or joined not in written
        for token in _tokens(word, joined)
    ]


def merged(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return spans in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(stop, found[-1][1])
        else:
            found.append((start, stop))
    return tuple(found)


def _normalized(text: str) -> Iterator[Placed]:
    """Yield the characters of the text in the form NFKC.

    Characters that are composed share their place.
    """
    for start, stop in _clusters(text):
        for character in unicodedata.normalize("NFKC", text[start:stop]):
            yield Placed(character, start, stop)


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that are normalized independently of each other."""
    start = 0
    for at in range(1, len(text)):
        if not _composes(text[start:at], text[at]):
            yield start, at
            start = at
    if text:
        yield start, len(text)


def _composes(before: str, character: str) -> bool:
    if character.isascii():
        return False
    alone = unicodedata.normalize("NFKC", character)
    if unicodedata.combining(alone[0]):
        return True
    both = unicodedata.normalize("NFKC", before) + alone
    return unicodedata.normalize("NFKC", before + character) != both


def _bare(plain: Sequence[Placed]) -> list[Placed]:
    """Return the characters without the marks in runs of scripts without spaces.

    The place of a mark becomes that of the character before it.
    """
    marks = {
        at
        for run in re.finditer(words.UNSPACED_RUN, _joined(plain))
        for at in range(run.start(), run.end())
        if words.is_mark(plain[at].text)
    }
    bare: list[Placed] = []
    for at, one in enumerate(plain):
        if at not in marks:
            bare.append(one)
        elif at and bare:
            bare[-1] = bare[-1]._replace(stop=one.stop)
    return bare


def _words(bare: Sequence[Placed]) -> Iterator[list[Placed]]:
    """Yield the words, as FTS5 splits them."""
    word: list[Placed] = []
    for one in (*bare, Placed(" ", 0, 0)):
        if words.is_of_word(one.text):
            word.append(one)
        elif word:
            if any(not words.is_mark(part.text) for part in word):
                yield word
            word = []


def _tokens(word: Sequence[Placed], text: str) -> Iterator[Placed]:
    for token in re.finditer(words.RUN, text):
        parts = word[token.start() : token.end()]
        yield Placed(token[0], parts[0].start, parts[-1].stop)


def _joined(parts: Iterable[Placed]) -> str:
    return "".join(part.text for part in parts)
