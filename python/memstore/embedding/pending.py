"""Draining: embedding what is pending, in batches, each committed by itself.

A drain that is killed has lost the batch it was at, and the next one goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from memstore.database.changes import Changes, Line
from memstore.database.journal import Author, Kind
from memstore.database.tables import generations as generation_table
from memstore.database.tables import vectors as vector_table
from memstore.database.tables.vectors import PIECES
from memstore.domain.arguments import checked_limit
from memstore.embedding import vectors
from memstore.embedding.compatibility import Admission, mismatch
from memstore.embedding.embedding import BATCH, first_batch
from memstore.embedding.queues import every_queue
from memstore.errors import EmbedderError, EmbedderMismatch, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.tables.vectors import VectorTable
    from memstore.domain.records import Generation
    from memstore.embedding.current import Following
    from memstore.embedding.embedding import Embedding
    from memstore.embedding.queues import Queue


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """What became of the facts and the pieces of episodes that waited for their embedding."""

    embedded: int
    failed: int
    """Texts the embedder refused this time; each is tried again, and quarantined in the end."""
    left: int
    """Still pending."""
    error: Reason | None
    """Why it stopped early: the embedder's own words."""
    pieces: int = 0
    """How many of those embedded are pieces of episodes."""


class Target(Protocol):
    """The generation a drain fills."""

    def generation(self, transaction: Transaction) -> Generation:
        """Return it as it is now."""
        ...

    def admit(self, transaction: Transaction, model: str, blob: bytes) -> int:
        """Return its id, if it takes this model's vectors.

        Raises:
            EmbedderMismatch: it holds those of another model.
        """
        ...

    def lines(
        self, transaction: Transaction, generation_id: int, table: VectorTable, ids: Sequence[int]
    ) -> list[Line]:
        """Return what the journal says of these owners' vectors."""
        ...


class Active:
    """The active generation, whichever that is: those who hold it resident hear of each vector."""

    def __init__(self, path: str, author: Author) -> None:
        self._admission = Admission(path, author)

    def generation(self, transaction: Transaction) -> Generation:
        """Return the active generation."""
        return generation_table.active(transaction)

    def admit(self, transaction: Transaction, model: str, blob: bytes) -> int:
        """Return the active generation's id, if it takes this model's vectors."""
        return self._admission.admit(transaction, model, blob)

    def lines(
        self, transaction: Transaction, generation_id: int, table: VectorTable, ids: Sequence[int]
    ) -> list[Line]:
        """Return a line for each fact, and one for each episode."""
        where = vector_table.journalled_as(transaction, table, ids)
        return [Line(Kind.EMBED, *owner) for owner in dict.fromkeys(where[id_] for id_ in ids)]


ALWAYS: Final = lambda: True  # noqa: E731


