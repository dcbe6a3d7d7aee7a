"""The embedder in use, which changes when the file switches to another model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from memstore.domain.protocols import Embedder
    from memstore.embedding import embedding
    from memstore.embedding.embedding import Embedding
    from memstore.errors import Reason
else:
    embedding = lazy_import("memstore.embedding.embedding")

MakeEmbedder: TypeAlias = Callable[[str], "Embedder | None"]
"""Returns the embedder of a model by the model's name; ``None`` if there is none."""


class CurrentEmbedder:
    """Holds the embedder in use.

    An :class:`Embedding` never changes its embedder, so a caller that holds one knows which
    model's vectors it gets, even if another thread switches to another model.
    """

    def __init__(self, path: str, embedder: Embedder, make: MakeEmbedder | None) -> None:
        self._path = path
        self._make = make
        self._choosing = threading.RLock()
        self.embedder = embedder
        self._current: Embedding | None = None
        self._known: dict[str, Embedding] = {}

    @property
    def current(self) -> Embedding:
        with self._choosing:
            if self._current is None:
                self._current = self._use(self.embedder)
            return self._current

    @property
    def trouble(self) -> Reason | None:
        current = self._current
        return None if current is None else current.trouble

    def follow(self, model: str | None) -> bool:
        """Switch to the embedder of a model; false if there is none or it is already in use."""
        with self._choosing:
            if model is None or model == self.current.model:
                return False
            if model not in self._known:
                made = None if self._make is None else self._make(model)
                if made is None:
                    return False
                self._known[model] = embedding.Embedding(self._path, made)
            self._current = self._known[model]
            self.embedder = self._current.embedder
            return True

    def adopt(self, embedder: Embedder) -> None:
        with self._choosing:
            self.embedder = embedder
            self._current = self._use(embedder)

    def _use(self, embedder: Embedder) -> Embedding:
        made = self._known[embedder.model] = embedding.Embedding(self._path, embedder)
        return made
