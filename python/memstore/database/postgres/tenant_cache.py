"""Keeps a tenant's row between the transactions of a process.

The tenant's row has a version, which every write changes to a value that it never had. What was
read at a version holds as long as the row has it, so a write that finds it unchanged needs to read
nothing, and a search neither what rarely changes.
"""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING, Final

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memstore.database.engine import Row
    from memstore.errors import MemstoreError

MAX_READS: Final = 256
"""The most answers that are remembered of a tenant."""

MAX_ROWS: Final = 16
"""The most rows of an answer that is remembered."""

_random: Final = random.SystemRandom()


class TenantRow(NamedTuple):
    """A tenant's row. The last line's columns are ``None`` if the row does not have them."""

    version: int
    epoch: int
    counters: Mapping[str, int] = {}
    """The last id of each table whose ids are never given again; a read does not ask for them."""
    line: int | None = None
    """The id of the journal's last line."""
    at: str | None = None
    hash: bytes | None = None

    @property
    def end(self) -> tuple[int | None, str | None, bytes | None]:
        """The id, the time and the hash of the journal's last line."""
        return self.line, self.at, self.hash


COLUMNS: Final = ", ".join(TenantRow._fields)


def another() -> int:
    """Return a version, or an epoch, that no state ever had, not even of another history."""
    return _random.getrandbits(62)


def is_same(one: TenantRow | None, other: TenantRow | None) -> bool:
    """Return whether two states of a tenant's row are the same, by their versions."""
    return one is other or (one is not None and other is not None and one.version == other.version)


class Backoff:
    """Whether it pays to rely on what is remembered.

    After each time in vain, it is not done for twice as many times as before.
    """

    def __init__(self) -> None:
        self._missed = 0
        """How often it was in vain since it was right."""
        self._skipped = 0

    def pays(self) -> bool:
        if self._skipped < min(2**self._missed - 1, 64):
            self._skipped += 1
            return False
        return True

    def note(self, *, was_right: bool) -> None:
        self._missed = 0 if was_right else self._missed + 1
        self._skipped = 0


class Confidence:
    """Whether it pays to guess the tenant's row before it is read.

    A wrong guess costs far more than a right one saves. So after each wrong one, twice as many have
    to be right, or would have been, before the next is made; half as many after as many again.
    """

    def __init__(self) -> None:
        self._needed = self._right = 0

    def pays(self) -> bool:
        return self._right >= self._needed

    def note(self, *, was_right: bool) -> None:
        """Note whether a guess was right, or would have been."""
        if not was_right:
            self._needed, self._right = min(2 * self._needed + 1, 63), 0
            return
        self._right += 1
        if self._right >= 2 * self._needed:
            self._needed //= 2


class WriteTurn:
    """The turn to write, which one thread of a process has at a time, and only once.

    Args:
        lock: is held by the thread whose turn it is.
        own: what each thread has for itself.
        wait: how many seconds to wait.
        busy: makes the error for a thread that waited so long.
    """

    __slots__ = ("_busy", "_lock", "_own", "_wait")

    def __init__(
        self,
        lock: threading.Lock,
        own: threading.local,
        wait: float,
        busy: Callable[[float], MemstoreError],
    ) -> None:
        self._lock, self._own, self._wait, self._busy = lock, own, wait, busy

    def __enter__(self) -> None:
        if getattr(self._own, "is_writing", False):
            raise self._busy(0)
        if not self._lock.acquire(timeout=self._wait):
            raise self._busy(self._wait)
        self._own.is_writing = True

    def __exit__(self, *_: object) -> None:
        self._own.is_writing = False
        self._lock.release()


class TenantCache:
    """See the module. The engines of a process that serve one tenant share it."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        """Is had by the one thread of this process that writes."""
        self.state: TenantRow | None = None
        """As this process last wrote it; ``None`` if that is not known."""
        self.seen: TenantRow | None = None
        """As this process last read or wrote it."""
        self.writes, self.reads = Backoff(), Confidence()
        self._reads: dict[object, tuple[int, list[Row]]] = {}

    def rows(self, asked: object, stamp: int) -> list[Row] | None:
        """Return the rows that a query had; ``None`` if that is not known.

        Args:
            asked: the query, with its values.
            stamp: the version, or the epoch, as long as which its rows are the same.
        """
        known = self._reads.get(asked)
        return known[1] if known is not None and known[0] == stamp else None

    def keep(self, asked: object, stamp: int, rows: list[Row]) -> None:
        """Remember the rows of a query; see :meth:`rows`."""
        if len(rows) > MAX_ROWS:
            return
        if len(self._reads) >= MAX_READS:
            self._reads.clear()
        self._reads[asked] = (stamp, rows)

    def note(self, state: TenantRow | None) -> None:
        """Note the state that a write left; ``None`` if it is not known."""
        self.state = self.seen = state
