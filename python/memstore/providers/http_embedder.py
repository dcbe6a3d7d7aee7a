"""The base of HTTP embedders: prompts, batches within one deadline, and checks of each reply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from memstore.domain import clock
from memstore.errors import EmbedderRejected, EmbedderUnavailable, InvalidArgumentType, Remedy
from memstore.lazy import lazy_import
from memstore.providers import prompts
from memstore.providers.http import HttpModel, at_least_one

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy_import("numpy")


class HttpEmbedder(HttpModel, ABC):
    """An embedder whose model answers over HTTP; subclasses document the arguments."""

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        headers: Mapping[str, str],
        query_prompt: str | None,
        passage_prompt: str | None,
        timeout_seconds: float,
        batch_size: int,
    ) -> None:
        model, self._prompts = prompts.chosen(model, query_prompt, passage_prompt)
        super().__init__(model, base_url, headers=headers, timeout_seconds=timeout_seconds)
        at_least_one(batch_size, "batch_size")
        self._batch_size = batch_size

    @property
    def model(self) -> str:
        """The model's name and its prompts, which belong to its vectors."""
        return self._prompts.recorded(self._model)

    def embed(
        self, texts: Sequence[str], *, timeout_seconds: float | None = None
    ) -> NDArray[np.float32]:
        """Return ``float32[n, d]``, one row per passage, in order; ``float32[0, 0]`` for none.

        Texts are sent after the model's prompt and otherwise unchanged, ``batch_size`` at a time,
        all within one deadline.

        Args:
            timeout_seconds: the deadline of the whole call; by default the embedder's own.
                Zero or less fails as unavailable at once.

        Raises:
            EmbedderUnavailable: no answer in time, or one without any vectors, as from a
                gateway or another program; the texts themselves may be fine.
            EmbedderRejected: the service refused the request, or the model's vectors do not
                fit the texts (count, dimension, not finite). The same texts would fail again.
        """
        return self._embed(self._prompts.passage, texts, timeout_seconds)

    def embed_queries(
        self, texts: Sequence[str], *, timeout_seconds: float | None = None
    ) -> NDArray[np.float32]:
        """Return the same for questions, which have a prompt of their own."""
        return self._embed(self._prompts.query, texts, timeout_seconds)

    def _embed(
        self, prompt: str, texts: Sequence[str], timeout_seconds: float | None
    ) -> NDArray[np.float32]:
        if isinstance(texts, str):
            raise InvalidArgumentType("must be a sequence of texts, not one text", argument="texts")
        endpoint, size = self._endpoint, self._batch_size
        given = endpoint.timeout_seconds if timeout_seconds is None else timeout_seconds
        deadline = clock.monotonic() + given
        rows: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), size):
            batch = [f"{prompt}{text}" for text in texts[start : start + size]]
            vectors = self._ask(batch, max(0.0, deadline - clock.monotonic()))
            if len(vectors) != len(batch):
                raise self._misfit(f"sent {len(vectors)} vectors for {len(batch)} texts")
            rows += [self._row(vector, start + at) for at, vector in enumerate(vectors)]
        dimensions = sorted({row.size for row in rows})
        if len(dimensions) > 1:
            raise self._misfit(f"sent vectors of different dimensions: {dimensions}")
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    @abstractmethod
    def _ask(self, texts: list[str], seconds: float) -> list[object]:
        """Send one batch and return its vectors, unchecked, in the order of the texts."""

    def _row(self, vector: object, at: int) -> NDArray[np.float32]:
        try:
            numbers = np.asarray(vector if isinstance(vector, list) else None)
        except ValueError:  # contains lists of different lengths
            numbers = np.asarray(None)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or not numbers.size:
            raise self._misfit(f"sent a vector that is not a list of numbers for text {at}")
        with np.errstate(over="ignore"):  # too large for float32 becomes infinite, and is refused
            row = numbers.astype(np.float32)
        if not np.isfinite(row).all():
            raise self._misfit(f"sent a vector with numbers that are not finite for text {at}")
        return row

    def _misfit(self, what: str) -> EmbedderRejected:
        return EmbedderRejected(self._said(what))

    def _without_vectors(self, reply: object, key: str) -> EmbedderUnavailable:
        words = self._endpoint.words_of(reply)
        text = f"{self._endpoint.url} sent no list {key!r}"
        return EmbedderUnavailable(
            f"{text}: {words}" if words else text, unquoted=text, remedy=Remedy.CHECK_MODEL
        )
