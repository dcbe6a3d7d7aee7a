"""Facts by the episode they were drawn from: what deriving them again asks of the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memstore.database.dialect import SAME_OWNERS
from memstore.database.tables import facts as fact_table
from memstore.domain import clock

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.database.engine import Parameters, Transaction
    from memstore.domain.records import Fact, Scope


class ErasedFact(NamedTuple):
    """What is left of a fact that was drawn from an episode and erased."""

    uuid: str
    erased_at: datetime
    episode_uuid: str
    episode_created_at: datetime


def episode_ids(transaction: Transaction, namespace: str, scope: Scope | None) -> list[int]:
    """Return the ids of the episodes of a namespace, oldest first, without erased ones."""
    owners = "" if scope is None else f" AND {SAME_OWNERS}"
    return transaction.ints(
        f"SELECT id FROM memstore_episodes WHERE namespace = :namespace AND content <> ''{owners}"
        " ORDER BY created_at, id",
        {"namespace": namespace, **(scope.ids if scope is not None else {})},
    )


def of_episode(transaction: Transaction, namespace: str, episode_id: int) -> list[Fact]:
    return _facts(
        transaction,
        "SELECT id FROM memstore_facts"
        " WHERE namespace = :namespace AND episode_id = :episode_id ORDER BY id",
        {"namespace": namespace, "episode_id": episode_id},
    )


def saying(
    transaction: Transaction, namespace: str, subject: str, content: str, scope: Scope
) -> list[Fact]:
    """Return the facts of just these owners that say just this, in whatever state, by id."""
    return _facts(
        transaction,
        "SELECT id FROM memstore_facts WHERE namespace = :namespace AND subject = :subject"
        f" AND content = :content AND {SAME_OWNERS} ORDER BY id",
        {"namespace": namespace, "subject": subject, "content": content, **scope.ids},
    )


def superseded_by(transaction: Transaction, fact_id: int) -> list[Fact]:
    return _facts(
        transaction,
        "SELECT id FROM memstore_facts WHERE superseded_by = :id ORDER BY id",
        {"id": fact_id},
    )


def erased(transaction: Transaction, namespace: str) -> list[ErasedFact]:
    """Return the erased facts of a namespace that name an episode."""
    rows = transaction.rows(
        "SELECT f.uuid, f.deleted_at, e.uuid, e.created_at FROM memstore_facts f"
        " JOIN memstore_episodes e ON e.id = f.episode_id"
        " WHERE f.namespace = :namespace AND f.deleted_at IS NOT NULL AND f.content = ''",
        {"namespace": namespace},
    )
    return [
        ErasedFact(uuid, clock.from_text(at), episode, clock.from_text(recorded_at))
        for uuid, at, episode, recorded_at in rows
    ]


def _facts(transaction: Transaction, sql: str, parameters: Parameters) -> list[Fact]:
    ids = transaction.ints(sql, parameters)
    found = fact_table.get_many(transaction, ids)
    return [found[fact_id] for fact_id in ids]
