"""Lines of the journal selected by who wrote them, when, and about what.

Only columns are compared, so that no JSON is read. A run or a time begins at a line that is found
by halving, because the lines' times are in the order of their ids.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database.dialect import SAME_OWNERS
from memstore.database.journal import Kind
from memstore.domain import clock

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.domain.plans import Selection
    from memstore.domain.records import JournalLine, Scope

MARGIN: Final = timedelta(days=1)
"""How far the clock may have been set back during a run whose lines are found by its time."""

BORN: Final = f"kind IN ('{Kind.ADD}', '{Kind.ADOPT}')"


def first_since(transaction: Transaction, moment: datetime) -> int:
    """Return the id of the first line at or after a moment; one more than the last if none is."""
    at = clock.to_text(moment)
    low, high = 1, journal.last_id(transaction) + 1
    while low < high:
        middle = (low + high) // 2
        row = transaction.one(
            "SELECT id, at FROM memstore_journal WHERE id >= :id ORDER BY id LIMIT 1",
            {"id": middle},
        )
        if row is None or row[1] >= at:
            high = middle
        else:
            low = int(row[0]) + 1
    return low


def of_facts(
    transaction: Transaction, chosen: Selection, namespaces: Sequence[str], scope: Scope | None
) -> list[JournalLine]:
    """Return the selected lines about facts of these namespaces and owners (``None``: any).

    The lines that began the journal of an upgraded file are left out: what they say was not done
    then.
    """
    dialect = transaction.dialect
    whose = f" AND {SAME_OWNERS}" if scope is not None else ""
    where, values = _conditions(transaction, chosen)
    return journal.matching(
        transaction,
        f"{where} AND fact_id IS NOT NULL"
        f" AND NOT (kind = '{Kind.ADOPT}' AND actor = 'memstore' AND source = 'migration')"
        " AND EXISTS (SELECT 1 FROM memstore_facts f WHERE f.id = memstore_journal.fact_id"
        f" AND f.namespace IN {dialect.listed('namespaces')}{whose})",
        {**values, "namespaces": namespaces, **(scope.ids if scope else {})},
    )


def last_lines(transaction: Transaction, fact_ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return each fact's id with that of its last line, except for embeddings; by id."""
    return [
        (int(fact_id), int(last))
        for fact_id, last in transaction.rows(
            "SELECT fact_id, max(id) FROM memstore_journal"
            f" WHERE fact_id IN {transaction.dialect.listed('ids')}"
            f" AND kind NOT IN ('{Kind.EMBED}', '{Kind.QUARANTINE}')"
            " GROUP BY fact_id ORDER BY fact_id",
            {"ids": fact_ids},
        )
    ]


def _conditions(transaction: Transaction, chosen: Selection) -> tuple[str, dict[str, Any]]:
    """Return the conditions as SQL, with their parameters."""
    tests = ["memstore_journal.id >= :first"]
    first = 1
    if chosen.run is not None:
        tests.append("run = :run")
        first = first_since(transaction, clock.uuid_moment(chosen.run) - MARGIN)
    if chosen.since is not None:
        first = max(first, first_since(transaction, chosen.since))
    if chosen.actor is not None:
        tests.append("actor = :actor")
    if chosen.source is not None:
        tests.append(
            "(source = :source"
            f" OR ({BORN} AND fact_id IN (SELECT id FROM memstore_facts WHERE source = :source))"
            " OR episode_id IN (SELECT id FROM memstore_episodes WHERE source = :source)"
            f" OR ({BORN} AND fact_id IN (SELECT f.id FROM memstore_facts f"
            "  JOIN memstore_episodes e ON e.id = f.episode_id WHERE e.source = :source)))"
        )
    if chosen.episode is not None:
        tests.append(
            "(episode_id = :episode"
            f" OR ({BORN} AND fact_id IN (SELECT id FROM memstore_facts"
            "  WHERE episode_id = :episode)))"
        )
    if chosen.ops is not None:
        tests.append(f"memstore_journal.id IN {transaction.dialect.listed('ops')}")
    values = {**chosen._asdict(), "first": first}
    return " AND ".join(tests), {k: v for k, v in values.items() if k != "since"}
