"""The vectors that are stored: read for searches, counted, and looked over by the doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.tables.vectors import FACTS, VectorTable, chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memstore.database.engine import Row, Transaction


def resident(
    transaction: Transaction,
    table: VectorTable,
    generation_id: int,
    size_bytes: int,
    *,
    namespace: str | None = None,
) -> Iterator[tuple[int, str, bool, bytes]]:
    """Yield ``(owner, namespace, superseded, vector)`` of what can be searched by meaning.

    Args:
        transaction: what is looked at.
        table: facts, or pieces of episodes.
        generation_id: whose vectors.
        size_bytes: the length every vector of it has; others are left to the doctor.
        namespace: only of this namespace; ``None`` for all.
    """
    query = _sound(table) + ("" if namespace is None else " AND h.namespace = ?")
    return _decoded(transaction.rows(query, (generation_id, size_bytes, *_some(namespace))))


def resident_of(
    transaction: Transaction,
    table: VectorTable,
    generation_id: int,
    size_bytes: int,
    changed: Sequence[int],
) -> Iterator[tuple[int, str, bool, bytes]]:
    """Yield the same of facts, or of all pieces of episodes, with these ids."""
    for chunk, marks in chunks(changed):
        query = f"{_sound(table)} AND h.id IN ({marks})"
        yield from _decoded(transaction.rows(query, (generation_id, size_bytes, *chunk)))


def _sound(table: VectorTable) -> str:
    return (
        f"SELECT v.{table.owner}, h.namespace, {table.superseded}, v.embedding"
        f" FROM {table.home} JOIN {table.name} v ON {table.link}"
        f" WHERE v.generation_id = ? AND {table.living}"
        " AND typeof(v.embedding) = 'blob' AND length(v.embedding) = ?"
    )


def _some(namespace: str | None) -> tuple[str, ...]:
    return () if namespace is None else (namespace,)


def _decoded(rows: Iterable[Row]) -> Iterator[tuple[int, str, bool, bytes]]:
    for owner_id, home, superseded, blob in rows:
        yield int(owner_id or 0), str(home), bool(superseded), bytes(blob or b"")


def owners_of(transaction: Transaction, table: VectorTable, changed: Sequence[int]) -> set[int]:
    """Return the owners that stand for changed things: a fact itself, an episode's pieces."""
    if table is FACTS:
        return set(changed)
    return {
        int(row[0] or 0)
        for chunk, marks in chunks(changed)
        for row in transaction.rows(
            f"SELECT id FROM memstore_pieces WHERE episode_id IN ({marks})", chunk
        )
    }


def everything(
    transaction: Transaction, table: VectorTable, generation_id: int
) -> Iterator[tuple[int, bytes]]:
    """Yield every stored vector of a generation, whatever its length, by owner."""
    rows = transaction.rows(
        f"SELECT {table.owner}, embedding FROM {table.name}"
        f" WHERE generation_id = ? AND embedding IS NOT NULL ORDER BY {table.owner}",
        (generation_id,),
    )
    for owner_id, blob in rows:
        yield int(owner_id or 0), blob if isinstance(blob, bytes) else str(blob).encode()


def missing(transaction: Transaction, table: VectorTable, generation_id: int) -> list[int]:
    """Return the owners that have no row in a generation."""
    rows = transaction.rows(
        f"SELECT id FROM {table.owners} EXCEPT"
        f" SELECT {table.owner} FROM {table.name} WHERE generation_id = ? ORDER BY 1",
        (generation_id,),
    )
    return [int(row[0] or 0) for row in rows]


def count(transaction: Transaction, table: VectorTable, generation_id: int) -> int:
    """Return how many owners have a vector in a generation; reads two indexes, and no vectors."""
    row = transaction.one(
        f"SELECT (SELECT count(*) FROM {table.name} WHERE generation_id = ?1)"
        f" - (SELECT count(*) FROM {table.name} INDEXED BY {table.queue}"
        " WHERE generation_id = ?1 AND embedding IS NULL)",
        (generation_id,),
    )
    return int(row[0] or 0) if row else 0
