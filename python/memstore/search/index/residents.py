"""The indexes that a process has in memory: what they take, and which goes if it is too much.

A process that serves many memories has an index for each that was searched. Above a bound, the one
that was used longest ago is dropped; its next search builds it again, or maps its files.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, Protocol
from weakref import ref

from memstore import settings

if TYPE_CHECKING:
    from weakref import ReferenceType

BYTES_PER_ROW: Final = 900
"""What a row takes that is in no file, estimated: a text of 15 words with 256 numbers. In a file it
takes half as much."""


class Droppable(Protocol):
    def drop(self) -> None:
        """Give the memory up; nothing that is stored is lost."""


class Residents:
    """Indexes by the time of their last use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sizes: dict[ReferenceType[Droppable], int] = {}
        """In the order of their last use."""

    @property
    def bytes(self) -> int:
        """What they take together, estimated."""
        with self._lock:
            return sum(self._sizes.values())

    @property
    def max_bytes(self) -> int:
        return settings.max_index_bytes()

    def use(self, index: Droppable, size: int) -> None:
        """Note a use of an index of so many bytes, and drop others if it is too much.

        The caller is inside of no index: dropping waits for nobody, but frees what it drops.
        """
        key, bound = ref(index, self._forget_key), self.max_bytes
        dropped: list[Droppable | None] = []
        with self._lock:
            self._sizes.pop(key, None)
            if size:
                self._sizes[key] = size
            total = sum(self._sizes.values())
            for oldest in [*self._sizes] if total > bound else ():
                if total <= bound or oldest == key:
                    break
                total -= self._sizes.pop(oldest)
                dropped.append(oldest())
        for one in dropped:
            if one is not None:
                one.drop()

    def forget(self, index: Droppable) -> None:
        self._forget_key(ref(index))

    def _forget_key(self, key: ReferenceType[Droppable]) -> None:
        with self._lock:
            self._sizes.pop(key, None)


RESIDENTS: Final = Residents()
"""Those of this process."""
