"""Results of a call: an immutable sequence of items with attributes that apply to all of them.

A slice keeps the attributes, and results are equal to any list of the same items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self, SupportsIndex, TypeVar, overload

from memstore.frozen import asdict, frozen, replace
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from dataclasses import InitVar

    from memstore.errors import Reason

T = TypeVar("T")


# A tuple, so that results of plain items can be written as JSON like any list.
@frozen
class Results(tuple[T, ...]):
    """Items in order. A subclass adds its attributes as fields of a frozen class."""

    items: InitVar[Iterable[T]] = ()

    def __new__(cls, items: Iterable[T] = (), *_: Any, **__: Any) -> Self:
        return super().__new__(cls, items)

    @overload
    def __getitem__(self, place: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: SupportsIndex | slice) -> T | Self:
        if isinstance(place, slice):
            return replace(self, items=super().__getitem__(place))
        return super().__getitem__(place)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | tuple) and tuple(self) == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        attributes = "".join(f", {name}={value!r}" for name, value in asdict(self).items())
        return f"{type(self).__name__}({list(self)!r}{attributes})"


CONTEXTUAL: Final = "contextual"
CLASSIC: Final = "classic"
RANKINGS: Final = (CONTEXTUAL, CLASSIC)
"""How a search ranks: ``contextual`` uses words, meaning, threads, names and dates; ``classic``
uses words and meaning only."""


class ScoreParts(NamedTuple):
    """The parts of a score, which is the sum of all but ``decay``."""

    words: float = 0.0
    """It contains words of the query."""
    meaning: float = 0.0
    """Its vector is close to the query's."""
    terms: float = 0.0
    """Its words are close in meaning to the query's words."""
    thread: float = 0.0
    """Its neighbours in the thread, or the question it answers, match."""
    session: float = 0.0
    """The best of its thread match well."""
    subject: float = 0.0
    """The query names its subject or its speaker."""
    date: float = 0.0
    """The query names its date; below zero if it is not of the time that the query asks for."""
    kind: float = 0.0
    """It contains the kind of answer that the query asks for: a time, a name, a person."""
    project: float = 0.0
    """It comes from another project than the store's: below zero."""
    age: float = 0.0
    """What it loses by its age: at most 0.005, except in the classic ranking. If it competes with
    others that score nearly as much, also what moves the newest before them, at most 0.02."""
    decay: float = 1.0
    """How fresh it is: ``0.5 ** (age / half_life)``; 1 if it does not age."""


NO_PARTS: Final = ScoreParts()


class Span(NamedTuple):
    """A stretch of a text, in characters; ``stop`` is the first one after it."""

    start: int
    stop: int


class Matched(NamedTuple):
    """The words of a fact that match a query, in order; none if it is very long."""

    content: tuple[Span, ...] = ()
    subject: tuple[Span, ...] = ()


class Respelt(NamedTuple):
    """A word of a query that the memory has in another spelling only, which was searched for."""

    written: str
    searched: str

    def __str__(self) -> str:
        return f'searched for "{self.searched}" instead of "{self.written}"'


class WordsOnly(NamedTuple):
    """Why a search by meaning went by words alone."""

    code: str
    """``no_embedder``, ``no_model``, ``embedder_unavailable``, ``embedder_rejected``,
    ``other_model`` or ``nothing_embedded``."""
    reason: Reason
