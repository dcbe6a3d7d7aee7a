"""A database in memory; nothing is written to a file.

SQLite's connections share one copy of it without a log, so a writer and readers exclude each
other. Readers therefore queue with the writers, first come, first served.
"""

from __future__ import annotations

import io
import threading
import time
from collections import Counter
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final

import apsw

from memstore.database.sqlite.transaction import Translated, roll_back
from memstore.errors import Remedy, StoreBusy
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import secrets
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from memstore.database.sqlite.transaction import SqliteTransaction
    from memstore.database.sqlite.writer import Writer
else:
    secrets = lazy_import("secrets")

FLAGS: Final = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI


class MemoryPlace:
    """One database in memory, deleted when this object and all connections to it are closed.

    It has the methods of :class:`memstore.database.sqlite.disk.Disk`; most have nothing to do.
    """

    path: Final = ":memory:"
    copies_in: Final = "MEMORY"
    is_immutable: Final = False
    had_log: Final = False

    def __init__(self) -> None:
        self._name = f"file:/memstore-{secrets.token_hex(8)}?vfs=memdb"
        self._kept = self.connect(0)
        self._readers: Counter[int] = Counter()
        """The number of open reads of each thread."""
        self._ended = threading.Condition()

    def connect(self, _: float) -> apsw.Connection:
        return apsw.Connection(self._name, flags=FLAGS)

    def check_reader(self, connection: apsw.Connection) -> None:
        pass

    def own_write(self, writer: Writer) -> SqliteTransaction | None:
        """Return this thread's open write, because a separate read would wait for it forever."""
        return writer.current if writer.is_mine else None

    @contextmanager
    def reading(
        self, connection: apsw.Connection, writer: Writer, wait_seconds: float
    ) -> Iterator[None]:
        """Begin a read when it is its turn; the turn is given back once the read has begun."""
        me = threading.get_ident()
        with writer.alone(wait_seconds), Translated(""):
            connection.execute("BEGIN; SELECT count(*) FROM sqlite_schema").fetchall()
            with self._ended:
                self._readers[me] += 1
        try:
            yield
        finally:
            roll_back(connection)
            with self._ended:
                self._readers[me] -= 1
                if not self._readers[me]:
                    del self._readers[me]
                self._ended.notify_all()

    def refuse_own_reader(self) -> None:
        """Refuse a write that would wait for a read of its own thread.

        Raises:
            StoreBusy: this thread has an open read.
        """
        if self._readers.get(threading.get_ident()):
            raise StoreBusy(
                "this thread is still reading, and an in-memory store cannot be written while it "
                "is read; nothing was stored",
                remedy=Remedy.END_READING,
            )

    def prepare_write(self, _: apsw.Connection, deadline: float) -> None:
        """Wait until nobody reads; SQLite itself would poll at growing intervals.

        No new read can begin, because the caller holds the turn.
        """
        with self._ended:
            self._ended.wait_for(lambda: not self._readers, deadline - time.monotonic())

    def note_writer(self, connection: apsw.Connection) -> None:
        pass

    def changed(self) -> dict[str, str]:
        return {}

    def part_from_log(self) -> None:
        pass

    def forget_finished_logs(self) -> None:
        pass

    def check(self) -> None:
        pass

    def scratch(self) -> AbstractContextManager[IO[bytes]]:
        return io.BytesIO()

    def exposed(self) -> dict[str, int]:
        return {}

    def size_bytes(self) -> int:
        pages: int = self._kept.pragma("page_count")
        return pages * int(self._kept.pragma("page_size"))

    def log_bytes(self) -> int:
        return 0

    def await_log(self, seconds: float) -> None:
        """Do nothing: there is no log."""

    def begin_anew(self) -> None:
        pass

    def close(self, *, untouched: bool = False) -> None:
        self._kept.close()
