"""How many active facts each subject, and each category, has."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from memstore.database.filters import after_prefix
from memstore.database.tables import counts
from memstore.database.tables import facts as fact_table
from memstore.domain.arguments import MAX_NUMBER
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter
    from memstore.domain.status import SubjectOrder


class MostFrequent(NamedTuple):
    """The most frequent subjects or categories with their counts, and how many there are."""

    most: dict[str, int]
    number: int


class Tally(Protocol):
    """How many active facts each subject, or each category, has."""

    def first(self, beginning: str, after: str | None, limit: int) -> dict[str, int]:
        """Return the first keys with a prefix, in their order.

        Args:
            after: begin after this key.
        """

    def largest(
        self, limit: int, beginning: str = "", after: SubjectPlace | None = None
    ) -> dict[str, int]:
        """Return the keys with a prefix that have the most facts, the largest first."""

    def number(self) -> int:
        """Return how many keys have active facts."""

    def of(self, key: str) -> int:
        """Return how many active facts a key has."""

    def newest(self, numbers: Mapping[str, int]) -> dict[str, tuple[int, str]]:
        """Return the id of the newest fact of each key, and how the key is spelled in it.

        Args:
            numbers: how many active facts each has.
        """


def names(counted: Tally, limit: int) -> MostFrequent:
    """Return the most frequent subjects or categories of active facts.

    Each is spelled as in its newest fact.
    """
    numbers = counted.largest(limit)
    spelled = counted.newest(numbers)
    most = {spelled[key][1]: number for key, number in numbers.items()}
    return MostFrequent(most, counted.number() if len(numbers) == limit else len(numbers))


class KeyCounts:
    """A :class:`Tally` by the counts that are stored.

    The counts are of what is neither superseded nor deleted. The few keys of which some facts are
    expired or distrusted are corrected one by one, so that the others are read in the order of an
    index, and no further than the limit.

    Args:
        column: ``subject`` or ``category``.
    """

    def __init__(self, transaction: Transaction, wanted: FactFilter, column: str) -> None:
        self._transaction = transaction
        self._wanted, self._column = wanted, column
        self._dialect = transaction.dialect
        self._seen, self._values = counts.seen_of(transaction, wanted, column)
        self._sums: dict[str, int] = {}
        """Of keys with inactive facts: how many they have with those."""
        self._inactive: Counter[str] = Counter()
        for among, values in counts.inactive_parts(transaction, wanted):
            rows = transaction.rows(f"SELECT f.{counts.KEYS[column]} {among}", values)
            self._inactive.update(str(key) for (key,) in rows)
        within_one = len(wanted.namespaces or ()) == 1
        self._is_single = wanted.is_exact and within_one
        """Whether each key has one count."""
        self._by_key = within_one and wanted.scope is None
        """Whether an index has the counts of all owners by key."""

    def first(self, beginning: str, after: str | None, limit: int) -> dict[str, int]:
        narrowed, values = _between(beginning, after)
        most = min(limit + len(self._inactive), MAX_NUMBER)  # so many may have none left
        hint = self._dialect.indexed_by("idx_memstore_count_key") if self._by_key else ""
        numbers = self._summed(f"{narrowed} GROUP BY 1 ORDER BY 1", values, most, hint)
        corrected = ((key, number - self._inactive.get(key, 0)) for key, number in numbers)
        return dict(islice((one for one in corrected if one[1] > 0), limit))

    def largest(
        self, limit: int, beginning: str = "", after: SubjectPlace | None = None
    ) -> dict[str, int]:
        narrowed, values = _between(beginning, None)
        if after is not None:
            values |= after._asdict()
        # Else the counts would be read in the order of the keys, and each be looked up.
        key = "c.key" if self._is_single else self._dialect.unordered("c.key")
        tests = f"sum(c.number) < :number OR (sum(c.number) = :number AND {key} > :key)"
        having = "" if after is None else f" HAVING {tests}"
        most = min(limit + len(self._inactive), MAX_NUMBER)
        order = f"{narrowed} GROUP BY 1{having} ORDER BY 2 DESC, 1"
        numbers = dict(self._summed(order, values, most, key=key))
        self._sums |= {key: numbers[key] for key in numbers.keys() & self._inactive.keys()}
        found = [one for one in numbers.items() if one[0] not in self._inactive]
        found += self._corrected(beginning, after)
        return dict(sorted(found, key=_by_size)[:limit])

    def number(self) -> int:
        every = self._transaction.scalar(
            f"SELECT count(DISTINCT c.key) FROM memstore_counts c WHERE {self._seen}", self._values
        )
        return every - len(self._inactive) + len(self._corrected("", None))

    def of(self, key: str) -> int:
        return dict(self._of([key])).get(key, 0) - self._inactive.get(key, 0)

    def newest(self, numbers: Mapping[str, int]) -> dict[str, tuple[int, str]]:
        return fact_table.newest_of_each(self._transaction, self._wanted, self._column, numbers)

    def _corrected(self, beginning: str, after: SubjectPlace | None) -> list[tuple[str, int]]:
        """Return the keys with inactive facts that have others too, after a place by size."""
        keys = [key for key in self._inactive if key.startswith(beginning)]
        if unknown := [key for key in keys if key not in self._sums]:
            self._sums |= self._of(unknown)
        found = [(key, self._sums.get(key, 0) - self._inactive[key]) for key in keys]
        least = None if after is None else _by_size(after)
        return [one for one in found if one[1] > 0 and (least is None or _by_size(one) > least)]

    def _of(self, keys: Sequence[str]) -> Iterator[tuple[str, int]]:
        hint = self._dialect.indexed_by("idx_memstore_count_key") if self._by_key else ""
        among = f" AND c.key IN {self._dialect.listed('keys')} GROUP BY 1"
        return self._summed(among, {"keys": keys}, len(keys), hint)

    def _summed(
        self,
        conditions: str,
        values: Mapping[str, Any],
        most: int,
        hint: str = "",
        *,
        key: str = "c.key",
    ) -> Iterator[tuple[str, int]]:
        rows = self._transaction.rows(
            f"SELECT {key}, sum(c.number) FROM memstore_counts c {hint} WHERE {self._seen}"
            f"{conditions} LIMIT :most",
            {**self._values, **values, "most": most},
        )
        return ((str(key), int(number)) for key, number in rows)


def _by_size(one: tuple[str, int]) -> tuple[int, str]:
    key, number = one
    return -number, key


def subjects(
    counted: Tally,
    beginning: str,
    order: SubjectOrder,
    after: SubjectPlace | None,
    limit: int,
) -> dict[str, int]:
    """Return the keys of subjects with a prefix, each with its number of active facts, in order.

    Args:
        order: by name or by size; those of one size by name.
        after: begin after this place.
    """
    if order == "name":
        return counted.first(beginning, after.key if after else None, limit)
    return counted.largest(limit, beginning, after)


class SubjectPlace(NamedTuple):
    """A subject's place in an order."""

    key: str
    number: int


def _between(beginning: str, after: str | None) -> tuple[str, dict[str, Any]]:
    """Return the condition that a key has a prefix and comes after another one."""
    tests, values = "", {}
    if after is not None and after >= beginning:
        tests, values = " AND c.key > :after", {"after": after}
    elif beginning:
        tests, values = " AND c.key >= :beginning", {"beginning": beginning}
    if (beyond := after_prefix(beginning)) is not None:
        tests += " AND c.key < :beyond"
        values["beyond"] = beyond
    return tests, values
