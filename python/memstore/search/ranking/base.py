"""The protocol of a ranking, which puts the rows that words and vectors found into one order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple

from memstore.frozen import field, frozen
from memstore.search.lookups.base import F

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memstore.search.lookups.base import Lookup, Order, Query


class Weights(NamedTuple):
    words: float
    vectors: float


class Ageing(NamedTuple):
    """How old a row is, and in what time its score halves; both in seconds."""

    id: int
    age_seconds: float
    half_life_seconds: float


@frozen(kw_only=True)
class Candidates(Generic[F]):
    """The rows to put into order, and what they may be compared by."""

    by_words: Mapping[int, float]
    """The BM25 of the rows that the query's words found; negative is better."""
    lookup: Lookup[F]
    wanted: F
    limit: int
    """How many rows the search returns."""
    keeps_all: bool
    """Whether more of them have to be ranked, because some get a boost afterwards."""
    min_similarity: float | None
    ageing: Callable[[Iterable[int], Mapping[str, float]], Sequence[Ageing]]
    """Returns those of some rows whose scores decay, given half-lives by category."""
    newest_of_equals: bool
    """Whether the newest of equally good rows comes first; else the one with the smallest id."""


@frozen(kw_only=True)
class Ranking(ABC):
    """An order of rows."""

    weights: Weights
    """A weight of 0 means that nothing is looked up by words, or by vectors."""
    weights_alone: Weights
    """The weights if vectors are not used, by choice or because there are none."""
    compares: bool
    """Whether queries are embedded and compared."""
    half_lives_seconds: Mapping[str, float] = field(default_factory=dict)
    """By category, above 0 and finite; other categories do not age."""

    name: ClassVar[str]
    """One of :data:`~memstore.domain.results.RANKINGS`."""
    weighs_words_of_queries: ClassVar[bool] = False
    """Whether rare words weigh more in a query's vector, where the index can make it so."""
    has_minimum: ClassVar[bool] = False
    """Whether hits that are not relevant are left out unless the caller says otherwise."""
    respells: ClassVar[bool] = False
    """Whether misspelt words are searched for as the memory spells them."""
    compares_stored: ClassVar[bool] = False
    """Whether the stored vectors are compared, so that the same scores, to the last bit, come with
    an index and without: else rows that are equal but for rounding would change places."""

    def weights_for(self, query: Query) -> Weights:
        return self.weights if query.vector is not None else self.weights_alone

    def usable(self, lookup: Lookup[Any]) -> Ranking:
        """Return this ranking, or the one that takes its place if a lookup cannot serve it."""
        return self

    @abstractmethod
    def rank(self, query: Query, found: Candidates[Any]) -> Order:
        """Return rows in their order."""
