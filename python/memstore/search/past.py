"""Limits a search of an earlier moment to what was there then.

A filter is settled: it becomes one that names the ids of the rows that passed it then. They come
from the filter applied to the rows of now, corrected by what changed since.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from memstore._kernel.ids import Ids
from memstore.database import journal
from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.database.tables import facts as fact_table
from memstore.domain.records import TODO
from memstore.frozen import replace
from memstore.history import past, trust

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from memstore.database.engine import Transaction
    from memstore.domain.episodes import Episode
    from memstore.domain.moments import Moment
    from memstore.domain.records import Fact
    from memstore.history.past import LaterChanges, Switched

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
"""A time before which nothing expires."""

KEPT: Final = 32
"""How many settled filters are kept, the newest."""

SELECTED: Final = 8
"""How many of the filters of now."""


class Past:
    """The memories of a moment. Any number of threads may use it."""

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        self._lock = threading.Lock()
        self._line = -1
        """The last line of the journal when what follows was found."""
        self._later: LaterChanges | None = None
        self._settled: list[tuple[FactFilter | EpisodeFilter, Ids]] = []
        self._selected: list[tuple[FactFilter, Ids]] = []
        """Facts of now by filters that several states have in common."""

    def facts(
        self,
        transaction: Transaction,
        wanted: FactFilter,
        select: Callable[[FactFilter], Ids],
    ) -> FactFilter:
        """Return a filter for the facts that passed one then.

        Args:
            transaction: the state of now.
            wanted: its ``now`` is the moment.
            select: returns the facts of now that pass a filter.
        """
        return FactFilter(
            wanted.namespaces,
            wanted.now,
            scope=wanted.scope,
            active_only=False,
            include_deleted=True,
            include_distrusted=True,
            among=self.fact_ids(transaction, wanted, select),
        )

    def fact_ids(
        self,
        transaction: Transaction,
        wanted: FactFilter,
        select: Callable[[FactFilter], Ids],
    ) -> Ids:
        """Return the facts that passed a filter then."""
        return self._known(transaction, wanted, lambda: self._facts(transaction, wanted, select))

    def episodes(
        self,
        transaction: Transaction,
        wanted: EpisodeFilter,
        select: Callable[[EpisodeFilter], Ids],
    ) -> EpisodeFilter:
        """Do the same for episodes."""
        ids = self._known(transaction, wanted, lambda: self._episodes(transaction, wanted, select))
        return EpisodeFilter(
            wanted.namespaces,
            wanted.now,
            scope=wanted.scope,
            include_expired=True,
            include_distrusted=True,
            among=ids,
        )

    def _known(
        self,
        transaction: Transaction,
        wanted: FactFilter | EpisodeFilter,
        find: Callable[[], Ids],
    ) -> Ids:
        """Return what was found for a filter before, unless the journal has grown since."""
        line = journal.last_id(transaction)
        with self._lock:
            if line != self._line:
                self._line, self._later, self._settled, self._selected = line, None, [], []
            ids = next((ids for known, ids in self._settled if known == wanted), None)
            if ids is None:
                ids = find()
                self._settled = [*self._settled[1 - KEPT :], (wanted, ids)]
            return ids

    def _facts(
        self, transaction: Transaction, wanted: FactFilter, select: Callable[[FactFilter], Ids]
    ) -> Ids:
        if self._later is None:
            self._later = past.later_changes(transaction, self.moment)
        find = partial(self._unhidden, transaction, select=select, later=self._later)

        def hidden(ids: Ids) -> Ids:
            return Ids(trust.distrusted_at(transaction, ids, self.moment.line))

        if wanted.states is None:
            found = find(wanted)
            return found - hidden(found)
        return _of_states(replace(wanted, states=None), wanted.states, find, hidden)

    def _unhidden(
        self,
        transaction: Transaction,
        wanted: FactFilter,
        *,
        select: Callable[[FactFilter], Ids],
        later: LaterChanges,
    ) -> Ids:
        """Return the facts that passed a filter then, whether they were distrusted or not."""
        wanted = replace(wanted, include_distrusted=True)
        whole = replace(
            wanted,
            active_only=wanted.active_only and wanted.valid_on is None,
            include_deleted=True,
            include_superseded=True,
            tasks=True,
            metadata=(),
            pinned=False,
            external_key_prefix=None,
            valid_on=None,
        )
        by_row = wanted.metadata or wanted.pinned or wanted.external_key_prefix is not None
        if by_row or wanted.valid_on is not None:
            found, again = select(wanted), Ids(later.all)
        else:
            found, again = self._in_state(wanted, whole, select, later), Ids(())
            if later.others and not wanted.tasks and wanted.subject is None:
                # Metadata says what is a task.
                again = Ids(later.others) & select(replace(whole, subject=TODO))
        candidates = again & select(whole) if len(again) else again
        if later.updated:
            updated = Ids(later.updated)
            again = again | updated
            # Their expiry of now says nothing of then.
            candidates = candidates | (updated & select(replace(whole, active_only=False)))
        facts = past.facts_at(transaction, [*candidates], self.moment)
        passing = Ids([id_ for id_, fact in facts.items() if passes(fact, wanted)])
        found = (found - again) | passing
        return found.until(self.moment.last_fact) - Ids(later.unknown)

    def _in_state(
        self,
        wanted: FactFilter,
        whole: FactFilter,
        select: Callable[[FactFilter], Ids],
        later: LaterChanges,
    ) -> Ids:
        """Return the facts that were in the state asked for, by the kinds of later lines alone."""
        whole = replace(whole, tasks=wanted.tasks)
        lasting = replace(whole, active_only=True, now=EARLIEST)
        found = self._select(whole, select)
        if wanted.active_only and not wanted.include_superseded:
            current = self._select(replace(lasting, include_superseded=False), select)
            found = found & _then(current, later.superseded)
        if not wanted.include_deleted:
            undeleted = self._select(replace(lasting, include_deleted=False), select)
            found = found & _then(undeleted, later.deleted)
        return found

    def _select(self, wanted: FactFilter, select: Callable[[FactFilter], Ids]) -> Ids:
        ids = next((ids for known, ids in self._selected if known == wanted), None)
        if ids is None:
            ids = select(wanted)
            self._selected = [*self._selected[1 - SELECTED :], (wanted, ids)]
        return ids

    def _episodes(
        self,
        transaction: Transaction,
        wanted: EpisodeFilter,
        select: Callable[[EpisodeFilter], Ids],
    ) -> Ids:
        again = Ids(past.changed_episodes(transaction, self.moment))
        wanted = replace(wanted, include_distrusted=True)
        found = select(wanted) - again
        if len(again):
            whole = replace(
                wanted,
                include_expired=True,
                tags=(),
                metadata=(),
                expired_after=None,
                expired_before=None,
            )
            candidates = [*(again & select(whole))]
            episodes = past.episodes_at(transaction, candidates, self.moment)
            found = found | Ids([id_ for id_, one in episodes.items() if _passes(one, wanted)])
        found = found.until(self.moment.last_episode)
        return found - Ids(trust.distrusted_episodes_at(transaction, found, self.moment.line))


def _of_states(
    wanted: FactFilter,
    states: Collection[str],
    find: Callable[[FactFilter], Ids],
    hidden: Callable[[Ids], Ids],
) -> Ids:
    """Return the facts that were in one of these states."""
    held = None
    if wanted.valid_on is not None:
        held = find(replace(wanted, active_only=False, include_deleted=True))
        wanted = replace(wanted, valid_on=None)
    undeleted = find(replace(wanted, active_only=False, include_deleted=False))
    current = find(replace(wanted, active_only=True, include_deleted=False, now=EARLIEST))
    unexpired = current & find(replace(wanted, active_only=True, include_deleted=False))
    distrusted = hidden(unexpired)
    each = {
        "deleted": find(replace(wanted, active_only=False, include_deleted=True)) - undeleted,
        "superseded": undeleted - current,
        "expired": current - unexpired,
        "distrusted": distrusted,
        "active": unexpired - distrusted,
    }
    found = Ids(())
    for state in states:
        found = found | each[state]
    return found if held is None else found & held


def _then(now: Ids, since: Switched) -> Ids:
    """Return which facts were not retired, given those of now and what was switched since."""
    changed = Ids(since.facts)
    return (now - changed) | (changed - Ids(since.were))


def passes(fact: Fact, wanted: FactFilter) -> bool:
    """Return whether a fact passes the conditions on what may change of it."""
    if fact.deleted_at is not None and not wanted.include_deleted:
        return False
    if wanted.valid_on is not None:
        began, (start, stop) = fact.valid_at or fact.created_at, wanted.valid_on
        ends = fact.holds_until
        if began >= stop or (ends is not None and ends <= start):
            return False
        if fact.superseded_by is not None and ends is not None and ends <= began:
            return False
    elif wanted.active_only:
        is_kept = fact.superseded_by is None or wanted.include_superseded
        if not is_kept or (fact.expired_at is not None and fact.expired_at <= wanted.now):
            return False
    return (
        (wanted.tasks or not fact_table.is_task(fact.subject, fact.metadata))
        and (fact.pinned_at is not None or not wanted.pinned)
        and (fact.external_key or "").startswith(wanted.external_key_prefix or "")
        and (fact.external_key is not None or wanted.external_key_prefix is None)
        and all(condition.passes(fact.metadata) for condition in wanted.metadata)
    )


def _passes(episode: Episode, wanted: EpisodeFilter) -> bool:
    ends = episode.expired_at
    after, before = wanted.expired_after, wanted.expired_before
    if ends is None:
        is_in_time = after is None and before is None
    else:
        is_in_time = (
            (wanted.include_expired or ends > wanted.now)
            and (after is None or ends > after)
            and (before is None or ends < before)
        )
    return (
        is_in_time
        and set(wanted.tags) <= set(episode.tags)
        and all(condition.passes(episode.metadata) for condition in wanted.metadata)
    )
