"""Embedding texts without ever getting in the way of a write.

A fact is stored whether or not the embedder answers. One without an embedding is pending: found
by words at once, embedded later, and quarantined with its error when its own text, and not the
embedder, is what keeps failing.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memstore import vectors
from memstore.arguments import checked_limit
from memstore.database import fact_table, journal, meta_table
from memstore.database.journal import Author, Kind
from memstore.errors import (
    EmbedderError,
    EmbedderMismatch,
    EmbedderUnavailable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.protocols import Embedder

BATCH: Final = 64
"""Pending facts embedded at once, and committed together."""

FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 60.0
"""After a failure the embedder is left alone this long, doubling, so that a dead server does not
slow every write and search down by its time-out."""

PROBE: Final = "memory"
"""A text no embedder refuses: tells a failing text from a failing embedder."""


def text_of(subject: str, content: str) -> str:
    """Return the text that stands for a fact: what it says, with its subject named.

    A fact about Alice that says "prefers tea" is looked for by her name as often as not.
    """
    return content if subject.casefold() in content.casefold() else f"{subject}: {content}"


def mismatch(path: str, stored: str, given: str) -> EmbedderMismatch:
    """Return the error for a file that holds the vectors of another model."""
    return EmbedderMismatch(
        f"{path} holds vectors of the model {stored!r}, and the embedder given is {given!r}; the "
        "vectors of two models cannot be compared. Open it with the first model, or with "
        "embedder=None to search by words only"
    )


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """What became of the facts that waited for their embedding."""

    embedded: int
    failed: int
    """Texts the embedder refused this time; each is tried again, and quarantined in the end."""
    left: int
    """Still pending."""
    error: str | None
    """Why it stopped early: the embedder's own words."""


