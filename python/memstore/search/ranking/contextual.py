"""The contextual ranking: words, meaning, neighbours in a thread, names, dates, kinds of answers.

The Rust kernel computes it from the index; without an index the classic ranking takes its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore._kernel.ranking import REACH
from memstore.domain.results import CONTEXTUAL
from memstore.frozen import asdict, frozen, replace
from memstore.lazy import lazy_import
from memstore.search.ranking.base import Ranking
from memstore.search.ranking.classic import Classic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memstore.search.lookups import dates
    from memstore.search.lookups.base import Lookup, Order, Query
    from memstore.search.ranking.base import Candidates
else:
    dates = lazy_import("memstore.search.lookups.dates")

DATED: Final = 3
"""How many rows of a date in the query become candidates, if it says more than that date: more of
them would displace rows of other dates that answer it better."""


@frozen(kw_only=True)
class Contextual(Ranking):
    name = CONTEXTUAL
    weighs_words_of_queries = True
    has_minimum = True
    respells = True

    def usable(self, lookup: Lookup[Any]) -> Ranking:
        if lookup.has_contexts:
            return self
        return Classic(**asdict(self))

    def rank(self, query: Query, found: Candidates[Any]) -> Order:
        """Rank the rows found, their neighbours, and rows of a date in the query."""
        lookup = found.lookup
        ids = [*{**found.by_words, **query.near}]
        named = dates.read(query.text, found.wanted.now)
        ids += _of_named_dates(query, ids, found, named)
        ids += lookup.neighbours(ids, REACH, found.wanted)
        compares = query.vector is not None and lookup.can_compare
        cosines: Mapping[int, float] = {} if compares else query.near
        if query.vector is not None and (not compares or found.min_similarity is not None):
            others = [id_ for id_ in ids if id_ not in cosines]
            cosines = {**cosines, **lookup.cosines(query.vector, others)}
        if (least := found.min_similarity) is not None:
            # Rows without a vector cannot be compared, and stay.
            ids = [id_ for id_ in ids if cosines.get(id_, least) >= least]
        return lookup.in_context(
            query.text,
            [(id_, cosines.get(id_)) for id_ in ids],
            found.wanted,
            limit=len(ids) if found.keeps_all else found.limit,
            half_lives_seconds=self.half_lives_seconds,
            compares=compares,
            calendar=named.calendar,
        )


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
