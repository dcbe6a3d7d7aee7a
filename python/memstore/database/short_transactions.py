"""Long writes, split into short transactions so that no other writer waits long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memstore.database.engine import Engine, Transaction

SECONDS: Final = 0.05
"""After this time a transaction starts no further act. Committing takes time too, and on a busy
machine both take several times as long."""


def in_steps(engine: Engine, acts: Iterable[Callable[[Transaction], object]]) -> Iterator[None]:
    """Run acts in order, as many per transaction as fit into its time; yield after each one.

    All but the first act are requested while a transaction is open, so the iterable must do its
    slow work before it yields the first. An act should write at most about 100 rows, because the
    commit takes time too.
    """
    waiting = iter(acts)
    act = next(waiting, None)
    while act is not None:
        with engine.write() as transaction:
            until = clock.monotonic() + SECONDS
            while act is not None:
                act(transaction)
                act = next(waiting, None)
                if clock.monotonic() >= until:
                    break
        yield
