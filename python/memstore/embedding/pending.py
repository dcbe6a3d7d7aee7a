"""Embedding pending facts and pieces of episodes, batch by batch.

Each batch is committed by itself, so a kill loses at most one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from memstore.database.changes import Changes, Line
from memstore.database.journal import Author, Kind
from memstore.database.tables import facts as fact_table
from memstore.database.tables import generations as generation_table
from memstore.database.tables import pieces as piece_table
from memstore.database.tables import vectors as vector_table
from memstore.database.tables.vectors import FACTS, PIECES
from memstore.domain.arguments import checked_limit
from memstore.embedding.compatibility import ActiveGeneration, VectorTarget, mismatch
from memstore.embedding.embedding import BATCH, first_batch
from memstore.embedding.leases import ItemLeases
from memstore.errors import EmbedderError, EmbedderMismatch, Reason
from memstore.frozen import frozen
from memstore.lazy import lazy_import
from memstore.text.folding import text_of

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Sequence

    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.tables.vectors import VectorTable
    from memstore.embedding.current import CurrentEmbedder
    from memstore.embedding.embedding import Embedding
else:
    logging = lazy_import("logging")


@frozen
class EmbedReport:
    """The outcome of embedding pending facts and pieces of episodes."""

    embedded: int
    failed: int
    """Texts the embedder refused this time; they are retried, and quarantined after three times."""
    left: int
    error: Reason | None
    """The embedder's error that stopped it early."""
    pieces: int = 0
    """How many of the embedded texts are pieces of episodes."""
    quarantined: int = 0
    """Texts that were refused for the last time: searches find them by words alone."""


Texts: TypeAlias = "Callable[[Transaction, Sequence[int]], list[tuple[int, str]]]"
"""Returns the id and the text of each owner."""


def fact_texts(transaction: Transaction, fact_ids: Sequence[int]) -> list[tuple[int, str]]:
    return [
        (fact_id, text_of(subject, content))
        for fact_id, subject, content, _ in fact_table.texts(transaction, fact_ids)
    ]


class PieceTexts:
    """Returns the texts of pieces, each with the name of its episode."""

    def __init__(self) -> None:
        self._last: tuple[int, str] | None = None
        """The episode read last; the next piece is usually of the same one, which may be long."""

    def __call__(self, transaction: Transaction, owner_ids: Sequence[int]) -> list[tuple[int, str]]:
        found = []
        for piece in list(piece_table.named(transaction, owner_ids)):
            if self._last is None or self._last[0] != piece.episode_id:
                self._last = piece.episode_id, piece_table.content(transaction, piece.episode_id)
            stretch = self._last[1][piece.start : piece.stop]
            found.append((piece.id, f"{piece.name}: {stretch}" if piece.name else stretch))
        return found


