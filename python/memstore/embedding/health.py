"""Asking whether the embedder works, without waiting for one that does not answer."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.errors import EmbedderError, InvalidArgument, Reason

if TYPE_CHECKING:
    from memstore.domain.protocols import Embedder

TEXT: Final = "memory"
"""What it is asked to embed: a text no embedder refuses."""


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


class Probing:
    """Asks one embedder, once at a time: whoever asks meanwhile waits for the same answer."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._deciding = threading.Lock()
        self._asked: Future[Probe] | None = None

    def ask(self, timeout_seconds: float) -> Probe:
        """Return what the embedder answers within a time.

        Raises:
            ValueError: a time that is not positive.
        """
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
        from memstore.embedding import vectors  # numpy is slow to import

        started = clock.monotonic()
        try:
            dimension = vectors.checked(self.embedder.embed([TEXT]), 1).shape[1]
        except EmbedderError as error:
            asked.set_result(Probe(False, clock.monotonic() - started, trouble=Reason.of(error)))
        # An embedder may be anybody's code.
        except Exception as error:  # noqa: BLE001
            trouble = Reason(f"{type(error).__name__}: {error}")
            asked.set_result(Probe(False, clock.monotonic() - started, trouble=trouble))
        else:
            asked.set_result(Probe(True, clock.monotonic() - started, dimension))
