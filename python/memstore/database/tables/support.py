"""The legs of facts, a view of the journal (``schema/v07/support.sql``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.database.journal import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction


class LegRow(NamedTuple):
    line: int
    fact_id: int
    kind: str
    episode_id: int | None
    at: str
    actor: str
    through: str
    cited: str | None
    """The source that was given with it."""


COLUMNS: Final = ", ".join(f"s.{name}" for name in LegRow._fields)


def of_facts(transaction: Transaction, fact_ids: Sequence[int]) -> list[LegRow]:
    """Return the legs of these facts, oldest first. The caller has filtered the ids."""
    listed = transaction.dialect.listed("ids")
    rows = transaction.rows(
        f"SELECT {COLUMNS} FROM memstore_support s WHERE s.fact_id IN {listed} ORDER BY s.line",
        {"ids": fact_ids},
    )
    return [LegRow._make(row) for row in rows]


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
