"""Reads in the background what a model failed to read: one process at a time, backing off."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final

from memstore.coroutines import STOPPED
from memstore.domain import clock
from memstore.embedding.leases import LEASE_SECONDS, Lease
from memstore.errors import InvalidArgument
from memstore.learn.conversation import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from memstore.database.engine import Engine

logger = logging.getLogger(__name__)

MAX_PAUSE_SECONDS: Final = 3600.0
"""The longest pause after failures; each is twice as long as the one before."""


class BackgroundLearning:
    """A thread that retries what failed; a context manager that ends with :meth:`stop`.

    Args:
        engine: where the lease is kept, so that one process of several works.
        job: the name of the lease.
        is_waiting: whether anything is to be read; only reads.
        retry: reads all of it; raises if some failed again.
        interval_seconds: how often to look for something to read.
    """

    def __init__(
        self,
        engine: Engine,
        job: str,
        is_waiting: Callable[[], bool],
        retry: Callable[[], object],
        interval_seconds: float,
        *,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        if not interval_seconds > 0:
            raise InvalidArgument(
                f"must be more than 0, not {interval_seconds}", argument="interval_seconds"
            )
        self._lease = Lease(engine, job, lease_seconds)
        self._is_waiting = is_waiting
        self._retry = retry
        self._interval_seconds = interval_seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self.run, name="memstore-learning", daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> Self:
        """Start the thread."""
        self._thread.start()
        return self

    def stop(self, wait_seconds: float | None = None) -> None:
        """Tell the thread to end, and wait for the step it is at: one question to the model.

        Args:
            wait_seconds: for how long at most; ``None`` for one interval.
        """
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(self._interval_seconds if wait_seconds is None else wait_seconds)

    def run(self) -> None:
        """Work in this thread until :meth:`stop` is called from another one."""
        STOPPED.set(self._ended)
        pause = self._interval_seconds
        while not clock.wait(self._ended, pause):
            failed = self._once()
            pause = min(pause * 2, MAX_PAUSE_SECONDS) if failed else self._interval_seconds

    def _once(self) -> bool:
        """Read what is waiting; return whether something failed, so that the pause grows."""
        try:
            if not self._is_waiting() or not self._lease.is_free():
                return False
            with self._lease:
                if self._lease.is_held:
                    self._retry()
        except Stopped:
            return False
        # Busy, closed in the meantime, no model, an unreadable reply: the thread must live on.
        except Exception as error:  # noqa: BLE001
            logger.warning("could not learn in the background: %s", type(error).__name__)
            return True
        return False
