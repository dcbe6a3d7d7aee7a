"""Counts what was done on each day of a time zone."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Final, TypeVar

from memstore.database import journal, line_filters, origins
from memstore.database.tables import line_counts
from memstore.database.tables.journal_lines import LineConditions
from memstore.database.tables.line_counts import IMPORT
from memstore.domain import clock
from memstore.domain.arguments import checked_number
from memstore.domain.log import DayActivity, log_filter
from memstore.domain.queries import LineNarrowing
from memstore.errors import InvalidArgumentType
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    import zoneinfo
    from collections.abc import Callable, Mapping

    from memstore.database.engine import Engine, Transaction
    from memstore.domain.standing import Standing
else:
    zoneinfo = lazy_import("zoneinfo")

K = TypeVar("K")
V = TypeVar("V")

MAX_DAYS: Final = 3_660

MAX_KNOWN: Final = 2 * MAX_DAYS
"""Of how many days a file that is open knows the numbers."""


class Activity:
    """Counts the lines of days; those of a day that is over are read once while the file is open.

    Its lines do not change any more: what is erased of a line is its texts alone. Only whose they
    are does, so that numbers of certain owners are counted again after something was erased. Any
    number of threads may use it: two that count the same day find the same.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._first: dict[datetime, int] = {}
        """The first line after a midnight."""
        self._numbers: dict[tuple[object, ...], _Numbers] = {}

    def days(
        self,
        days: int,
        zone: tzinfo,
        until: date | None,
        standing: Standing,
    ) -> list[DayActivity]:
        """Count the lines of each day, oldest first; a day's first line is found by halving."""
        checked_number(days, "days", 1, MAX_DAYS)
        if until is not None and not isinstance(until, date):
            raise InvalidArgumentType(
                f"must be a date, not {type(until).__name__}", argument="until"
            )
        last = clock.utc_now().astimezone(zone).date() if until is None else until
        every = [last - timedelta(days=ago) for ago in range(days - 1, -1, -1)]
        namespaces, owners = standing.namespaces, standing.selected
        whole_file = not standing.confined
        with self._engine.read() as transaction:
            wanted = LineConditions(
                transaction, EVERY_LINE, namespaces, owners, whole_file=whole_file
            )
            bounds = [1]
            for day in (*every, last + timedelta(days=1)):
                bounds.append(
                    self._first_line(transaction, wanted, _midnight(day, zone), bounds[-1])
                )

            erased = 0 if owners is None else line_counts.last_erasure(transaction)

            def counted(first: int, end: int) -> _Numbers:
                if first == end:
                    return _Numbers({}, {})
                if end > wanted.last:
                    return _numbers(wanted, first, end - 1)
                asked = (first, end, namespaces, whole_file, owners, erased)
                return _known(self._numbers, asked, lambda: _numbers(wanted, first, end - 1))

            spans = [*zip(every, bounds[1:], bounds[2:], strict=False)]
            numbers = [counted(first, end) for _, first, end in spans]
            has_others = any(one.devices for one in numbers)
            names = origins.names(transaction) if has_others else {}
            return [
                DayActivity(
                    day=day,
                    first=first,
                    last=end - 1,
                    kinds={**one.kinds},
                    devices=_named(one.devices, names),
                )
                for (day, first, end), one in zip(spans, numbers, strict=True)
            ]

    def _first_line(
        self, transaction: Transaction, wanted: LineConditions, midnight: datetime, least: int
    ) -> int:
        found = self._first.get(midnight) or line_filters.first_since(transaction, midnight, least)
        if found > wanted.last:
            return found
        return _known(self._first, midnight, lambda: found)


class _Numbers(NamedTuple):
    """What was done on a day, by kind; and by other devices, by the ids of their rows."""

    kinds: dict[str, int]
    devices: dict[int, dict[str, int]]


def _numbers(wanted: LineConditions, first: int, last: int) -> _Numbers:
    """Count lines; those of other devices as what they were there."""
    kinds, devices = Counter(wanted.by_kind(first, last)), wanted.by_device(first, last)
    for numbers in devices.values():
        kinds.update(numbers)
        kinds[IMPORT] -= sum(numbers.values())
    return _Numbers({kind: kinds[kind] for kind in sorted(kinds) if kinds[kind]}, devices)


def _named(
    devices: dict[int, dict[str, int]], names: Mapping[int, str]
) -> dict[str, dict[str, int]]:
    """Return numbers by the names of devices; those of one name together."""
    found: dict[str, Counter[str]] = {}
    for device, numbers in devices.items():
        found.setdefault(names[device], Counter()).update(numbers)
    return {name: dict(found[name]) for name in sorted(found)}


def _known(known: dict[K, V], key: K, find: Callable[[], V]) -> V:
    """Return what is known for a key; find it, and know it then."""
    value = known.get(key)
    if value is None:
        if len(known) >= MAX_KNOWN:
            known.clear()
        known[key] = value = find()
    return value


EVERY_LINE = log_filter(LineNarrowing(limit=None), known=[*journal.Kind])


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time.min, zone).astimezone(UTC)
