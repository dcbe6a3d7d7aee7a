"""How many facts each subject, each category and each day has, by an index that is open.

The counts that are stored are of each set of owners, so that those of all owners are sums over
thousands of rows. The columns of an index are counted in one pass.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from memstore.database.tables import counts, key_counts
from memstore.database.tables import facts as fact_table
from memstore.database.tables.indexed import CREATED
from memstore.domain import clock, zones
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter
    from memstore.database.tables.key_counts import SubjectPlace, Tally
    from memstore.search.index import visibility
    from memstore.search.index.contents import FeedContents
    from memstore.search.index.visibility import Visible
else:
    visibility = lazy_import("memstore.search.index.visibility")

COLUMNS: Final = {"subject": 0, "category": 1}
"""Their places among the texts of a row."""

DAY: Final = timedelta(days=1)
QUARTER: Final = timedelta(minutes=15)


def of_keys(
    transaction: Transaction, contents: FeedContents | None, wanted: FactFilter, *columns: str
) -> tuple[Tally, ...]:
    """Return how many active facts each subject, and each category, has.

    Args:
        columns: ``subject`` and ``category``, or one of them.
    """
    if contents is None or not wanted.is_common:
        return tuple(key_counts.KeyCounts(transaction, wanted, column) for column in columns)
    seen = visibility.of_facts(transaction, contents.state, wanted)
    return tuple(_Indexed(transaction, contents, seen, column) for column in columns)


def by_day(
    transaction: Transaction, contents: FeedContents | None, wanted: FactFilter, first: date
) -> dict[str, int]:
    """Count the facts that were stored on each day from one on; see :func:`counts.by_day`."""
    if contents is not None and wanted.is_common:
        days = [first + DAY * place for place in range((zones.today() - first).days + 2)]
        bounds = [clock.to_text(_in_quarters(zones.start(day))) for day in days]
        stored = visibility.stored(contents.state, wanted)
        *numbers, later = contents.columns.histogram(CREATED, stored, bounds)
        if not later:  # else the days of what was stored later are not known
            held = zip(days, numbers, strict=False)
            return {day.isoformat(): number for day, number in held if number}
    return counts.by_day(transaction, "fact", wanted, first)


def _in_quarters(moment: datetime) -> datetime:
    """Return the first quarter of an hour that begins at a moment or later."""
    passed = moment - datetime.min.replace(tzinfo=moment.tzinfo)
    return moment + -passed % QUARTER


class _Indexed:
    """As :class:`key_counts.KeyCounts`, in passes over a column."""

    def __init__(
        self, transaction: Transaction, contents: FeedContents, seen: Visible, column: str
    ) -> None:
        self._transaction, self._columns, self._column = transaction, contents.columns, column
        self._seen = seen
        self._ids: dict[str, int] = {}
        """The newest facts of the keys that were asked for."""
        self._number: int | None = None

    def first(self, beginning: str, after: str | None, limit: int) -> dict[str, int]:
        place = None if after is None else (after, 0)
        return self._counted(limit, beginning, place, by_number=False)

    def largest(
        self, limit: int, beginning: str = "", after: SubjectPlace | None = None
    ) -> dict[str, int]:
        return self._counted(limit, beginning, after, by_number=True)

    def number(self) -> int:
        if self._number is None:
            self._counted(0, "", None, by_number=False)
        return self._number or 0

    def of(self, key: str) -> int:
        texts = (key, None) if self._column == "subject" else (None, key)
        found = self._columns.select(None, texts=texts, among=self._seen)
        if ends := found.ends():
            self._ids[key] = ends[1]
        return len(found)

    def newest(self, numbers: Mapping[str, int]) -> dict[str, tuple[int, str]]:
        ids = {key: self._ids[key] for key in numbers}
        spelled = fact_table.spelled(self._transaction, self._column, [*ids.values()])
        return {key: (id_, spelled.get(id_, key)) for key, id_ in ids.items()}

    def _counted(
        self, limit: int, beginning: str, after: tuple[str, int] | None, *, by_number: bool
    ) -> dict[str, int]:
        found, self._number = self._columns.counts(
            COLUMNS[self._column],
            self._seen,
            limit=limit,
            prefix=beginning,
            by_number=by_number,
            after=after,
        )
        self._ids |= {key: newest for key, _, newest in found}
        return {key: number for key, number, _ in found}
