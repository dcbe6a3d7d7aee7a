"""Cutting long text into stretches that fit a model, at borders a reader would choose."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from memstore.text.words import UNSPACED_RUN

PIECE_CHARACTERS: Final = 600
"""The longest piece of an episode that is embedded by itself: about 150 tokens, which every model
takes whole, and little enough that one sentence still tells in the vector (decision 22)."""

PIECE_OVERLAP: Final = 100
"""Characters a piece repeats of the one before, so that what spans a border stands whole on one
side of it."""

UNSPACED_CHARACTERS: Final = 300
UNSPACED_OVERLAP: Final = 50
"""The same for Chinese, Japanese, Korean or Thai, where a character is about a token."""

BORDERS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n[ \t\r]*\n\s*",  # paragraph
        r"\r\n|[\n\r\u2028\u2029]",  # line
        r"[.!?…][\"'”’)\]]*\s+|[。！？]+[」』”’）]*",  # sentence
        r"\s+|(?<=[,;:，；：、])",  # word
    )
)
"""The kinds of border, best first; a stretch ends behind one."""

LONGEST_CLUSTER: Final = 64
"""Characters looked at to keep a letter and its marks together; more are no writing."""

JOINER: Final = "\u200d"
MODIFIERS: Final = range(0x1F3FB, 0x1F400)
FLAGS: Final = range(0x1F1E6, 0x1F200)


def of_episode(text: str) -> list[tuple[int, int]]:
    """Return the stretches in which a text is embedded; the same text always gives the same ones.

    A text that is not too long is one stretch. Where more than a quarter of the characters are of
    a script without spaces the stretches are shorter.
    """
    if len(text) <= UNSPACED_CHARACTERS:
        return [(0, len(text))] if text else []
    unspaced = 0 if text.isascii() else sum(len(run) for run in UNSPACED_RUN.findall(text))
    if unspaced > len(text) // 4:
        return stretches(text, UNSPACED_CHARACTERS, UNSPACED_OVERLAP)
    return stretches(text, PIECE_CHARACTERS, PIECE_OVERLAP)


def stretches(text: str, max_characters: int, overlap: int = 0) -> list[tuple[int, int]]:
    """Cut a text at paragraphs, lines, sentences or words, whichever is the best that fits.

    Nothing is dropped: together the stretches cover the text, and without overlap each begins
    where the one before ends. A border is used when it leaves the stretch at least half full; a
    worse kind of border comes before a tiny one.

    Args:
        text: any text; an empty one has no stretches.
        max_characters: the length of the longest stretch, the overlap included.
        overlap: how many characters, at most, of the one before are repeated, so that what spans
            two stretches stands whole in one; they begin at a word where they can.

    Returns:
        ``(start, stop)`` of each, counted in characters.

    Raises:
        ValueError: ``max_characters`` below 1, or an overlap that is more than half of it.
    """
    if max_characters < 1:
        raise ValueError(f"max_characters must be at least 1, not {max_characters}")
    if not 0 <= overlap <= max_characters // 2:
        raise ValueError(
            f"overlap must be from 0 to half of max_characters ({max_characters // 2}), "
            f"not {overlap}"
        )
    found: list[tuple[int, int]] = []
    start = done = 0
    while done < len(text):
        end = _end(text, start, done, start + max_characters)
        found.append((start, end))
        start, done = _back(text, end, overlap, done), end
    return found


def _end(text: str, start: int, done: int, limit: int) -> int:
    """Return where the stretch ends; always beyond ``done``."""
    if limit >= len(text):
        return len(text)
    least = max(done + 1, start + (limit - start) // 2)
    for border in BORDERS:
        # A match may reach beyond the limit; what counts is where it ends.
        ends = [m.end() for m in border.finditer(text, least - 1, limit) if m.end() >= least]
        if ends and not _inside_cluster(text, ends[-1]):
            return ends[-1]
    place = limit
    while place > max(done + 1, limit - LONGEST_CLUSTER) and _inside_cluster(text, place):
        place -= 1
    return limit if _inside_cluster(text, place) else place


def _back(text: str, end: int, overlap: int, done: int) -> int:
    """Return where the next stretch starts: up to ``overlap`` before the end, behind a space."""
    start = max(end - overlap, done)
    if start == end:
        return end
    space = next((i for i in range(start, end) if i and text[i - 1].isspace()), start)
    while space < end and _inside_cluster(text, space):
        space += 1
    return space


def _inside_cluster(text: str, place: int) -> bool:
    """Whether a cut here would part a letter from its marks, an emoji or a line break."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if unicodedata.category(after) in ("Mn", "Mc", "Me") or JOINER in (before, after):
        return True
    if ord(after) in MODIFIERS or (before, after) == ("\r", "\n"):
        return True
    if ord(after) in FLAGS and ord(before) in FLAGS:
        return _flags_before(text, place) % 2 == 1
    return False


def _flags_before(text: str, place: int) -> int:
    """Return how many regional letters stand right before a place; two of them make a flag."""
    count = 0
    while count < min(place, LONGEST_CLUSTER) and ord(text[place - 1 - count]) in FLAGS:
        count += 1
    return count
