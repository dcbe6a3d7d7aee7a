"""Marking the words in which two texts differ, for people."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import groupby
from typing import TYPE_CHECKING, Final

from memstore.named import NamedTuple
from memstore.text.escaping import JOINER
from memstore.text.words import UNSPACED_RUN

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_WORDS: Final = 400
"""Longer texts are not compared word by word, which takes quadratic time."""

MAX_CHARACTERS: Final = 20_000
"""Texts that are longer than this are not even taken apart."""


class MarkedText(NamedTuple):
    """A part of a text."""

    text: str
    changed: bool


Marked = tuple[MarkedText, ...]
"""A text in its parts: those that the other text has too, and those that differ."""


def marked(old: str, new: str) -> tuple[Marked, Marked]:
    """Return both texts, with the words marked in which they differ."""
    before, after = [_words(text[:MAX_CHARACTERS]) for text in (old, new)]
    is_long = max(len(old), len(new)) > MAX_CHARACTERS
    if is_long or max(len(before), len(after)) > MAX_WORDS:
        return (MarkedText(old, True),), (MarkedText(new, True),)
    keys = [_key(word) for word in before], [_key(word) for word in after]
    same = SequenceMatcher(None, *keys, autojunk=False).get_matching_blocks()
    kept_old = {block.a + n for block in same for n in range(block.size)}
    kept_new = {block.b + n for block in same for n in range(block.size)}
    return _joined(before, kept_old), _joined(after, kept_new)


def _words(text: str) -> list[str]:
    """Return the words of a text and what is between them; each character where there are none."""
    parts = [part for part in re.split(r"(\s+|[^\w\s])", text) if part]
    if text.isascii():  # most texts have neither unspaced words nor joiners
        return parts
    return _rejoined(
        piece for part in parts for piece in (part if re.fullmatch(UNSPACED_RUN, part) else [part])
    )


def _rejoined(parts: Iterable[str]) -> list[str]:
    """Put a joiner, and what it joins, into one part: an emoji, or a word of another script."""
    words: list[str] = []
    joins = False
    for part in parts:
        is_joiner = JOINER.match(part) is not None
        if words and (joins or is_joiner) and not part.isspace():
            words[-1] += part
        else:
            words.append(part)
        joins = is_joiner
    return words


def _key(word: str) -> str:
    return " " if word.isspace() else word.casefold()


def _joined(words: list[str], kept: set[int]) -> Marked:
    # A blank between two changed words belongs to them.
    changed = [place not in kept for place in range(len(words))]
    for place in range(1, len(words) - 1):
        if words[place].isspace():
            changed[place] = changed[place - 1] and changed[place + 1]
    if words and words[-1].isspace():
        changed[-1] = False
    groups = groupby(zip(words, changed, strict=True), key=lambda pair: pair[1])
    return tuple(
        MarkedText("".join(word for word, _ in group), is_changed) for is_changed, group in groups
    )
