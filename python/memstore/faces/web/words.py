"""Texts for the eye: which words of two texts differ, and which stretches of one are marked."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")

MAX_WORDS: Final = 2000
"""Longer texts are shown as replaced whole: comparing them word by word takes seconds."""

TAGS: Final = {"old": "del", "new": "ins", "marked": "mark"}
"""The elements by the kind of a stretch."""


class Stretch(NamedTuple):
    """A part of a text. ``kind`` is ``same``, ``old``, ``new`` or ``marked``."""

    kind: str
    text: str


class Changed(NamedTuple):
    """Two texts, each with what the other does not have."""

    old: tuple[Stretch, ...]
    new: tuple[Stretch, ...]


def changed_words(old: str, new: str) -> Changed:
    """Compare two texts word by word."""
    before, after = WORD.findall(old), WORD.findall(new)
    if max(len(before), len(after)) > MAX_WORDS:
        return Changed((Stretch("old", old),), (Stretch("new", new),))
    lost: list[Stretch] = []
    gained: list[Stretch] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        same = kind == "equal"
        lost.append(Stretch("same" if same else "old", "".join(before[a:b])))
        gained.append(Stretch("same" if same else "new", "".join(after[c:d])))
    return Changed(_joined(lost), _joined(gained))


def marked(text: str, spans: Iterable[tuple[int, int]]) -> tuple[Stretch, ...]:
    """Return a text in stretches, those within the spans (in characters) marked."""
    return _joined(_cut(text, spans))


def _cut(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Stretch]:
    place = 0
    for start, stop in sorted(spans):
        begin, end = max(start, place), min(stop, len(text))
        if begin < end:
            yield Stretch("same", text[place:begin])
            yield Stretch("marked", text[begin:end])
            place = end
    yield Stretch("same", text[place:])


def _joined(stretches: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """Leave out empty stretches, and join two of a kind that only blanks keep apart."""
    found: list[Stretch] = []
    for one in stretches:
        if not one.text:
            continue
        if found and found[-1].kind == one.kind:
            found[-1] = Stretch(one.kind, found[-1].text + one.text)
        else:
            found.append(one)
    return tuple(found)
