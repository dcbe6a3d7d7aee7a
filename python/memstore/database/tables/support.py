"""The supports of facts, a view of the journal (``schema/v07/support.sql``)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from memstore.database.engine import NO_LIMIT
from memstore.database.journal import Kind
from memstore.domain.support import SupportKind
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memstore.database.engine import Transaction


class SupportRow(NamedTuple):
    line: int
    fact_id: int
    kind: str
    episode_id: int | None
    at: str
    actor: str
    through: str
    cited: str | None
    """The source that was given with it."""


REVERTED: Final = "reverted"
"""The kind of a row that is no support: its ``cited`` names lines that were taken back."""

ORPHANED: Final = "orphaned"
"""The kind of a row that is no support: its ``cited`` names the distrusted sources of what was
erased."""

NO_LEGS: Final = frozenset({REVERTED, ORPHANED})

COLUMNS: Final = ", ".join(f"s.{name}" for name in SupportRow._fields)


def of_facts(
    transaction: Transaction, fact_ids: Sequence[int], until: int = NO_LIMIT
) -> list[SupportRow]:
    """Return the supports of these facts, oldest first. The caller has filtered the ids.

    With ``until``, a line of the journal, they are those of then.
    """
    return in_effect([row for row in heard(transaction, fact_ids) if row.line <= until])


def heard(transaction: Transaction, fact_ids: Sequence[int]) -> list[SupportRow]:
    """Return the supports of these facts, taken back or not, and the lines that took any back."""
    listed = transaction.dialect.listed("ids")
    rows = transaction.rows(
        f"SELECT {COLUMNS} FROM memstore_support s WHERE s.fact_id IN {listed} ORDER BY s.line",
        {"ids": fact_ids},
    )
    return [*map(SupportRow._make, rows)]


def in_effect(rows: Sequence[SupportRow], without: Collection[int] = ()) -> list[SupportRow]:
    """Return the supports that were not taken back, unless that was taken back itself.

    Args:
        rows: what :func:`heard` returns.
        without: lines that count as taken back.
    """
    taken = {*without}
    for row in reversed(rows):
        if row.kind == REVERTED and row.line not in taken:
            taken.update(json.loads(row.cited or "[]"))
    return [row for row in rows if row.kind not in NO_LEGS and row.line not in taken]


def speaking(rows: Sequence[SupportRow]) -> list[SupportRow]:
    """Return the supports that speak for a fact, and not against it."""
    return [row for row in rows if row.kind != SupportKind.DENIED]


def taken_back(
    transaction: Transaction, fact_ids: Sequence[int], until: int = NO_LIMIT
) -> list[SupportRow]:
    """Return what once spoke for facts for which nothing speaks any more."""
    rows = [row for row in heard(transaction, fact_ids) if row.line <= until]
    return speaking([row for row in rows if row.kind not in NO_LEGS])


def orphaned(transaction: Transaction, fact_ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the distrusted sources on which facts rested whose only episodes were erased."""
    rows = transaction.rows(
        "SELECT s.fact_id, s.cited FROM memstore_support s"
        f" WHERE s.fact_id IN {transaction.dialect.listed('ids')} AND s.kind = '{ORPHANED}'"
        " ORDER BY s.line",
        {"ids": fact_ids},
    )
    return {fact_id: json.loads(cited or "[]") for fact_id, cited in rows}


class Spoken(NamedTuple):
    """Who recorded an episode, and whose words it has."""

    id: int
    source: str | None
    speaker: str | None
    actor: str
    through: str


def spoken(transaction: Transaction, episode_ids: Sequence[int]) -> list[Spoken]:
    """Return who recorded these episodes, without the erased ones."""
    if not episode_ids:
        return []
    first = (
        "(SELECT j.{} FROM memstore_journal j WHERE j.episode_id = e.id AND j.fact_id IS NULL"
        f" AND j.kind IN ('{Kind.EPISODE}', '{Kind.ADOPT}') ORDER BY j.id LIMIT 1)"
    )
    rows = transaction.rows(
        f"SELECT e.id, e.source, e.speaker, {first.format('actor')}, {first.format('source')}"
        " FROM memstore_episodes e WHERE e.content_hash <> ''"
        f" AND e.id IN {transaction.dialect.listed('ids')}",
        {"ids": episode_ids},
    )
    return [
        Spoken(id_, source, speaker, actor or "", through or "")
        for id_, source, speaker, actor, through in rows
    ]
