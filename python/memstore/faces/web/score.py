"""A score for the eye: its parts as a bar and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.domain.results import ScoreParts

if TYPE_CHECKING:
    from memstore.domain.records import SearchHit

WORDS: Final = {
    "words": "it has words of the question",
    "meaning": "its meaning is close",
    "terms": "its words are close in meaning",
    "thread": "its conversation matches",
    "session": "the best of its conversation match well",
    "subject": "the question names its subject or speaker",
    "date": "the question names its date",
    "kind": "it holds the kind of answer that is asked for",
    "age": "its age",
}
"""What each part of a score means, in the order of the bar."""

MIN_SHOWN: Final = 0.0005
"""Parts that round to nothing are left out."""

BAR: Final = 1000
"""Units of the width of a bar."""


class ScorePart(NamedTuple):
    """A part of a score.

    Attributes:
        color: the number of its colour.
        start: where it begins in the bar, of ``BAR``.
        width: how wide it is there; 0 for what is taken off.
    """

    text: str
    value: float
    color: int
    start: int = 0
    width: int = 0


def parts(hit: SearchHit, best: float) -> list[ScorePart]:
    """Return the parts of a hit's score; the best hit's whole score fills the bar."""
    found: list[ScorePart] = []
    place = 0
    for number, name in enumerate(ScoreParts._fields, 1):
        if name not in WORDS:
            continue
        value = getattr(hit.parts, name)
        if abs(value) < MIN_SHOWN:
            continue
        width = min(round(max(0.0, value) / max(best, 1e-9) * BAR), BAR - place)
        found.append(ScorePart(WORDS[name], value, min(number, 8), place, width))
        place += width
    return found
