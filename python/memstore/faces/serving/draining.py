"""Ends the server: it stops being ready, then stops listening, then waits for running calls."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DRAIN_SECONDS: Final = 3600.0


@frozen
class Drain:
    """What happens between the first signal and the moment when no more requests are accepted.

    A proxy learns of the end by its next check of ``/readyz``. Until then it sends requests, and
    they are answered as before.
    """

    seconds: float = 0.0
    """How long requests are still accepted."""
    on_begin: Callable[[], object] = lambda: None
    """Called at the first signal."""

    def begin(self, stop: Callable[[], object]) -> None:
        """Stop being ready at once, and call ``stop`` when the time is over. Does not block."""
        self.on_begin()
        if not self.seconds:
            stop()
            return
        waiting = threading.Timer(self.seconds, stop)
        waiting.daemon = True
        waiting.start()


def read_drain_seconds(text: str) -> float:
    """Read the flag ``--drain``: seconds, at most an hour."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= MAX_DRAIN_SECONDS:
        raise ValueError(f"--drain {text!r} is not a number of seconds from 0 to 3600")
    return seconds
