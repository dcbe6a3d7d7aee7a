"""Embedding texts without making writes depend on the embedder.

A fact is stored whether or not the embedder answers. Without an embedding it is pending: found by
words at once and embedded later. If its text keeps failing while the embedder works for others, it
is quarantined with the error.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.domain.protocols import QueryEmbedder
from memstore.embedding.compatibility import is_of_file
from memstore.errors import EmbedderError, EmbedderUnavailable, Reason
from memstore.lazy import lazy_import
from memstore.text.folding import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.domain.generations import Generation
    from memstore.domain.protocols import Embedder, Vectors
    from memstore.embedding import vectors
    from memstore.providers import http_embedder, local
else:  # numpy and httpx are imported only for embedders that need them
    http_embedder = lazy_import("memstore.providers.http_embedder")
    local = lazy_import("memstore.providers.local")
    vectors = lazy_import("memstore.embedding.vectors")

BATCH: Final = 64
"""Texts embedded at once, and committed together."""

BATCH_CHARACTERS: Final = 100_000
"""The most characters in a batch, unless one text alone has more: a small model embeds 64 short
facts in a moment, but would miss its deadline with 64 long ones."""

PROBE: Final = "memory"
"""A text that no embedder refuses; shows whether a text or the embedder is at fault."""

FIRST_PAUSE_SECONDS: Final = 1.0
MAX_PAUSE_SECONDS: Final = 60.0
"""After a failure the embedder is not called for this long, doubling each time, so that a dead
server does not slow down every write and search by its time-out."""

WRITE_SECONDS: Final = 5.0
"""How long a write waits for an embedder on the network. If the embedder hangs, the fact becomes
pending; a healthy server answers within a fraction of this."""


class Embedding:
    """One embedder, with a pause after each failure during which it is not called."""

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
        """The embedder's last error; ``None`` while it works."""
        with self._resting:
            return self._last_error or None

    def note_trouble(self, error: Reason) -> None:
        with self._resting:
            self._last_error = error

    def blobs(
        self,
        texts: Sequence[str],
        *,
        deadline_seconds: float | None = None,
        at_once: bool = False,
        as_queries: bool = False,
    ) -> list[bytes]:
        """Return each text's embedding as it is stored: float32, little-endian.

        Args:
            texts: passages, or with ``as_queries`` questions that passages may answer.
            deadline_seconds: how long an embedder on the network may take.
            at_once: ask an embedder that has just failed, too.
            as_queries: see ``texts``.

        Raises:
            EmbedderError: it failed now, or a moment ago and its pause is not over (``at_once``
                ignores the pause), or another call is testing whether it works again.
        """
        with self._resting:
            tried = self._rest_until and self._asking
            if not at_once and (tried or clock.monotonic() < self._rest_until):
                raise EmbedderUnavailable(self._last_error, remedy=self._last_error.remedy)
            self._asking += 1
        try:
            found = self.ask(texts, deadline_seconds, as_queries=as_queries)
        except EmbedderUnavailable as error:
            # The next caller gets this reason and may not be allowed to see these texts.
            self._rest(Reason(error.unquoted, error.remedy))
            raise
        except EmbedderError:
            self.works()  # a refused text does not mean that the embedder is down
            raise
        finally:
            with self._resting:
                self._asking -= 1
        self._recover()
        return found

    def ask(
        self,
        texts: Sequence[str],
        deadline_seconds: float | None = None,
        *,
        as_queries: bool = False,
    ) -> list[bytes]:
        """Return each text's embedding; a failure starts no pause."""
        embedder = self.embedder
        made: Vectors
        try:
            if type(embedder) is local.LocalEmbedder:
                return embedder.embed_bytes(list(texts))
            if deadline_seconds is not None and isinstance(embedder, http_embedder.HttpEmbedder):
                ask = embedder.embed_queries if as_queries else embedder.embed
                made = ask(list(texts), timeout_seconds=deadline_seconds)
            elif as_queries and isinstance(embedder, QueryEmbedder):
                made = embedder.embed_queries(list(texts))
            else:
                made = embedder.embed(list(texts))
            return vectors.encode_many(vectors.checked(made, len(texts)))
        except EmbedderError:
            raise
        # An embedder may be the caller's own code; no failure of it may lose a fact.
        except Exception as error:
            raise EmbedderUnavailable(f"{type(error).__name__}: {error}") from error

    def works(self) -> bool:
        """Test the embedder with a text that none refuses; start a pause if it fails."""
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
        # If the dimension changes between calls, none of the vectors can be trusted.
        return blobs if len({len(blob) for blob in blobs if blob}) < 2 else [None] * len(facts)

    def is_of_file(self, stored: Generation, dimension: int) -> bool:
        return is_of_file(self._path, stored, self.model, dimension)

    def _rest(self, error: Reason) -> None:
        with self._resting:
            self._rest_until = clock.monotonic() + self._pause
            self._pause = min(self._pause * 2, MAX_PAUSE_SECONDS)
            self._last_error = error

    def _recover(self) -> None:
        with self._resting:
            if self._rest_until or self._last_error:
                self._rest_until = 0.0
                self._pause = FIRST_PAUSE_SECONDS
                self._last_error = Reason("")


def first_batch(texts: Sequence[str]) -> int:
    """Return how many of the first texts go into one call; at least one."""
    characters = 0
    for number, text in enumerate(texts[:BATCH]):
        characters += len(text)
        if characters > BATCH_CHARACTERS:
            return max(1, number)
    return min(len(texts), BATCH)
