"""Lines of the journal selected by who wrote them, when, and about what.

Only columns are compared, so that no JSON is read, except for the sources that confirmations name.
A run or a time begins at a line that is found
by halving, because the lines' times are in the order of their ids.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from memstore.database import acts, journal, origins
from memstore.database.dialect import owned_by
from memstore.database.engine import NO_PARAMETERS
from memstore.database.journal import Kind
from memstore.domain import clock
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Parameters, Transaction
    from memstore.domain.plans import Selection
    from memstore.domain.records import AtLeast, JournalLine, Scope

MARGIN: Final = timedelta(days=1)
"""How far the clock may have been set back during a run whose lines are found by its time."""

BORN: Final = f"kind IN ('{Kind.ADD}', '{Kind.ADOPT}')"

BIRTHS: Final[Mapping[str, tuple[str, str]]] = {
    "fact_id": ("memstore_facts", BORN),
    "episode_id": (
        "memstore_episodes",
        f"kind IN ('{Kind.EPISODE}', '{Kind.ADOPT}') AND fact_id IS NULL",
    ),
}
"""The table of the ids in a column, and the lines with which they begin."""


def first_since(transaction: Transaction, moment: datetime, first: int = 1) -> int:
    """Return the id of the first line at or after a moment; one more than the last if none is.

    Args:
        first: a line that is not after it.
    """
    return transaction.scalar(
        FIRST_SINCE,
        {
            "first": first,
            "end": journal.last_id(transaction) + 1,
            "at": clock.to_text(moment),
        },
    )


FIRST_SINCE: Final = """
    WITH RECURSIVE halved (low, high) AS (
        SELECT CAST(:first AS BIGINT), CAST(:end AS BIGINT)
        UNION ALL
        SELECT
            CASE WHEN j.at >= :at THEN h.low ELSE j.id + 1 END,
            CASE WHEN j.at >= :at THEN (h.low + h.high) / 2 ELSE h.high END
        FROM halved h JOIN memstore_journal j ON j.id = (
            SELECT min(m.id) FROM memstore_journal m WHERE m.id >= (h.low + h.high) / 2
        )
        WHERE h.low < h.high
    )
    SELECT max(low) FROM halved
