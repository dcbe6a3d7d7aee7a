"""A database in memory; nothing of it is written to a file.

SQLite's connections to it share one copy without a log, so a writer and readers exclude each
other. Readers therefore queue with the writers, first come, first served.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import apsw

from memstore.errors import Remedy, StoreBusy
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import secrets
    from collections.abc import Iterator
else:
    secrets = lazy_import("secrets")

PATH: Final = ":memory:"

FLAGS: Final = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI


class Memory:
    """One database in memory; it ends when this and every connection to it are closed."""

    def __init__(self) -> None:
        self._name = f"file:/memstore-{secrets.token_hex(8)}?vfs=memdb"
        self._kept = self.connect()
        self._readers: Counter[int] = Counter()

    def connect(self) -> apsw.Connection:
        return apsw.Connection(self._name, flags=FLAGS)

    def size_bytes(self) -> int:
        pages: int = self._kept.pragma("page_count")
        return pages * int(self._kept.pragma("page_size"))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Note that this thread reads."""
        me = threading.get_ident()
        self._readers[me] += 1
        try:
            yield
        finally:
            self._readers[me] -= 1
            if not self._readers[me]:
                del self._readers[me]

    def refuse_own_reader(self) -> None:
        """Refuse a write of a thread that would wait for itself to end a read.

        Raises:
            StoreBusy: it has begun a read, such as an export, and not ended it.
        """
        if self._readers.get(threading.get_ident()):
            raise StoreBusy(
                "this thread has not ended reading, and a store in memory is read or written; "
                "nothing was stored",
                remedy=Remedy.END_READING,
            )

    def close(self) -> None:
        self._kept.close()
