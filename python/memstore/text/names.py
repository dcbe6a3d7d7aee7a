"""Names of entities as text: how they are compared, and where they stand in a sentence."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final, TypeAlias

from memstore.text.words import UNSPACED

Span: TypeAlias = tuple[int, int]

# All that parts words, in the scripts that part them.
_MARKS: Final = (
    r"\s!\"#$%()*+,/:;<=>?\[\\\]^`{|}~\u00a1-\u00a9\u00ab-\u00b1\u00b4-\u00b8\u00bb-\u00bf\u00d7\u00f7"
    r"\u05be\u05c0\u05c3\u05f3\u05f4\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u1361-\u1368"
    r"\u2000-\u200b\u200e-\u2018\u201a-\u206f\u20a0-\u20bf\u2190-\u2bff\u2e00-\u2e7f\u3000-\u3004"
    r"\u3008-\u303f\uff5f-\uff65\U0001f000-\U0001faff"
)
_JOINTS: Final = r"'’.&@\-"
"""Inside a word they belong to it: O'Brien, node.js, AT&T, Jean-Luc, al@example.com."""

_LETTER: Final = f"[^{_MARKS}{_JOINTS}{UNSPACED}]"
_BLANKS: Final = re.compile(r"[^\S\n]+")
POSSESSIVE: Final = ("'s", "’s", "'S", "’S")


# Not compiled on import: a store that has no graph needs neither.
@cache
def _word() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]|{_LETTER}+(?:[{_JOINTS}]{_LETTER}+)*(?:\\+\\+|#)?")


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]")


def plain(text: str) -> str:
    """Return text in which one character stands for one letter of any width; lines are kept."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _BLANKS.sub(" ", text)


def lowered(text: str) -> str:
    """Return a text in lower case, each character at its old place."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(letter if len(letter.lower()) != 1 else letter.lower() for letter in text)


def name_key(name: str) -> str:
    """Return what two spellings of one name have in common: case, width and spaces are folded."""
    return lowered(" ".join(plain(name).split()))


def word_spans(text: str) -> list[Span]:
    """Return where the words of a :func:`plain` text stand, without a possessive ``'s``.

    Scripts without spaces are cut into single characters.
    """
    spans = [match.span() for match in _word().finditer(text)]
    if "'" not in text and "’" not in text:
        return spans
    return [
        (start, end - 2 if end - start > 2 and text.startswith(POSSESSIVE, end - 2) else end)
        for start, end in spans
    ]


def occurs(name: str, *texts: str) -> bool:
    """Whether a name stands in one of the texts, as whole words, in whatever case."""
    key = name_key(name)
    return any(stands_in(key, name_key(text)) for text in texts)


def stands_in(key: str, text: str) -> bool:
    """Whether a name stands in a text as whole words; of both, what :func:`name_key` returns."""
    place = text.find(key) if key else -1
    while place >= 0:
        if _parted(text, place) and _parted(text, place + len(key)):
            return True
        place = text.find(key, place + 1)
    return False


def has_unspaced(text: str) -> bool:
    """Whether a text holds a script that parts no words."""
    return not text.isascii() and _unspaced().search(text) is not None


def _parted(text: str, place: int) -> bool:
    """Whether a word may begin or end here."""
    if not 0 < place < len(text):
        return True
    before, after = text[place - 1], text[place]
    return not (_in_word(before) and _in_word(after))


def _in_word(letter: str) -> bool:
    if _unspaced().match(letter):
        return False
    return letter == "_" or letter.isalnum() or unicodedata.category(letter).startswith("M")
