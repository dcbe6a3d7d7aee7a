"""Rankings, which put the rows that words and vectors found into one order.

The classic one adds words and vectors, and lets them decay. The contextual one also counts
neighbours in a thread, names, dates and kinds of answers; the Rust kernel computes it from the
index, and without an index the classic ranking takes its place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic

from memstore._kernel import ranking
from memstore._kernel.ranking import REACH
from memstore.domain import moments, zones
from memstore.domain.results import CLASSIC, CONTEXTUAL, ScoreParts
from memstore.frozen import asdict, field, frozen, replace
from memstore.named import NamedTuple
from memstore.search.lookups.base import F, Order, Ranked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memstore.search.lookups import dates
    from memstore.search.lookups.base import Lookup, Query


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
    reads_times: ClassVar[bool] = False
    """Whether what a query says of the time of its answer counts."""
    compares_stored: ClassVar[bool] = False
    """Whether the stored vectors are compared, so that the same scores, to the last bit, come with
    an index and without: else rows that are equal but for rounding would change places."""

    def weights_for(self, query: Query) -> Weights:
        return self.weights if query.vector is not None else self.weights_alone

    def compared(self, lookup: Lookup[Any], cosines: Mapping[int, float]) -> Mapping[int, float]:
        """Return cosines as this ranking sees them."""
        return cosines

    def usable(self, lookup: Lookup[Any]) -> Ranking:
        """Return this ranking, or the one that takes its place if a lookup cannot serve it."""
        return self

    @abstractmethod
    def rank(self, query: Query, found: Candidates[Any]) -> Order:
        """Return rows in their order."""


DATED: Final = 3
"""How many rows of a date in the query become candidates, if it says more than that date: more of
them would displace rows of other dates that answer it better."""

LIKE: Final = 0.7
"""What counts of the score of a row that is like what is said of an event, beside one that is like
what is asked."""


@frozen(kw_only=True)
class Contextual(Ranking):
    name = CONTEXTUAL
    weighs_words_of_queries = True
    has_minimum = True
    reads_times = True
    respells = True

    def compared(self, lookup: Lookup[Any], cosines: Mapping[int, float]) -> Mapping[int, float]:
        return lookup.above_floor(cosines)

    def usable(self, lookup: Lookup[Any]) -> Ranking:
        if lookup.has_contexts:
            return self
        return Classic(**asdict(self))

    def rank(self, query: Query, found: Candidates[Any]) -> Order:
        """Rank the rows found, their neighbours, and rows of a date in the query."""
        lookup = found.lookup
        ids = [*{**found.by_words, **query.near}]
        named = lookup.named_dates(query.text)
        ids += _of_named_dates(query, ids, found, named)
        ids += _of_condition(query, ids, found, named.condition)
        ids += lookup.neighbours(ids, REACH, found.wanted)
        compares = query.vector is not None and lookup.can_compare
        cosines: Mapping[int, float] = {} if compares else query.near
        if query.vector is not None and (not compares or found.min_similarity is not None):
            others = [id_ for id_ in ids if id_ not in cosines]
            cosines = {**cosines, **lookup.cosines(query.vector, others)}
        cosines = self.compared(lookup, cosines)
        if (least := found.min_similarity) is not None:
            # Rows without a vector cannot be compared, and stay.
            ids = [id_ for id_ in ids if cosines.get(id_, least) >= least]
        limit = len(ids) if found.keeps_all else found.limit
        is_given = query.vector is not None and not compares
        orders: list[Order] = []
        for condition in _each_comparison(named.condition):
            near = cosines
            if is_given and condition is not None and condition.rest:
                # Where the kernel compares rows, it compares them with this text, too.
                vectors = lookup.query_vectors([condition.rest]) or ()
                near = self.compared(lookup, lookup.cosines(vectors[0], ids)) if vectors else near
            orders.append(
                lookup.in_context(
                    query.text,
                    [*zip(ids, map(near.get, ids), strict=True)],
                    found.wanted,
                    limit=limit,
                    half_lives_seconds=self.half_lives_seconds,
                    compares=compares or query.by_table,
                    joins=query.vector is not None and lookup.joins,
                    calendar=named.calendar,
                    condition=condition,
                )
            )
        order = _merged(orders, limit)
        if query.by_table:  # no vector was compared
            return order._replace(rows=[one._replace(vector_score=0.0) for one in order.rows])
        return order


def _of_named_dates(
    query: Query, ids: Sequence[int], found: Candidates[Any], named: dates.Named
) -> list[int]:
    """Return more rows from the dates in a query, if few of the rows found are from them.

    Rows near the query come first, then rows that match its words.
    """
    lookup, wanted = found.lookup, found.wanted
    more: list[int] = []
    if not named.periods:
        return more
    says_more = len(lookup.terms(query.text).written) > named.parts + 1
    enough = min(found.limit, DATED) if says_more else found.limit
    for period in named.periods:
        after = max(filter(None, (wanted.valid_after, period.after)))
        before = min(filter(None, (wanted.valid_before, period.before)))
        if after >= before:
            continue
        left = enough - lookup.count_valid_between(ids, after, before)
        if left <= 0:
            continue
        then = replace(wanted, valid_after=after, valid_before=before)
        best = dict.fromkeys(lookup.all_if_few(then, enough))
        if not best and query.vector is not None:
            best |= dict.fromkeys(lookup.near([query.vector], then, enough)[0])
        if len(best) < enough:
            best |= dict.fromkeys(lookup.words(query.text, then, enough))
        more += [id_ for id_ in best if id_ not in ids][:left]
    return more


def _of_condition(
    query: Query, ids: Sequence[int], found: Candidates[Any], condition: dates.Condition | None
) -> list[int]:
    """Return more rows of the time that a query asks for: later ones may fill the candidates.

    They are found by what is asked of it, and by what is said of an event; so are rows of the time
    before an event, which may fill them, too.
    """
    if condition is None or not (
        condition.since or condition.until or (condition.event and condition.rest)
    ):  # what the whole query finds at any time are the candidates
        return []
    texts = [*filter(None, (condition.rest, condition.like))] or [query.text]
    wanted, lookup = found.wanted, found.lookup
    since = condition.since and moments.later(condition.since, -zones.MICROSECOND)
    after = max(filter(None, (wanted.valid_after, since)), default=None)
    before = min(filter(None, (wanted.valid_before, condition.until)), default=None)
    if after is not None and before is not None and after >= before:
        return []  # the filter leaves nothing of that time
    then = replace(wanted, valid_after=after, valid_before=before)
    more: dict[int, None] = {}
    for text in texts:
        more |= dict.fromkeys(lookup.words(text, then, found.limit))
        if query.vector is not None:
            vectors = lookup.query_vectors([text]) or [query.vector]
            more |= dict.fromkeys(lookup.near(vectors, then, found.limit)[0])
    return [id_ for id_ in more if id_ not in {*ids}]


def _each_comparison(condition: dates.Condition | None) -> Sequence[dates.Condition | None]:
    """Return a condition for each text that rows are compared with.

    These are what is asked, and what is said of the event, if that is known.
    """
    if condition is None or not condition.like:
        return [condition]
    like = condition._replace(rest=condition.like)
    return [condition, like] if condition.rest else [like]


def _merged(orders: Sequence[Order], limit: int) -> Order:
    """Return what is asked, and with less weight what is like the event, in one order.

    Each part of such a row's score counts less. Whom the best row is about, its own order tells.
    """
    first, *others = orders
    if not others:
        return first
    best = {row.id: (row, first) for row in first.rows}
    for order in others:
        for row in map(_less, order.rows):
            if row.id not in best or best[row.id][0].score < row.score:
                best[row.id] = row, order
    merged = sorted(best.values(), key=lambda one: -one[0].score)
    elsewhere = merged[0][1].elsewhere if merged else None
    return Order([row for row, _ in merged[:limit]], elsewhere)


def _less(row: Ranked) -> Ranked:
    """Return a row that is like what is said of an event, as it counts beside what is asked."""
    parts = ScoreParts(*(LIKE * part for part in row.parts))._replace(decay=row.parts.decay)
    return row._replace(score=LIKE * row.score, parts=parts)


@frozen(kw_only=True)
class Classic(Ranking):
    name = CLASSIC
    compares_stored = True

    def rank(self, query: Query, found: Candidates[Any]) -> Order:
        by_words, near = found.by_words, dict(query.near)
        if query.vector is not None:
            # The true cosines of rows that only the words found.
            others = [id_ for id_ in by_words if id_ not in near]
            near |= found.lookup.cosines(query.vector, others)
        if (least := found.min_similarity) is not None:
            # What has no vector yet cannot be judged and stays.
            by_words = {i: bm25 for i, bm25 in by_words.items() if near.get(i, least) >= least}
            near = {id_: cosine for id_, cosine in near.items() if cosine >= least}
        ageing = found.ageing({*by_words, *near}, self.half_lives_seconds)
        weights = self.weights_for(query)
        every = len(by_words) + len(near)
        if not found.newest_of_equals:
            limit = every if found.keeps_all else found.limit
            return Order(merge(by_words, near, ageing, weights, limit))
        rows = merge(by_words, near, ageing, weights, every)
        return Order(sorted(rows, key=lambda place: (-place.score, -place.id)))


def merge(
    by_words: Mapping[int, float],
    near: Mapping[int, float],
    ageing: Sequence[Ageing],
    weights: Weights,
    limit: int,
) -> list[Ranked]:
    """Return the best rows, best first, ties by id.

    ``score = (weights.words * bm25 / max(bm25) + weights.vectors * max(cosine, 0)) * decay``,
    ``decay = 0.5 ** (age / half-life)``; FTS5's BM25 is more negative the better it is.
    """
    ranked = ranking.classic(
        [*by_words.items()],
        [*near.items()],
        ageing,
        word_weight=weights.words,
        vector_weight=weights.vectors,
        limit=limit,
    )
    return [
        Ranked(
            id_,
            score,
            word,
            vector,
            decay,
            _parts(weights.words * word, weights.vectors * vector, decay),
        )
        for id_, score, word, vector, decay in ranked
    ]


def _parts(words: float, meaning: float, decay: float) -> ScoreParts:
    return ScoreParts(words, meaning, age=(words + meaning) * (decay - 1), decay=decay)
