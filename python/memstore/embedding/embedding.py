"""Embedding texts without ever getting in the way of a write.

A fact is stored whether or not the embedder answers. One without an embedding is pending: found
by words at once, embedded later, and quarantined with its error when its own text, and not the
embedder, is what keeps failing.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.embedding.compatibility import is_of_file
from memstore.embedding.requests import (
    FIRST_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    PROBE,
    first_batch,
    text_of,
)
from memstore.errors import EmbedderError, EmbedderUnavailable, Reason
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.protocols import Embedder
    from memstore.embedding import vectors
    from memstore.providers import http_embedder, local
else:  # numpy and the network are for embedders that bring them along
    http_embedder = lazy_import("memstore.providers.http_embedder")
    local = lazy_import("memstore.providers.local")
    vectors = lazy_import("memstore.embedding.vectors")

WRITE_SECONDS: Final = 5.0
"""How long a write waits for an embedder behind a network. One that hangs keeps a fact pending, and
not its writer waiting; a server that works answers within a fraction of it."""


class Embedding:
    """One embedder, its failures contained."""

    def __init__(self, path: str, embedder: Embedder) -> None:
        self._path = path
        self.embedder = embedder
        self._resting = threading.Lock()
        self._rest_until = 0.0
        self._pause = FIRST_PAUSE_SECONDS
        self._asking = 0
        self._last_error = Reason("")

    @property
    def model(self) -> str:
        return self.embedder.model

    @property
    def trouble(self) -> Reason | None:
        """Why the embedder failed last, in its own words; ``None`` while it works."""
        with self._resting:
            return self._last_error or None

    def note_trouble(self, error: Reason) -> None:
        with self._resting:
            self._last_error = error

    def blobs(
        self, texts: Sequence[str], *, deadline_seconds: float | None = None, at_once: bool = False
    ) -> list[bytes]:
        """Return each text's embedding as it is stored: float32, little-endian.

        Raises:
            EmbedderError: it failed; or did so a moment ago and is left alone for a while, unless
                ``at_once``; or another call is just finding out whether it works again.
        """
        with self._resting:
            tried = self._rest_until and self._asking
            if not at_once and (tried or clock.monotonic() < self._rest_until):
                raise EmbedderUnavailable(self._last_error, remedy=self._last_error.remedy)
            self._asking += 1
        try:
            found = self.ask(texts, deadline_seconds)
        except EmbedderUnavailable as error:
            # Whoever asks next is told why, and may not be one who may see these texts.
            self._rest(Reason(error.unquoted, error.remedy))
            raise
        except EmbedderError:
            self.works()  # a text it refuses is no reason to leave it alone
            raise
        finally:
            with self._resting:
                self._asking -= 1
        self._recover()
        return found

    def ask(self, texts: Sequence[str], deadline_seconds: float | None = None) -> list[bytes]:
        """Return each text's embedding, and draw no conclusion where it fails."""
        embedder = self.embedder
        try:
            if type(embedder) is local.LocalEmbedder:
                return embedder.embed_bytes(list(texts))
            if deadline_seconds is not None and isinstance(embedder, http_embedder.HttpEmbedder):
                made = embedder.embed(list(texts), timeout_seconds=deadline_seconds)
            else:
                made = embedder.embed(list(texts))
            return vectors.encode_many(vectors.checked(made, len(texts)))
        except EmbedderError:
            raise
        # An embedder may be anybody's code, and no failure of it may cost a fact.
        except Exception as error:
            raise EmbedderUnavailable(f"{type(error).__name__}: {error}") from error

    def works(self) -> bool:
        """Ask for the vector of a text that no embedder refuses; leave it alone if it fails."""
        try:
            self.ask([PROBE])
        except EmbedderError as error:
            self._rest(Reason.of(error))
            return False
        self._recover()
        return True

    def similarities(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the cosine of a text with each of the others, -1 to 1."""
        first, *rest = self.blobs([text, *others])
        return vectors.similarities(vectors.numbers(first), rest)

    def for_writing(self, facts: Sequence[tuple[str, str]]) -> list[bytes | None]:
        """Return each ``(subject, content)``'s embedding as a BLOB; ``None`` leaves it pending."""
        waiting = [text_of(*fact) for fact in facts]
        blobs: list[bytes | None] = []
        while waiting:
            batch = waiting[: first_batch(waiting)]
            del waiting[: len(batch)]
            try:
                blobs += self.blobs(batch, deadline_seconds=WRITE_SECONDS)
            except EmbedderError:
                blobs += [None] * len(batch)
        # A model that changes its dimension on the way has not one vector that could be trusted.
        return blobs if len({len(blob) for blob in blobs if blob}) < 2 else [None] * len(facts)

    def is_of_file(self, transaction: Transaction, dimension: int) -> bool:
        return is_of_file(self._path, transaction, self.model, dimension)

    def _rest(self, error: Reason) -> None:
        with self._resting:
            self._rest_until = clock.monotonic() + self._pause
            self._pause = min(self._pause * 2, LONGEST_PAUSE_SECONDS)
            self._last_error = error

    def _recover(self) -> None:
        with self._resting:
            self._rest_until = 0.0
            self._pause = FIRST_PAUSE_SECONDS
            self._last_error = Reason("")
