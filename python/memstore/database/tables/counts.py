"""The counts of facts and episodes that triggers keep, so that a status reads no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.database.filters import Filter, after_prefix
from memstore.database.tables import facts as fact_table
from memstore.database.writes import Delete, Insert
from memstore.domain import clock, zones
from memstore.domain.records import unchecked
from memstore.frozen import replace
from memstore.lazy import lazy_import
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from datetime import date
    from typing import TypeAlias

    from memstore.database import derivations
    from memstore.database.engine import Parameters, Transaction
    from memstore.database.filters import EpisodeFilter, FactFilter
    from memstore.domain import status
    from memstore.domain.status import Contents

    Part: TypeAlias = tuple[str, Parameters]
    """A FROM clause for some facts, and its parameters."""
else:
    derivations = lazy_import("memstore.database.derivations")
    status = lazy_import("memstore.domain.status")

EXPIRED: Final = (
    "f.superseded_by IS NULL AND f.deleted_at IS NULL AND f.expired_at IS NOT NULL"
    " AND f.expired_at <= :now"
)
HIDDEN: Final = (
    "f.id = d.fact_id AND f.superseded_by IS NULL AND f.deleted_at IS NULL"
    " AND (f.expired_at IS NULL OR f.expired_at > :now)"
)
SUPERSEDED: Final = "superseded"
KEYS: Final = {"subject": "subject_key", "category": "category_key"}


def states(transaction: Transaction, wanted: FactFilter) -> dict[str, int]:
    """Count the facts of a namespace and scope by state."""
    current = _sum(transaction, "category", wanted)
    deleted = _sum(transaction, "deleted", wanted)
    expired, distrusted = (
        _count(transaction, part) for part in inactive_parts(transaction, wanted)
    )
    return {
        "active": current - expired - distrusted,
        SUPERSEDED: _sum(transaction, "fact", wanted) - current - deleted,
        "deleted": deleted,
        "expired": expired,
        "distrusted": distrusted,
    }


def facts(transaction: Transaction, wanted: FactFilter) -> int:
    """Count the facts that pass a filter."""
    whole = wanted.subject is None and wanted.category is None
    if whole and wanted.states == (SUPERSEDED,) and replace(wanted, states=None).is_counted:
        return states(transaction, wanted)[SUPERSEDED]
    if not wanted.is_counted:
        return fact_table.count(transaction, wanted)
    kind, key = "category", wanted.category and subject_key(wanted.category)
    if wanted.subject is not None:
        kind, key = "subject", subject_key(wanted.subject)
    inactive = sum(_count(transaction, part) for part in inactive_parts(transaction, wanted))
    return _sum(transaction, kind, wanted, key) - inactive


def episodes(transaction: Transaction, wanted: EpisodeFilter) -> int:
    """Count the episodes of a namespace and scope, including expired ones."""
    seen, values = wanted.of("e", transaction.dialect)
    hidden = (
        "FROM memstore_distrusted_episodes d CROSS JOIN memstore_episodes e"
        f" WHERE e.id = d.episode_id AND e.content_hash <> '' AND {seen}"
    )
    return _sum(transaction, "episode", wanted) - _count(transaction, (hidden, values))


def contents(transaction: Transaction, prefix: str = "") -> dict[str, Contents]:
    """Return what each namespace with facts or episodes holds, in the names' order."""
    sums = ", ".join(
        "(SELECT coalesce(sum(c.number), 0) FROM memstore_counts c"
        f" WHERE c.namespace = n.name AND c.kind = '{kind}')"
        for kind in ("category", "fact", "episode")
    )
    names, values = _names(prefix)
    rows = transaction.rows(
        f"{names[0]} SELECT n.name, {sums} FROM names n WHERE {names[1]}", values
    )
    held = {str(name): status.Contents(*numbers) for name, *numbers in rows}
    return {name: one for name, one in held.items() if one.total or one.episodes}


