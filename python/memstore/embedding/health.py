"""Checking that the embedder works, without waiting for one that does not answer."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memstore.domain import clock
from memstore.domain.records import BYTES_PER_NUMBER
from memstore.embedding.embedding import Embedding
from memstore.embedding.requests import PROBE
from memstore.errors import EmbedderError, InvalidArgument, Reason

if TYPE_CHECKING:
    from memstore.domain.protocols import Embedder


@dataclass(frozen=True, slots=True)
class Probe:
    """What the embedder answered."""

    works: bool
    seconds: float
    """How long it took, or how long it was waited for."""
    dimension: int | None = None
    """Of its vectors, where it works."""
    trouble: Reason | None = None
    """Why not, where it does not."""


class HealthCheck:
    """Checks one embedder, once at a time: callers in the meantime wait for the same answer."""

    def __init__(self, path: str, embedder: Embedder) -> None:
        self.embedder = embedder
        self._path = path
        self._deciding = threading.Lock()
        self._asked: Future[Probe] | None = None

    def ask(self, timeout_seconds: float) -> Probe:
        if not timeout_seconds > 0:
            raise InvalidArgument(
                f"must be more than 0, not {timeout_seconds}", argument="timeout_seconds"
            )
        with self._deciding:
            if self._asked is None or self._asked.done():
                self._asked = Future()
                # A thread of its own: one that hangs must hold up neither us nor the interpreter.
                threading.Thread(
                    target=self._try, args=(self._asked,), name="memstore-probe", daemon=True
                ).start()
            asked = self._asked
        try:
            return asked.result(timeout_seconds)
        except NotYet:
            trouble = Reason(f"no answer within {timeout_seconds:g} s")
            return Probe(works=False, seconds=timeout_seconds, trouble=trouble)

    def _try(self, asked: Future[Probe]) -> None:
        started = clock.monotonic()
        try:
            (probe,) = Embedding(self._path, self.embedder).ask([PROBE])
        except EmbedderError as error:
            asked.set_result(Probe(False, clock.monotonic() - started, trouble=Reason.of(error)))
        else:
            dimension = len(probe) // BYTES_PER_NUMBER
            asked.set_result(Probe(True, clock.monotonic() - started, dimension))
