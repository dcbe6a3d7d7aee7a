"""Facts by where they come from: the questions that deriving again asks of the table of facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memstore.database.tables import facts as fact_table
from memstore.domain import clock

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from memstore.database.engine import Row, Transaction
    from memstore.domain.records import Fact, Scope


class ErasedFact(NamedTuple):
    """What is left of a fact that was drawn from an episode and erased."""

    uuid: str
    erased_at: datetime
    episode_uuid: str
    episode_created_at: datetime


def episode_ids(transaction: Transaction, namespace: str, scope: Scope | None) -> list[int]:
    """Return the ids of the episodes of a namespace, oldest first, without erased ones."""
    bound, owners = "", list[str | None]()
    if scope is not None:
        bound, owners = " AND user_id IS ? AND agent_id IS ? AND run_id IS ?", [*scope.ids.values()]
    rows = transaction.rows(
        f"SELECT id FROM memstore_episodes WHERE namespace = ? AND content <> ''{bound}"
        " ORDER BY created_at, id",
        (namespace, *owners),
    )
    return [int(row[0] or 0) for row in rows]


def of_episode(transaction: Transaction, namespace: str, episode_id: int) -> list[Fact]:
    """Return the facts drawn from an episode, in whatever state, by id."""
    return _facts(
        transaction,
        transaction.rows(
            "SELECT id FROM memstore_facts WHERE namespace = ? AND episode_id = ?",
            (namespace, episode_id),
        ),
    )


def saying(
    transaction: Transaction, namespace: str, subject: str, content: str, scope: Scope
) -> list[Fact]:
    """Return the facts of just these owners that say just this, in whatever state, by id."""
    return _facts(
        transaction,
        transaction.rows(
            "SELECT id FROM memstore_facts WHERE namespace = ? AND subject = ? AND content = ?"
            " AND user_id IS ? AND agent_id IS ? AND run_id IS ?",
            (namespace, subject, content, *scope.ids.values()),
        ),
    )


def superseded_by(transaction: Transaction, fact_id: int) -> list[Fact]:
    """Return the facts that one superseded, by id."""
    return _facts(
        transaction,
        transaction.rows("SELECT id FROM memstore_facts WHERE superseded_by = ?", (fact_id,)),
    )


def erased(transaction: Transaction, namespace: str) -> list[ErasedFact]:
    """Return the erased facts of a namespace that name an episode."""
    rows = transaction.rows(
        "SELECT f.uuid, f.deleted_at, e.uuid, e.created_at FROM memstore_facts f"
        " JOIN memstore_episodes e ON e.id = f.episode_id"
        " WHERE f.namespace = ? AND f.deleted_at IS NOT NULL AND f.content = ''",
        (namespace,),
    )
    return [
        ErasedFact(
            str(uuid), clock.from_text(str(at)), str(home), clock.from_text(str(recorded_at))
        )
        for uuid, at, home, recorded_at in rows
    ]


def _facts(transaction: Transaction, rows: Iterable[Row]) -> list[Fact]:
    ids = sorted(int(row[0] or 0) for row in rows)
    found = fact_table.get_many(transaction, ids)
    return [found[fact_id] for fact_id in ids]
