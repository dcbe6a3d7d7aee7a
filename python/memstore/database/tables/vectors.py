"""The tables of vectors: one row for every fact, and every piece of an episode, in each generation.

A row without a vector is pending; with too many lasting failures, quarantined. Vectors stand apart
from what they are of, so that two models' vectors can stand side by side and reading rows reads
no vectors.
"""

from __future__ import annotations

import zlib
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.database.dialect import within
from memstore.database.engine import Statement
from memstore.domain.records import BYTES_PER_NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.dialect import Dialect
    from memstore.database.engine import Transaction, Wanted
    from memstore.database.filters import Filter

MAX_ATTEMPTS: Final = 3
"""Lasting failures after which an embedding is given up, and its owner quarantined."""

BATCH: Final = 1000
"""Vectors that are compared at once where there is no index."""

NOTHING_TO_EMBED: Final = -1
"""In place of the number of failures: the owner was erased. Such rows are passed over within the
index of the queue, so that clearing a large namespace does not slow every later look at it."""


class VectorTable(NamedTuple):
    """The vectors of one kind of owner, and how SQL comes from a vector to what it is of."""

    name: str
    plural: str
    """What the owners are called."""
    owner: str
    """The column with the owner's id."""
    owners: str
    queue: str
    """The index of the rows without a vector."""
    home: str
    """Brings in ``h``, the row that has the namespace."""
    key: str
    """The owner's id there."""
    living: str
    """Not deleted or erased."""
    filtered: str
    """Brings in what a filter speaks of."""
    filtered_row: str
    """The id of the row that it lets through."""
    filtered_key: str
    """The owner's id there."""
    filtered_link: str
    """What holds between the tables there."""

    @property
    def link(self) -> str:
        """What holds between a vector ``v`` and what :attr:`home` brings in."""
        return f"{self.key} = v.{self.owner}"


FACTS: Final = VectorTable(
    name="memstore_fact_vectors",
    plural="facts",
    owner="fact_id",
    owners="memstore_facts",
    queue="idx_memstore_fact_queue",
    home="memstore_facts h",
    key="h.id",
    living="h.deleted_at IS NULL",
    filtered="memstore_facts f",
    filtered_row="f.id",
    filtered_key="f.id",
    filtered_link="TRUE",
)

PIECES: Final = VectorTable(
    name="memstore_piece_vectors",
    plural="pieces of episodes",
    owner="piece_id",
    owners="memstore_pieces",
    queue="idx_memstore_piece_queue",
    home="memstore_pieces p JOIN memstore_episodes h ON h.id = p.episode_id",
    key="p.id",
    # The pieces of an erased episode are empty stretches.
    living="p.stop > p.start",
    filtered="memstore_episodes e CROSS JOIN memstore_pieces p",
    filtered_row="e.id",
    filtered_key="p.id",
    filtered_link="p.episode_id = e.id",
)

TABLES: Final = (FACTS, PIECES)

_WAITING: Final = f"v.embedding IS NULL AND v.embed_attempts BETWEEN 0 AND {MAX_ATTEMPTS - 1}"
_GIVEN_UP: Final = f"v.embedding IS NULL AND v.embed_attempts >= {MAX_ATTEMPTS}"


def place(
    transaction: Transaction, table: VectorTable, owner_id: int, blob: bytes | None = None
) -> None:
    """Give a new owner its row in every generation, pending where it has no vector.

    The vector is of the active generation's model.
    """
    transaction.queue(
        f"INSERT INTO {table.name} (generation_id, {table.owner}, embedding, checksum)"
        " SELECT id, :owner, CASE WHEN state = 'active' THEN :vector END,"
        " CASE WHEN state = 'active' THEN :checksum END FROM memstore_generations",
        (owner_id, blob, None if blob is None else checksum(owner_id, blob)),
    )


def checksum(owner_id: int, blob: bytes) -> int:
    """Return what is stored beside the vector of an owner, so that damage is noticed."""
    return zlib.crc32(blob, zlib.crc32(str(owner_id).encode()))


def place_all(transaction: Transaction, table: VectorTable, generation_id: int) -> int:
    """Give every owner that has none its row in a generation; return how many there were."""
    # Of what was erased there is nothing to embed; of a long text this reads the length alone.
    erased = f"CASE WHEN octet_length(h.content) = 0 THEN {NOTHING_TO_EMBED} ELSE 0 END"
    return transaction.run(
        f"INSERT INTO {table.name} (generation_id, {table.owner}, embed_attempts)"
        f" SELECT :generation, {table.key}, {erased} FROM {table.home}"
        f" WHERE NOT EXISTS (SELECT 1 FROM {table.name} v"
        f" WHERE v.generation_id = :generation AND {table.link}) ORDER BY {table.key}",
        {"generation": generation_id},
    )


