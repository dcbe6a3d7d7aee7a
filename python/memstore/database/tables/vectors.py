"""The tables of vectors: a row for every fact, and every piece of an episode, in each generation.

A row without a vector is pending, or quarantined after too many permanent failures. Vectors are
stored apart from facts and episodes, so that two models can coexist and reading rows reads no
vectors. A file has them packed, in fewer bytes (:func:`whole`); a vector that is not packed is read
as well.
"""

from __future__ import annotations

import zlib
from functools import cache
from itertools import islice, starmap
from typing import TYPE_CHECKING, Final

from memstore._kernel.vectors import unpack
from memstore.database.dialect import within
from memstore.database.engine import NO_PARAMETERS, Statement, Write
from memstore.database.writes import Delete, Insert, Update
from memstore.domain.records import BYTES_PER_NUMBER
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memstore.database.dialect import Dialect
    from memstore.database.engine import Row, RowFilter, Transaction, Value
    from memstore.database.filters import Filter

MAX_ATTEMPTS: Final = 3
"""The number of permanent failures after which an owner is quarantined."""

BATCH: Final = 1000
"""Vectors that are compared at once if there is no index."""

NOTHING_TO_EMBED: Final = -1
"""Stored instead of the number of failures if the owner was erased or is not searched. The queue's
index holds it, so that such rows are skipped quickly even after a large namespace was cleared."""


class VectorTable(NamedTuple):
    """The table of vectors of facts or pieces ("owners"), and how SQL joins it to them."""

    name: str
    plural: str
    """The name of the owners in messages."""
    owner: str
    """The column with the owner's id."""
    owners: str
    queue: str
    """The index of the rows without a vector."""
    home: str
    """The tables with the row ``h`` that has the namespace."""
    alias: str
    """The owner's table in ``home``."""
    row: str
    """The id of the owner's fact or episode."""
    living: str
    """The condition that the owner is not deleted or erased."""
    mute: str
    """The condition that there is nothing to embed: it was erased, or no search may find it."""
    filtered: str
    """The tables that a filter uses."""
    filtered_row: str
    """The id of the filtered fact or episode."""
    filtered_key: str
    """The owner's id in ``filtered``."""
    filtered_link: str
    """The join condition of ``filtered``."""

    @property
    def key(self) -> str:
        """The owner's id in ``home``."""
        return f"{self.alias}.id"

    @property
    def link(self) -> str:
        """The join condition between a vector ``v`` and :attr:`home`."""
        return f"{self.key} = v.{self.owner}"


FACTS: Final = VectorTable(
    name="memstore_fact_vectors",
    plural="facts",
    owner="fact_id",
    owners="memstore_facts",
    queue="idx_memstore_fact_queue",
    home="memstore_facts h",
    alias="h",
    row="h.id",
    living="h.deleted_at IS NULL",
    # octet_length() does not read a long text.
    mute="octet_length(h.content) = 0 OR h.unsearched IS NOT NULL",
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
    alias="p",
    row="p.episode_id",
    # The pieces of an erased episode are empty ranges.
    living="p.stop > p.start",
    mute="octet_length(h.content) = 0",
    filtered="memstore_episodes e CROSS JOIN memstore_pieces p",
    filtered_row="e.id",
    filtered_key="p.id",
    filtered_link="p.episode_id = e.id",
)

TABLES: Final = (FACTS, PIECES)

_IF_ACTIVE: Final = "CASE WHEN state = 'active' THEN :{} END"
_WAITING: Final = f"v.embedding IS NULL AND v.embed_attempts BETWEEN 0 AND {MAX_ATTEMPTS - 1}"
_GIVEN_UP: Final = f"v.embedding IS NULL AND v.embed_attempts >= {MAX_ATTEMPTS}"