"""
"""Halved by the database: most of a query is the asking. Ids may be missing, but not the last."""


def last_until(transaction: Transaction, moment: datetime) -> int:
    """Return the id of the last line at or before a moment; 0 if there is none."""
    first = first_since(transaction, moment + acts.TICK)
    return transaction.scalar(
        "SELECT max(id) FROM memstore_journal WHERE id < :first", {"first": first}
    )


UPGRADE: Final = "migration"
"""The source of the lines that the upgrade of an older file writes."""


class LineMoment(NamedTuple):
    """A line, and when it was written."""

    line: int
    at: datetime


def last_line(transaction: Transaction) -> LineMoment | None:
    """Return the last line of the journal."""
    return _place(transaction, "TRUE ORDER BY id DESC")


def first_line(transaction: Transaction, namespaces: Sequence[str] | None) -> LineMoment | None:
    """Return the first line; of those about facts and episodes of these namespaces."""
    if namespaces is None:
        return _place(transaction, "TRUE ORDER BY id")
    found = []
    for namespace, (column, (table, births)) in product(namespaces, BIRTHS.items()):
        first = transaction.scalar(
            f"SELECT min(id) FROM {table} WHERE namespace = :namespace", {"namespace": namespace}
        )
        about = f"{births} AND {column} = :id ORDER BY id"
        found.append(_place(transaction, about, {"id": first}))
    return min((place for place in found if place is not None), default=None)


def is_upgraded(transaction: Transaction, first: int) -> bool:
    """Return whether the first line is one of an upgrade, for what was there before the journal."""
    row = transaction.one("SELECT kind, source FROM memstore_journal WHERE id = :id", {"id": first})
    return row is not None and tuple(row) == (journal.Kind.ADOPT, UPGRADE)


def line(transaction: Transaction, id_: int, namespaces: Sequence[str] | None) -> LineMoment | None:
    """Return a line, if it is about a fact or an episode of these namespaces (``None``: any)."""
    whose, values = _whose(transaction, namespaces)
    return _place(transaction, f"id = :id{whose}", {**values, "id": id_})


def first_of_run(
    transaction: Transaction, run: bytes, namespaces: Sequence[str] | None
) -> LineMoment | None:
    """Return the first line of a run about facts and episodes of these namespaces."""
    whose, values = _whose(transaction, namespaces)
    first = first_since(transaction, _earliest(run))
    about = f"id >= :first AND run = :run{whose} ORDER BY id"
    return _place(transaction, about, {**values, "first": first, "run": run})


def first_of_episode(
    transaction: Transaction, episode_id: int, namespaces: Sequence[str] | None
) -> LineMoment | None:
    """Return the line that recorded an episode, if it is of these namespaces."""
    whose, values = _whose(transaction, namespaces)
    about = f"{BIRTHS['episode_id'][1]} AND episode_id = :id{whose} ORDER BY id"
    return _place(transaction, about, {**values, "id": episode_id})


def last_born(transaction: Transaction, line: int, column: str) -> int:
    """Return the largest id in ``fact_id`` or ``episode_id`` that existed after a line; 0 if none.

    It is found by halving: ids grow with the lines that they begin with.
    """
    _, births = BIRTHS[column]
    query = (
        f"SELECT {column}, id FROM memstore_journal WHERE {column} >= :id AND {births}"
        f" ORDER BY {column}, id LIMIT 1"
    )
    last = 0
    low, high = 1, transaction.scalar(MAX_ID.format(column)) + 1
    while low < high:
        middle = (low + high) // 2
        row = transaction.one(query, {"id": middle})
        if row is None or row[1] > line:
            high = middle
        else:
            last = int(row[0])
            low = last + 1
    return last


MAX_ID: Final = "SELECT max({0}) FROM memstore_journal WHERE {0} IS NOT NULL"
"""The index on the column has no rows without one, and is used only if they are not asked for."""


def _place(
    transaction: Transaction, condition: str, values: Parameters = NO_PARAMETERS
) -> LineMoment | None:
    row = transaction.one(f"SELECT id, at FROM memstore_journal WHERE {condition} LIMIT 1", values)
    return None if row is None else LineMoment(int(row[0]), clock.from_text(str(row[1])))


def _whose(
    transaction: Transaction, namespaces: Sequence[str] | None
) -> tuple[str, dict[str, Any]]:
    if namespaces is None:
        return "", {}
    listed = transaction.dialect.listed("namespaces")
    return (
        " AND (EXISTS (SELECT 1 FROM memstore_facts f WHERE f.id = memstore_journal.fact_id"
        f" AND f.namespace IN {listed})"
        " OR (fact_id IS NULL AND EXISTS (SELECT 1 FROM memstore_episodes e"
        f" WHERE e.id = memstore_journal.episode_id AND e.namespace IN {listed})))",
        {"namespaces": namespaces},
    )


def _earliest(run: bytes) -> datetime:
    """Return a time before every line of a run."""
    try:
        return clock.uuid_moment(run) - MARGIN
    except OverflowError:  # no UUIDv7 that anybody made
        return clock.LATEST


def of_facts(
    transaction: Transaction,
    chosen: Selection,
    namespaces: Sequence[str],
    owners: Scope | AtLeast | None,
) -> list[JournalLine]:
    """Return the selected lines about facts of these namespaces and owners (``None``: any).

    The lines that began the journal of an upgraded file are left out: what they say was not done
    then.
    """
    dialect = transaction.dialect
    whose = f" AND {owned_by(owners)}" if owners is not None else ""
    where, values = conditions(transaction, chosen)
    return journal.matching(
        transaction,
        f"{where} AND fact_id IS NOT NULL"
        f" AND NOT (kind = '{Kind.ADOPT}' AND actor = 'memstore' AND source = 'migration')"
        " AND EXISTS (SELECT 1 FROM memstore_facts f WHERE f.id = memstore_journal.fact_id"
        f" AND f.namespace IN {dialect.listed('namespaces')}{whose})",
        {**values, "namespaces": namespaces, **(owners.ids if owners else {})},
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


DRAWN: Final = (
    "(EXISTS (SELECT 1 FROM memstore_episodes e"
    "  WHERE e.id = memstore_journal.episode_id AND e.source = :source)"
    f" OR ({BORN} AND EXISTS (SELECT 1 FROM memstore_facts f"
    "  LEFT JOIN memstore_episodes e ON e.id = f.episode_id"
    "  WHERE f.id = memstore_journal.fact_id"
    "  AND (f.source = :source OR e.source = :source))))"
)
"""Lines about what is from a source, or was drawn from that, whoever wrote them."""


def conditions(transaction: Transaction, chosen: Selection) -> tuple[str, dict[str, Any]]:
    """Return the conditions as SQL, with their parameters."""
    tests = ["memstore_journal.id >= :first"]
    first = 1
    more: dict[str, Any] = {}
    if chosen.run is not None:
        tests.append("run = :run")
        first = first_since(transaction, _earliest(chosen.run))
    if chosen.since is not None:
        first = max(first, first_since(transaction, chosen.since))
    if chosen.until is not None:
        tests.append("memstore_journal.id <= :last")
        more["last"] = last_until(transaction, chosen.until)
    if chosen.actor is not None:
        tests.append("actor = :actor")
    if chosen.source is not None:
        restated = transaction.dialect.member("evidence", "'restated'")
        tests.append(
            "(memstore_journal.source = :source"
            f" OR (kind = '{Kind.CONFIRM}' AND {restated} = :source) OR {DRAWN})"
        )
    if chosen.episode is not None:
        tests.append(
            "(episode_id = :episode"
            f" OR ({BORN} AND fact_id IN (SELECT id FROM memstore_facts"
            "  WHERE episode_id = :episode)))"
        )
    if chosen.acts is not None:
        listed = transaction.dialect.listed
        more["acts"], parts = origins.parted(transaction, chosen.acts)
        test = f"txn IN {listed('acts')}"
        if parts:
            test = f"({test} OR memstore_journal.id IN {listed('parts')})"
            more["parts"] = parts
        tests.append(test)
        first = max(first, min(chosen.acts, default=first))
    if chosen.lines is not None:
        tests.append(f"memstore_journal.id IN {transaction.dialect.listed('lines')}")
    values = {**chosen._asdict(), **more, "first": first}
    return " AND ".join(tests), {k: v for k, v in values.items() if k not in ("since", "until")}
