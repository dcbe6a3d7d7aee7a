"""Threads: the rows of one namespace and owner that share a name, in the order ``(seq, id)``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.domain.arguments import MAX_NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Self

    from memstore.database.engine import Transaction

FACTS: Final = "memstore_facts"
EPISODES: Final = "memstore_episodes"

BEFORE: Final = "(seq, id) < (:seq, :id) ORDER BY seq DESC, id DESC LIMIT :limit"
AFTER: Final = "(seq, id) > (:seq, :id) ORDER BY seq, id LIMIT :limit"
"""Which rows of a thread are beside one, nearest first."""


class Thread(NamedTuple):
    """What identifies a thread, in one of the two tables."""

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
    """Return the last place that is taken in a thread; 0 if none is."""
    row = transaction.one(
        f"SELECT seq FROM {table} WHERE {OF_THREAD} ORDER BY seq DESC LIMIT 1", thread._asdict()
    )
    return 0 if row is None else int(row[0])


@dataclass(slots=True)
class Counter:
    """Counts places in threads, for the rows that one transaction writes.

    Each thread's last place is asked for once, since the rows that are queued are written first.
    """

    table: str
    _last: dict[Thread, int] = field(default_factory=dict)

    def place(self, transaction: Transaction, thread: Thread, given: int | None) -> int:
        """Return the place that is given, or the one behind the last."""
        last = self._last.get(thread)
        if last is None and given is not None:
            return given
        if last is None:
            last = last_seq(transaction, self.table, thread)
        seq = min(last + 1, MAX_NUMBER) if given is None else given
        self._last[thread] = max(last, seq)
        return seq
