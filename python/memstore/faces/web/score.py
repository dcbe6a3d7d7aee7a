"""A score for the eye: a bar, and by what the fact was found, in a word each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from memstore.domain.episodes import EpisodeHit
    from memstore.domain.records import SearchHit

WORDS: Final = {
    "words": "words",
    "meaning": "meaning",
    "terms": "terms",
    "thread": "session",
    "session": "session",
    "subject": "subject",
    "date": "date",
    "kind": "kind",
    "project": "project",
    "age": "age",
}
"""By what a fact was found: the word of the pages for each part of a score."""

MEANINGS: Final = {
    "words": "it has words of the question",
    "meaning": "what it says is close to the question",
    "terms": "single words of it are close in meaning",
    "session": "it was said in a session that fits the question",
    "subject": "the question names its subject or speaker",
    "date": "the question names its date",
    "kind": "it holds the kind of answer that is asked for",
    "project": "it is from another project than the caller's",
    "age": "how old it is",
}

MIN_SHOWN: Final = 0.0005
"""Parts that round to nothing are left out."""

BAR: Final = 1000
"""Units of the width of a bar."""


class ScorePart(NamedTuple):
    """What a word added to a score."""

    name: str
    value: float


def parts(hit: SearchHit | EpisodeHit) -> list[ScorePart]:
    """Return what made up a hit's score, the strongest first."""
    sums: dict[str, float] = {}
    for part, name in WORDS.items():
        sums[name] = sums.get(name, 0.0) + getattr(hit.parts, part)
    found = [ScorePart(name, value) for name, value in sums.items() if abs(value) >= MIN_SHOWN]
    return sorted(found, key=lambda one: -one.value)


def width(score: float, best: float) -> int:
    """Return how much of a bar stands for a score; the best one fills it."""
    return min(round(max(0.0, score) / max(best, 1e-9) * BAR), BAR)
