"""Vectors that do not fit their generation: finding them, and making their owners pending."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memstore.database.changes import Changes, Line
from memstore.database.journal import Author, Kind
from memstore.database.tables import generations as generation_table
from memstore.database.tables import vectors as vector_table
from memstore.domain.records import BYTES_PER_NUMBER
from memstore.embedding import vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Transaction
    from memstore.database.tables.vectors import VectorTable
    from memstore.domain.generations import Generation


def every_kind(transaction: Transaction) -> Iterator[tuple[VectorTable, Generation]]:
    for generation in generation_table.every(transaction):
        for table in vector_table.TABLES:
            yield table, generation


def misfits(
    transaction: Transaction, table: VectorTable, generation: Generation
) -> Iterator[tuple[int, str]]:
    """Yield each owner whose vector cannot be compared with the others, and why."""
    dimension = generation.dimension
    for owner_id, blob, checksum in vector_table.everything(transaction, table, generation.id):
        if dimension is None:
            yield owner_id, "no model is recorded"
        elif len(blob) != dimension * BYTES_PER_NUMBER:
            yield owner_id, f"{len(blob)} bytes for {dimension} numbers"
        elif not np.isfinite(vectors.decode(blob)).all():
            yield owner_id, "NaN or infinity"
        elif checksum != vector_table.checksum(owner_id, blob):
            yield owner_id, "not what was stored"


def mend_vectors(transaction: Transaction, author: Author) -> list[str]:
    """Make pending what has no vector that fits; return what was done, a sentence each."""
    done = []
    for table, generation in every_kind(transaction):
        wrong = [owner_id for owner_id, _ in misfits(transaction, table, generation)]
        where = vector_table.journalled_as(transaction, table, wrong)
        after = {"embedding": None, "generation": generation.id}
        for owner_id in wrong:
            Changes(transaction, author).write(
                Line(Kind.EMBED, *where[owner_id], after=after),
                vector_table.resetting(table, generation.id, owner_id),
            )
        if wrong:
            done.append(f"made {len(wrong)} {table.plural} pending whose embedding did not fit")
        if placed := vector_table.place_all(transaction, table, generation.id):
            done.append(f"made {placed} {table.plural} pending that had no place for an embedding")
    return done
