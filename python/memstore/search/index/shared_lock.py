"""A lock that many threads can hold together, or one alone; waiting for the latter goes first."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class SharedLock:
    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._alone = False
        self._waiting = 0

    def enter(self) -> None:
        """Enter together with others, until :meth:`leave`."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone and not self._waiting)
            self._inside += 1

    def leave(self) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    @contextmanager
    def alone(self, *, stay: bool = False) -> Iterator[None]:
        """Be inside alone; with ``stay``, remain inside afterwards, until :meth:`leave`.

        No other thread is alone in between. After an error, the thread does not remain inside.
        """
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(lambda: not self._alone and not self._inside)
            self._waiting -= 1
            self._alone = True
        try:
            yield
        except BaseException:
            stay = False
            raise
        finally:
            with self._changed:
                self._alone = False
                self._inside += stay
                self._changed.notify_all()