def filling(table: VectorTable, generation_id: int, owner_id: int, blob: bytes) -> Statement:
    """Return what stores the vector of an owner that has none yet, and returns the owner's id.

    It stores none where the owner has one, or is gone.
    """
    return Statement(
        f"UPDATE {table.name} AS v SET embedding = :vector, checksum = :checksum,"
        " embed_error = NULL"
        f" WHERE v.generation_id = :generation AND v.{table.owner} = :owner"
        f" AND v.embedding IS NULL AND v.embed_attempts <> {NOTHING_TO_EMBED}"
        f" AND EXISTS (SELECT 1 FROM {table.home} WHERE {table.link} AND {table.living})"
        f" RETURNING {table.owner}",
        {
            "vector": blob,
            "checksum": checksum(owner_id, blob),
            "generation": generation_id,
            "owner": owner_id,
        },
    )


def pending(
    transaction: Transaction,
    table: VectorTable,
    generation_id: int,
    namespace: str | None,
    limit: int,
    after: int = 0,
) -> list[int]:
    """Return the ids of owners after this one that wait for a vector; ``None``: everybody's."""
    return transaction.ints(
        f"SELECT v.{table.owner} {_queue(transaction.dialect, table, namespace)} AND {_WAITING}"
        f" AND v.{table.owner} > :after ORDER BY v.{table.owner} LIMIT :limit",
        {"generation": generation_id, "namespace": namespace, "after": after, "limit": limit},
    )


def count_pending(
    transaction: Transaction, table: VectorTable, generation_id: int, namespace: str | None
) -> int:
    """Return how many owners in a namespace (``None``: in all) wait for their vector."""
    return transaction.scalar(
        f"SELECT count(*) {_queue(transaction.dialect, table, namespace)} AND {_WAITING}",
        {"generation": generation_id, "namespace": namespace},
    )


def count_all_pending(transaction: Transaction, generation_id: int, namespace: str | None) -> int:
    return sum(count_pending(transaction, table, generation_id, namespace) for table in TABLES)


def count_waiting(
    transaction: Transaction, table: VectorTable, generation_id: int, wanted: Filter | None
) -> dict[str, int]:
    """Return how many owners are ``pending``, and how many ``quarantined``."""
    seen, values = ("TRUE", {}) if wanted is None else wanted.of("h", transaction.dialect)
    row = transaction.one(
        f"SELECT count(*) FILTER (WHERE {_WAITING}), count(*) FILTER (WHERE {_GIVEN_UP})"
        f" {_queue(transaction.dialect, table, None)} AND v.embedding IS NULL AND {seen}",
        {**values, "generation": generation_id},
    )
    return dict(zip(("pending", "quarantined"), row or (0, 0), strict=True))


def quarantined(
    transaction: Transaction, table: VectorTable, generation_id: int, namespace: str | None
) -> list[int]:
    return transaction.ints(
        f"SELECT v.{table.owner} {_queue(transaction.dialect, table, namespace)} AND {_GIVEN_UP}"
        f" ORDER BY v.{table.owner}",
        {"generation": generation_id, "namespace": namespace},
    )


def _queue(dialect: Dialect, table: VectorTable, namespace: str | None) -> str:
    # The index of the queue first, whatever the planner thinks of it: it is short, or has to be
    # read anyway.
    return (
        f"FROM {table.name} v {dialect.indexed_by(table.queue)} CROSS JOIN {table.home}"
        f" WHERE v.generation_id = :generation AND {table.link} AND {table.living}"
    ) + ("" if namespace is None else " AND h.namespace = :namespace")


def note_failure(
    transaction: Transaction, table: VectorTable, generation_id: int, owner_id: int, error: str
) -> bool:
    """Count a lasting failure; true when it was the last one and the owner is now quarantined."""
    row = transaction.one(
        f"UPDATE {table.name} AS v SET embed_attempts = embed_attempts + 1, embed_error = :error"
        f" WHERE v.generation_id = :generation AND v.{table.owner} = :owner AND {_WAITING}"
        " RETURNING embed_attempts",
        {"error": error, "generation": generation_id, "owner": owner_id},
    )
    return row is not None and bool(row[0] == MAX_ATTEMPTS)


def release_quarantine(
    transaction: Transaction, table: VectorTable, generation_id: int, namespace: str | None
) -> int:
    found = quarantined(transaction, table, generation_id, namespace)
    for owner_id in found:
        transaction.run(
            f"UPDATE {table.name} SET embed_attempts = 0"
            f" WHERE generation_id = :generation AND {table.owner} = :owner",
            {"generation": generation_id, "owner": owner_id},
        )
    return len(found)


def forgetting(table: VectorTable, owner_id: int) -> Statement:
    """Return what blanks an erased owner's vectors and errors in every generation."""
    return Statement(
        f"UPDATE {table.name} SET embedding = NULL, embed_error = NULL,"
        f" embed_attempts = {NOTHING_TO_EMBED}"
        f" WHERE generation_id IN (SELECT id FROM memstore_generations) AND {table.owner} = :owner",
        {"owner": owner_id},
    )


def resetting(table: VectorTable, generation_id: int, owner_id: int | None = None) -> Statement:
    """Return what makes an owner (``None``: every one) with a vector pending, and returns ids."""
    which = "" if owner_id is None else f" AND {table.owner} = :owner"
    return Statement(
        f"UPDATE {table.name} SET embedding = NULL, embed_attempts = 0 WHERE generation_id"
        f" = :generation AND embedding IS NOT NULL{which} RETURNING {table.owner}",
        {"generation": generation_id, "owner": owner_id},
    )


