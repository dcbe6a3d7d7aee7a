"""The parameters of a search, apart from its queries."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Generic

from memstore.domain.arguments import (
    MAX_NUMBER,
    checked_choice,
    checked_number,
    checked_real,
    shown,
)
from memstore.domain.metadata import checked_mapping
from memstore.domain.results import CLASSIC, CONTEXTUAL, RANKINGS
from memstore.errors import InvalidArgument
from memstore.frozen import frozen, replace
from memstore.providers.local import HAS_MODEL
from memstore.search.lookups.base import F
from memstore.search.ranking import Classic, Contextual, Weights
from memstore.settings import MIN_RELEVANCE
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memstore.database.filters import EpisodeFilter, FactFilter
    from memstore.domain.queries import EpisodeSearch, FactSearch
    from memstore.search.lookups.dates import Event
    from memstore.search.lookups.sequel import Sequel
    from memstore.search.past import Past
    from memstore.search.ranking import Ranking
    from memstore.text.judging.judge import Rule

WORD_WEIGHT: Final = 0.6
VECTOR_WEIGHT: Final = 0.4

HALF_LIVES_SECONDS: Final[Mapping[str, float]] = {"note": 30 * 86_400.0}
"""The categories that age by default. Preferences, identities and the rest do not."""

MODES: Final = ("hybrid", "words", "meaning")

MAX_LIMIT: Final = 1000
"""The most rows of one search; pages are parts of the first so many."""

MAX_CONTEXT: Final = 10

MIN_CANDIDATES: Final = 50
"""Each pass returns twice the limit, and at least this many: a small limit must not cut a row that
both passes rate well, or a fresh one among many that have decayed."""

OF_PROJECTS: Final = 2
"""So many times as many candidates where a namespace holds several projects."""

JUDGED: Final = 10
"""One of so many first hits must be as relevant as ``min_relevance`` asks for."""

NEAR_THE_BEST: Final = 0.55
"""Beside a relevant hit, those with this part of the best score are not left out. Chosen by the
labelled sets (``docs/finding.md``): the largest with which none loses 0.3 % of its answers."""

NEAR_ENOUGH_TO_FILL: Final = 0.3
"""The same where a budget of tokens is to be filled. Chosen on the development half of the half
year (decision 196)."""

RELEVANT_ENOUGH_TO_FILL: Final = 0.06
WEIGHT_TO_FILL: Final = 3.0
COVERAGE_TO_FILL: Final = 0.2
"""There, one of the first hits has to be this relevant, or to have words of the query that weigh so
much and are this share of its weight (decision 253)."""

RANKING: Final[Mapping[str, type[Ranking]]] = {CONTEXTUAL: Contextual, CLASSIC: Classic}


@frozen(kw_only=True)
class Request(Generic[F]):
    """The parameters of one search; made by :func:`for_facts` and :func:`for_episodes`."""

    wanted: F
    limit: int
    ranking: Ranking
    offset: int | None = None
    """Where in the ranking the rows begin, if it is read in pages."""
    min_similarity: float | None = None
    min_relevance: float | None = None
    """The least relevance of a hit; ``None`` for that of the ranking."""
    fills: bool = False
    """Whether what is found fills a budget, which cuts what is too much by itself."""
    boosted: F | None = None
    """The rows whose scores are raised by :attr:`boost`."""
    boost: float = 0.0
    context: int = 0
    """How many neighbours each hit gets on either side of it in its thread."""
    matched: bool = False
    """Whether each hit says which of its words match."""
    without_rules: frozenset[Rule] = frozenset()
    """Rules of the judge that do not say which facts are newer."""
    project: str | None = None
    """The caller's project: rows that are known to come from another one count less."""
    past: Past | None = None
    """The moment whose memories are searched; ``None`` for now."""
    events: Mapping[str, Event] = MappingProxyType({})
    """What rows of the other kind tell of the events that queries name as times, by query."""
    knows_events: bool = True
    """Whether that could be looked for: not while the index of the other kind is being built."""
    sequel: Sequel | None = None
    """What this search shares with another one of the same question."""

    def __post_init__(self) -> None:
        if not isinstance(self.limit, int) or not 1 <= self.limit <= MAX_LIMIT:
            raise InvalidArgument(
                f"must be 1 to {MAX_LIMIT}, not {shown(self.limit)}", argument="limit"
            )
        if self.offset is not None:
            checked_number(self.offset, "offset", 0, MAX_LIMIT - 1)
        checked_number(self.context, "context", 0, MAX_CONTEXT)
        if self.min_relevance is not None:
            checked_real(self.min_relevance, "min_relevance", 0, 1)

    @property
    def least_relevance(self) -> float:
        """How relevant hits must be, 0 to 1; the classic formula has no minimum of its own."""
        if self.min_relevance is not None:
            return self.min_relevance
        # Without the built-in model, likeness is not known, and nothing is left out for its lack.
        return MIN_RELEVANCE if self.ranking.has_minimum and HAS_MODEL else 0.0

    @property
    def passes(self) -> list[F]:
        """The filters to search with; boosted rows have their own, so that no limit cuts them."""
        return [self.wanted] if self.boosted is None else [self.wanted, self.boosted]

    @property
    def depth(self) -> int:
        """How many rows are ranked: as many for each page, so that all are parts of one order."""
        return self.limit if self.offset is None else MAX_LIMIT

    @property
    def part(self) -> slice:
        """Which of the rows that were ranked are returned."""
        first = self.offset or 0
        return slice(first, first + self.limit)

    @property
    def candidates(self) -> int:
        """How many rows each pass returns: more if many of them may be of other projects."""
        least = max(2 * self.depth, MIN_CANDIDATES)
        return least if self.project is None else OF_PROJECTS * least


