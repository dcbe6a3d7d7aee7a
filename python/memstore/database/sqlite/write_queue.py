"""The queue of the threads that want to write: each passes its turn directly to the next one."""

from __future__ import annotations

import threading
from collections import deque


class Turn:
    """The turn of one thread: not requested yet, waiting, held, or given back."""

    def __init__(self, *, shares: bool) -> None:
        self.shares = shares
        """Whether the thread can join the transaction that the previous one left open."""
        self.thread = threading.get_ident()
        self.called: threading.Lock | None = None
        """Released when the turn has come, if the thread had to wait."""
        self.is_over = False


class WriteQueue:
    """A queue of turns; at most one is held."""

    def __init__(self) -> None:
        self._deciding = threading.Lock()
        self._holder: Turn | None = None
        self._waiting: deque[Turn] = deque()

    def take(self, turn: Turn, wait_seconds: float) -> bool:
        """Wait for the turn, and return whether the thread got it.

        A thread that already holds a turn does not get another. After an exception (Ctrl-C) the
        turn may be held or waiting, so the caller must always give it back.
        """
        with self._deciding:
            if self._holder is None:
                self._holder = turn
                return True
            if wait_seconds <= 0 or self._holder.thread == turn.thread:
                return False
            called = turn.called = threading.Lock()
            called.acquire()
            self._waiting.append(turn)
        called.acquire(timeout=wait_seconds)
        with self._deciding:
            if self._holder is not turn:
                self._waiting.remove(turn)
            return self._holder is turn

    @property
    def are_waited_for(self) -> bool:
        """Whether any thread is waiting."""
        return bool(self._waiting)

    def has(self, turn: Turn) -> bool:
        return self._holder is turn

    def is_mine(self) -> bool:
        """Return whether this thread holds the turn."""
        holder = self._holder
        return holder is not None and holder.thread == threading.get_ident()

    def hand_over(self) -> bool:
        """Pass the turn to the next thread if that one shares; return whether it was passed."""
        with self._deciding:
            if not self._waiting or not self._waiting[0].shares:
                return False
            self._holder = self._waiting[0]
            self._call_holder()
            return True

    def give_back(self, turn: Turn) -> None:
        """Pass the turn to the next thread if this one holds it, or stop waiting for it.

        If a call is interrupted, the next call completes it.
        """
        with self._deciding:
            if turn in self._waiting:
                self._waiting.remove(turn)
            if self._holder is turn:
                self._holder = self._waiting[0] if self._waiting else None
            self._call_holder()
        turn.is_over = True

    def _call_holder(self) -> None:
        """Wake the thread that holds the turn, if it is still waiting."""
        if self._waiting and self._waiting[0] is self._holder:
            self._waiting.popleft()
        called = None if self._holder is None else self._holder.called
        if called is not None and called.locked():
            called.release()
