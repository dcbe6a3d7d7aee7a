"""The table of decisions about entities: which names mean the same one, and which do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.engine import Write
from memstore.database.tables import commitments
from memstore.database.tables.rows import Rows
from memstore.database.writes import BY_ID, Delete, Insert
from memstore.domain import clock
from memstore.domain.entities import EntityDecision
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memstore.database.changes import Changes, Lines
    from memstore.database.engine import Row, Transaction

COLUMNS = "id, namespace, left_key, right_key, same, left_name, right_name, actor, at"
SELECT = f"SELECT {COLUMNS} FROM memstore_entity_decisions"
ROWS: Final = Rows("memstore_entity_decisions", "namespace", "namespace, id")


class Kept(NamedTuple):
    """A decision as it is stored; ``left_key`` comes before ``right_key``."""

    id: int
    namespace: str
    left_key: str
    right_key: str
    decision: EntityDecision


def of_namespace(transaction: Transaction, namespace: str) -> list[Kept]:
    rows = transaction.rows(
        f"{SELECT} WHERE namespace = :namespace ORDER BY id", {"namespace": namespace}
    )
    return [_decode(row) for row in rows]


def about(transaction: Transaction, namespace: str, key: str) -> list[Kept]:
    rows = transaction.rows(
        f"{SELECT} WHERE namespace = :namespace AND left_key = :key UNION ALL"
        f" {SELECT} WHERE namespace = :namespace AND right_key = :key ORDER BY id",
        {"namespace": namespace, "key": key},
    )
    return [_decode(row) for row in rows]


def namespaces(transaction: Transaction) -> list[str]:
    rows = transaction.rows(
        "SELECT DISTINCT namespace FROM memstore_entity_decisions ORDER BY namespace"
    )
    return [str(row[0]) for row in rows]


def everything(
    transaction: Transaction, namespaces: Sequence[str] | None = None
) -> Iterator[tuple[str, EntityDecision]]:
    """Yield the decisions of these namespaces (``None``: all) for an export."""
    rows = ROWS.everything(transaction, COLUMNS, namespaces)
    return ((kept.namespace, kept.decision) for kept in map(_decode, rows))


def insert(
    changes: Changes,
    namespace: str,
    keys: tuple[str, str],
    decision: EntityDecision,
    lines: Callable[[Kept], Lines],
) -> None:
    """Store a decision about a pair of keys that has none yet."""
    names = (decision.left, decision.right)
    (left_key, left), (right_key, right) = sorted(zip(keys, names, strict=True))
    id_ = changes.transaction.next_id("memstore_entity_decisions")
    write = Write(
        Insert("memstore_entity_decisions", tuple(COLUMNS.split(", "))),
        {
            "id": id_,
            "namespace": namespace,
            "left_key": left_key,
            "right_key": right_key,
            "same": int(decision.same),
            "left_name": left,
            "right_name": right,
            "actor": decision.actor,
            "at": clock.to_text(decision.at),
        },
    )
    changes.insert(write, lines(Kept(id_, namespace, left_key, right_key, decision)))


def deleting(decision_id: int) -> list[Write]:
    """Return the writes that delete a decision; nothing then confirms a guess of its names."""
    return [
        Write(Delete("memstore_entity_decisions", BY_ID), {"id": decision_id}),
        commitments.forgetting(f"decision {decision_id}"),
    ]


def commit(transaction: Transaction, kept: Kept) -> str:
    """Return the commitment to a new decision for its line."""
    return commitments.make(transaction, f"decision {kept.id}", _values(kept))


def is_committed(transaction: Transaction, kept: Kept, commitment: object) -> bool:
    return commitments.holds(transaction, f"decision {kept.id}", _values(kept), commitment)


def everywhere(transaction: Transaction) -> list[Kept]:
    return [*map(_decode, transaction.rows(f"{SELECT} ORDER BY id"))]


def _values(kept: Kept) -> list[str]:
    decision = kept.decision
    names = [kept.left_key, kept.right_key, decision.left, decision.right]
    return [*names, decision.actor, clock.to_text(decision.at)]


def _decode(row: Row) -> Kept:
    id_, namespace, left_key, right_key, same, left, right, actor, at = row
    decision = EntityDecision(
        left=left, right=right, same=bool(same), actor=actor, at=clock.from_text(str(at))
    )
    return Kept(id_, namespace, left_key, right_key, decision)
