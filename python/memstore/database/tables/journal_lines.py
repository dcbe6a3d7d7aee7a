"""The lines of acts, newest first: each act is found by its last line that is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal, line_filters
from memstore.database.dialect import owned_by
from memstore.database.engine import NO_LIMIT
from memstore.database.journal import Kind
from memstore.database.tables import counts
from memstore.database.tables import facts as fact_table
from memstore.domain.records import NOBODY
from memstore.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.log import LogFilter
    from memstore.domain.records import AtLeast, JournalLine, Scope

USUALLY_LEFT_OUT: Final = (Kind.EMBED, Kind.QUARANTINE)
"""Kinds that change nothing that anybody said; shown if they are asked for."""

IMPORT: Final = "import"
"""The kind of lines that came from another file, whatever they are about."""

FOUND: Final = (("memstore", "adoption"), ("memstore", "migration"))
"""Who takes in the facts of other programs, and of older files."""

KIND: Final = (
    f"CASE WHEN said_at IS NOT NULL OR (kind = '{Kind.ADOPT}'"
    + "".join(f" AND NOT (actor = '{a}' AND memstore_journal.source = '{s}')" for a, s in FOUND)
    + f") THEN '{IMPORT}' ELSE kind END"
)
"""The kind by which a line is told."""


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
        self._among = namespaces if owners is None else ()
        tests = [test, self._seen(namespaces, owners, whole_file and owners in (None, NOBODY))]
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

    def acts(self) -> Iterator[list[JournalLine]]:
        """Yield the wanted lines of each act, newest act first."""
        last = self.last
        while last >= self.first and (place := self._last_before(last)) is not None:
            line, txn = place
            values = self._values | {"first": max(txn, self.first), "last": line}
            yield journal.outlined(
                self._transaction, f"{self._condition} AND memstore_journal.id <= :last", values
            )
            last = txn - 1

    def lines(
        self, before: int | None, after: int | None, limit: int | None, *, newest_first: bool
    ) -> list[JournalLine]:
        """Return wanted lines between two, which are left out, one by one."""
        last = self.last if before is None else min(self.last, before - 1)
        first = max(self.first, (after or 0) + 1)
        way = "DESC" if newest_first else "ASC"
        return journal.outlined(
            self._transaction,
            f"{self._condition} AND memstore_journal.id <= :last",
            self._values
            | {"first": first, "last": last, "limit": NO_LIMIT if limit is None else limit},
            f"memstore_journal.id {way} LIMIT :limit",
        )

    def by_kind(self, first: int, last: int) -> dict[str, int]:
        """Count the wanted lines between two, both included, by kind."""
        rows = self._transaction.rows(
            f"SELECT {KIND}, count(*) FROM memstore_journal WHERE {self._counted}"
            " AND memstore_journal.id <= :last GROUP BY 1 ORDER BY 1",
            self._values
            | {"first": max(first, self.first), "last": min(last, self.last)}
            | {"newest_fact": fact_table.newest_id(self._transaction)},
        )
        return dict(rows)

    @cached_property
    def _counted(self) -> str:
        """The condition, without looking for each line's fact where all of them are wanted."""
        if not counts.are_whole(self._transaction, self._among):
            return self._condition
        return self._condition.replace(
            self._about_facts, "memstore_journal.fact_id <= :newest_fact"
        )

    def _last_before(self, last: int) -> tuple[int, int] | None:
        row = self._transaction.one(
            f"SELECT id, txn FROM memstore_journal WHERE {self._condition}"
            " AND memstore_journal.id <= :last ORDER BY memstore_journal.id DESC LIMIT 1",
            self._values | {"last": last},
        )
        return None if row is None else (int(row[0]), int(row[1]))

    def _seen(
        self, namespaces: Sequence[str] | None, owners: Scope | AtLeast | None, whole_file: bool
    ) -> str:
        dialect = self._transaction.dialect
        whose = "" if owners is None else f" AND {owned_by(owners)}"
        if namespaces is not None:
            whose += f" AND namespace IN {dialect.listed('namespaces')}"
        self._about_facts = (
            f"EXISTS (SELECT 1 FROM memstore_facts f WHERE f.id = memstore_journal.fact_id{whose})"
        )
        tests = [
            self._about_facts,
            "(fact_id IS NULL AND EXISTS (SELECT 1 FROM memstore_episodes e"
            f" WHERE e.id = memstore_journal.episode_id{whose}))",
        ]
        if whole_file:
            tests.append("(fact_id IS NULL AND memstore_journal.episode_id IS NULL)")
        return f"({' OR '.join(tests)})"


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
