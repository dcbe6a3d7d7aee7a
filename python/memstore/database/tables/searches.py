"""The tables of recorded searches, and of what they were given."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from memstore.database.dialect import owned_by
from memstore.database.engine import NO_LIMIT, NO_PARAMETERS
from memstore.database.tables import counts
from memstore.database.tables import facts as fact_table
from memstore.database.writes import Delete, Insert, Update
from memstore.domain import clock
from memstore.domain.erasures import EPISODE, FACT
from memstore.domain.records import SCOPE_FIELDS, Scope
from memstore.domain.searches import PROMPT, RecordedSearch, SearchTotals
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Sequence
    from datetime import datetime

    from memstore.database.engine import Row, Transaction
    from memstore.database.filters import FactFilter
    from memstore.domain.records import AtLeast

COLUMNS: Final = (
    "at", "namespace", *SCOPE_FIELDS, "actor", "client", "run", "tool", "query", "facts",
    "episodes", "tokens", "milliseconds",
)  # fmt: skip

FEW_FACTS: Final = 2_000
"""Facts that are listed to count only these among what was given."""


class SearchFilter(NamedTuple):
    """Which recorded searches to show."""

    namespaces: Sequence[str]
    owners: Scope | AtLeast | None
    """Only those that asked for memories of exactly these owners; ``None`` for any."""
    client: str | None = None
    run: bytes | None = None
    tool: str | None = None
    fact: int | None = None
    """Only those that were given this fact."""
    is_empty: bool | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None


INSERTION: Final = Insert("memstore_searches", COLUMNS, returning="id")
GIVEN: Final = Insert("memstore_given", ("kind", "row_id", "search_id"))


def insert(transaction: Transaction, search: RecordedSearch) -> None:
    """Insert a search with a new id."""
    values: dict[str, Any] = {name: getattr(search, name, None) for name in COLUMNS}
    values |= search.scope.ids
    values |= {
        "at": clock.to_text(search.at),
        "run": None if search.run is None else bytes.fromhex(search.run.replace("-", "")),
        "facts": json.dumps(search.facts),
        "episodes": json.dumps(search.episodes),
    }
    ((search_id,),) = transaction.returned(INSERTION, values)
    for kind, ids in ((FACT, search.facts), (EPISODE, search.episodes)):
        for id_ in dict.fromkeys(ids):
            transaction.queue(GIVEN, (kind, id_, search_id))


def prune(transaction: Transaction, most: int, since: datetime) -> None:
    """Remove all but the newest searches, and those from before a time."""
    first = transaction.scalar("SELECT max(id) FROM memstore_searches") - most
    oldest = transaction.one("SELECT at FROM memstore_searches ORDER BY id LIMIT 1")
    at = clock.to_text(since)
    if oldest is not None and oldest[0] < at:
        old = "SELECT max(id) FROM memstore_searches WHERE at < :at"
        first = max(first, transaction.scalar(old, {"at": at}))
    if first > 0:
        _remove(transaction, "id <= :first", {"first": first})


def remove(
    transaction: Transaction,
    namespaces: Sequence[str],
    *,
    owners: Scope | AtLeast | None = None,
    owner: Scope | None = None,
    run: bytes | None = None,
) -> int:
    """Remove searches; return how many.

    Args:
        namespaces: only in these.
        owners: only those of these owners; ``None`` for any.
        owner: only those of owners with these ids, as far as they are set.
        run: only those of this run.
    """
    tests = [f"namespace IN {transaction.dialect.listed('namespaces')}"]
    values: dict[str, Any] = {"namespaces": namespaces}
    if owners is not None:
        tests.append(owned_by(owners))
        values |= owners.ids
    for name, value in (owner.ids if owner else {}).items():
        if value is not None:
            tests.append(f"{name} = :{name}")
            values[name] = value
    if run is not None:
        tests.append("run = :run")
        values["run"] = run
    return _remove(transaction, " AND ".join(tests), values)


def _remove(transaction: Transaction, condition: str, values: dict[str, Any]) -> int:
    these = f"SELECT id FROM memstore_searches WHERE {condition}"
    transaction.run(Delete("memstore_given", f"search_id IN ({these})"), values)
    return transaction.run(Delete("memstore_searches", condition), values)


def select(
    transaction: Transaction, wanted: SearchFilter, limit: int | None
) -> list[RecordedSearch]:
    """Return searches, newest first."""
    listed = transaction.dialect.listed
    tests, values = [f"namespace IN {listed('namespaces')}"], wanted._asdict()
    if wanted.owners is not None:
        tests.append(owned_by(wanted.owners))
        values |= wanted.owners.ids
    if wanted.fact is not None:
        tests.append(
            f"id IN (SELECT search_id FROM memstore_given WHERE kind = '{FACT}' AND row_id = :fact)"
        )
    if wanted.is_empty is not None:
        sign = "=" if wanted.is_empty else "<>"
        tests.append(f"facts || episodes {sign} '[][]'")
    for name, test in TESTS.items():
        if getattr(wanted, name) is not None:
            tests.append(test)
    for name in ("since", "until"):
        if values[name] is not None:
            values[name] = clock.to_text(values[name])
    rows = transaction.rows(
        f"SELECT id, {', '.join(COLUMNS)} FROM memstore_searches WHERE {' AND '.join(tests)}"
        " ORDER BY id DESC LIMIT :limit",
        {**values, "limit": NO_LIMIT if limit is None else limit},
    )
    return [*map(_decode, rows)]


TESTS: Final = {
    "client": "client = :client",
    "run": "run = :run",
    "tool": "tool = :tool",
    "since": "at >= :since",
    "until": "at <= :until",
    "before": "id < :before",
}


def totals(transaction: Transaction, namespace: str, since: datetime) -> SearchTotals:
    """Return how many searches there are since a time, and how much they were given."""
    row = transaction.one(
        "SELECT count(*), sum(CASE WHEN tool = :prompt THEN 1 ELSE 0 END), sum(tokens),"
        " sum(CASE WHEN tokens > 0 THEN 1 ELSE 0 END)"
        " FROM memstore_searches WHERE namespace = :namespace AND at >= :since",
        {"namespace": namespace, "since": clock.to_text(since), "prompt": PROMPT},
    )
    searches, prompts, tokens, answers = (int(one or 0) for one in row or (0, 0, 0, 0))
    return SearchTotals(searches=searches, prompts=prompts, tokens=tokens, answers=answers)


def _decode(row: Row) -> RecordedSearch:
    values = dict(zip(("id", *COLUMNS), row, strict=True))
    owners = {name: values.pop(name) for name in SCOPE_FIELDS}
    values["scope"] = Scope(**owners)
    values["at"] = clock.from_text(values["at"])
    values["run"] = None if values["run"] is None else clock.uuid_text(values["run"])
    for name in ("facts", "episodes"):
        values[name] = tuple(map(int, json.loads(values[name])))
    return RecordedSearch(**values)


def most_given(
    transaction: Transaction, wanted: FactFilter, limit: int, seen: Collection[int] | None = None
) -> list[tuple[int, int]]:
    """Return the facts that were given in most searches, with the number of these.

    Facts are looked up in this order, until there are enough that pass the filter. If few pass it,
    only these are counted.

    Args:
        seen: the facts that pass it, if that is known.
    """
    if wanted.is_counted and counts.facts(transaction, wanted) <= FEW_FACTS:
        return [*_given(transaction, limit, wanted)]
    number, begin = 2 * limit, 0
    found: list[tuple[int, int]] = []
    if seen is None or _are_most(transaction, seen):  # few are sorted faster, and mostly enough
        first = [*_given(transaction, number)]
        found = _passing(transaction, first, wanted, seen)
        if len(found) >= limit or len(first) < number:
            return found[:limit]
        begin = number
    others = islice(_given(transaction, NO_LIMIT), begin, None)
    while len(found) < limit and (some := [*islice(others, number)]):
        found += _passing(transaction, some, wanted, seen)
        number *= 4
    return found[:limit]


def _are_most(transaction: Transaction, ids: Collection[int]) -> bool:
    """Whether these are at least half of all facts that there ever were."""
    return 2 * len(ids) >= transaction.scalar("SELECT coalesce(max(id), 0) FROM memstore_facts")


def _passing(
    transaction: Transaction,
    given: Sequence[tuple[int, int]],
    wanted: FactFilter,
    seen: Container[int] | None,
) -> list[tuple[int, int]]:
    """Return those of these facts that pass a filter; of certain owners, from among theirs."""
    ids = [fact_id for fact_id, _ in given]
    passing = seen
    if passing is None and (wanted.is_common or not wanted.is_exact):
        passing = fact_table.visible(transaction, ids, wanted)
    if passing is None:
        where, values = wanted.where(transaction.dialect, by_id=True)
        among = transaction.dialect.listed("some")
        query = f"SELECT f.id FROM memstore_facts f WHERE f.id IN {among} AND {where}"
        passing = {*transaction.ints(query, {**values, "some": ids})}
    return [one for one in given if one[0] in passing]


def _given(
    transaction: Transaction, most: int, among: FactFilter | None = None
) -> Iterator[tuple[int, int]]:
    """Yield facts that were given in searches, and in how many, most first.

    Args:
        among: only facts that pass this filter.
    """
    test, values = "", NO_PARAMETERS
    if among is not None:
        where, values = among.where(transaction.dialect)
        test = f" AND row_id IN (SELECT f.id FROM memstore_facts f WHERE {where})"
    rows = transaction.rows(
        f"SELECT row_id, count(*) FROM memstore_given WHERE kind = '{FACT}'{test}"
        " GROUP BY row_id ORDER BY 2 DESC, row_id DESC LIMIT :most",
        {**values, "most": most},
    )
    return ((int(fact_id), int(number)) for fact_id, number in rows)


def never_given(
    transaction: Transaction, wanted: FactFilter, before: int | None, limit: int
) -> list[int]:
    """Return facts that were given in no search, the newest first."""
    where, values = wanted.where(transaction.dialect)
    if before is not None:
        where += " AND f.id < :before"
    return transaction.ints(
        f"SELECT f.id FROM memstore_facts f WHERE {where} AND NOT EXISTS (SELECT 1"
        f" FROM memstore_given g WHERE g.kind = '{FACT}' AND g.row_id = f.id)"
        " ORDER BY f.id DESC LIMIT :limit",
        {**values, "before": before, "limit": limit},
    )


def is_empty(transaction: Transaction) -> bool:
    return transaction.one("SELECT 1 FROM memstore_searches LIMIT 1") is None


def queries(transaction: Transaction, after: int) -> list[tuple[int, str]]:
    """Return the queries of searches above an id, by id, without those that were blanked."""
    rows = transaction.rows(
        "SELECT id, query FROM memstore_searches WHERE id > :after AND query IS NOT NULL"
        " ORDER BY id",
        {"after": after},
    )
    return [(int(id_), str(query)) for id_, query in rows]


def blank_given(transaction: Transaction, kind: str, ids: Sequence[int]) -> None:
    """Blank the queries of searches that were given any of these rows."""
    transaction.run(
        Update(
            "memstore_searches",
            {"query": "NULL"},
            "query IS NOT NULL AND id IN (SELECT search_id FROM memstore_given WHERE kind = :kind"
            f" AND row_id IN {transaction.dialect.listed('ids')})",
        ),
        {"kind": kind, "ids": ids},
    )


def blank(transaction: Transaction, ids: Iterable[int]) -> None:
    """Blank the queries of these searches."""
    transaction.run(
        Update(
            "memstore_searches", {"query": "NULL"}, f"id IN {transaction.dialect.listed('ids')}"
        ),
        {"ids": sorted(ids)},
    )
