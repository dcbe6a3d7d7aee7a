"""The rows that match a filter: from the columns if these suffice, otherwise from SQL."""

from __future__ import annotations

from bisect import bisect_left
from datetime import MAXYEAR, MINYEAR, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from memstore._kernel.ids import Ids
from memstore.database.tables import facts as fact_table
from memstore.database.tables.indexed import (
    CREATED,
    DELETED,
    DISTRUSTED,
    ERASED,
    EXPIRES,
    OWNED,
    SUPERSEDED,
    TASK,
    VALID,
)
from memstore.domain import clock
from memstore.domain.metadata import MetadataFilter
from memstore.domain.records import NOBODY
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from memstore._kernel.columns import Columns
    from memstore.database.engine import Transaction
    from memstore.database.filters import EpisodeFilter, FactFilter
    from memstore.database.tables import episodes as episode_table
    from memstore.domain.metadata import Condition
    from memstore.domain.records import AtLeast, Fact, Scope
else:
    episode_table = lazy_import("memstore.database.tables.episodes")

COLUMNS: Final = {"created": CREATED, "valid": VALID, "expired": EXPIRES}

INSTANT: Final = timedelta(microseconds=1)
"""The smallest difference of two times."""

Period: TypeAlias = "tuple[int, str | None, str | None, bool]"
"""A column of times, exclusive lower and upper bounds, and whether rows without a time match."""

W = TypeVar("W", "FactFilter", "EpisodeFilter")

Visible: TypeAlias = Ids
"""The rows that may be seen."""


class OwnersRows:
    """The rows of certain owners, as an index found them in one state of the memory.

    One prompt is several searches, and listing a twentieth of a million facts takes as long as
    comparing all.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Ids] = {}

    def ids(self, key: tuple[object, ...], find: Callable[[], list[int]]) -> Ids:
        """Return the rows of a key, which names the state and the owners; find them once."""
        found = self._known.get(key)
        if found is None:
            found = Ids(find())
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[key] = found
        return found


MAX_KNOWN: Final = 8
"""Of so many sets of owners and states, each some 140 KB at a million rows."""


AHEAD: Final = timedelta(seconds=60)
"""How far it is looked whether one expires."""


class Unexpired(NamedTuple):
    """The rows that pass a filter from one time until another."""

    ids: Ids
    since: datetime
    until: datetime
    looked: datetime
    """How far it was looked."""


class UnexpiredRows:
    """The rows that pass certain filters in one state of the memory, until one of them expires.

    Whether one does is looked up when they are asked for once more: most programs ask once.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Unexpired] = {}
        self._state = 0

    def ids(
        self, state: int, key: tuple[object, ...], now: datetime, find: Callable[[datetime], Ids]
    ) -> Ids:
        """Return the rows at a time, as ``find`` does; the key names their filter."""
        key = state, *key
        known = self._known.get(key)
        if known is not None and known.since <= now <= known.until:
            return known.ids
        ids = find(now)
        until = looked = now
        if known is not None and now < known.looked:
            looked = known.looked  # one expires before
        elif known is not None and now.year < MAXYEAR:
            looked = now + AHEAD
            if len(find(looked)) == len(ids):
                until = looked
        if self._state != state:
            self._known.clear()
            self._state = state
        elif self._known.pop(key, None) is None and len(self._known) >= MAX_KNOWN:
            self._known.pop(next(iter(self._known), key), None)  # the one asked for longest ago
        self._known[key] = Unexpired(ids, now, until, looked)
        return ids


class IndexState(NamedTuple):
    """An index in the state that a transaction sees."""

    columns: Columns
    position: int
    """Where in the feed of changes it stands."""
    owners: OwnersRows
    unexpired: UnexpiredRows


def of_facts(transaction: Transaction, index: IndexState | None, wanted: FactFilter) -> Visible:
    """Return the ids that match ``wanted.where``; without an index, SQL finds them."""
    if index is None or wanted.needs_rows:
        return Ids(fact_table.select_ids(transaction, wanted))
    find = partial(_facts, transaction, index, wanted)
    if not _is_lasting(wanted) or wanted.metadata or wanted.is_keyed:
        return find(wanted.now)
    states = wanted.active_only, wanted.include_deleted, wanted.include_superseded, wanted.tasks
    # What is selected as of a moment passes with the earliest time, beside what is as of now.
    is_of_past = wanted.now.year == MINYEAR
    key = (*_key(wanted), wanted.subject, wanted.category, wanted.valid_on, is_of_past, *states)
    # What held in a period did so whatever time it is.
    now = wanted.now if wanted.valid_on is None else wanted.valid_on[0]
    return index.unexpired.ids(index.position, key, now, find)


