"""Reading stored vectors: for searches, for counting, and for the doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.tables.vectors import FACTS, VectorTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memstore.database.engine import Parameters, Row, Transaction


def resident(
    transaction: Transaction,
    table: VectorTable,
    generation_id: int,
    size_bytes: int,
    *,
    namespace: str | None = None,
) -> Iterator[tuple[int, str, bool, bytes]]:
    """Yield ``(owner, namespace, superseded, vector)`` of what can be searched by meaning.

    Vectors of another length than ``size_bytes`` are left to the doctor.
    """
    query = _sound(table) + ("" if namespace is None else " AND h.namespace = :namespace")
    parameters: Parameters = {
        "generation": generation_id,
        "size": size_bytes,
        "namespace": namespace,
    }
    return _decoded(transaction.rows(query, parameters))


def resident_of(
    transaction: Transaction,
    table: VectorTable,
    generation_id: int,
    size_bytes: int,
    changed: Sequence[int],
) -> Iterator[tuple[int, str, bool, bytes]]:
    """Yield the same of facts, or of all pieces of episodes, with these ids."""
    query = f"{_sound(table)} AND h.id IN {transaction.dialect.listed('ids')}"
    parameters: Parameters = {"generation": generation_id, "size": size_bytes, "ids": changed}
    return _decoded(transaction.rows(query, parameters))


def _sound(table: VectorTable) -> str:
    return (
        f"SELECT v.{table.owner}, h.namespace, {table.superseded}, v.embedding"
        f" FROM {table.home} JOIN {table.name} v ON {table.link}"
        f" WHERE v.generation_id = :generation AND {table.living}"
        " AND octet_length(v.embedding) = :size"
    )


def _decoded(rows: Iterable[Row]) -> Iterator[tuple[int, str, bool, bytes]]:
    for owner_id, namespace, superseded, blob in rows:
        if isinstance(blob, bytes):  # another program may have written text of that length
            yield owner_id, namespace, bool(superseded), blob


def owners_of(transaction: Transaction, table: VectorTable, changed: Sequence[int]) -> set[int]:
    """Return the owners of the vectors of changed rows: a fact itself, an episode's pieces."""
    if table is FACTS:
        return set(changed)
    listed = transaction.dialect.listed("ids")
    return {
        *transaction.ints(
            f"SELECT id FROM memstore_pieces WHERE episode_id IN {listed}", {"ids": changed}
        )
    }


def everything(
    transaction: Transaction, table: VectorTable, generation_id: int
) -> Iterator[tuple[int, bytes]]:
    """Yield every stored vector of a generation, whatever its length, by owner."""
    rows = transaction.rows(
        f"SELECT {table.owner}, embedding FROM {table.name}"
        f" WHERE generation_id = :generation AND embedding IS NOT NULL ORDER BY {table.owner}",
        {"generation": generation_id},
    )
    for owner_id, blob in rows:
        yield owner_id, blob if isinstance(blob, bytes) else str(blob).encode()


def missing(transaction: Transaction, table: VectorTable, generation_id: int) -> list[int]:
    return transaction.ints(
        f"SELECT id FROM {table.owners} EXCEPT"
        f" SELECT {table.owner} FROM {table.name} WHERE generation_id = :generation ORDER BY 1",
        {"generation": generation_id},
    )


def count(transaction: Transaction, table: VectorTable, generation_id: int) -> int:
    """Return how many owners have a vector in a generation; reads two indexes, and no vectors."""
    queue = transaction.dialect.indexed_by(table.queue)
    return transaction.scalar(
        f"SELECT (SELECT count(*) FROM {table.name} WHERE generation_id = :generation)"
        f" - (SELECT count(*) FROM {table.name} {queue}"
        " WHERE generation_id = :generation AND embedding IS NULL)",
        {"generation": generation_id},
    )
