"""Splitting long text into pieces that fit a model, at natural boundaries."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from memstore.errors import InvalidArgument
from memstore.lazy import lazy_pattern
from memstore.text.words import UNSPACED_RUN

PROMPT_CHARACTERS: Final = 12_000
"""The longest piece in a prompt: about 3,000 tokens, which even small models read carefully."""

PIECE_CHARACTERS: Final = 600
"""The longest piece of an episode that gets its own embedding: about 150 tokens, which every model
accepts, and short enough that one sentence still shows in the vector (decision 22)."""

PIECE_OVERLAP: Final = 100
"""Characters repeated from the previous piece, so that text at a boundary is complete in one."""

UNSPACED_CHARACTERS: Final = 300
UNSPACED_OVERLAP: Final = 50
"""The same for Chinese, Japanese, Korean and Thai, where one character is about one token."""

BORDERS: Final = (
    r"\n[ \t\r]*\n\s*",  # paragraph
    r"\r\n|[\n\r\u2028\u2029]",  # line
    r"[.!?…][\"'”’)\]]*\s+|[。！？]+[」』”’）]*",  # sentence
    r"\s+|(?<=[,;:，；：、])",  # word
)
"""The kinds of boundary, best first; a piece ends after one."""

FIRST_AND_LAST: Final = tuple(
    (lazy_pattern(border), lazy_pattern(f"(?s:.*)(?:{border})")) for border in BORDERS
)
"""What finds the first and the last of each kind in a stretch. The first tells sooner that there is
none; before the last, as much as possible is skipped."""

SPACE: Final = lazy_pattern(r"\s")

MAX_CLUSTER: Final = 64
"""How far to look back to keep a letter and its marks together; no script needs more."""

CONTINUING: Final = re.compile(
    "[\u200c\u200d"  # joiners
    "\u1160-\u11ff\ud7b0-\ud7ff"  # vowels and finals of Hangul that is written in parts
    "\u0e33\u0eb3"  # Thai and Lao AM
    "\uff9e\uff9f"  # half-width sound marks
    "\U0001f3fb-\U0001f3ff"  # skin tones
    "\U000e0020-\U000e007f]"  # tags, as in the flag of England
)
"""Characters other than marks that belong to the letter before them (decision 2)."""

JOINER: Final = "\u200d"
FLAGS: Final = range(0x1F1E6, 0x1F200)


def of_episode(text: str) -> list[tuple[int, int]]:
    """Return where the pieces of an episode start and stop; the same text gives the same pieces.

    A short text is one piece. Pieces are shorter if more than a quarter of the characters belong
    to a script without spaces.
    """
    if len(text) <= UNSPACED_CHARACTERS:
        return [(0, len(text))] if text else []
    unspaced = 0 if text.isascii() else sum(len(run) for run in re.findall(UNSPACED_RUN, text))
    if unspaced > len(text) // 4:
        return spans(text, UNSPACED_CHARACTERS, UNSPACED_OVERLAP)
    return spans(text, PIECE_CHARACTERS, PIECE_OVERLAP)


def chunks(text: str, max_characters: int = PROMPT_CHARACTERS, overlap: int = 0) -> list[str]:
    """Split a text as :func:`spans` does; without overlap, joining the pieces gives the text."""
    return [text[start:stop] for start, stop in spans(text, max_characters, overlap)]


def spans(text: str, max_characters: int, overlap: int = 0) -> list[tuple[int, int]]:
    """Split a text at paragraphs, lines, sentences or words, at the best boundary that fits.

    The spans ``(start, stop)`` cover the whole text, and without overlap each begins where the
    previous one ends. A border is used if it leaves the piece at least half full; a worse kind of
    border is better than a tiny piece. The overlap counts as part of the piece, begins at a word
    where possible, and is at most half of it.
    """
    if max_characters < 1:
        raise InvalidArgument(
            f"must be at least 1, not {max_characters}", argument="max_characters"
        )
    if not 0 <= overlap <= max_characters // 2:
        raise InvalidArgument(
            f"must be from 0 to {max_characters // 2}, half of the longest piece, not {overlap}",
            argument="overlap",
        )
    found: list[tuple[int, int]] = []
    start = done = 0
    while done < len(text):
        end = _end(text, start, done, start + max_characters)
        found.append((start, end))
        start, done = _back(text, end, overlap, done), end
    return found


def _end(text: str, start: int, done: int, limit: int) -> int:
    """Return where the piece ends; always after ``done``."""
    if limit >= len(text):
        return len(text)
    least = max(done + 1, start + (limit - start) // 2)
    for first, last in FIRST_AND_LAST:
        if first.search(text, least - 1, limit) is None:
            continue
        found = last.match(text, least - 1, limit)
        if found and found.end() >= least and not _inside_cluster(text, found.end()):
            return found.end()
    place = limit
    while place > max(done + 1, limit - MAX_CLUSTER) and _inside_cluster(text, place):
        place -= 1
    return limit if _inside_cluster(text, place) else place


def _back(text: str, end: int, overlap: int, done: int) -> int:
    """Return where the next piece starts: up to ``overlap`` before the end, after a space."""
    start = max(end - overlap, done)
    if start == end:
        return end
    found = SPACE.search(text, max(start - 1, 0), end - 1)
    space = start if found is None else found.end()
    while space < end and _inside_cluster(text, space):
        space += 1
    return space


def _inside_cluster(text: str, place: int) -> bool:
    """Whether a cut here would split a letter and its marks, an emoji or a line break."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if unicodedata.category(after).startswith("M") or CONTINUING.match(after):
        return True
    if before == JOINER or (before, after) == ("\r", "\n"):
        return True
    if ord(after) in FLAGS and ord(before) in FLAGS:
        return _flags_before(text, place) % 2 == 1
    return False


def _flags_before(text: str, place: int) -> int:
    """Count the regional indicators right before a place; two of them make a flag."""
    count = 0
    while count < min(place, MAX_CLUSTER) and ord(text[place - 1 - count]) in FLAGS:
        count += 1
    return count