def _facts(
    transaction: Transaction, index: IndexState, wanted: FactFilter, now: datetime
) -> Visible:
    without = _distrusted(wanted)
    without |= ERASED if wanted.include_deleted else DELETED
    without |= 0 if wanted.tasks else TASK
    periods = [*_periods(wanted)]
    if wanted.valid_on is not None:
        without |= SUPERSEDED
        periods += _valid_in(wanted.valid_on)
    elif wanted.active_only:
        without |= 0 if wanted.include_superseded else SUPERSEDED
        periods.append(_unexpired(now))
    found = index.columns.select(
        wanted.namespaces,
        without=without | _owned(wanted.scope),
        texts=(
            None if wanted.subject is None else subject_key(wanted.subject),
            None if wanted.category is None else subject_key(wanted.category),
        ),
        periods=periods,
        among=_among(
            index,
            wanted,
            partial(fact_table.ids_of_owners, transaction),
            wanted.active_only,
            wanted.include_deleted or wanted.include_superseded or wanted.valid_on is not None,
        ),
    )
    if wanted.valid_on is not None:
        found = found | Ids(fact_table.superseded_but_valid(transaction, wanted))
    if wanted.is_keyed:
        found = found & Ids(fact_table.with_key_prefix(transaction, wanted))
    for condition in wanted.metadata:
        found = _with_metadata(transaction, found, condition)
    return found


def _with_metadata(transaction: Transaction, found: Ids, condition: Condition) -> Ids:
    if not (isinstance(condition, MetadataFilter) and condition.is_indexed):
        return Ids(fact_table.reading_metadata(transaction, condition, found))
    passing = Ids(fact_table.with_metadata(transaction, condition))
    if condition.value is None and condition.op != "!=":
        return found - passing
    if condition.include_missing:
        return found - (Ids(fact_table.with_key(transaction, condition.path[0])) - passing)
    return found & passing


def of_episodes(
    transaction: Transaction, index: IndexState | None, wanted: EpisodeFilter
) -> Visible:
    """Return the ids that match ``wanted.where``; without an index, SQL finds them."""
    if index is None or wanted.needs_rows:
        return Ids(episode_table.select_ids(transaction, wanted))
    find = partial(_episodes, transaction, index, wanted)
    if not _is_lasting(wanted) or wanted.tags or wanted.thread is not None:
        return find(wanted.now)
    key = (*_key(wanted), wanted.source, wanted.include_expired)
    return index.unexpired.ids(index.position, key, wanted.now, find)


def _episodes(
    transaction: Transaction, index: IndexState, wanted: EpisodeFilter, now: datetime
) -> Visible:
    periods = [] if wanted.include_expired else [_unexpired(now)]
    periods += _periods(wanted)
    found = index.columns.select(
        wanted.namespaces,
        without=ERASED | _distrusted(wanted) | _owned(wanted.scope),
        texts=(wanted.source, None),
        periods=periods,
        among=_among(index, wanted, partial(episode_table.ids_of_owners, transaction)),
    )
    for tag in wanted.tags:
        found = found & Ids(episode_table.tagged(transaction, tag))
    if wanted.thread is not None:
        found = found & Ids(episode_table.of_thread(transaction, wanted))
    return found


def stored(index: IndexState, wanted: FactFilter | EpisodeFilter) -> Visible:
    """Return all rows of the namespaces of a filter, in any state, also those that were erased.

    Its owners are all, or none.
    """
    return index.columns.select(wanted.namespaces, without=_owned(wanted.scope))


def superseded(index: IndexState, wanted: FactFilter) -> Visible:
    """Return the superseded facts of the namespaces of a filter; its owners are all, or none."""
    without = DELETED | _owned(wanted.scope)
    undeleted = index.columns.select(wanted.namespaces, without=without)
    return undeleted - index.columns.select(wanted.namespaces, without=without | SUPERSEDED)


