"""The lines of acts, newest first: each act is found by its last line that is wanted."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memstore.database import journal, line_filters
from memstore.database.acts import STRETCH
from memstore.database.dialect import owned_by
from memstore.database.engine import NO_LIMIT
from memstore.database.journal import Kind
from memstore.database.tables import line_counts
from memstore.database.tables.line_counts import IMPORT, KIND, USUALLY_LEFT_OUT
from memstore.domain.log import MAX_LISTED
from memstore.domain.records import NOBODY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables.line_counts import LineCount
    from memstore.domain.log import LogFilter
    from memstore.domain.records import AtLeast, JournalLine, Scope

UNIFORM: Final = (str(Kind.ADD), str(Kind.EPISODE))
"""Kinds whose lines say nothing but what was added, each once."""

NEAR: Final = 8 * STRETCH
"""Lines that are read before it is looked up which stretches have wanted ones."""

FEW_LINES: Final = 2 * STRETCH
"""An act with fewer lines is read as a whole."""


class ActLines(NamedTuple):
    """Lines of one act, oldest first."""

    lines: list[JournalLine]
    numbers: dict[str, int]
    """How many lines there are of the kinds of which only the first ones are here."""


class LineConditions:
    """The conditions on lines, as SQL.

    Args:
        namespaces: of the facts and episodes.
        owners: theirs; ``None`` for any.
        whole_file: whether lines about no fact and no episode are shown, such as those of trust.
    """

    def __init__(
        self,
        transaction: Transaction,
        wanted: LogFilter,
        namespaces: Sequence[str] | None,
        owners: Scope | AtLeast | None,
        *,
        whole_file: bool,
    ) -> None:
        self._transaction = transaction
        test, values = line_filters.conditions(transaction, wanted.chosen)
        values |= {"namespaces": namespaces, **(owners.ids if owners else {})}
        self.first = max(values["first"], (wanted.after or 0) + 1)
        self.last = journal.last_id(transaction)
        if wanted.before is not None:
            self.last = min(self.last, _beginning(transaction, wanted.before) - 1)
        if wanted.until is not None:
            self.last = min(self.last, line_filters.last_until(transaction, wanted.until))
        whole_file = whole_file and owners in (None, NOBODY)
        tests = [test, self._seen(namespaces, owners, whole_file)]
        self._is_counted = owners in (None, NOBODY) and _narrows_nothing(wanted)
        self._counts = partial(_sum, namespaces, whole_file=whole_file, all_owners=owners is None)
        self._words = _words(wanted, namespaces, whole_file)
        listed = transaction.dialect.listed
        if wanted.kinds is None:
            tests.insert(1, f"kind NOT IN {tuple(map(str, USUALLY_LEFT_OUT))}")
        else:
            tests.insert(1, f"kind IN {listed('kinds')}")
            values["kinds"] = wanted.kinds
        if wanted.after is not None:
            tests.append("txn > :after")  # not the rest of the act that has this line
            values["after"] = wanted.after
        if wanted.fact is not None:
            tests.append(f"memstore_journal.id IN {listed('lines')}")
            values["lines"] = _lines_of(transaction, wanted.fact)
        self._condition = " AND ".join(tests)
        self._values: dict[str, Any] = values | {"first": self.first}

    def acts(self) -> Iterator[ActLines]:
        """Yield the wanted lines of each act, newest act first."""
        last = self.last
        for begin, end in self._spans(self.first, self.last, newest_first=True):
            last = min(last, end)
            while last >= begin and (place := self._last_before(begin, last)) is not None:
                line, txn = place
                first = max(txn, self.first)
                if line - first < FEW_LINES:
                    yield ActLines(self._outlined(first, line, "TRUE", NO_LIMIT), {})
                else:
                    yield self._some(first, line)
                last = txn - 1

    def _spans(self, first: int, last: int, *, newest_first: bool) -> Iterator[tuple[int, int]]:
        """Yield the first and the last line of spans that may have wanted lines; others have none.

        The spans at the end are long enough for most pages, so that no stretch is looked up.
        """
        if not self._words or last - first < NEAR:
            yield first, last
            return
        near = (last - NEAR, last) if newest_first else (first, first + NEAR)
        yield near
        first, last = (first, near[0] - 1) if newest_first else (near[1] + 1, last)
        for begin, end in line_counts.spans(
            self._transaction, first, last, self._words, newest_first=newest_first
        ):
            yield max(begin, first), min(end, last)

    def _some(self, first: int, last: int) -> ActLines:
        """Return the lines of a large act, but of what it added only the first ones."""
        numbers = self.by_kind(first, last)
        many = {kind: n for kind in UNIFORM if (n := numbers.get(kind, 0)) > MAX_LISTED}
        lines: list[JournalLine] = []
        if numbers.keys() - UNIFORM:
            lines += self._outlined(first, last, f"{KIND} NOT IN {UNIFORM}", NO_LIMIT)
        for kind in UNIFORM:
            if kind in numbers:
                lines += self._outlined(first, last, f"{KIND} = '{kind}'", MAX_LISTED)
        return ActLines(sorted(lines, key=lambda line: line.id), many)

    def _outlined(self, first: int, last: int, test: str, limit: int) -> list[JournalLine]:
        return journal.outlined(
            self._transaction,
            f"{self._condition} AND {test} AND memstore_journal.id <= :last",
            self._values | {"first": first, "last": last, "limit": limit},
            "memstore_journal.id LIMIT :limit",
        )

    def added(self, facts: Sequence[int], first: int, last: int) -> int:
        """Return how many of these facts the wanted lines between two have added."""
        return self._transaction.scalar(
            f"SELECT count(*) FROM memstore_journal WHERE {self._condition}"
            f" AND memstore_journal.id <= :last AND {KIND} = '{Kind.ADD}'"
            f" AND fact_id IN {self._transaction.dialect.listed('added')}",
            self._values | {"first": first, "last": last, "added": facts},
        )

    def lines(
        self, before: int | None, after: int | None, limit: int | None, *, newest_first: bool
    ) -> list[JournalLine]:
        """Return wanted lines between two, which are left out, one by one."""
        last = self.last if before is None else min(self.last, before - 1)
        first = max(self.first, (after or 0) + 1)
        way = "DESC" if newest_first else "ASC"
        found: list[JournalLine] = []
        for begin, end in self._spans(first, last, newest_first=newest_first):
            left = NO_LIMIT if limit is None else limit - len(found)
            found += journal.outlined(
                self._transaction,
                f"{self._condition} AND memstore_journal.id <= :last",
                self._values | {"first": begin, "last": end, "limit": left},
                f"memstore_journal.id {way} LIMIT :limit",
            )
            if limit is not None and len(found) >= limit:
                break
        return found

    def by_kind(self, first: int, last: int) -> dict[str, int]:
        """Count the wanted lines between two, both included, by kind."""
        first, last = max(first, self.first), min(last, self.last)
        found: Counter[str] = Counter()
        if self._is_counted:
            for stretch, numbers in line_counts.between(self._transaction, first, last).items():
                found.update(self._counts(numbers))
                found.update(self._read(first, stretch * STRETCH - 1))
                first = (stretch + 1) * STRETCH
        found.update(self._read(first, last))
        return {kind: found[kind] for kind in sorted(found)}

    def _read(self, first: int, last: int) -> dict[str, int]:
        """Count lines by reading them."""
        if last < first:
            return {}
        rows = self._transaction.rows(
            f"SELECT {KIND}, count(*) FROM memstore_journal WHERE {self._condition}"
            " AND memstore_journal.id <= :last GROUP BY 1",
            self._values | {"first": first, "last": last},
        )
        return dict(rows)

    def _last_before(self, first: int, last: int) -> tuple[int, int] | None:
        row = self._transaction.one(
            f"SELECT id, txn FROM memstore_journal WHERE {self._condition}"
            " AND memstore_journal.id <= :last ORDER BY memstore_journal.id DESC LIMIT 1",
            self._values | {"first": first, "last": last},
        )
        return None if row is None else (int(row[0]), int(row[1]))

    def _seen(
        self, namespaces: Sequence[str] | None, owners: Scope | AtLeast | None, whole_file: bool
    ) -> str:
        dialect = self._transaction.dialect
        whose = "" if owners is None else f" AND {owned_by(owners)}"
        if namespaces is not None:
            whose += f" AND namespace IN {dialect.listed('namespaces')}"
        tests = [
            f"EXISTS (SELECT 1 FROM memstore_facts f WHERE f.id = memstore_journal.fact_id{whose})",
            "(fact_id IS NULL AND EXISTS (SELECT 1 FROM memstore_episodes e"
            f" WHERE e.id = memstore_journal.episode_id{whose}))",
        ]
        if whole_file:
            tests.append("(fact_id IS NULL AND memstore_journal.episode_id IS NULL)")
        return f"({' OR '.join(tests)})"


def _narrows_nothing(wanted: LogFilter) -> bool:
    """Whether every line from a time on is wanted."""
    is_chosen = any(wanted.chosen._replace(since=None))
    return not is_chosen and wanted.kinds is None and wanted.fact is None


def _words(
    wanted: LogFilter, namespaces: Sequence[str] | None, whole_file: bool
) -> list[list[str]]:
    """Return what the numbers of a stretch with wanted lines have: one word of each list."""
    words = []
    if namespaces is not None:
        about = [line_counts.word(name) for name in namespaces]
        words.append([*about, line_counts.word(None)] if whole_file else about)
    if wanted.kinds is not None and not {*wanted.kinds} & {*USUALLY_LEFT_OUT}:
        words.append([line_counts.word(kind) for kind in (*wanted.kinds, IMPORT)])
    return words


def _sum(
    namespaces: Sequence[str] | None,
    numbers: Sequence[LineCount],
    *,
    whole_file: bool,
    all_owners: bool,
) -> Counter[str]:
    """Return how many lines of each kind are about these namespaces, or about the whole file."""
    found: Counter[str] = Counter()
    for namespace, kind, number, unowned in numbers:
        is_seen = namespaces is None or namespace in namespaces
        if whole_file if namespace is None else is_seen:
            found[kind] += number if all_owners else unowned
    return +found


def _beginning(transaction: Transaction, line: int) -> int:
    """Return the first line of the act of a line."""
    row = transaction.one("SELECT txn FROM memstore_journal WHERE id = :id", {"id": line})
    return line if row is None else int(row[0])


def _lines_of(transaction: Transaction, fact_id: int) -> list[int]:
    """Return the ids of the lines about a fact, and of those by which it replaced others."""
    return transaction.ints(
        "SELECT id FROM memstore_journal WHERE fact_id = :id UNION"
        " SELECT j.id FROM memstore_facts f JOIN memstore_journal j ON j.fact_id = f.id"
        f" WHERE f.superseded_by = :id AND j.kind = '{Kind.SUPERSEDE}'",
        {"id": fact_id},
    )
