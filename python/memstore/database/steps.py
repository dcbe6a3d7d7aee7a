"""Long writes in short transactions, so that no other writer waits long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memstore.database.engine import Engine, Transaction

SECONDS: Final = 0.05
"""From then on a transaction takes nothing more. Its end takes time, too, and on a busy machine
both take several times as long."""


def in_steps(engine: Engine, acts: Iterable[Callable[[Transaction], object]]) -> Iterator[None]:
    """Run acts in their order, as many in a transaction as the time allows; yield after each one.

    Acts after the first are asked for within a transaction: what takes long comes before that. What
    a transaction writes at its end takes time, too: no act writes more than some 100 rows.
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
