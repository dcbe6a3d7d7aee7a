"""Finding vectors that do not fit their generation, and making their owners pending."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from memstore.database.changes import Changes, Line
from memstore.database.journal import Author, Kind
from memstore.database.tables import generations as generation_table
from memstore.database.tables import vectors as vector_table
from memstore.domain.records import BYTES_PER_NUMBER
from memstore.embedding import vectors
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables.vectors import VectorTable
    from memstore.domain.generations import Generation

ROWS: Final = 100
"""Vectors deleted in one step."""


def every_kind(transaction: Transaction) -> Iterator[tuple[VectorTable, Generation]]:
    for generation in generation_table.every(transaction):
        for table in vector_table.TABLES:
            yield table, generation


class Misfit(NamedTuple):
    """An owner whose vector, or what is derived from it, is wrong."""

    owner_id: int
    reason: str
    vector: bytes | None = None
    """The vector, if it is right."""

    def __str__(self) -> str:
        return f"{self.owner_id} ({self.reason})"


def misfits(
    transaction: Transaction, table: VectorTable, generation: Generation
) -> Iterator[Misfit]:
    """Yield each owner whose vector is unusable, or has the code of another one."""
    dimension = generation.dimension
    for one in vector_table.everything(transaction, table, generation.id):
        if dimension is None:
            yield Misfit(one.owner_id, "no model is recorded")
        elif len(one.blob) != dimension * BYTES_PER_NUMBER:
            yield Misfit(one.owner_id, f"{len(one.blob)} bytes for {dimension} numbers")
        elif not np.isfinite(vectors.decode(one.blob)).all():
            yield Misfit(one.owner_id, "NaN or infinity")
        elif one.checksum != vector_table.checksum(one.owner_id, one.blob):
            yield Misfit(one.owner_id, "not what was stored")
        elif one.code != transaction.code(one.blob):
            yield Misfit(one.owner_id, "the code of another vector", one.blob)


def mending_vectors(
    copy: Transaction, author: Author, done: list[str]
) -> Iterator[Callable[[Transaction], None]]:
    """Yield steps that make rows with a wrong or missing vector pending; describe them in ``done``.

    Vectors without an owner are removed, and wrong codes replaced.

    Such rows are looked for in ``copy``, a copy of the file.
    """
    without_owner: dict[VectorTable, set[int]] = {}
    for table in vector_table.TABLES:
        strays = vector_table.strays(copy, table)
        without_owner[table] = {*strays}
        for start in range(0, len(strays), ROWS):
            yield partial(vector_table.remove_strays, table, strays[start : start + ROWS])
        if strays:
            done.append(f"removed the embeddings of {len(strays)} {table.plural} that do not exist")
    kinds = [*every_kind(copy)]
    misfitting = [
        [one for one in misfits(copy, *kind) if one.owner_id not in without_owner[kind[0]]]
        for kind in kinds
    ]
    lacking = [len(vector_table.missing(copy, table, one.id)) for table, one in kinds]
    for (table, generation), found, placed in zip(kinds, misfitting, lacking, strict=True):
        right = [(one.owner_id, one.vector) for one in found if one.vector is not None]
        for start in range(0, len(right), ROWS):
            yield partial(_store_again, table, generation, right[start : start + ROWS])
        if right:
            done.append(f"replaced the codes of {len(right)} embeddings of {table.plural}")
        wrong = [one.owner_id for one in found if one.vector is None]
        for start in range(0, len(wrong), ROWS):
            yield partial(_reset, author, table, generation, wrong[start : start + ROWS])
        if wrong:
            done.append(f"made {len(wrong)} {table.plural} pending whose embedding did not fit")
        if placed:
            yield partial(_place_all, table, generation)
            done.append(f"made {placed} {table.plural} pending that had no place for an embedding")


def _reset(
    author: Author,
    table: VectorTable,
    generation: Generation,
    owner_ids: Sequence[int],
    transaction: Transaction,
) -> None:
    where = vector_table.journalled_as(transaction, table, owner_ids)
    after = {"embedding": None, "generation": generation.id}
    for owner_id in owner_ids:
        Changes(transaction, author).write(
            Line(Kind.EMBED, *where[owner_id], after=after),
            vector_table.resetting(table, generation.id, owner_id),
        )


def _store_again(
    table: VectorTable,
    generation: Generation,
    stored: Sequence[tuple[int, bytes]],
    transaction: Transaction,
) -> None:
    for owner_id, blob in stored:
        transaction.run(*vector_table.storing_again(table, generation.id, owner_id, blob))


def _place_all(table: VectorTable, generation: Generation, transaction: Transaction) -> None:
    vector_table.place_all(transaction, table, generation.id)
