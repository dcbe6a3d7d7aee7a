"""Finds the subjects that changed last, by reading the journal from the newest line on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.database.journal import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter

LINES: Final = 2_000
"""Lines that are read together."""

FEW: Final = 200
"""The lines of a subject with no more facts than this are found by its facts."""

OF_FACTS: Final = (
    # CROSS: the lines are read in order, and the fact of each is looked up.
    "FROM memstore_journal j CROSS JOIN memstore_facts f WHERE f.id = j.fact_id"
    f" AND j.kind NOT IN ('{Kind.EMBED}', '{Kind.QUARANTINE}')"
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
    return transaction.scalar(
        "SELECT max(j.id) FROM memstore_facts f CROSS JOIN memstore_journal j"
        f" WHERE {about} AND j.fact_id = f.id"
        f" AND j.kind NOT IN ('{Kind.EMBED}', '{Kind.QUARANTINE}')",
        given,
    )
