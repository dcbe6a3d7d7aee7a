"""Values that say why a search did not find a fact: the first stage that lost it, with numbers."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import Record, set_fields
from memstore.domain.results import NO_PARTS, ScoreParts
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.domain.results import WordsOnly


class Stage(StrEnum):
    """What a fact has to pass to be found, in this order."""

    ERASED = "erased"
    DELETED = "deleted"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    DISTRUSTED = "distrusted"
    """It rests on distrusted sources alone."""
    NAMESPACE = "namespace"
    """It is in a namespace that was not searched."""
    OWNERS = "owners"
    """It belongs to other owners than those asked for."""
    SUBJECT = "subject"
    CATEGORY = "category"
    TASKS = "tasks"
    """It is a task, and tasks were not asked for."""
    METADATA = "metadata"
    CREATED = "created"
    """It was not stored in the period asked for."""
    VALID = "valid"
    """It is not valid since the period asked for, or did not hold on the day asked for."""
    BLANK = "blank"
    """The query has nothing to search for."""
    PENDING = "pending"
    """It is not embedded yet, and has none of the words."""
    CANDIDATES = "candidates"
    """Neither by words nor by meaning is it among the rows that are ranked."""
    RANK = "rank"
    """It is ranked behind the limit."""
    RELEVANCE = "relevance"
    """It is not as relevant as ``min_relevance`` asks for."""
    REPEATED = "repeated"
    """In a recall: something better has the same words."""
    BUDGET = "budget"
    """In a recall: it does not fit into the budget."""
    FOUND = "found"


@frozen(kw_only=True)
class RankedFact(Record):
    """A fact with its place in a ranking, and the parts of its score."""

    fact_id: int
    place: int
    """From 1."""
    score: float
    word_score: float
    """As of :class:`~memstore.domain.records.SearchHit`, like the next three."""
    vector_score: float
    decay: float = 1.0
    parts: ScoreParts = NO_PARTS

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        return set_fields(self) | {"parts": self.parts._asdict()}


SIDE_BY_SIDE: Final = ("score", "word_score", "vector_score")


@frozen(kw_only=True)
class WhyNot(Record):
    """Why a search did not find a fact; ``str()`` returns it as a text."""

    fact_id: int
    stage: str
    """The first :class:`Stage` that it did not pass; ``found`` if it passed all."""
    text: str
    """The answer in one line."""
    limit: int
    """How many facts the search returns."""
    place: int | None = None
    """Its place from 1, if it was ranked: in the search, or in what a recall shows. Behind
    the limit it is that in a search with the largest limit, which compares more candidates."""
    candidates: int | None = None
    """How many rows each of words and meaning may suggest, if it is not among them."""
    by_words: int | None = None
    """Its place by words alone; ``None`` if it has none, or the words were not compared."""
    by_meaning: int | None = None
    """Its place by meaning alone; ``None`` if its meaning is none of the query's, or unknown."""
    fact: RankedFact | None = None
    """What it scores, if it was ranked."""
    last: RankedFact | None = None
    """What the last fact that is returned scores, if this one is ranked behind it."""
    relevance: float | None = None
    """How relevant it is, 0 to 1, if that is why."""
    min_relevance: float | None = None
    """How relevant it had to be."""
    tokens: int | None = None
    """How many its line in a recall takes."""
    max_tokens: int | None = None
    words_only: WordsOnly | None = None
    """Why the search went by words alone; ``None`` if it did not."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        values = set_fields(self)
        if self.words_only is not None:
            code, reason = self.words_only
            values["words_only"] = {"code": code, "reason": str(reason)}
        return values

    def __str__(self) -> str:
        return "\n".join([self.text, *self._side_by_side()])

    def _side_by_side(self) -> Iterator[str]:
        """Yield a line for each part of the scores of this fact and the last one returned."""
        own, last = self.fact, self.last
        if own is None or last is None:
            return
        yield _row("", f"#{own.fact_id}", f"#{last.fact_id}")
        for name in SIDE_BY_SIDE:
            yield _row(name, _number(getattr(own, name)), _number(getattr(last, name)))
        for name, part, other in zip(ScoreParts._fields, own.parts, last.parts, strict=True):
            if part != other:
                yield _row(name, _number(part), _number(other))


def _row(name: str, *cells: str) -> str:
    return f"{name:<14}" + "".join(f"{cell:>9}" for cell in cells)


def _number(value: float) -> str:
    return f"{value:.3f}"