def namespaces(transaction: Transaction) -> dict[str, int]:
    """Return every namespace that has facts or episodes, with its facts in any state."""
    (names, tests), values = _names("")
    own = "FROM memstore_counts c WHERE c.namespace = n.name AND c.kind"
    rows = transaction.rows(
        f"{names} SELECT n.name, coalesce((SELECT sum(c.number) {own} = 'fact'), 0) FROM names n"
        f" WHERE {tests} AND EXISTS (SELECT 1 {own} IN ('fact', 'episode') AND c.number <> 0)",
        values,
    )
    return {str(name): int(number) for name, number in rows}


def _names(prefix: str) -> tuple[tuple[str, str], dict[str, Any]]:
    """Return a query for the names of namespaces with a prefix, and its parameters.

    It is the beginning of a query and a condition, of ``n.name``.
    """
    beyond = after_prefix(prefix)
    ends = "" if beyond is None else " AND n.name < :beyond"
    # From each name to the next one: the counts of all subjects are between.
    query = (
        "WITH RECURSIVE names (name) AS ("
        "SELECT min(a.namespace) FROM memstore_counts a WHERE a.namespace >= :beginning UNION ALL"
        " SELECT (SELECT min(b.namespace) FROM memstore_counts b WHERE b.namespace > n.name)"
        f" FROM names n WHERE n.name IS NOT NULL{ends})"
    )
    values = {"beginning": prefix} | ({} if beyond is None else {"beyond": beyond})
    return (query, f"n.name IS NOT NULL{ends}"), values


def active_by_namespace(
    transaction: Transaction, wanted: FactFilter, prefix: str
) -> dict[str, int]:
    """Return the namespaces whose names have a prefix, with the number of active facts.

    Those that hold only episodes have 0.

    Args:
        wanted: the owners of the facts and episodes.
    """
    (names, tests), values = _names(prefix)
    seen, chosen = seen_of(transaction, wanted, "category")
    sums = f"SELECT sum(c.number) FROM memstore_counts c WHERE c.namespace = n.name AND {seen}"
    said = sums.replace(":kind", ":said")
    rows = transaction.rows(
        f"{names} SELECT n.name, ({sums}), ({said}) FROM names n WHERE {tests}",
        values | chosen | {"said": "episode"},
    )
    held: dict[str, int] = {}
    conversing = set()
    for name, number, turns in rows:
        held[name] = number or 0
        if turns:
            conversing.add(name)
    for among, its in inactive_parts(transaction, wanted):
        inactive = f"SELECT f.namespace, count(*) {among} GROUP BY f.namespace"
        for name, number in transaction.rows(inactive, its):
            if name in held:
                held[name] -= number
    return {name: number for name, number in held.items() if number > 0 or name in conversing}


def logs(transaction: Transaction) -> list[str]:
    """Return every namespace that has episodes."""
    rows = transaction.rows(
        "SELECT namespace FROM memstore_counts WHERE kind = 'episode'"
        " GROUP BY namespace HAVING sum(number) > 0 ORDER BY namespace"
    )
    return [name for (name,) in rows]


def by_day(transaction: Transaction, kind: str, wanted: Filter, first: date) -> dict[str, int]:
    """Count what was stored on each of the user's days from the ``first`` on, by day.

    ``kind`` is ``fact`` or ``episode``. Days without any are left out. Days are counted to the
    quarter of an hour, of which the offsets of today's time zones are multiples.
    """
    seen, values = seen_of(transaction, wanted, f"{kind}_quarter")
    # Of all owners, the counts are read in their own order: looking each up takes much longer.
    key = "c.key" if wanted.is_exact else transaction.dialect.unordered("c.key")
    rows = transaction.rows(
        f"SELECT {key}, sum(number) FROM memstore_counts c WHERE {seen} AND {key} >= :first"
        " GROUP BY 1 ORDER BY 1",
        {**values, "first": clock.to_text(zones.start(first))[: len("2026-11-20T20:45")]},
    )
    found: dict[str, int] = {}
    for quarter, number in rows:
        day = zones.day(f"{quarter}:00.000000Z")
        found[day] = found.get(day, 0) + int(number)
    return found