def get(
    transaction: Transaction, table: VectorTable, generation_id: int, owner_id: int
) -> bytes | None:
    row = transaction.one(
        f"SELECT embedding FROM {table.name}"
        f" WHERE generation_id = :generation AND {table.owner} = :owner",
        {"generation": generation_id, "owner": owner_id},
    )
    return bytes(row[0]) if row and isinstance(row[0], bytes) else None


def journalled_as(
    transaction: Transaction, table: VectorTable, owner_ids: Sequence[int]
) -> dict[int, tuple[int | None, int | None]]:
    """Return under which ``(fact_id, episode_id)`` the journal has a line about each owner."""
    if table is FACTS:
        return {owner_id: (owner_id, None) for owner_id in owner_ids}
    return {
        owner_id: (None, home) for owner_id, home in episodes_of(transaction, owner_ids).items()
    }


def episodes_of(transaction: Transaction, piece_ids: Sequence[int]) -> dict[int, int]:
    rows = transaction.rows(
        "SELECT id, episode_id FROM memstore_pieces"
        f" WHERE id IN {transaction.dialect.listed('ids')}",
        {"ids": piece_ids},
    )
    return dict(rows)


def blank_some(transaction: Transaction, table: VectorTable, generation_id: int, limit: int) -> int:
    """Take away some vectors of a generation that is to go; return how many."""
    return transaction.run(
        f"UPDATE {table.name} SET embedding = NULL WHERE id IN (SELECT id FROM {table.name}"
        " WHERE generation_id = :generation AND embedding IS NOT NULL LIMIT :limit)",
        {"generation": generation_id, "limit": limit},
    )


def removing_all(table: VectorTable, generation_id: int) -> Statement:
    return Statement(
        f"DELETE FROM {table.name} WHERE generation_id = :generation", {"generation": generation_id}
    )


def blobs(
    transaction: Transaction, table: VectorTable, owner_ids: Sequence[int]
) -> dict[int, bytes]:
    """Return the vectors of these owners in the active generation; others are left out.

    Vectors of another length than the generation's are left to the doctor.
    """
    rows = transaction.rows(
        f"SELECT v.{table.owner}, v.embedding FROM memstore_generations g"
        f" CROSS JOIN {table.name} v WHERE g.state = 'active' AND v.generation_id = g.id"
        f" AND v.{table.owner} IN {transaction.dialect.listed('ids')}"
        f" AND octet_length(v.embedding) = {BYTES_PER_NUMBER} * g.dimension",
        {"ids": owner_ids},
    )
    # Another program may have written text of that length.
    return {owner_id: blob for owner_id, blob in rows if isinstance(blob, bytes)}


class Vector(NamedTuple):
    row_id: int
    """Of the fact or the episode."""
    blob: bytes


def batches(transaction: Transaction, table: VectorTable, wanted: Wanted) -> Iterator[list[Vector]]:
    """Yield the vectors of all that a filter lets through, many at a time."""
    where, values = wanted.where(transaction.dialect)
    rows = transaction.rows(
        f"SELECT {table.filtered_row}, v.embedding FROM memstore_generations g"
        f" CROSS JOIN {table.filtered} CROSS JOIN {table.name} v"
        f" WHERE g.state = 'active' AND v.generation_id = g.id AND {table.filtered_link}"
        f" AND v.{table.owner} = {table.filtered_key} AND {where}"
        f" AND octet_length(v.embedding) = {BYTES_PER_NUMBER} * g.dimension",
        values,
    )
    found = (Vector(row_id, blob) for row_id, blob in rows if isinstance(blob, bytes))
    while batch := list(islice(found, BATCH)):
        yield batch


def has_any(transaction: Transaction, table: VectorTable, namespaces: Sequence[str] | None) -> bool:
    """Whether something in these namespaces (``None``: anywhere) can be compared."""
    where = within(transaction.dialect, "h.namespace", namespaces).replace("WHERE", "AND")
    row = transaction.one(
        f"SELECT 1 FROM memstore_generations g CROSS JOIN {table.home} CROSS JOIN {table.name} v"
        f" WHERE g.state = 'active' AND v.generation_id = g.id AND {table.link}"
        f" AND {table.living} AND v.embedding IS NOT NULL{where} LIMIT 1",
        {"namespaces": namespaces},
    )
    return row is not None


def everything(
    transaction: Transaction, table: VectorTable, generation_id: int
) -> Iterator[tuple[int, bytes, int | None]]:
    """Yield every stored vector of a generation by owner, whatever its length, and its checksum."""
    rows = transaction.rows(
        f"SELECT {table.owner}, embedding, checksum FROM {table.name}"
        f" WHERE generation_id = :generation AND embedding IS NOT NULL ORDER BY {table.owner}",
        {"generation": generation_id},
    )
    for owner_id, blob, held in rows:
        yield owner_id, blob if isinstance(blob, bytes) else str(blob).encode(), held


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
