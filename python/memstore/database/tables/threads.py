"""Threads: the rows of one namespace and owner that share a name, in the order ``(seq, id)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from memstore.domain.arguments import MAX_NUMBER
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Self

    from memstore.database.engine import Row, Transaction
    from memstore.database.filters import EpisodeFilter, FactFilter
    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact

FACTS: Final = "memstore_facts"
EPISODES: Final = "memstore_episodes"

BEFORE: Final = "(seq, id) < (:seq, :id) ORDER BY seq DESC, id DESC LIMIT :limit"
AFTER: Final = "(seq, id) > (:seq, :id) ORDER BY seq, id LIMIT :limit"
"""Conditions for the rows before or after one in its thread, nearest first."""

Item = TypeVar("Item", "Fact", "Episode")


class Thread(NamedTuple):
    """The columns that identify a thread in either table."""

    namespace: str
    thread: str
    user_id: str | None
    agent_id: str | None
    run_id: str | None

    @classmethod
    def of(cls, namespace: str, columns: Mapping[str, Any]) -> Self:
        return cls(namespace, *(columns[name] for name in cls._fields[1:]))


OF_THREAD: Final = (
    "namespace = :namespace AND thread = :thread AND user_id IS NOT DISTINCT FROM :user_id"
    " AND agent_id IS NOT DISTINCT FROM :agent_id AND run_id IS NOT DISTINCT FROM :run_id"
)


def last_seq(transaction: Transaction, table: str, thread: Thread) -> int:
    """Return the last place in a thread; 0 if it is empty."""
    row = transaction.one(
        f"SELECT seq FROM {table} WHERE {OF_THREAD} ORDER BY seq DESC LIMIT 1", thread._asdict()
    )
    return 0 if row is None else int(row[0])


def ids(transaction: Transaction, table: str, row: Fact | Episode) -> list[int]:
    """Return the rows of a row's thread."""
    place = {**row.scope.ids, "namespace": row.namespace, "thread": row.thread}
    return transaction.ints(f"SELECT id FROM {table} WHERE {OF_THREAD}", place)


def neighbours(
    transaction: Transaction,
    select: str,
    decode: Callable[[Row], Item],
    row: Item,
    wanted: FactFilter | EpisodeFilter,
    limit: int,
) -> tuple[list[Item], list[Item]]:
    """Return the rows before and after one in its thread, so many on either side, in order.

    Args:
        select: reads such rows by the index of threads.
        wanted: lets through those of its namespace and owners that may be seen.
    """
    before, after = (
        on_one_side(transaction, select, decode, row, wanted, limit, side)
        for side in (BEFORE, AFTER)
    )
    return before[::-1], after


def on_one_side(
    transaction: Transaction,
    select: str,
    decode: Callable[[Row], Item],
    row: Item,
    wanted: FactFilter | EpisodeFilter,
    limit: int,
    side: str,
) -> list[Item]:
    """Return the rows on one side of one in its thread, so many, the nearest first.

    Args:
        side: :data:`BEFORE` or :data:`AFTER`; the rest as for :func:`neighbours`.
    """
    if row.thread is None:
        return []
    where, values = wanted.where(transaction.dialect, by_id=True)
    place = {"thread": row.thread, "seq": row.seq, "id": row.id, "limit": limit}
    rows = transaction.rows(
        f"{select} WHERE thread = :thread AND {where} AND {side}", {**values, **place}
    )
    return [decode(found) for found in rows]


class Counter:
    """Assigns places in threads to the rows that one transaction writes.

    The last place of each thread is queried only once, because a query would flush the queued rows.
    """

    def __init__(self, table: str) -> None:
        self.table = table
        self._last: dict[Thread, int] = {}

    def place(self, transaction: Transaction, thread: Thread, given: int | None) -> int:
        """Return the given place, or the one after the last."""
        last = self._last.get(thread)
        if last is None and given is not None:
            return given
        if last is None:
            last = last_seq(transaction, self.table, thread)
        seq = min(last + 1, MAX_NUMBER) if given is None else given
        self._last[thread] = max(last, seq)
        return seq