class BatchEmbedder:
    """Fills one generation with one embedder's vectors."""

    def __init__(
        self, engine: Engine, author: Author, target: VectorTarget, embedding: Embedding
    ) -> None:
        self._engine = engine
        self._author = author
        self._target = target
        self._embedding = embedding
        self._leases = ItemLeases(engine) if engine.is_remote else None

    def run(
        self,
        namespace: str | None,
        limit: int | None = None,
        progress: Progress | None = None,
        go_on: Callable[[], bool] | None = None,
    ) -> EmbedReport:
        """Embed pending items of a namespace, or of all; ``go_on`` is called before each batch."""
        checked_limit(limit)
        self._check_model()
        try:
            return self._run(namespace, limit, progress, go_on)
        finally:
            if self._leases is not None:
                self._leases.release_all()

    def _run(
        self,
        namespace: str | None,
        limit: int | None,
        progress: Progress | None,
        go_on: Callable[[], bool] | None,
    ) -> EmbedReport:
        self._quarantined = 0
        total = self._left(namespace) if limit is None else min(limit, self._left(namespace))
        done = failed = pieces = 0
        error = None
        for table, texts in ((FACTS, fact_texts), (PIECES, PieceTexts())):
            after = 0
            while error is None and done + failed < total and (go_on is None or go_on()):
                batch = self._batch(table, texts, namespace, total - done - failed, after)
                if not batch:
                    break
                after = batch[-1][0]
                embedded, refused, error = self._embed(table, batch)
                done += embedded
                failed += refused
                pieces += embedded if table is PIECES else 0
                if progress is not None:
                    progress(done + failed, total)
        left = self._left(namespace)
        return EmbedReport(done, failed, left, error, pieces, self._quarantined)

    def _check_model(self) -> None:
        """Raise if the file has another model's vectors, before the embedder is called in vain."""
        with self._engine.read() as transaction:
            held = self._target.generation(transaction).model
        if held not in (None, self._embedding.model):
            raise mismatch(repr(self._engine.path), str(held), self._embedding.model)

    def _left(self, namespace: str | None) -> int:
        with self._engine.read() as transaction:
            generation_id = self._target.generation(transaction).id
            return vector_table.count_all_pending(transaction, generation_id, namespace)

    def _batch(
        self, table: VectorTable, texts: Texts, namespace: str | None, room: int, after: int
    ) -> list[tuple[int, str]]:
        """Return texts to embed and their owners; on a server, ones that no other machine has."""
        while True:
            with self._engine.read() as transaction:
                generation_id = self._target.generation(transaction).id
                waiting = vector_table.pending(
                    transaction, table, generation_id, namespace, min(BATCH, room), after
                )
                free = self._free(transaction, table, generation_id, waiting)
                found = texts(transaction, free) if free else []
            chosen = found[: first_batch([text for _, text in found])]
            batch = self._taken(table, generation_id, chosen)
            if batch or not waiting:
                return batch
            after = chosen[-1][0] if chosen else waiting[-1]  # others embed all of these

    def _taken(
        self, table: VectorTable, generation_id: int, chosen: list[tuple[int, str]]
    ) -> list[tuple[int, str]]:
        """Return those of the texts that are this machine's to embed: in a file, all of them."""
        if self._leases is None or not chosen:
            return chosen
        ids = [id_ for id_, _ in chosen]
        own = {
            *self._leases.take(
                _job(table, generation_id),
                lambda transaction: vector_table.unclaimed(transaction, table, generation_id, ids),
            )
        }
        return [one for one in chosen if one[0] in own]

    def _free(
        self,
        transaction: Transaction,
        table: VectorTable,
        generation_id: int,
        waiting: Sequence[int],
    ) -> Sequence[int]:
        if self._leases is None or not waiting:
            return waiting
        taken = self._leases.taken_by_others(transaction, _job(table, generation_id))
        return [id_ for id_ in waiting if id_ not in taken]

    def _release(
        self, transaction: Transaction, table: VectorTable, generation_id: int, ids: Sequence[int]
    ) -> None:
        if self._leases is not None:
            self._leases.release(transaction, _job(table, generation_id), ids)

    def _embed(
        self, table: VectorTable, batch: list[tuple[int, str]]
    ) -> tuple[int, int, Reason | None]:
        """Return how many were embedded and how many refused, and the error that stops the run."""
        embedding = self._embedding
        try:
            blobs = embedding.blobs([text for _, text in batch], at_once=True)
            return self._store(table, [id_ for id_, _ in batch], blobs), 0, None
        except EmbedderMismatch:
            raise
        except EmbedderError as error:
            if not embedding.works():
                return 0, 0, Reason.of(error)
        # The embedder works, so a text is at fault: embed them one by one to find it.
        embedded = refused = 0
        for owner_id, text in batch:
            try:
                embedded += self._store(table, [owner_id], embedding.ask([text]))
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
            self._release(transaction, table, generation_id, owner_ids)
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
        self._quarantined += 1
        which = f"episode {episode_id}" if fact_id is None else f"fact {fact_id}"
        logging.getLogger(__name__).warning(
            "%s could not be embedded, and is found by words alone from now on", which
        )


def _job(table: VectorTable, generation_id: int) -> str:
    """Return what leases on the texts of a table are called."""
    return f"embed {table.name} {generation_id}"


def embed_pending(
    engine: Engine,
    author: Author,
    embedder: CurrentEmbedder,
    namespace: str | None,
    limit: int | None = None,
    progress: Progress | None = None,
    go_on: Callable[[], bool] | None = None,
) -> EmbedReport:
    """Embed pending items of the active generation, switching to its model if that is available."""
    active = ActiveGeneration(engine.path, author)
    while True:
        run = BatchEmbedder(engine, author, active, embedder.current)
        try:
            return run.run(namespace, limit, progress, go_on)
        except EmbedderMismatch as error:
            if not embedder.follow(error.stored):
                raise


def is_waiting(engine: Engine, namespace: str | None) -> bool:
    """Whether anything is pending; only reads, so it never waits for a writer."""
    with engine.read() as transaction:
        active = generation_table.active(transaction)
        return any(
            vector_table.pending(transaction, table, active.id, namespace, 1)
            for table in vector_table.TABLES
        )
