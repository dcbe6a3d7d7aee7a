"""An embedder of your own, and a switch to another model: python examples/own_embedder.py.

These embed by the letters of a text, so that misspelt words are near. A real one calls a model.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import memstore


class Letters:
    """Any object with a ``model`` and an ``embed(texts)`` that returns one vector per text."""

    def __init__(self, together: int) -> None:
        self.model = f"letters-{together}"  # another name is another model
        self._together = together

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(f" {text.lower()} ") for text in texts]

    def _vector(self, text: str) -> list[float]:
        counts = [0.0] * 128
        for start in range(len(text) - self._together + 1):
            letters = text[start : start + self._together]
            counts[zlib.crc32(letters.encode()) % len(counts)] += 1
        return counts


def main(folder: Path) -> None:
    path = folder / "memory.db"
    with memstore.open(path, embedder=Letters(2)) as store:
        store.add("Zoë plays the harpsichord", subject="zoe")
        store.add("Alice climbs in the Dolomites", subject="alice")
        print(f"misspelt  {store.search('harpsicord')[0].fact.content}")

    # A file belongs to one model. Opening it with another one is refused, and changes nothing.
    try:
        memstore.open(path, embedder=Letters(3))
    except memstore.EmbedderMismatch as error:
        print(f"refused   {type(error).__name__}")

    # Switching embeds every text again, and then changes over in one transaction.
    with memstore.open(path, embedder=Letters(2)) as store:
        report = store.file.reembed(Letters(3))
        print(f"switched  {report.generation.model}: {report.embedded} texts")
    with memstore.open(path, embedder=Letters(3)) as store:
        print(f"found     {store.search('Dolomite')[0].fact.content}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