def for_facts(
    wanted: FactFilter,
    asked: FactSearch,
    given_lives: Mapping[str, float] | None,
    *,
    past: Past | None = None,
    without_rules: frozenset[Rule] = frozenset(),
    project: str | None = None,
) -> Request[FactFilter]:
    """Return the request of a search over facts that pass a filter."""
    words, vectors = asked.word_weight, asked.vector_weight
    name = _ranking(asked.ranking, word_weight=words, vector_weight=vectors)
    weights = Weights(
        WORD_WEIGHT if words is None else words, VECTOR_WEIGHT if vectors is None else vectors
    )
    for argument, weight in (("word_weight", weights.words), ("vector_weight", weights.vectors)):
        checked_real(weight, argument, 0, math.inf)
    if weights == (0, 0):
        raise InvalidArgument(
            "and the weight of the vectors cannot both be 0", argument="word_weight"
        )
    lives = half_lives(given_lives).items()
    return Request(
        wanted=wanted,
        limit=asked.limit,
        ranking=RANKING[name](
            weights=weights,
            weights_alone=weights,
            compares=weights.vectors > 0,
            half_lives_seconds={category: life for category, life in lives if 0 < life < math.inf},
        ),
        offset=asked.offset,
        context=asked.context,
        min_relevance=asked.min_relevance,
        matched=asked.matched,
        past=past,
        without_rules=without_rules,
        project=project,
    )


def half_lives(given: Mapping[str, float] | None) -> Mapping[str, float]:
    """Return a checked table of half-lives in seconds; ``None`` stands for the default one.

    A category without an entry does not age, nor does one whose half-life is 0 or infinite.
    """
    if given is None:
        return HALF_LIVES_SECONDS
    for category, life in checked_mapping(given, "half_lives_seconds").items():
        if (
            isinstance(life, bool)
            or not isinstance(life, int | float)
            or not life >= 0
            or (type(life) is int and life > MAX_NUMBER)
        ):
            raise InvalidArgument(
                f"of {category!r} must be 0 or more, not {shown(life)}",
                argument="half_lives_seconds",
            )
    # Of two spellings of a category, the last one counts.
    return {subject_key(category): life for category, life in given.items()}


def _ranking(ranking: str | None, **weights: float | None) -> str:
    """Return the ranking's name; weights are those of the classic formula."""
    given = [name for name, weight in weights.items() if weight is not None]
    if ranking is None:
        return CLASSIC if given else CONTEXTUAL
    checked_choice(ranking, RANKINGS, "ranking")
    if given and ranking != CLASSIC:
        raise InvalidArgument(f"{ranking!r} does not take {given[0]}", argument="ranking")
    return ranking


def for_episodes(
    wanted: EpisodeFilter, asked: EpisodeSearch, boosted_tags: Sequence[str] = ()
) -> Request[EpisodeFilter]:
    """Return the request of a search over episodes that pass a filter."""
    mode, given, min_similarity = asked.mode, asked.alpha, asked.min_similarity
    checked_choice(mode, MODES, "mode")
    name = _ranking(asked.ranking, mode=None if mode == "hybrid" else 0, alpha=given)
    alpha = VECTOR_WEIGHT if given is None else given
    checked_real(alpha, "alpha", 0, 1)
    checked_real(asked.tag_boost, "tag_boost", 0, math.inf)
    if min_similarity is not None:
        checked_real(min_similarity, "min_similarity", -1, 1)
    words_alone = Weights(1, 0)
    weights = {"hybrid": Weights(1 - alpha, alpha), "meaning": Weights(0, 1)}.get(mode, words_alone)
    return Request(
        wanted=wanted,
        limit=asked.limit,
        ranking=RANKING[name](weights=weights, weights_alone=words_alone, compares=mode != "words"),
        min_similarity=min_similarity,
        min_relevance=asked.min_relevance,
        boosted=replace(wanted, tags=tuple(boosted_tags)) if boosted_tags else None,
        boost=asked.tag_boost,
        offset=asked.offset,
        context=asked.context,
    )
