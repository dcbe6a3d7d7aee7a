"""The embedder a store uses, which follows the file when that goes over to another model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from memstore.embedding.embedding import Embedding

if TYPE_CHECKING:
    from memstore.domain.protocols import Embedder

Remake: TypeAlias = Callable[[str], "Embedder | None"]
"""Makes the embedder of a model, by its name; ``None`` where it knows no such model."""


class Following:
    """Holds the embedding in use.

    One embedding keeps to its embedder for good, so whoever took it knows whose vectors they get,
    also while another thread goes over to another model.

    Args:
        path: the file, named in errors.
        embedder: the one the store was opened with.
        remake: makes that of another model; ``None`` where only the caller could.
    """

    def __init__(self, path: str, embedder: Embedder, remake: Remake | None) -> None:
        self._path = path
        self._remake = remake
        self._choosing = threading.Lock()
        self._current = Embedding(path, embedder)
        self._known = {self._current.model: self._current}

    @property
    def current(self) -> Embedding:
        """The embedding in use."""
        return self._current

    def follow(self, model: str | None) -> bool:
        """Go over to the embedder of a model; false where there is none, or it is in use."""
        with self._choosing:
            if model is None or model == self._current.model:
                return False
            known = self._known.get(model) or self._made(model)
            if known is None:
                return False
            self._current = known
            return True

    def adopt(self, embedder: Embedder) -> None:
        """Use this embedder from now on."""
        with self._choosing:
            self._current = self._known[embedder.model] = Embedding(self._path, embedder)

    def _made(self, model: str) -> Embedding | None:
        embedder = None if self._remake is None else self._remake(model)
        if embedder is None:
            return None
        made = self._known[model] = Embedding(self._path, embedder)
        return made
