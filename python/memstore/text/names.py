"""Names of entities as text: comparing them, and finding them in a sentence."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, TypeAlias

from memstore.lazy import lazy_pattern
from memstore.text.words import UNSPACED, UNSPACED_RUN

Span: TypeAlias = tuple[int, int]

# Everything that separates words, in the scripts that separate them.
_MARKS: Final = (
    r"\s!\"#$%()*+,/:;<=>?\[\\\]^`{|}~\u00a1-\u00a9\u00ab-\u00b1\u00b4-\u00b8\u00bb-\u00bf\u00d7\u00f7"
    r"\u05be\u05c0\u05c3\u05f3\u05f4\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u1361-\u1368"
    r"\u2000-\u200b\u200e-\u2018\u201a-\u206f\u20a0-\u20bf\u2190-\u2bff\u2e00-\u2e7f\u3000-\u3004"
    r"\u3008-\u303f\uff5f-\uff65\U0001f000-\U0001faff"
)
_JOINTS: Final = r"'’.&@\-"
"""Part of a word when inside it: O'Brien, node.js, AT&T, Jean-Luc, al@example.com."""

_LETTER: Final = f"[^{_MARKS}{_JOINTS}{UNSPACED}]"
_BLANKS: Final = re.compile(r"[^\S\n]+")
POSSESSIVE: Final = ("'s", "’s", "'S", "’S")
_WORD: Final = lazy_pattern(f"[{UNSPACED}]|{_LETTER}+(?:[{_JOINTS}]{_LETTER}+)*(?:\\+\\+|#)?")


def plain(text: str) -> str:
    """Normalise widths and blanks; line breaks are kept."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _BLANKS.sub(" ", text)


def lowered(text: str) -> str:
    """Return a text in lower case, every character at the same index."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(letter if len(letter.lower()) != 1 else letter.lower() for letter in text)


def name_key(name: str) -> str:
    """Return the form by which names are compared: case, width and blanks do not count."""
    return lowered(" ".join(plain(name).split()))


def word_spans(text: str) -> list[Span]:
    """Return the spans of the words of a :func:`plain` text, without a possessive ``'s``.

    Scripts without spaces are split into single characters.
    """
    spans = [match.span() for match in _WORD.finditer(text)]
    if "'" not in text and "’" not in text:
        return spans
    return [
        (start, end - 2 if end - start > 2 and text.startswith(POSSESSIVE, end - 2) else end)
        for start, end in spans
    ]


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a :func:`plain` text; see :func:`word_spans`."""
    if "'" not in text and "’" not in text:
        return (*_WORD.findall(text),)
    return tuple(text[start:end] for start, end in word_spans(text))


def occurs(name: str, *texts: str) -> bool:
    """Whether one of the texts contains a name, as whole words, in any case."""
    key = name_key(name)
    return any(stands_in(key, name_key(text)) for text in texts)


def stands_in(key: str, text: str) -> bool:
    """Whether a text contains a name as whole words; both as :func:`name_key` returns them."""
    place = text.find(key) if key else -1
    while place >= 0:
        if _parted(text, place) and _parted(text, place + len(key)):
            return True
        place = text.find(key, place + 1)
    return False


def _parted(text: str, place: int) -> bool:
    """Whether a word can begin or end here."""
    if not 0 < place < len(text):
        return True
    before, after = text[place - 1], text[place]
    return not (_in_word(before) and _in_word(after))


def _in_word(letter: str) -> bool:
    if re.match(UNSPACED_RUN, letter):
        return False
    return letter == "_" or letter.isalnum() or unicodedata.category(letter).startswith("M")
