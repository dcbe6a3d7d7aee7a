"""Checking that the embedder works, without waiting for one that does not answer."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import TYPE_CHECKING

from memstore.domain import clock
from memstore.domain.records import BYTES_PER_NUMBER
from memstore.embedding.embedding import PROBE, Embedding
from memstore.errors import EmbedderError, InvalidArgument, Reason
from memstore.frozen import frozen

if TYPE_CHECKING:
    from memstore.domain.protocols import Embedder


@frozen
class Probe:
    """The result of a health check."""

    works: bool
    seconds: float
    """How long the answer took, or the time-out."""
    dimension: int | None = None
    """Of its vectors, if it works."""
    trouble: Reason | None = None
    """Why it failed, if it did."""


class HealthCheck:
    """Checks one embedder; concurrent callers share one check."""

    def __init__(self, path: str, embedder: Embedder) -> None:
        self.embedder = embedder
        self._path = path
        self._deciding = threading.Lock()
        self._running: Future[Probe] | None = None

    def ask(self, timeout_seconds: float) -> Probe:
        if not timeout_seconds > 0:
            raise InvalidArgument(
                f"must be more than 0, not {timeout_seconds}", argument="timeout_seconds"
            )
        with self._deciding:
            if self._running is None or self._running.done():
                self._running = Future()
                # A daemon thread: an embedder that hangs must not block the caller or the exit.
                threading.Thread(
                    target=self._try, args=(self._running,), name="memstore-probe", daemon=True
                ).start()
            asked = self._running
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
