"""Generations of vectors: switching to another embedding model while searches use the old one.

The new model's vectors are staged beside the old ones, batch by batch; when none is missing, one
small transaction switches. The old generation stays until it is dropped, so switching back is also
one small transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.changes import Changes, Line
from memstore.database.journal import Kind
from memstore.database.tables import generations as generation_table
from memstore.database.tables import vectors as vector_table
from memstore.database.tables.vectors import FACTS, PIECES
from memstore.domain.arguments import MAX_NAME, MAX_NUMBER, checked_id, checked_text
from memstore.domain.generations import GenerationStatus, VectorCounts
from memstore.domain.records import BYTES_PER_NUMBER
from memstore.embedding.compatibility import ActiveGeneration, mismatch, other_dimension
from memstore.embedding.embedding import Embedding
from memstore.embedding.pending import BatchEmbedder
from memstore.errors import Conflict, NotFound, Reason, Remedy
from memstore.frozen import frozen

if TYPE_CHECKING:
    import builtins
    from collections.abc import Sequence

    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.journal import Author
    from memstore.database.tables.vectors import VectorTable
    from memstore.domain.generations import Generation
    from memstore.domain.protocols import Embedder
    from memstore.embedding.compatibility import VectorTarget
    from memstore.embedding.current import CurrentEmbedder
    from memstore.embedding.pending import EmbedReport

PATIENT_ROUNDS: Final = 20
STRAGGLERS: Final = 256
"""The switch waits until nothing is pending, which never happens if others write faster than
batches are embedded. After ``PATIENT_ROUNDS`` it therefore switches with at most this many texts
pending. They are embedded right afterwards, and until then found by words."""

DROP_BATCH: Final = 2000
"""Vectors deleted in one transaction; other writers get their turn between two of them."""


@frozen(kw_only=True)
class ReembedReport:
    """The outcome of switching to another model."""

    generation: Generation
    switched: bool
    """Whether searches use the new vectors now."""
    embedded: int
    left: int
    """Texts that have no new vector yet."""
    error: Reason | None
    """The embedder's error that stopped it early."""
    quarantined_facts: tuple[int, ...]
    """Facts that the new model refuses permanently; they are found by words."""
    quarantined_episodes: tuple[int, ...]
    """Episodes with a piece that it refuses permanently."""


class StagedGeneration:
    """A staged generation as a target for vectors.

    No search uses its vectors yet, so its journal lines only count them and name no facts that
    other processes would have to re-read.
    """

    def __init__(self, path: str, generation_id: int) -> None:
        self._path = path
        self._id = generation_id

    def generation(self, transaction: Transaction) -> Generation:
        """Return its current row; ``Conflict`` if it was dropped or switched to in the meantime."""
        found = generation_table.get(transaction, self._id)
        if found is None or found.state != "staged":
            raise Conflict(
                f"generation {self._id} is not staged any more: another process dropped it or "
                "switched to it in the meantime"
            )
        return found

    def admit(self, transaction: Transaction, model: str, blob: bytes) -> int:
        """Return its id if this model's vectors belong to it; the first sets its dimension."""
        held = self.generation(transaction)
        dimension = len(blob) // BYTES_PER_NUMBER
        if held.model != model:
            raise mismatch(f"generation {self._id} of {self._path!r}", str(held.model), model)
        if held.dimension not in (None, dimension):
            raise other_dimension(f"generation {self._id} of {self._path!r}", held, dimension)
        if held.dimension is None:
            generation_table.record_model(transaction, self._id, model, dimension)
        return self._id

    def lines(
        self, transaction: Transaction, generation_id: int, table: VectorTable, ids: Sequence[int]
    ) -> list[Line]:
        after = {"generation": generation_id, table.plural: len(ids)}
        return [Line(Kind.EMBED, after=after)]