def place(
    transaction: Transaction, table: VectorTable, owner_id: int, blob: bytes | None = None
) -> None:
    """Insert a new owner's row in every generation; rows without a vector are pending.

    A vector must be of the active generation's model.
    """
    if blob is None:
        transaction.queue_ids(_pending(table), owner_id, owner_id)
    else:
        transaction.queue(_placed(table), (owner_id, blob, checksum(owner_id, blob)))


def place_each(
    transaction: Transaction, table: VectorTable, owners: Sequence[int], blobs: list[bytes | None]
) -> None:
    """Do as :func:`place` for several new owners, whose ids follow each other."""
    if not any(blobs):
        transaction.queue_ids(_pending(table), owners[0], owners[-1])
        return
    if None not in blobs:
        placed = zip(owners, blobs, strict=True)
        rows = [(owner, blob, checksum(owner, blob)) for owner, blob in placed if blob]
        transaction.queue_all(_placed(table), rows)
        return
    for owner, blob in zip(owners, blobs, strict=True):
        place(transaction, table, owner, blob)


@cache
def _pending(table: VectorTable) -> Insert:
    """Return the form of the rows without vectors of owners from ``:first`` to ``:last``."""
    return Insert(
        table.name,
        ("generation_id", table.owner),
        ("g.id", "o.id"),
        f"memstore_generations g CROSS JOIN {table.owners} o WHERE o.id BETWEEN :first AND :last",
        of_owners=table.owners,
    )


@cache
def _placed(table: VectorTable) -> Insert:
    """Return the form of an owner's rows, of which that of the active generation has a vector."""
    return Insert(
        table.name,
        ("generation_id", table.owner, "embedding", "checksum"),
        ("id", ":owner", _IF_ACTIVE.format("vector"), _IF_ACTIVE.format("checksum")),
        "memstore_generations",
    )


def place_nothing(transaction: Transaction, table: VectorTable, owner_id: int) -> None:
    """Insert the rows of a new owner that is never embedded."""
    form = Insert(
        table.name,
        ("generation_id", table.owner, "embed_attempts"),
        ("id", ":owner", str(NOTHING_TO_EMBED)),
        "memstore_generations",
    )
    transaction.queue(form, (owner_id,))


def checksum(owner_id: int, blob: bytes) -> int:
    """Return the checksum that is stored with an owner's vector, to detect damage."""
    return zlib.crc32(blob, zlib.crc32(str(owner_id).encode()))


def place_all(transaction: Transaction, table: VectorTable, generation_id: int) -> int:
    """Insert the missing rows of owners in a generation; return how many there were."""
    nothing = f"CASE WHEN {table.mute} THEN {NOTHING_TO_EMBED} ELSE 0 END"
    return transaction.run(
        Insert(
            table.name,
            ("generation_id", table.owner, "embed_attempts"),
            (":generation", table.key, nothing),
            f"{table.home} WHERE NOT EXISTS (SELECT 1 FROM {table.name} v"
            f" WHERE v.generation_id = :generation AND {table.link}) ORDER BY {table.key}",
        ),
        {"generation": generation_id},
    )


