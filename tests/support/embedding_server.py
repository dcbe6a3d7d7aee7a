"""An embedding service over real HTTP (Ollama's protocol) with realistic failures."""

from __future__ import annotations

import contextlib
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from tests.support.http_server import Asked, serving

DIMENSION = 64

Mode = Literal["works", "down", "slow", "every third fails", "dimensions", "too few", "nan"]
MODES: tuple[Mode, ...] = ("down", "slow", "every third fails", "dimensions", "too few", "nan")
"""Each way it can fail."""


def vector(text: str, dimension: int = DIMENSION) -> list[float]:
    """Count words into buckets: texts with the same words are near."""
    row = [0.0] * dimension
    for word in text.lower().split():
        row[zlib.crc32(word.strip(".,:;!?").encode()) % dimension] += 1.0
    return row


@dataclass
class EmbeddingServer:
    """``mode`` selects its behaviour, also while it runs."""

    url: str = ""
    mode: Mode = "works"
    slow_seconds: float = 0.5
    asked: int = 0
    embedded: list[str] = field(default_factory=list)
    """The texts of the requests that were answered well."""
    _stopped: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    @contextlib.contextmanager
    def running(cls) -> Iterator[EmbeddingServer]:
        server = cls()
        with serving(server._answer) as server.url:
            try:
                yield server
            finally:
                server._stopped.set()

    def _answer(self, asked: Asked) -> None:
        with self._lock:
            self.asked += 1
            number = self.asked
        texts = asked.body["input"]
        mode = self.mode
        if mode == "slow" and self._stopped.wait(self.slow_seconds):
            return
        if mode == "down":
            asked.hang_up()
            return
        if mode == "every third fails" and number % 3 == 0:
            asked.answer({"error": "the model ran out of memory"}, status=500)
            return
        rows = [
            vector(text, 2 * DIMENSION if mode == "dimensions" else DIMENSION) for text in texts
        ]
        if mode == "too few":
            rows = rows[1:]
        if mode == "nan":
            rows = [[float("nan"), *row[1:]] for row in rows]
        if mode in ("works", "slow", "every third fails"):
            with self._lock:
                self.embedded += texts
        asked.answer({"embeddings": rows})