def misfits(transaction: Transaction) -> list[str]:
    """Return the counts that differ from the rows, and those that are missing."""
    columns = "namespace, kind, key"
    counted = ", ".join(derivations.COUNT_COLUMNS)
    held, right = (
        f"SELECT {counted} FROM {name}" for name in ("memstore_counts", "memstore_counts_read")
    )
    rows = transaction.rows(
        f"SELECT DISTINCT {columns} FROM ({held} EXCEPT {right}) AS stray"
        f" UNION SELECT {columns} FROM ({right} EXCEPT {held}) AS lacking ORDER BY 1, 2, 3"
    )
    return [" ".join(map(str, row)).strip() for row in rows]


def count_again(transaction: Transaction) -> None:
    columns = derivations.COUNT_COLUMNS
    transaction.run(Delete("memstore_counts"))
    transaction.run(Insert("memstore_counts", columns, columns, "memstore_counts_read"))


def _sum(transaction: Transaction, kind: str, wanted: Filter, key: str | None = None) -> int:
    seen, values = seen_of(transaction, wanted, kind)
    index = ""
    if key is not None:
        seen, values = f"{seen} AND c.key = :key", {**values, "key": key}
        if wanted.scope is None and wanted.namespaces is not None:
            # The planner would prefer to read the counts of all keys.
            index = transaction.dialect.indexed_by("idx_memstore_count_key")
    summed = f"SELECT sum(number) FROM memstore_counts c {index} WHERE {seen}"
    if wanted.namespaces is None:  # from each name to the next one, as the counts are ordered
        (names, tests), _ = _names("")
        summed = (
            f"{names} SELECT sum(({summed} AND c.namespace = n.name)) FROM names n WHERE {tests}"
        )
        values = {**values, "beginning": ""}
    return transaction.scalar(summed, values)


def seen_of(transaction: Transaction, wanted: Filter, kind: str) -> tuple[str, dict[str, Any]]:
    """Return the condition on ``memstore_counts c`` for a kind, a namespace and owners."""
    stored = wanted.scope
    if stored is not None:  # here an owner that is not set is empty, not NULL
        stored = unchecked(type(stored), {name: owner or "" for name, owner in stored.ids.items()})
    place = Filter(wanted.namespaces, wanted.now, scope=stored)
    seen, values = place.of("c", transaction.dialect)
    return f"{seen} AND c.kind = :kind", {**values, "kind": kind}


def _count(transaction: Transaction, part: Part) -> int:
    rows, values = part
    return transaction.scalar(f"SELECT count(*) {rows}", values)


def inactive_parts(transaction: Transaction, wanted: FactFilter) -> tuple[Part, Part]:
    """Return the expired and the distrusted facts that would be active otherwise."""
    # The planner would prefer to read every active fact.
    hint = transaction.dialect.indexed_by("idx_memstore_expiring")
    expired = _among(transaction, wanted, f"memstore_facts f {hint}", EXPIRED)
    hidden = "memstore_distrusted d CROSS JOIN memstore_facts f"
    return expired, _among(transaction, wanted, hidden, HIDDEN)


def _among(transaction: Transaction, wanted: FactFilter, rows: str, condition: str) -> Part:
    seen, values = wanted.of("f", transaction.dialect)
    conditions = [seen, condition]
    given: dict[str, Any] = {**values, "now": clock.to_text(wanted.now)}
    for name, column in KEYS.items():
        if (value := getattr(wanted, name)) is not None:
            conditions.append(f"f.{column} = :{column}")
            given[column] = subject_key(value)
    return f"FROM {rows} WHERE {' AND '.join(conditions)}", given
