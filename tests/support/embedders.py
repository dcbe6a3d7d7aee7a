"""Embedders that several tests use."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import memstore


class WordEmbedder:
    """Counts words into 64 buckets: texts with the same words are similar. Can be made to fail."""

    model = "words-64"

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.poison: str | None = None
        """Texts with this word are refused."""
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        if self.failure is not None:
            raise self.failure
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            if self.poison is not None and self.poison in text:
                raise memstore.EmbedderRejected(f"cannot embed {self.poison!r}")
            for word in text.lower().split():
                row[zlib.crc32(word.strip(".,:;!?").encode()) % 64] += 1
        return rows
