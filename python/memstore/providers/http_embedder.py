"""What embedders behind HTTP share: batches within one deadline, and a check of each reply."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from memstore.errors import EmbedderRejected, EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memstore.providers.http import Endpoint


class HttpEmbedder(ABC):
    """An embedder whose model answers over HTTP."""

    def __init__(self, model: str, endpoint: Endpoint, batch_size: int) -> None:
        if not model:
            raise ValueError("model must name an embedding model")
        if batch_size < 1:
            raise ValueError(f"batch_size must be one or more, not {batch_size!r}")
        self._model = model
        self._endpoint = endpoint
        self._batch_size = batch_size

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r}, base_url={self._endpoint.url!r})"

    @property
    def model(self) -> str:
        """The model's plain name."""
        return self._model

    def embed(
        self, texts: Sequence[str], *, timeout_seconds: float | None = None
    ) -> NDArray[np.float32]:
        """Return ``float32[n, d]``, one row a text, in order; ``float32[0, 0]`` for no texts.

        Texts are sent as they are, ``batch_size`` at a time, all within one deadline.

        Args:
            timeout_seconds: the deadline of the whole call; by default the embedder's own.
                One that is already past, zero or less, is unavailable at once.

        Raises:
            EmbedderUnavailable: no answer in time, or one that holds no vectors at all, as
                from a gateway or another program: nothing is known against the texts.
            EmbedderRejected: the service refused the request, or the model's vectors do not
                fit the texts (count, dimension, not finite), which the same texts would meet
                again; it is not tried again.
        """
        import numpy as np  # here, so that importing an embedder stays cheap

        if isinstance(texts, str):
            raise TypeError("texts must be a sequence of texts, not one text")
        endpoint, size = self._endpoint, self._batch_size
        given = endpoint.timeout_seconds if timeout_seconds is None else timeout_seconds
        deadline = time.monotonic() + given
        rows: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), size):
            batch = list(texts[start : start + size])
            vectors = self._ask(batch, max(0.0, deadline - time.monotonic()))
            if len(vectors) != len(batch):
                raise self._misfit(f"sent {len(vectors)} vectors for {len(batch)} texts")
            rows += [self._row(vector, start + at) for at, vector in enumerate(vectors)]
        dimensions = sorted({row.size for row in rows})
        if len(dimensions) > 1:
            raise self._misfit(f"sent vectors of different dimensions: {dimensions}")
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    def close(self) -> None:
        """Close the connections; a call still waiting fails as unavailable. Idempotent."""
        self._endpoint.close()

    @abstractmethod
    def _ask(self, texts: list[str], seconds: float) -> list[object]:
        """Send one batch and return what should be its vectors, in the order of the texts."""

    def _row(self, vector: object, at: int) -> NDArray[np.float32]:
        import numpy as np

        try:
            numbers = np.asarray(vector if isinstance(vector, list) else None)
        except ValueError:  # lists of different lengths inside
            numbers = np.asarray(None)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or not numbers.size:
            raise self._misfit(f"sent a vector that is not a list of numbers for text {at}")
        with np.errstate(over="ignore"):  # too large for float32 becomes infinite, and is refused
            row = numbers.astype(np.float32)
        if not np.isfinite(row).all():
            raise self._misfit(f"sent a vector with numbers that are not finite for text {at}")
        return row

    def _misfit(self, what: str) -> EmbedderRejected:
        return EmbedderRejected(f"{self._endpoint.url} {what} (model {self._model}).")

    def _without_vectors(self, reply: object, key: str) -> EmbedderUnavailable:
        words = self._endpoint.words_of(reply)
        text = f"{self._endpoint.url} sent no list {key!r}"
        advice = "Check that base_url leads to an embedding service."
        return EmbedderUnavailable(
            f"{text}: {words}. {advice}" if words else f"{text}. {advice}",
            unquoted=f"{text}. {advice}",
        )