class Embedding:
    """One embedder, its failures contained."""

    def __init__(self, engine: Engine, author: Author, embedder: Embedder) -> None:
        self._engine = engine
        self._author = author
        self._embedder = embedder
        self._resting = threading.Lock()
        self._rest_until = 0.0
        self._pause = FIRST_PAUSE_SECONDS
        self._last_error = ""

    @property
    def model(self) -> str:
        """The model's name."""
        return self._embedder.model

    @property
    def trouble(self) -> str | None:
        """Why the embedder failed last, in its own words; ``None`` while it works."""
        with self._resting:
            return self._last_error or None

    def note_trouble(self, error: str) -> None:
        """Remember why vectors could not be stored."""
        with self._resting:
            self._last_error = error

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return ``float32[n, d]`` for texts.

        Raises:
            EmbedderError: it failed, or failed a moment ago and is left alone for a while.
        """
        with self._resting:
            if time.monotonic() < self._rest_until:
                raise EmbedderUnavailable(self._last_error)
        try:
            found = self._ask(texts)
        except EmbedderUnavailable as error:
            self._rest(str(error))
            raise
        except EmbedderError:
            self._works()  # a text it refuses is no reason to leave it alone
            raise
        self._recover()
        return found

    def similarities(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the cosine of a text with each of the others, -1 to 1.

        Raises:
            EmbedderError: see :meth:`embed`.
        """
        first, *rest = self.embed([text, *others])
        return [vectors.cosine(first, row) for row in rest]

    def _ask(self, texts: Sequence[str]) -> NDArray[np.float32]:
        try:
            return vectors.checked(self._embedder.embed(list(texts)), len(texts))
        except EmbedderError:
            raise
        # An embedder may be anybody's code, and no failure of it may cost a fact.
        except Exception as error:
            raise EmbedderUnavailable(f"{type(error).__name__}: {error}") from error

    def _rest(self, error: str) -> None:
        with self._resting:
            self._rest_until = time.monotonic() + self._pause
            self._pause = min(self._pause * 2, LONGEST_PAUSE_SECONDS)
            self._last_error = error

    def _recover(self) -> None:
        with self._resting:
            self._rest_until = 0.0
            self._pause = FIRST_PAUSE_SECONDS
            self._last_error = ""

    def for_writing(self, facts: Sequence[tuple[str, str]]) -> list[bytes | None]:
        """Return each ``(subject, content)``'s embedding as a BLOB; ``None`` leaves it pending."""
        blobs: list[bytes | None] = []
        for start in range(0, len(facts), BATCH):
            batch = facts[start : start + BATCH]
            try:
                blobs += vectors.encode_many(self.embed([text_of(*fact) for fact in batch]))
            except EmbedderError:
                blobs += [None] * len(batch)
        # A model that changes its dimension on the way has not one vector that could be trusted.
        return blobs if len({len(blob) for blob in blobs if blob}) < 2 else [None] * len(facts)

    def admit(self, transaction: Transaction, blob: bytes) -> None:
        """Make sure this model's vectors belong into this file; the first one is recorded.

        Raises:
            EmbedderMismatch: the file holds vectors of another model or dimension.
        """
        dimension = len(blob) // vectors.BYTES_PER_NUMBER
        if not self.is_of_file(transaction, dimension):
            if meta_table.embedding_model(transaction)[0] is None:
                self._forget_strangers(transaction)
            meta_table.record_embedding_model(transaction, self.model, dimension)

    def is_of_file(self, transaction: Transaction, dimension: int) -> bool:
        """Return whether the file's vectors are of this model; false while it names none.

        Raises:
            EmbedderMismatch: they are of another model or dimension.
        """
        model, known = meta_table.embedding_model(transaction)
        if model is None or known is None:
            if model not in (None, self.model):
                raise mismatch(self._engine.path, str(model), self.model)
            return False
        if (model, known) != (self.model, dimension):
            raise mismatch(
                self._engine.path, f"{model} ({known} numbers)", f"{self.model} ({dimension})"
            )
        return True

    def _forget_strangers(self, transaction: Transaction) -> None:
        """Make facts pending whose vectors some unnamed model made: a V1 file does not say which.

        Left where they are, they would be compared with vectors they have nothing to do with.
        """
        for fact_id in fact_table.forget_embeddings(transaction):
            journal.append(
                transaction, self._author, Kind.EMBED, fact_id, after={"embedding": None}
            )

    def embed_pending(
        self,
        namespace: str | None,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> EmbedReport:
        """Embed what is pending, in batches, each committed by itself.

        Args:
            namespace: whose facts; ``None`` for everybody's.
            limit: how many facts at most; ``None`` for all.
            progress: called after each batch with how many are done, and of how many.
        """
        checked_limit(limit)
        with self._engine.read() as transaction:
            total = fact_table.count_pending(transaction, namespace)
        total = total if limit is None else min(limit, total)
        with self._resting:  # somebody asks for it now: do not wait for the pause to end
            self._rest_until = 0.0
        done = failed = after = 0
        error = None
        while done + failed < total and error is None:
            with self._engine.read() as transaction:
                waiting = fact_table.pending(
                    transaction, namespace, min(BATCH, total - done - failed), after
                )
            batch = [(id_, text_of(subject, content)) for id_, subject, content in waiting]
            if not batch:
                break
            after = batch[-1][0]
            embedded, refused, error = self._embed_batch(batch)
            done += embedded
            failed += refused
            if progress is not None:
                progress(done + failed, total)
        with self._engine.read() as transaction:
            left = fact_table.count_pending(transaction, namespace)
        return EmbedReport(done, failed, left, error)

    def _embed_batch(self, batch: list[tuple[int, str]]) -> tuple[int, int, str | None]:
        """Return how many were embedded, how many refused, and why it cannot go on."""
        try:
            blobs = vectors.encode_many(self.embed([text for _, text in batch]))
            return self._store([id_ for id_, _ in batch], blobs), 0, None
        except EmbedderMismatch:
            raise
        except EmbedderError as error:
            if not self._works():
                return 0, 0, str(error)
        # The embedder works, so a text is at fault: find it, and let the others pass.
        embedded = refused = 0
        for fact_id, text in batch:
            try:
                embedded += self._store([fact_id], vectors.encode_many(self._ask([text])))
            except EmbedderMismatch:
                raise
            except EmbedderError as error:
                if not self._works():
                    return embedded, refused, str(error)
                self._refuse(fact_id, str(error))
                refused += 1
        return embedded, refused, None

    def _works(self) -> bool:
        try:
            self._ask([PROBE])
        except EmbedderError as error:
            self._rest(str(error))
            return False
        self._recover()
        return True

    def _store(self, fact_ids: list[int], blobs: list[bytes]) -> int:
        with self._engine.write() as transaction:
            self.admit(transaction, blobs[0])
            filled = [
                fact_id
                for fact_id, blob in zip(fact_ids, blobs, strict=True)
                if fact_table.fill_embedding(transaction, fact_id, blob)
            ]
            for fact_id in filled:
                journal.append(transaction, self._author, Kind.EMBED, fact_id)
        return len(filled)

    def _refuse(self, fact_id: int, error: str) -> None:
        with self._engine.write() as transaction:
            if fact_table.note_embed_failure(transaction, fact_id, error):
                journal.append(
                    transaction, self._author, Kind.QUARANTINE, fact_id, after={"error": error}
                )


class BackgroundEmbedding:
    """Embeds what is pending while a server runs, resting longer the longer it fails."""

    def __init__(self, embedding: Embedding, namespace: str, interval_seconds: float = 5.0) -> None:
        if not interval_seconds > 0:
            raise ValueError(f"interval_seconds must be more than 0, not {interval_seconds}")
        self._embedding = embedding
        self._namespace = namespace
        self._interval_seconds = interval_seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="memstore-embedding", daemon=True)

    def start(self) -> None:
        """Start working in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end and wait for the batch it is at."""
        self._ended.set()
        self._thread.join(timeout=self._interval_seconds)

    def _work(self) -> None:
        pause = self._interval_seconds
        while not self._ended.wait(pause):
            trouble = self._once()
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS) if trouble else self._interval_seconds

    def _once(self) -> bool:
        """Embed what is pending; true when something went wrong and a longer pause is wise."""
        try:
            return self._embedding.embed_pending(self._namespace).error is not None
        # Busy, closed meanwhile, another model, a row nobody can read: the thread must go on.
        except Exception as error:  # noqa: BLE001
            self._embedding.note_trouble(str(error))
            return True
