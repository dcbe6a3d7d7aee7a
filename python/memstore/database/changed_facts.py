"""Finds what changed: facts between two moments, and the subjects that changed last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memstore.database.dialect import owned_by
from memstore.database.journal import UNCHANGED, Kind
from memstore.domain import clock
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter
    from memstore.domain.moments import Moment
    from memstore.domain.records import AtLeast, Scope


LINES: Final = 2_000
"""Lines that are read together."""

FEW: Final = 200
"""The lines of a subject with no more facts than this are found by its facts."""

UNTOLD: Final = f"('{Kind.EMBED}', '{Kind.QUARANTINE}')"
"""Kinds of lines that change nothing that anybody said."""

OF_FACTS: Final = (
    # CROSS: the lines are read in order, and the fact of each is looked up.
    "FROM memstore_journal j CROSS JOIN memstore_facts f WHERE f.id = j.fact_id"
    f" AND j.kind NOT IN {UNTOLD}"
)


def subjects_before(
    transaction: Transaction, wanted: FactFilter, last: int
) -> Iterator[tuple[str, int]]:
    """Yield the keys of subjects with lines up to one, newest line first.

    A subject may be there several times; its first line is the last one up to then.
    """
    seen, values = wanted.of("f", transaction.dialect)
    query = (
        f"SELECT f.subject_key, max(j.id) {OF_FACTS} AND j.id > :first AND j.id <= :last"
        f" AND f.subject_key <> '' AND {seen} GROUP BY 1 ORDER BY 2 DESC"
    )
    while last > 0:
        first = max(0, last - LINES)
        yield from [*transaction.rows(query, {**values, "first": first, "last": last})]
        last = first


def last_line(transaction: Transaction, wanted: FactFilter, key: str, facts: int, last: int) -> int:
    """Return the last line about a subject; 0 if there is none.

    A subject of many facts is probably among the newest lines. These are read first, as many as it
    has facts, so that it never takes more than twice as long as by its facts.

    Args:
        facts: how many facts it has.
        last: the last line of the journal.
    """
    seen, values = wanted.of("f", transaction.dialect)
    given: dict[str, Any] = {**values, "key": key, "last": last, "first": max(0, last - facts)}
    about = f"f.subject_key = :key AND {seen}"
    if facts > FEW:
        row = transaction.one(
            f"SELECT j.id {OF_FACTS} AND j.id > :first AND j.id <= :last AND {about}"
            " ORDER BY j.id DESC LIMIT 1",
            given,
        )
        if row is not None:
            return int(row[0])
    newest = (
        "SELECT max(j.id) FROM memstore_facts f CROSS JOIN memstore_journal j"
        f" WHERE {about} AND j.fact_id = f.id"
    )
    # An index has the lines' ids; their kinds are read only if the last one is of another kind.
    row = transaction.one(
        f"SELECT id FROM memstore_journal WHERE id = ({newest}) AND kind NOT IN {UNTOLD}", given
    )
    return (
        transaction.scalar(f"{newest} AND j.kind NOT IN {UNTOLD}", given) if row is None else row[0]
    )


EXPIRED_INDEX: Final = "idx_memstore_expired"
"""Of few facts; the planner would prefer to read all facts of the owners."""


class DifferenceFilter(NamedTuple):
    """Which facts are compared."""

    namespaces: tuple[str, ...] | None
    owners: Scope | AtLeast | None
    subject: str | None = None
    category: str | None = None


def lines(
    transaction: Transaction, a: Moment, b: Moment, which: DifferenceFilter
) -> Iterator[tuple[int, int, str, bool]]:
    """Yield the lines between two moments that change facts, oldest first.

    Each is the id of the fact and of the line, the kind, and whether the fact never expires and is
    not erased.
    """
    listed = transaction.dialect.listed
    wanted, values = _whose(transaction, which)
    return transaction.rows(
        # CROSS: the lines between are read first; the plus keeps an index from being scanned.
        "SELECT j.fact_id, j.id, j.kind, f.expired_at IS NULL AND f.content <> ''"
        " FROM memstore_journal j CROSS JOIN memstore_facts f"
        " WHERE f.id = +j.fact_id AND j.id > :first AND j.id <= :last"
        f" AND j.kind NOT IN {listed('unchanged')} AND {wanted} ORDER BY j.id",
        {"first": a.line, "last": b.line, "unchanged": sorted(UNCHANGED), **values},
    )


def expired(transaction: Transaction, a: Moment, b: Moment, which: DifferenceFilter) -> list[int]:
    """Return the ids of facts that expired between two moments."""
    wanted, values = _whose(transaction, which)
    hint = transaction.dialect.indexed_by(EXPIRED_INDEX)
    return transaction.ints(
        f"SELECT f.id FROM memstore_facts f {hint}"
        f" WHERE f.expired_at > :from_time AND f.expired_at <= :to_time AND {wanted} ORDER BY 1",
        {"from_time": clock.to_text(a.at), "to_time": clock.to_text(b.at), **values},
    )


def _whose(transaction: Transaction, which: DifferenceFilter) -> tuple[str, dict[str, Any]]:
    tests = ["TRUE"]
    if which.namespaces is not None:
        tests.append(f"f.namespace IN {transaction.dialect.listed('namespaces')}")
    if which.owners is not None:
        tests.append(owned_by(which.owners))
    if which.subject is not None:
        tests.append("f.subject_key = :subject_key")
    if which.category is not None:
        tests.append("f.category_key = :category_key")
    return " AND ".join(tests), {
        "namespaces": which.namespaces,
        "subject_key": None if which.subject is None else subject_key(which.subject),
        "category_key": None if which.category is None else subject_key(which.category),
        **(which.owners.ids if which.owners else {}),
    }
