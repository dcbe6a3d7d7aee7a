"""Check that an embedder matches the vectors stored in a file: one model, one dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from memstore.database.changes import Line
from memstore.database.journal import Author, Kind
from memstore.database.tables import generations as generation_table
from memstore.database.tables import vectors as vector_table
from memstore.domain.records import BYTES_PER_NUMBER
from memstore.errors import EmbedderMismatch, Remedy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables.vectors import VectorTable
    from memstore.domain.generations import Generation


def mismatch(holder: str, stored: str, given: str, *, model: str | None = None) -> EmbedderMismatch:
    """Return the error for a file or generation that has another model's vectors.

    ``model`` is the stored model's bare name if ``stored`` says more.
    """
    return EmbedderMismatch(
        f"{holder} holds vectors of the model {stored!r}, but the embedder is {given!r}; the "
        "vectors of two models cannot be compared",
        stored=model or stored,
        remedy=Remedy.USE_STORED_MODEL,
    )


def other_dimension(holder: str, stored: Generation, dimension: int) -> EmbedderMismatch:
    """Return the error for a model whose vectors now have another length than the file's."""
    return EmbedderMismatch(
        f"{holder} holds vectors of {stored.dimension} numbers, and the embedder's model "
        f"{stored.model!r} gives {dimension} now; the two cannot be compared",
        stored=stored.model,
        remedy=Remedy.REMAKE_VECTORS,
    )


def is_of_file(path: str, generation: Generation, model: str, dimension: int) -> bool:
    """Return whether the file's vectors are this model's; false if the file has no model yet.

    Raises:
        EmbedderMismatch: they are another model's.
    """
    if generation.model is None or generation.dimension is None:
        if generation.model not in (None, model):
            raise mismatch(repr(path), str(generation.model), model)
        return False
    if generation.model != model:
        stored = f"{generation.model} ({generation.dimension} numbers)"
        raise mismatch(repr(path), stored, f"{model} ({dimension})", model=generation.model)
    if generation.dimension != dimension:
        raise other_dimension(repr(path), generation, dimension)
    return True


class VectorTarget(Protocol):
    def generation(self, transaction: Transaction) -> Generation: ...

    def admit(self, transaction: Transaction, model: str, blob: bytes) -> int: ...

    def lines(
        self, transaction: Transaction, generation_id: int, table: VectorTable, ids: Sequence[int]
    ) -> list[Line]: ...


class ActiveGeneration:
    """The generation that searches use; its first vectors determine its model."""

    def __init__(self, path: str, author: Author) -> None:
        self._path = path
        self._author = author
        self._last: tuple[object, str, int] | None = None
        """The last epoch, model and dimension that passed the check."""
        self._generation_id = 0

    def generation(self, transaction: Transaction) -> Generation:
        return generation_table.active(transaction)

    def lines(
        self, transaction: Transaction, generation_id: int, table: VectorTable, ids: Sequence[int]
    ) -> list[Line]:
        """Return one journal line for each fact or episode."""
        where = vector_table.journalled_as(transaction, table, ids)
        return [Line(Kind.EMBED, *owner) for owner in dict.fromkeys(where[id_] for id_ in ids)]

    def admit(self, transaction: Transaction, model: str, blob: bytes) -> int:
        """Return the active generation's id if this model's vectors belong to it.

        Checked once while nothing but facts is written, which cannot change it.

        Raises:
            EmbedderMismatch: they do not.
        """
        dimension = len(blob) // BYTES_PER_NUMBER
        if self._last != (transaction.epoch, model, dimension):
            active = generation_table.active(transaction)
            if not is_of_file(self._path, active, model, dimension):
                generation_table.record_model(transaction, active.id, model, dimension)
            self._generation_id = active.id
            self._last = transaction.epoch, model, dimension
        return self._generation_id
