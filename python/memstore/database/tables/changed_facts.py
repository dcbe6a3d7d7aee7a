"""Finds what changed: facts between two moments, and the subjects that changed last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memstore.database.dialect import owned_by
from memstore.database.journal import UNCHANGED, Kind
from memstore.database.tables import line_counts
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

SUBJECT_INDEX: Final = "idx_memstore_subject"
"""To find the newest fact of a subject, the planner would prefer to read facts by id."""

MANY: Final = 5_000
"""For a subject with more facts than this, the stretches of lines are looked up that change any."""

CHANGES: Final = [
    line_counts.word(kind)
    for kind in (*Kind, line_counts.IMPORT)
    if kind not in (Kind.ADD, Kind.EPISODE)
]
"""One of these is among the numbers of a stretch with lines that say more than what was added."""

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

    If a subject has many facts, the last line may be found in two ways, of which the shorter one is
    taken: among the lines after that of its newest fact, which add nothing to it, or by its facts.

    Args:
        facts: how many facts it has.
        last: the last line of the journal.
    """
    seen, values = wanted.of("f", transaction.dialect)
    given: dict[str, Any] = {**values, "key": key, "last": last}
    about = f"f.subject_key = :key AND {seen}"
    if facts > FEW:
        index = "" if wanted.namespaces is None else transaction.dialect.indexed_by(SUBJECT_INDEX)
        known = transaction.scalar(
            f"SELECT max(j.id) FROM memstore_journal j WHERE j.kind NOT IN {UNTOLD} AND j.fact_id ="
            f" (SELECT max(f.id) FROM memstore_facts f {index} WHERE {about})",
            given,
        )
        spans = [(known + 1, last)]
        if facts < last - known and facts > MANY:
            spans = [*line_counts.spans(transaction, *spans[0], [CHANGES], newest_first=True)]
        if sum(end - begin for begin, end in spans) < facts:
            found = (
                transaction.one(
                    f"SELECT j.id {OF_FACTS} AND j.id >= :begin AND j.id <= :end AND {about}"
                    " ORDER BY j.id DESC LIMIT 1",
                    {**given, "begin": max(begin, known + 1), "end": end},
                )
                for begin, end in spans
            )
            return next((int(row[0]) for row in found if row is not None), known)
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
