"""Finds which subjects changed last, and who changed facts since a session."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal
from memstore.database.acts import STRETCH
from memstore.database.journal import Kind
from memstore.database.tables import line_counts
from memstore.domain.records import NOBODY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter
    from memstore.database.tables.line_counts import Counted


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
            changing = line_counts.Wanted([CHANGES])
            spans = [*line_counts.spans(transaction, *spans[0], changing, newest_first=True)]
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


def authors_since(
    transaction: Transaction,
    wanted: FactFilter,
    episode_id: int,
    kinds: Sequence[str],
    most: int,
) -> list[tuple[str, str, str, int]]:
    """Count the changes of facts since an episode was recorded, by actor, source and kind.

    Lines that an import took over from another file are not counted.

    Args:
        most: how many of the newest lines are counted.
    """
    recorded = transaction.scalar(
        "SELECT max(id) FROM memstore_journal WHERE episode_id = :id AND fact_id IS NULL"
        " AND kind = :kind",
        {"id": episode_id, "kind": Kind.EPISODE},
    )
    if not recorded:
        return []
    last = journal.last_id(transaction)
    first = max(recorded, last - most) + 1
    found: Counter[tuple[str, str, str]] = Counter()
    if wanted.scope in (None, NOBODY):
        for stretch, counted in line_counts.between(transaction, first, last).items():
            if (author := _only_author(counted)) is None:
                continue
            for namespace, kind, number, unowned in counted.numbers:
                is_seen = wanted.namespaces is None or namespace in wanted.namespaces
                if namespace is not None and is_seen and kind in kinds:
                    found[*author, kind] += number if wanted.scope is None else unowned
            found.update(_by_author(transaction, wanted, kinds, first, stretch * STRETCH - 1))
            first = (stretch + 1) * STRETCH
    found.update(_by_author(transaction, wanted, kinds, first, last))
    return [(*one, number) for one, number in sorted(found.items()) if number]


def _only_author(counted: Counted) -> tuple[str, str] | None:
    """Return who wrote all lines of a stretch, if one did, and the numbers tell what of facts."""
    kinds = {one.kind for one in counted.numbers}
    if counted.authors is None or len(counted.authors) != 1:
        return None
    return None if kinds & {line_counts.IMPORT, Kind.ADOPT} else counted.authors[0]


def _by_author(
    transaction: Transaction, wanted: FactFilter, kinds: Sequence[str], first: int, last: int
) -> dict[tuple[str, str, str], int]:
    """Count lines by reading them."""
    if last < first:
        return {}
    seen, values = wanted.of("f", transaction.dialect)
    rows = transaction.rows(
        "SELECT j.actor, j.source, j.kind, count(*)"
        # CROSS: SQLite then reads the few lines first, and not every fact of the namespace.
        " FROM memstore_journal j CROSS JOIN memstore_facts f"
        f" WHERE f.id = j.fact_id AND j.id >= :first AND j.id <= :last AND j.said_at IS NULL"
        f" AND {seen} AND j.kind IN {transaction.dialect.listed('kinds')}"
        " GROUP BY j.actor, j.source, j.kind",
        {**values, "first": first, "last": last, "kinds": kinds},
    )
    return {(actor, source, kind): number for actor, source, kind, number in rows}
