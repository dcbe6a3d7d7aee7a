"""Turns: a lock that threads get in the order they asked for it, and may pass on unreleased."""

from __future__ import annotations

import threading
from collections import deque


class Turn:
    """The turn of one thread: not asked for yet, waited for, had, or given back."""

    def __init__(self, *, shares: bool) -> None:
        self.shares = shares
        """Whether it would also be taken with what another one left."""
        self.thread = threading.get_ident()
        self.called = threading.Lock()
        self.called.acquire()


class Turns:
    """At most one has the turn."""

    def __init__(self) -> None:
        self._deciding = threading.Lock()
        self._holder: Turn | None = None
        self._queue: deque[Turn] = deque()

    def take(self, turn: Turn, wait_seconds: float) -> bool:
        """Wait for the turn, and return whether it came.

        It does not come to a thread that has it already. An exception (Ctrl-C) may leave it had or
        waited for, so the caller always gives it back in the end.
        """
        with self._deciding:
            if self._holder is None:
                self._holder = turn
                return True
            if wait_seconds <= 0 or self._holder.thread == turn.thread:
                return False
            self._queue.append(turn)
        turn.called.acquire(timeout=wait_seconds)
        with self._deciding:
            if self._holder is not turn:
                self._queue.remove(turn)
            return self._holder is turn

    @property
    def are_waited_for(self) -> bool:
        """Whether threads wait."""
        return bool(self._queue)

    def has(self, turn: Turn) -> bool:
        return self._holder is turn

    def is_mine(self) -> bool:
        """Return whether this thread has the turn."""
        holder = self._holder
        return holder is not None and holder.thread == threading.get_ident()

    def hand_over(self) -> bool:
        """Pass the turn to the next thread if that one shares; return whether it did."""
        with self._deciding:
            if not self._queue or not self._queue[0].shares:
                return False
            self._holder = self._queue[0]
            self._call_holder()
            return True

    def give_back(self, turn: Turn) -> None:
        """Pass the turn to the next thread, if this one has it; or no longer wait for it.

        One that was interrupted is completed by the next one.
        """
        with self._deciding:
            if turn in self._queue:
                self._queue.remove(turn)
            if self._holder is turn:
                self._holder = self._queue[0] if self._queue else None
            self._call_holder()

    def _call_holder(self) -> None:
        """Let the thread that has the turn go on, if it still waits."""
        if self._queue and self._queue[0] is self._holder:
            self._queue.popleft()
        if self._holder is not None and self._holder.called.locked():
            self._holder.called.release()
