"""Long writes, split into short transactions so that no other writer waits long."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from memstore.domain import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memstore.database.engine import Engine, Transaction

SECONDS: Final = 0.05
"""After this time a transaction starts no further act. Committing takes time too, and on a busy
machine both take several times as long."""


WORK_SECONDS: Final = 0.5
"""After this time a job that pauses does so. Between its transactions alone, another process that
waits for its turn seldom gets it: SQLite tries again only every tenth of a second."""

PAUSE_SECONDS: Final = 0.11
"""A little more than SQLite's longest interval between attempts to get the lock."""


def in_steps(
    engine: Engine, acts: Iterable[Callable[[Transaction], object]], *, pauses: bool = False
) -> Iterator[None]:
    """Run acts in order, as many per transaction as fit into its time; yield after each one.

    With ``pauses``, other processes that wait get their turn at least twice a second.

    All but the first act are requested while a transaction is open, so the iterable must do its
    slow work before it yields the first. An act should write at most about 100 rows, because the
    commit takes time too.
    """
    waiting, paused_at, never = iter(acts), clock.monotonic(), threading.Event()
    act = next(waiting, None)
    while act is not None:
        with engine.write() as transaction:
            transaction.begin()  # the wait for the lock does not count
            until = clock.monotonic() + SECONDS
            while act is not None:
                act(transaction)
                act = next(waiting, None)
                if clock.monotonic() >= until:
                    break
        if pauses and act is not None and clock.monotonic() - paused_at >= WORK_SECONDS:
            clock.wait(never, PAUSE_SECONDS)
            paused_at = clock.monotonic()
        yield