class Generations:
    """The generations of a file."""

    def __init__(self, engine: Engine, author: Author, current: CurrentEmbedder | None) -> None:
        self._engine = engine
        self._author = author
        self._current = current

    def list(self) -> builtins.list[GenerationStatus]:
        """Return every generation and its progress, oldest first."""
        with self._engine.read() as transaction:
            return [
                GenerationStatus(
                    generation=generation,
                    facts=_counts(transaction, FACTS, generation.id),
                    pieces=_counts(transaction, PIECES, generation.id),
                )
                for generation in generation_table.every(transaction)
            ]

    def stage(self, embedder: Embedder, *, again: bool = False) -> Generation:
        """Begin a generation of another model, or continue one.

        A retired generation of the model is reused with its vectors.

        Args:
            embedder: its model becomes the generation's.
            again: embed everything from scratch, even with the file's present model.

        Raises:
            Conflict: another model is being staged, or the file already has this model's vectors.
        """
        model = checked_text(embedder.model, "the embedder's model", MAX_NAME)
        with self._engine.write() as transaction:
            staged = generation_table.staged(transaction)
            if staged is not None:
                if staged.model == model:
                    return staged
                raise Conflict(
                    f"generation {staged.id} of the model {staged.model!r} is being staged",
                    remedy=Remedy.FINISH_STAGED,
                )
            if generation_table.active(transaction).model == model and not again:
                raise Conflict(
                    f"the vectors of {self._engine.path} are already of the model {model!r}",
                    remedy=Remedy.REMAKE_VECTORS,
                )
            return self._begin(transaction, model, again)

    def _begin(self, transaction: Transaction, model: str, again: bool) -> Generation:
        kept = [
            one
            for one in generation_table.every(transaction)
            if one.state == "retired" and one.model == model and not again
        ]
        changes = Changes(transaction, self._author)
        if kept:
            line = Line(Kind.STAGE, after=_named(kept[-1]))
            changes.write(line, generation_table.staging_again(kept[-1].id))
            return kept[-1]._replace(state="staged")
        begun = generation_table.stage(
            changes, model, lambda new: Line(Kind.STAGE, after=_named(new))
        )
        for table in vector_table.TABLES:
            vector_table.place_all(transaction, table, begun.id)
        return begun

    def run(
        self, embedder: Embedder, *, limit: int | None = None, progress: Progress | None = None
    ) -> EmbedReport:
        """Embed pending items of the staged generation; a kill loses only the current batch.

        Args:
            embedder: of the staged model.
            limit: the most texts to embed; ``None`` for all.
            progress: called with the number done and the total.

        Raises:
            NotFound: nothing is staged.
            EmbedderMismatch: the embedder is of another model.
            Conflict: the generation was dropped or switched to in the meantime.
        """
        with self._engine.read() as transaction:
            staged = generation_table.staged(transaction)
        if staged is None:
            raise NotFound("no generation is staged", remedy=Remedy.REEMBED)
        target = StagedGeneration(self._engine.path, staged.id)
        return self._filling(target, embedder).run(None, limit, progress)

    def _filling(self, target: VectorTarget, embedder: Embedder) -> BatchEmbedder:
        embedding = Embedding(self._engine.path, embedder)
        return BatchEmbedder(self._engine, self._author, target, embedding)

    def reembed(
        self, embedder: Embedder, *, again: bool = False, progress: Progress | None = None
    ) -> ReembedReport:
        """Stage, embed everything, and switch; see :meth:`memstore.File.reembed`."""
        generation = self.stage(embedder, again=again)
        embedded = rounds = 0
        error = None
        switched = False
        while error is None and not switched:
            report = self.run(embedder, progress=progress)
            embedded += report.embedded
            error = report.error
            if error is None:
                rounds += 1
                behind = STRAGGLERS if rounds >= PATIENT_ROUNDS else 0
                switched = self._switch_if_whole(generation.id, behind)
        if switched:
            if self._current is not None:
                self._current.adopt(embedder)
            active = ActiveGeneration(self._engine.path, self._author)
            embedded += self._filling(active, embedder).run(None).embedded
        with self._engine.read() as transaction:
            now = generation_table.get(transaction, generation.id) or generation
            return ReembedReport(
                generation=now,
                switched=switched,
                embedded=embedded,
                left=vector_table.count_all_pending(transaction, generation.id, None),
                error=error,
                quarantined_facts=tuple(
                    vector_table.quarantined(transaction, FACTS, generation.id, None)
                ),
                quarantined_episodes=_quarantined_episodes(transaction, generation.id),
            )

    def _switch_if_whole(self, generation_id: int, behind: int) -> bool:
        """Switch if at most ``behind`` texts are still pending; return whether it did."""
        with self._engine.write() as transaction:
            if vector_table.count_all_pending(transaction, generation_id, None) > behind:
                return False
            # Raises if another process dropped it or switched to it.
            staged = StagedGeneration(self._engine.path, generation_id).generation(transaction)
            self._switch(transaction, staged)
            return True

    def switch(self, generation_id: int | None = None) -> Generation:
        """Make searches use another generation's vectors, in one transaction.

        Args:
            generation_id: the staged one (the default), or a retired one, to switch back.
                Rows stored since a generation was retired are pending afterwards.

        Raises:
            NotFound: there is no such generation, or none is staged.
            Conflict: it is already active, or it is staged and has pending rows.
        """
        with self._engine.write() as transaction:
            chosen = (
                generation_table.staged(transaction)
                if generation_id is None
                else self._known(transaction, generation_id)
            )
            if chosen is None:
                raise NotFound("no generation is staged", remedy=Remedy.REEMBED)
            if chosen.state == "active":
                raise Conflict(f"generation {chosen.id} is already the active one")
            left = vector_table.count_all_pending(transaction, chosen.id, None)
            if left and chosen.state == "staged":
                raise Conflict(
                    f"{left} texts of generation {chosen.id} have no vector yet",
                    remedy=Remedy.REEMBED,
                )
            self._switch(transaction, chosen)
            return generation_table.active(transaction)

    def _switch(self, transaction: Transaction, chosen: Generation) -> None:
        before = _named(generation_table.active(transaction))
        Changes(transaction, self._author).write(
            Line(Kind.SWITCH, before=before, after=_named(chosen)),
            *generation_table.switching(chosen.id),
        )

    def drop(self, generation_id: int, *, progress: Progress | None = None) -> bool:
        """Permanently delete a generation and its vectors.

        Args:
            generation_id: a retired one or the staged one.
            progress: called with the number of vectors deleted and the total.

        Returns:
            Whether the file has shrunk already; it cannot while another process uses it.

        Raises:
            NotFound: there is no such generation.
            Conflict: it is the active one.
        """
        with self._engine.read() as transaction:
            self._droppable(transaction, generation_id)
            total = sum(
                vector_table.count(transaction, table, generation_id)
                for table in vector_table.TABLES
            )
        # In small steps, so that no writer waits long. Until the last step it is a valid
        # generation with more and more pending rows, so a kill leaves nothing broken.
        done = 0
        for table in vector_table.TABLES:
            while gone := self._blank_some(table, generation_id):
                done += gone
                if progress is not None:
                    progress(min(done, total), total)
        with self._engine.write() as transaction:
            dropped = self._droppable(transaction, generation_id)
            Changes(transaction, self._author).write(
                Line(Kind.DROP, after=_named(dropped)),
                *(vector_table.removing_all(table, dropped.id) for table in vector_table.TABLES),
                generation_table.removing(dropped.id),
            )
        return self._engine.compact()

    def _blank_some(self, table: VectorTable, generation_id: int) -> int:
        with self._engine.write() as transaction:
            self._droppable(transaction, generation_id)
            return vector_table.blank_some(transaction, table, generation_id, DROP_BATCH)

    def _droppable(self, transaction: Transaction, generation_id: int) -> Generation:
        found = self._known(transaction, generation_id)
        if found.state == "active":
            raise Conflict(
                f"generation {generation_id} is the active one, which searches use",
                remedy=Remedy.SWITCH_FIRST,
            )
        return found

    def _known(self, transaction: Transaction, generation_id: int) -> Generation:
        checked_id(generation_id, "generation_id")
        found = None
        if abs(generation_id) <= MAX_NUMBER:
            found = generation_table.get(transaction, generation_id)
        if found is None:
            ids = ", ".join(str(one.id) for one in generation_table.every(transaction))
            raise NotFound(f"there is no generation {generation_id}, only {ids}")
        return found


def _named(generation: Generation) -> dict[str, object]:
    return {"generation": generation.id, "model": generation.model}


def _counts(transaction: Transaction, table: VectorTable, generation_id: int) -> VectorCounts:
    waiting = vector_table.count_waiting(transaction, table, generation_id, None)
    return VectorCounts(embedded=vector_table.count(transaction, table, generation_id), **waiting)


def _quarantined_episodes(transaction: Transaction, generation_id: int) -> tuple[int, ...]:
    pieces = vector_table.quarantined(transaction, PIECES, generation_id, None)
    where = vector_table.journalled_as(transaction, PIECES, pieces)
    return tuple(sorted({episode_id for _, episode_id in where.values() if episode_id}))
