"""The table of proposals: pairs of facts of which the newer may replace the older."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memstore import clock
from memstore.arguments import MAX_NUMBER
from memstore.database import fact_table
from memstore.errors import StorageError
from memstore.model import Proposal, ProposalState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from memstore.database.engine import Row, Transaction

SELECT = (
    "SELECT p.id, p.at, p.old_id, p.new_id, p.similarity, p.evidence, p.state, p.decided_at"
    " FROM memstore_proposals p JOIN memstore_facts o ON o.id = p.old_id"
    " JOIN memstore_facts n ON n.id = p.new_id WHERE o.namespace = ?"
)
# What was retired, deleted or erased meanwhile is no longer anybody's to decide.
CURRENT = (
    " AND o.superseded_by IS NULL AND o.deleted_at IS NULL"
    " AND n.superseded_by IS NULL AND n.deleted_at IS NULL"
)


def insert(
    transaction: Transaction,
    old_id: int,
    new_id: int,
    similarity: float,
    evidence: Mapping[str, Any] | None,
) -> int:
    """Keep a proposal and return its id; the pair's own if it was put forward before."""
    row = transaction.one(
        "INSERT INTO memstore_proposals (at, old_id, new_id, similarity, evidence)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT (old_id, new_id) DO UPDATE SET at = at RETURNING id",
        (
            clock.to_text(clock.utc_now()),
            old_id,
            new_id,
            similarity,
            None if evidence is None else json.dumps(evidence, ensure_ascii=False),
        ),
    )
    if row is None:  # pragma: no cover - RETURNING always returns the row
        raise StorageError("the database did not return the proposal it stored")
    return int(row[0] or 0)


def get(transaction: Transaction, proposal_id: int, namespace: str) -> Proposal | None:
    """Return one proposal of a namespace, in whatever state."""
    if abs(proposal_id) > MAX_NUMBER:
        return None
    found = _decode_all(
        transaction, transaction.rows(f"{SELECT} AND p.id = ?", (namespace, proposal_id))
    )
    return found[0] if found else None


def select(
    transaction: Transaction, namespace: str, state: str | None, *, newest_first: bool = False
) -> list[Proposal]:
    """Return the proposals of a namespace by id; ``None`` for every state.

    Open ones are those that can still be decided: both facts are what holds now.
    """
    bound = "" if state is None else " AND p.state = ?"
    if state == ProposalState.OPEN:
        bound += CURRENT
    rows = transaction.rows(
        f"{SELECT}{bound} ORDER BY p.id {'DESC' if newest_first else 'ASC'}",
        (namespace,) if state is None else (namespace, state),
    )
    return _decode_all(transaction, rows)


def decide(transaction: Transaction, proposal_id: int, state: str, at: datetime) -> None:
    """Close a proposal."""
    transaction.run(
        "UPDATE memstore_proposals SET state = ?, decided_at = ? WHERE id = ?",
        (state, clock.to_text(at), proposal_id),
    )


def forget_evidence(transaction: Transaction, fact_id: int) -> None:
    """Blank what proposals quote of a fact."""
    transaction.run(
        "UPDATE memstore_proposals SET evidence = NULL WHERE old_id = ?1 OR new_id = ?1", (fact_id,)
    )


def _decode_all(transaction: Transaction, rows: Iterable[Row]) -> list[Proposal]:
    found = list(rows)
    ids = sorted({int(fact_id or 0) for row in found for fact_id in row[2:4]})
    facts = fact_table.get_many(transaction, ids)
    return [_decode(row, facts) for row in found]


def _decode(row: Row, facts: Mapping[int, Any]) -> Proposal:
    id_, at, old_id, new_id, similarity, evidence, state, decided_at = row
    try:
        return Proposal(
            id=int(id_ or 0),
            at=clock.from_text(str(at)),
            old=facts[int(old_id or 0)],
            new=facts[int(new_id or 0)],
            similarity=float(similarity or 0),
            evidence=json.loads(str(evidence)) if evidence is not None else {},
            state=str(state),
            decided_at=None if decided_at is None else clock.from_text(str(decided_at)),
        )
    except (ValueError, KeyError) as error:
        raise StorageError(f"proposal {id_!r} cannot be read: {error}") from error
