"""Texts for the eye: which words of two texts differ, and which stretches of one are marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.named import NamedTuple
from memstore.text import marking
from memstore.text.escaping import JOINER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    lost, gained = marking.marked(old, new)
    return Changed(_stretches(lost, "old"), _stretches(gained, "new"))


def replaced(old: str, new: str) -> tuple[Stretch, ...]:
    """Return a newer text in one line: what it gained marked, behind the words that are lost."""
    changed = changed_words(old, new)
    lost = [one for one in changed.old if one.kind == "old"]
    at = next((place for place, one in enumerate(changed.new) if one.kind == "new"), None)
    if len(lost) != 1 or at is None:  # of several places, the newer text alone is easier to read
        return changed.new
    return (*changed.new[:at], lost[0], Stretch("same", " "), *changed.new[at:])


def _stretches(parts: Iterable[marking.MarkedText], kind: str) -> tuple[Stretch, ...]:
    return tuple(Stretch(kind if part.changed else "same", part.text) for part in parts)


def marked(text: str, spans: Iterable[tuple[int, int]]) -> tuple[Stretch, ...]:
    """Return a text in stretches, those within the spans (in characters) marked."""
    return _joined(_cut(text, spans))


def _cut(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Stretch]:
    place = 0
    for start, stop in sorted(spans):
        begin, end = max(start, place), min(stop, len(text))
        end += JOINER.match(text, end) is not None  # it is read with what is before it
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