def filling(table: VectorTable, generation_id: int, owner_id: int, blob: bytes) -> Write:
    """Return a write that stores an owner's vector and returns the owner's id.

    It does nothing if the owner already has a vector, or was deleted or erased.
    """
    return Write(
        Update(
            table.name,
            {"embedding": ":vector", "checksum": ":checksum", "embed_error": "NULL"},
            f"v.generation_id = :generation AND v.{table.owner} = :owner"
            f" AND v.embedding IS NULL AND v.embed_attempts <> {NOTHING_TO_EMBED}"
            f" AND EXISTS (SELECT 1 FROM {table.home} WHERE {table.link} AND {table.living})",
            alias="v",
            returning=table.owner,
        ),
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
    """Return the ids after this one of pending owners in a namespace (``None``: in all)."""
    return transaction.ints(
        f"SELECT v.{table.owner} {_queue(transaction.dialect, table, namespace)} AND {_WAITING}"
        f" AND v.{table.owner} > :after ORDER BY v.{table.owner} LIMIT :limit",
        {"generation": generation_id, "namespace": namespace, "after": after, "limit": limit},
    )


def unclaimed(
    transaction: Transaction, table: VectorTable, generation_id: int, owner_ids: Sequence[int]
) -> list[int]:
    """Return those of these owners that still wait; on a server, none that another one claims.

    Their rows are locked until the transaction ends, so that two machines claim different ones.
    """
    return transaction.ints(
        f"SELECT v.{table.owner} FROM {table.name} v WHERE v.generation_id = :generation"
        f" AND v.{table.owner} IN {transaction.dialect.listed('ids')} AND {_WAITING}"
        f" {transaction.dialect.unclaimed('v', f'v.{table.owner}')}",
        {"generation": generation_id, "ids": owner_ids},
    )


def count_pending(
    transaction: Transaction, table: VectorTable, generation_id: int, namespace: str | None
) -> int:
    """Return the number of pending owners in a namespace (``None``: in all)."""
    return transaction.scalar(
        f"SELECT count(*) {_queue(transaction.dialect, table, namespace)} AND {_WAITING}",
        {"generation": generation_id, "namespace": namespace},
    )


def count_all_pending(transaction: Transaction, generation_id: int, namespace: str | None) -> int:
    return sum(count_pending(transaction, table, generation_id, namespace) for table in TABLES)


def count_waiting(
    transaction: Transaction, table: VectorTable, generation_id: int, wanted: Filter | None
) -> dict[str, int]:
    """Return the numbers of ``pending`` and ``quarantined`` owners."""
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
    # Force the index of the queue first: it is short, or must be read anyway.
    return (
        f"FROM {table.name} v {dialect.indexed_by(table.queue)} CROSS JOIN {table.home}"
        f" WHERE v.generation_id = :generation AND {table.link} AND {table.living}"
    ) + ("" if namespace is None else " AND h.namespace = :namespace")


def note_failure(
    transaction: Transaction, table: VectorTable, generation_id: int, owner_id: int, error: str
) -> bool:
    """Count a permanent failure; return whether the owner is now quarantined."""
    rows = transaction.returned(
        Update(
            table.name,
            {"embed_attempts": "embed_attempts + 1", "embed_error": ":error"},
            f"v.generation_id = :generation AND v.{table.owner} = :owner AND {_WAITING}",
            alias="v",
            returning="embed_attempts",
        ),
        {"error": error, "generation": generation_id, "owner": owner_id},
    )
    return rows == [(MAX_ATTEMPTS,)]


def release_quarantine(
    transaction: Transaction, table: VectorTable, generation_id: int, namespace: str | None
) -> int:
    found = quarantined(transaction, table, generation_id, namespace)
    for owner_id in found:
        transaction.run(
            Update(
                table.name,
                {"embed_attempts": "0"},
                f"generation_id = :generation AND {table.owner} = :owner",
            ),
            {"generation": generation_id, "owner": owner_id},
        )
    return len(found)


def forgetting(table: VectorTable, owner_id: int) -> Write:
    """Return a write that blanks an erased owner's vectors and errors in every generation."""
    form = Update(
        table.name,
        {"embedding": "NULL", "embed_error": "NULL", "embed_attempts": str(NOTHING_TO_EMBED)},
        f"generation_id IN (SELECT id FROM memstore_generations) AND {table.owner} = :owner",
    )
    return Write(form, {"owner": owner_id})


def resetting(table: VectorTable, generation_id: int, owner_id: int | None = None) -> Write:
    """Return a write that makes embedded owners (``None``: all) pending, returning ids."""
    which = "" if owner_id is None else f" AND {table.owner} = :owner"
    return Write(
        Update(
            table.name,
            {"embedding": "NULL", "embed_attempts": "0"},
            f"generation_id = :generation AND embedding IS NOT NULL{which}",
            returning=table.owner,
        ),
        {"generation": generation_id, "owner": owner_id},
    )


def whole(stored: Value) -> bytes | None:
    """Return a vector as float32, little-endian; ``None`` if another program stored something else.

    Args:
        stored: the value of the column, packed or not.
    """
    return unpack(stored) if isinstance(stored, bytes) else None


def get(
    transaction: Transaction, table: VectorTable, generation_id: int, owner_id: int
) -> bytes | None:
    row = transaction.one(
        f"SELECT embedding FROM {table.name}"
        f" WHERE generation_id = :generation AND {table.owner} = :owner",
        {"generation": generation_id, "owner": owner_id},
    )
    return whole(row[0]) if row else None


def journalled_as(
    transaction: Transaction, table: VectorTable, owner_ids: Sequence[int]
) -> dict[int, tuple[int | None, int | None]]:
    """Return the ``(fact_id, episode_id)`` of journal lines about each owner."""
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
    """Blank some vectors of a generation that is being dropped; return how many."""
    return transaction.run(
        Update(
            table.name,
            {"embedding": "NULL"},
            f"id IN (SELECT id FROM {table.name}"
            " WHERE generation_id = :generation AND embedding IS NOT NULL LIMIT :limit)",
        ),
        {"generation": generation_id, "limit": limit},
    )


def removing_all(table: VectorTable, generation_id: int) -> Write:
    form = Delete(table.name, "generation_id = :generation")
    return Write(form, {"generation": generation_id})


def blobs(
    transaction: Transaction, table: VectorTable, owner_ids: Sequence[int]
) -> dict[int, bytes]:
    """Return the vectors of these owners in the active generation.

    Vectors of the wrong length are skipped; the doctor reports them.
    """
    return dict(_usable(transaction.rows(*selecting(transaction, table, owner_ids))))


def _usable(rows: Iterable[Row]) -> Iterator[tuple[int, bytes]]:
    """Yield the ids and vectors of rows with the stored vector and the dimension it should have."""
    for row_id, stored, dimension in rows:
        if row_id is None or not isinstance(stored, bytes):
            continue
        vector = unpack(stored)
        if len(vector) == BYTES_PER_NUMBER * dimension:
            yield row_id, vector


def last_owner(transaction: Transaction, table: VectorTable) -> int:
    """Return the largest id that a vector may belong to; 0 if there is none."""
    row = transaction.one(f"SELECT max(id) FROM {table.owners}")
    return 0 if row is None or row[0] is None else int(row[0])


def next_owners(transaction: Transaction, table: VectorTable, from_ids: Sequence[int]) -> list[int]:
    """Return the first owner with a vector from each of these ids on, ascending."""
    rows = transaction.rows(
        f"SELECT DISTINCT (SELECT v.{table.owner} FROM {table.name} v"
        f" WHERE v.generation_id = g.id AND v.{table.owner} >= wanted.value"
        f" AND v.embedding IS NOT NULL ORDER BY v.{table.owner} LIMIT 1)"
        f" FROM memstore_generations g CROSS JOIN {transaction.dialect.listed('ids')} AS wanted"
        " WHERE g.state = 'active'",
        {"ids": from_ids},
    )
    return sorted(owner_id for (owner_id,) in rows if owner_id is not None)


def selecting(transaction: Transaction, table: VectorTable, owner_ids: Sequence[int]) -> Statement:
    """Return the query of :func:`blobs`."""
    return Statement(
        f"SELECT v.{table.owner}, v.embedding, g.dimension FROM memstore_generations g"
        f" CROSS JOIN {table.name} v WHERE g.state = 'active' AND v.generation_id = g.id"
        f" AND v.{table.owner} IN {transaction.dialect.listed('ids')}"
        " AND v.embedding IS NOT NULL",
        {"ids": owner_ids},
    )


def stored(
    transaction: Transaction, table: VectorTable, owner_ids: Sequence[int]
) -> list[tuple[int, bytes]]:
    """Return the vectors of these owners in the active generation, as they are stored."""
    rows = transaction.rows(*selecting(transaction, table, owner_ids))
    return [(owner_id, blob) for owner_id, blob, _ in rows if isinstance(blob, bytes)]


def stored_of_episodes(
    transaction: Transaction, episode_ids: Sequence[int]
) -> list[tuple[int, bytes]]:
    """Return the vectors of these episodes' pieces, by their episodes, as :func:`stored` does."""
    rows = transaction.rows(
        "SELECT p.episode_id, v.embedding FROM memstore_generations g"
        f" CROSS JOIN memstore_pieces p CROSS JOIN {PIECES.name} v"
        f" WHERE g.state = 'active' AND p.episode_id IN {transaction.dialect.listed('ids')}"
        f" AND v.generation_id = g.id AND v.{PIECES.owner} = p.id"
        " AND v.embedding IS NOT NULL ORDER BY p.episode_id, p.start",
        {"ids": episode_ids},
    )
    return [(episode_id, blob) for episode_id, blob in rows if isinstance(blob, bytes)]


class Vector(NamedTuple):
    row_id: int
    """The id of the fact or the episode."""
    blob: bytes


def of_nearest_codes(
    transaction: Transaction,
    table: VectorTable,
    generation_id: int,
    code: Value,
    limit: int,
    wanted: RowFilter | None = None,
) -> list[int]:
    """Return the owners whose vectors' codes differ least from one, out of those that have any.

    Args:
        wanted: if given, those whose rows pass this filter.
    """
    test, values = "", NO_PARAMETERS
    if wanted is not None:
        where, values = wanted.where(transaction.dialect)
        test = f" AND {_passing(table, where)} IS NOT NULL"
    return transaction.ints(
        f"SELECT v.{table.owner} FROM {table.name} v"
        f" WHERE v.generation_id = :generation AND v.code IS NOT NULL{test}"
        f" ORDER BY {transaction.dialect.difference('v.code', ':code')} LIMIT :limit",
        {**values, "generation": generation_id, "code": code, "limit": limit},
    )


def _passing(table: VectorTable, where: str) -> str:
    """Return the row of the owner of a vector ``v``, if it passes a filter; otherwise NULL.

    It is no join: a server that expects few rows of a memory pairs each with each.
    """
    return (
        f"(SELECT {table.filtered_row} FROM {table.filtered} WHERE {table.filtered_link}"
        f" AND {table.filtered_key} = v.{table.owner} AND {where})"
    )


def of_owners(
    transaction: Transaction, table: VectorTable, wanted: RowFilter, owner_ids: Sequence[int]
) -> list[Vector]:
    """Return the vectors of those of some owners whose rows pass a filter."""
    where, values = wanted.where(transaction.dialect)
    rows = transaction.rows(
        f"SELECT {_passing(table, where)}, v.embedding, g.dimension FROM memstore_generations g"
        f" CROSS JOIN {table.name} v WHERE g.state = 'active' AND v.generation_id = g.id"
        f" AND v.{table.owner} IN {transaction.dialect.listed('owners')}"
        " AND v.embedding IS NOT NULL",
        {**values, "owners": owner_ids},
    )
    return [*starmap(Vector, _usable(rows))]


def batches(
    transaction: Transaction, table: VectorTable, wanted: RowFilter
) -> Iterator[list[Vector]]:
    """Yield the vectors of all rows that pass a filter, in batches."""
    where, values = wanted.where(transaction.dialect)
    rows = transaction.rows(
        f"SELECT {table.filtered_row}, v.embedding, g.dimension FROM memstore_generations g"
        f" CROSS JOIN {table.filtered} CROSS JOIN {table.name} v"
        f" WHERE g.state = 'active' AND v.generation_id = g.id AND {table.filtered_link}"
        f" AND v.{table.owner} = {table.filtered_key} AND {where} AND v.embedding IS NOT NULL",
        values,
    )
    found = starmap(Vector, _usable(rows))
    while batch := list(islice(found, BATCH)):
        yield batch


def has_any(transaction: Transaction, table: VectorTable, namespaces: Sequence[str] | None) -> bool:
    """Return whether any owner in these namespaces (``None``: all) has a vector."""
    where = within(transaction.dialect, "h.namespace", namespaces).replace("WHERE", "AND")
    row = transaction.one(
        f"SELECT 1 FROM memstore_generations g CROSS JOIN {table.home} CROSS JOIN {table.name} v"
        f" WHERE g.state = 'active' AND v.generation_id = g.id AND {table.link}"
        f" AND {table.living} AND v.embedding IS NOT NULL{where} LIMIT 1",
        {"namespaces": namespaces},
    )
    return row is not None


class StoredVector(NamedTuple):
    """A vector as it is stored, of any length."""

    owner_id: int
    blob: bytes
    checksum: int | None
    code: Value


def everything(
    transaction: Transaction, table: VectorTable, generation_id: int
) -> Iterator[StoredVector]:
    """Yield every stored vector of a generation."""
    rows = transaction.rows(
        f"SELECT {table.owner}, embedding, checksum, {transaction.dialect.code} FROM {table.name}"
        f" WHERE generation_id = :generation AND embedding IS NOT NULL ORDER BY {table.owner}",
        {"generation": generation_id},
    )
    for owner_id, stored, held, code in rows:
        vector = whole(stored)
        yield StoredVector(owner_id, str(stored).encode() if vector is None else vector, held, code)


def storing_again(table: VectorTable, generation_id: int, owner_id: int, blob: bytes) -> Write:
    """Return a write that stores again what a server stores beside a vector, if it is still this.

    The vector stays as it is.
    """
    return Write(
        Update(
            table.name,
            {"embedding": ":vector"},
            f"generation_id = :generation AND {table.owner} = :owner AND embedding = :vector",
        ),
        {"vector": blob, "generation": generation_id, "owner": owner_id},
    )


def missing(transaction: Transaction, table: VectorTable, generation_id: int) -> list[int]:
    return transaction.ints(
        f"SELECT id FROM {table.owners} EXCEPT"
        f" SELECT {table.owner} FROM {table.name} WHERE generation_id = :generation ORDER BY 1",
        {"generation": generation_id},
    )


def strays(transaction: Transaction, table: VectorTable) -> list[int]:
    """Return the owners that rows name although there is no such owner."""
    return transaction.ints(
        f"SELECT DISTINCT {table.owner} FROM {table.name} v"
        f" WHERE NOT EXISTS (SELECT 1 FROM {table.owners} o WHERE o.id = v.{table.owner})"
        f" ORDER BY {table.owner}"
    )


def remove_strays(table: VectorTable, owner_ids: Sequence[int], transaction: Transaction) -> None:
    transaction.run(
        Delete(
            table.name,
            f"{table.owner} IN {transaction.dialect.listed('ids')}"
            f" AND NOT EXISTS (SELECT 1 FROM {table.owners} o WHERE o.id = {table.owner})",
        ),
        {"ids": owner_ids},
    )


def count(transaction: Transaction, table: VectorTable, generation_id: int) -> int:
    """Return the number of vectors in a generation; this reads two indexes, but no vectors.

    All rows of a table are counted without looking at each, and rows of others are few if any.
    """
    queue = transaction.dialect.indexed_by(table.queue)
    return transaction.scalar(
        f"SELECT (SELECT count(*) FROM {table.name})"
        f" - (SELECT count(*) FROM {table.name} WHERE generation_id < :generation)"
        f" - (SELECT count(*) FROM {table.name} WHERE generation_id > :generation)"
        f" - (SELECT count(*) FROM {table.name} {queue}"
        " WHERE generation_id = :generation AND embedding IS NULL)",
        {"generation": generation_id},
    )
