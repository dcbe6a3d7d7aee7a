"""Lists of facts of a period, and counts: the index says between which ids they are, or how many.

Ids are nearly in the order of times, so that a list of a day far back does not begin by reading all
that came later. They need not be: imported facts are older than those before them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.filters import FactFilter
from memstore.database.tables import counts
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.frozen import replace
from memstore.search.index import visibility

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.database.filters import EpisodeFilter
    from memstore.domain.queries import Page
    from memstore.domain.records import Fact
    from memstore.search.index.contents import FeedContents


FEW: Final = 1_000
"""So many episodes that are not shown are looked up."""


def superseded(
    transaction: Transaction, contents: FeedContents | None, wanted: FactFilter, page: Page
) -> list[Fact]:
    """Return the superseded facts of all owners, or of none; the same without an index."""
    if contents is not None:
        found = visibility.superseded(contents.state, wanted)
        if page.before_id is not None:
            found = visibility.until(found, page.before_id - 1)
        if page.after_id is not None:
            found = found - visibility.until(found, page.after_id)
        size = len(found) if page.limit is None else page.limit
        start, stop = page.offset, min(page.offset + size, len(found))
        if page.newest_first:
            start, stop = len(found) - stop, len(found) - start
        ids = [*visibility.part(found, max(start, 0), stop)]
        facts = fact_table.get_many(transaction, ids)
        return [facts[id_] for id_ in (reversed(ids) if page.newest_first else ids)]
    return [*fact_table.select(transaction, wanted, page)]


def of_period(
    transaction: Transaction,
    contents: FeedContents | None,
    wanted: FactFilter,
    page: Page,
) -> list[Fact]:
    """Return the facts that pass a filter with bounds of times; the same without an index."""
    if contents is not None:
        ends = visibility.of_facts(transaction, contents.state, _in_time(wanted)).ends()
        if ends is None:
            return []
        first, last = ends
        before, after = page.before_id, page.after_id
        page = replace(
            page,
            before_id=last + 1 if before is None else min(before, last + 1),
            after_id=first - 1 if after is None else max(after, first - 1),
        )
    return [*fact_table.select(transaction, wanted, page)]


def counted(transaction: Transaction, contents: FeedContents | None, wanted: FactFilter) -> int:
    """Count the facts that pass a filter, which the columns of an index answer."""
    if contents is None:
        return counts.facts(transaction, wanted)
    return len(visibility.of_facts(transaction, contents.state, wanted))


def counted_episodes(
    transaction: Transaction, contents: FeedContents | None, wanted: EpisodeFilter
) -> int:
    """Count the episodes that pass a filter; the same without an index."""
    if contents is None:
        return episode_table.count(transaction, wanted)
    if wanted.thread is not None and replace(wanted, thread=None).is_plain:
        # An index counts a thread in any state. The few episodes that are not shown are looked up.
        others = replace(wanted, thread=None)
        seen = visibility.of_episodes(transaction, contents.state, others)
        hidden = visibility.stored(contents.state, wanted) - seen
        if len(hidden) <= FEW:
            return episode_table.count_thread(transaction, wanted, [*hidden])
    return len(visibility.of_episodes(transaction, contents.state, wanted))


def _in_time(wanted: FactFilter) -> FactFilter:
    """Return a filter with the same bounds that columns answer: as many facts pass, or more."""
    return FactFilter(
        wanted.namespaces,
        wanted.now,
        subject=wanted.subject,
        category=wanted.category,
        created_after=wanted.created_after,
        created_before=wanted.created_before,
        valid_after=wanted.valid_after,
        valid_before=_valid_before(wanted),
        active_only=False,
        include_deleted=True,
        include_distrusted=True,
    )


def _valid_before(wanted: FactFilter) -> datetime | None:
    """Return the time before which facts are valid that pass a filter."""
    if wanted.valid_on is None or wanted.valid_after or wanted.valid_before:
        return wanted.valid_before
    return wanted.valid_on[1]
