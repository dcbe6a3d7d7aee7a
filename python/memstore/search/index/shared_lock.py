"""A lock that many threads can hold together, or one alone; waiting for the latter goes first."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Taken(Exception):
    """The lock is not free."""


class SharedLock:
    """See the module.

    With ``at_once``, :class:`Taken` is raised instead of waiting.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._alone = False
        self._waiting = 0

    def enter(self, *, at_once: bool = False) -> None:
        """Enter together with others, until :meth:`leave`."""
        with self._changed:
            self._wait_until(lambda: not self._alone and not self._waiting, at_once)
            self._inside += 1

    def leave(self) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    @contextmanager
    def alone(self, *, stay: bool = False, at_once: bool = False) -> Iterator[None]:
        """Be inside alone; with ``stay``, remain inside afterwards, until :meth:`leave`.

        No other thread is alone in between. After an error, the thread does not remain inside.
        """
        with self._changed:
            self._waiting += 1
            try:
                self._wait_until(lambda: not self._alone and not self._inside, at_once)
            finally:
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

    def _wait_until(self, is_free: Callable[[], bool], at_once: bool) -> None:
        if at_once and not is_free():
            raise Taken
        self._changed.wait_for(is_free)
