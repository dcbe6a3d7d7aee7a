"""Turns: a lock that threads get in the order they asked for it, and may pass on unreleased."""

from __future__ import annotations

import threading
from collections import deque


class _Waiting:
    """A thread that waits for its turn."""

    def __init__(self, shares: bool) -> None:
        self.shares = shares
        self.called = threading.Lock()
        self.called.acquire()


class Turns:
    """At most one thread has the turn."""

    def __init__(self) -> None:
        self._deciding = threading.Lock()
        self._taken = False
        self._queue: deque[_Waiting] = deque()

    def take(self, wait_seconds: float, *, shares: bool) -> bool:
        """Wait for the turn.

        Args:
            wait_seconds: how long.
            shares: whether this thread would also take it with what another one left to it.

        Returns:
            Whether this thread has the turn now.
        """
        with self._deciding:
            if not self._taken:
                self._taken = True
                return True
            if wait_seconds <= 0:
                return False
            waiting = _Waiting(shares)
            self._queue.append(waiting)
        try:
            if waiting.called.acquire(timeout=wait_seconds):
                return True
        except BaseException:  # Ctrl-C: nobody may be left waiting for this thread
            if self._was_called(waiting):
                self.release()
            raise
        return self._was_called(waiting)

    def _was_called(self, waiting: _Waiting) -> bool:
        """Leave the queue, and return whether the turn came all the same."""
        with self._deciding:
            if waiting not in self._queue:
                return True
            self._queue.remove(waiting)
            return False

    def hand_over(self) -> bool:
        """Pass the turn to the next thread if that one shares; return whether it did."""
        with self._deciding:
            if not self._queue or not self._queue[0].shares:
                return False
            self._queue.popleft().called.release()
            return True

    def release(self) -> None:
        with self._deciding:
            if self._queue:
                self._queue.popleft().called.release()
            else:
                self._taken = False
