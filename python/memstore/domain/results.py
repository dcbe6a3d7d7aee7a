"""What a call returns that is more than a list: its items in order, and what is to be said of all.

Frozen. A slice keeps the attributes, and results equal any list of the same items.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, SupportsIndex, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memstore.errors import Reason

T = TypeVar("T")


# A tuple, so that results of plain items can be written as JSON like any list.
@dataclass(frozen=True, eq=False, repr=False)
class Results(tuple[T, ...]):
    """Items in order. A subclass adds its attributes as fields of a dataclass."""

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
        told = "".join(f", {f.name}={getattr(self, f.name)!r}" for f in fields(self))
        return f"{type(self).__name__}({list(self)!r}{told})"


THREADS: Final = "threads"
CLASSIC: Final = "classic"
RANKINGS: Final = (THREADS, CLASSIC)
"""How a search ranks: by threads, names and dates besides words and meaning, or by these alone."""


class ScoreParts(NamedTuple):
    """What a score is made of: the sum of all but ``decay``, times ``decay``."""

    words: float = 0.0
    """Words of the query that it holds."""
    meaning: float = 0.0
    """How near its vector is to the query's."""
    terms: float = 0.0
    """How near its words are to each word of the query."""
    thread: float = 0.0
    """What its neighbours in the thread hold, and the question that it follows."""
    session: float = 0.0
    """How good the best of its thread are."""
    subject: float = 0.0
    """The query names whom it is about, or who said it."""
    date: float = 0.0
    """The query names its date."""
    type: float = 0.0
    """It holds what the question asks for: a time, a name, a person."""
    decay: float = 1.0
    """``0.5 ** (age / half-life)``, 1 where nothing decays."""


NO_PARTS: Final = ScoreParts()


class WordsOnly(NamedTuple):
    """Why a search went by words alone although meaning was asked for."""

    code: str
    """For programs: ``no_embedder``, ``embedder_unavailable``, ``embedder_rejected``,
    ``other_model`` or ``nothing_embedded``."""
    reason: Reason
