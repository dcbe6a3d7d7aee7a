"""A clock that tests advance, waiting for other threads and processes, and counting work."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from memstore.domain.clock import Clock

TICK_SECONDS = 0.002
"""How often a condition is checked, by the system clock."""


class ManualClock(Clock):
    """Stands still until it is set forward; a pause sets it forward, and takes no time.

    ``wait`` is for threads in the background: it lasts until a test has set the clock forward far
    enough. Every pause asked for is kept in ``pauses``, every wait in ``waits``.
    """

    def __init__(self, now: datetime | None = None) -> None:
        self._began = datetime.now(UTC) if now is None else now
        self._elapsed = 0.0
        self._looks = 0
        self._lock = threading.Lock()
        self.pauses: list[float] = []
        self.waits: list[float] = []

    def utc_now(self) -> datetime:
        # Each reading adds a microsecond, so that times show the order of writes.
        with self._lock:
            self._looks += 1
            return self._began + timedelta(seconds=self._elapsed, microseconds=self._looks)

    def monotonic(self) -> float:
        with self._lock:
            return self._elapsed

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.advance(seconds)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        end = self.monotonic() + seconds
        self.waits.append(seconds)
        while not event.is_set() and self.monotonic() < end:
            event.wait(TICK_SECONDS)
        return event.is_set()

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._elapsed += seconds


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> bool:
    """Return whether a condition becomes true within a long time limit."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(TICK_SECONDS)
    return True


def read_tz() -> None:
    """Have this process read the variable ``TZ`` again."""
    time.tzset()


@contextmanager
def counting_calls() -> Iterator[list[int]]:
    """Count the Python functions called in a block: a measure independent of the machine's load."""
    calls = [0]

    def count(_frame: object, event: str, _argument: object) -> None:
        calls[0] += event == "call"

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(None)