def until(ids: Ids, last: int) -> Ids:
    """Return the ids up to one, which may be any number."""
    ends = ids.ends()
    if ends is None or last < ends[0]:
        return Ids([])
    return ids if last >= ends[1] else ids.until(last)


def part(ids: Ids, start: int, stop: int) -> Ids:
    """Return the ids from one place to another, in their order: they are not all listed."""
    ends = ids.ends()
    if ends is None or start >= stop:
        return Ids([])

    def first(number: int) -> Ids:
        if number >= len(ids):
            return ids
        low, high = ends
        return ids.until(low + bisect_left(range(low, high), number, key=number_until))

    def number_until(last: int) -> int:
        return len(ids.until(last))

    return first(stop) - first(start) if start else first(stop)


def valid_between(columns: Columns, ids: Iterable[int], after: datetime, before: datetime) -> Ids:
    """Return those of the rows that are valid since a moment between two."""
    period = VALID, clock.to_text(after), clock.to_text(before), False
    return columns.select(None, periods=[period], among=Ids(ids))


def on_subject(columns: Columns, fact: Fact, among: Ids, now: datetime | None) -> Ids:
    """Return the facts on a fact's subject, in its namespace, that are active and no tasks.

    Args:
        among: those that pass a filter and belong to the fact's owners, or to nobody.
        now: the time at which they are active; ``None`` if only active ones are among these.
    """
    without = TASK | (OWNED if fact.scope == NOBODY else 0) | (SUPERSEDED if now else 0)
    found = columns.select(
        (fact.namespace,),
        without=without,
        texts=(subject_key(fact.subject), None),
        periods=[_unexpired(now)] if now else (),
    )
    return found & among


def valid_since(columns: Columns, fact: Fact, among: Ids, *, later: bool) -> Ids:
    """Return the others of these facts that are valid since the same time or a later one.

    Args:
        later: if false, since the same time or an earlier one.
    """
    since = fact.valid_at or fact.created_at
    if later:
        after = since if since.year == MINYEAR else since - INSTANT
        period: Period = VALID, clock.to_text(after), None, False
    else:
        before = since if since.year == MAXYEAR else since + INSTANT
        period = VALID, None, clock.to_text(before), False
    return columns.select(None, periods=[period], among=among) - Ids([fact.id])


def _is_lasting(wanted: FactFilter | EpisodeFilter) -> bool:
    """Whether a later search may have the same filter."""
    is_bounded = any(wanted.period(kind) != (None, None) for kind in wanted.KINDS)
    return not (is_bounded or wanted.is_among)


def _key(wanted: FactFilter | EpisodeFilter) -> tuple[object, ...]:
    """Return what names the rows that a filter selects from."""
    namespaces = wanted.namespaces if wanted.namespaces is None else tuple(wanted.namespaces)
    return namespaces, wanted.scope, wanted.include_distrusted


def _distrusted(wanted: FactFilter | EpisodeFilter) -> int:
    return 0 if wanted.include_distrusted else DISTRUSTED


def _among(
    index: IndexState, wanted: W, of_owners: Callable[[W], list[int]], *states: object
) -> Ids | None:
    """Return the ids among which rows are selected: those that are named, and the owners' own."""
    among = wanted.among
    if among is not None and not isinstance(among, Ids):
        among = Ids(among)
    if wanted.is_common:
        return among
    own_key = (index.position, *_key(wanted), *states)
    own = index.owners.ids(own_key, partial(of_owners, wanted))
    return own if among is None else own & among


def _valid_in(period: tuple[datetime, datetime]) -> Iterator[Period]:
    """Yield the periods of facts that nothing supersedes: their ends are exclusive."""
    start, stop = map(clock.to_text, period)
    yield VALID, None, stop, False
    yield EXPIRES, start, None, True


def _owned(scope: Scope | AtLeast | None) -> int:
    return OWNED if scope == NOBODY else 0


def _periods(wanted: FactFilter | EpisodeFilter) -> Iterator[Period]:
    for kind in wanted.KINDS:
        after, before = map(_text, wanted.period(kind))
        if after is not None or before is not None:
            yield COLUMNS[kind], after, before, False


def _unexpired(now: datetime) -> Period:
    return EXPIRES, clock.to_text(now), None, True


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else clock.to_text(moment)