class Drain:
    """Fills one generation with one embedder's vectors."""

    def __init__(
        self, engine: Engine, author: Author, target: Target, embedding: Embedding
    ) -> None:
        self._engine = engine
        self._author = author
        self._target = target
        self._embedding = embedding

    def run(
        self,
        namespace: str | None,
        limit: int | None = None,
        progress: Progress | None = None,
        go_on: Callable[[], bool] = ALWAYS,
    ) -> EmbedReport:
        """Embed what is pending.

        Args:
            namespace: whose; ``None`` for everybody's.
            limit: how many texts at most; ``None`` for all.
            progress: called after each batch with how many are done, and of how many.
            go_on: asked before each batch.

        Raises:
            EmbedderMismatch: the generation holds the vectors of another model.
        """
        checked_limit(limit)
        self._check_model()
        total = self._left(namespace) if limit is None else min(limit, self._left(namespace))
        done = failed = pieces = 0
        error = None
        for queue in every_queue():
            after = 0
            while error is None and done + failed < total and go_on():
                batch = self._batch(queue, namespace, total - done - failed, after)
                if not batch:
                    break
                after = batch[-1][0]
                embedded, refused, error = self._embed(queue.table, batch)
                done += embedded
                failed += refused
                pieces += embedded if queue.table is PIECES else 0
                if progress is not None:
                    progress(done + failed, total)
        return EmbedReport(done, failed, self._left(namespace), error, pieces)

    def _check_model(self) -> None:
        """Raise where the file is of another model, before a model is asked for nothing."""
        with self._engine.read() as transaction:
            held = self._target.generation(transaction).model
        if held not in (None, self._embedding.model):
            raise mismatch(self._engine.path, str(held), self._embedding.model)

    def _left(self, namespace: str | None) -> int:
        with self._engine.read() as transaction:
            generation_id = self._target.generation(transaction).id
            return sum(
                vector_table.count_pending(transaction, table, generation_id, namespace)
                for table in vector_table.TABLES
            )

    def _batch(
        self, queue: Queue, namespace: str | None, room: int, after: int
    ) -> list[tuple[int, str]]:
        with self._engine.read() as transaction:
            generation_id = self._target.generation(transaction).id
            waiting = vector_table.pending(
                transaction, queue.table, generation_id, namespace, min(BATCH, room), after
            )
            found = queue.texts(transaction, waiting) if waiting else []
        return found[: first_batch([text for _, text in found])]

    def _embed(
        self, table: VectorTable, batch: list[tuple[int, str]]
    ) -> tuple[int, int, Reason | None]:
        """Return how many were embedded, how many refused, and why it cannot go on."""
        embedding = self._embedding
        try:
            blobs = vectors.encode_many(embedding.embed([text for _, text in batch], at_once=True))
            return self._store(table, [id_ for id_, _ in batch], blobs), 0, None
        except EmbedderMismatch:
            raise
        except EmbedderError as error:
            if not embedding.works():
                return 0, 0, Reason.of(error)
        # The embedder works, so a text is at fault: find it, and let the others pass.
        embedded = refused = 0
        for owner_id, text in batch:
            try:
                blobs = vectors.encode_many(embedding.ask([text]))
                embedded += self._store(table, [owner_id], blobs)
            except EmbedderMismatch:
                raise
            except EmbedderError as error:
                if not embedding.works():
                    return embedded, refused, Reason.of(error)
                self._refuse(table, owner_id, str(error))
                refused += 1
        return embedded, refused, None

    def _store(self, table: VectorTable, owner_ids: list[int], blobs: list[bytes]) -> int:
        with self._engine.write() as transaction:
            generation_id = self._target.admit(transaction, self._embedding.model, blobs[0])
            filled = Changes(transaction, self._author).write_some(
                [
                    vector_table.filling(table, generation_id, owner_id, blob)
                    for owner_id, blob in zip(owner_ids, blobs, strict=True)
                ],
                lambda rows: self._target.lines(
                    transaction, generation_id, table, [int(row[0] or 0) for row in rows]
                ),
            )
        return len(filled)

    def _refuse(self, table: VectorTable, owner_id: int, error: str) -> None:
        with self._engine.write() as transaction:
            generation_id = self._target.generation(transaction).id
            if not vector_table.note_failure(transaction, table, generation_id, owner_id, error):
                return
            where = vector_table.journalled_as(transaction, table, [owner_id])
            fact_id, episode_id = where[owner_id]
            after = {"error": error, "generation": generation_id}
            line = Line(Kind.QUARANTINE, fact_id, episode_id, after=after)
            Changes(transaction, self._author).write(line)


def embed_pending(
    engine: Engine,
    author: Author,
    following: Following,
    namespace: str | None,
    limit: int | None = None,
    progress: Progress | None = None,
    go_on: Callable[[], bool] = ALWAYS,
) -> EmbedReport:
    """Embed what is pending in the active generation, with its model if that can be had.

    Raises:
        EmbedderMismatch: the file went over to a model that this process cannot ask.
    """
    active = Active(engine.path, author)
    try:
        drain = Drain(engine, author, active, following.current)
        return drain.run(namespace, limit, progress, go_on)
    except EmbedderMismatch as error:
        if not following.follow(error.stored):
            raise
        drain = Drain(engine, author, active, following.current)
        return drain.run(namespace, limit, progress, go_on)


def is_waiting(engine: Engine, namespace: str | None) -> bool:
    """Whether anything waits for an embedding, by a look that waits for no writer."""
    with engine.read() as transaction:
        active = generation_table.active(transaction)
        return any(
            vector_table.pending(transaction, table, active.id, namespace, 1)
            for table in vector_table.TABLES
        )
