"""Long writes, split into short transactions so that no other writer waits long."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

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


BYTES_AT_ONCE: Final = 1_500_000
"""Bytes of text that are written in one transaction, :data:`ROW_BYTES` for each row among them."""

ROW_BYTES: Final = 1_000
"""Bytes of text that take as long as one more row."""

T = TypeVar("T")

Act: TypeAlias = "Callable[[Transaction], object]"

Slow: TypeAlias = Literal["slow"]

SLOW: Final[Slow] = "slow"
"""Says that the next act takes long to make, or writes much: what is open ends before."""


def in_steps(engine: Engine, acts: Iterable[Act | Slow], *, pauses: bool = False) -> Iterator[None]:
    """Run acts in order, as many per transaction as fit into its time; yield after each one.

    With ``pauses``, other processes that wait get their turn at least twice a second.

    Acts are requested while a transaction is open, unless :data:`SLOW` comes before them or they
    are the first. So an iterable yields that before it does slow work. An act should write at most
    about 100 rows, because the commit takes time too.
    """
    waiting, paused_at = iter(acts), clock.monotonic()
    act = _after_slow(waiting, next(waiting, None))
    while act is not None:
        with engine.write() as transaction:
            transaction.begin()  # the wait for the lock does not count
            until = clock.monotonic() + SECONDS
            following: Act | Slow | None = act
            while following is not None and following != SLOW:
                following(transaction)
                following = next(waiting, None)
                if clock.monotonic() >= until:
                    break
        act = _after_slow(waiting, following)
        if pauses and act is not None and clock.monotonic() - paused_at >= WORK_SECONDS:
            pause()
            paused_at = clock.monotonic()
        yield


def in_groups(
    items: Iterable[T], size: Callable[[T], int], most: int | None = None
) -> Iterator[list[T]]:
    """Yield items in order, as many together as one transaction may write, at least one.

    Args:
        size: returns the bytes of text that an item writes; :data:`ROW_BYTES` are added.
        most: the most items of a group.
    """
    group: list[T] = []
    total = 0
    for item in items:
        more = ROW_BYTES + size(item)
        if group and (total + more > BYTES_AT_ONCE or len(group) == most):
            yield group
            group, total = [], 0
        group.append(item)
        total += more
    if group:
        yield group


def pause() -> None:
    """Let other processes that wait for the lock have their turn."""
    clock.wait(threading.Event(), PAUSE_SECONDS)


def _after_slow(waiting: Iterator[Act | Slow], act: Act | Slow | None) -> Act | None:
    while act == SLOW:
        act = next(waiting, None)
    return act
