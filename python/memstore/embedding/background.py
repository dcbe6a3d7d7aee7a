"""Embeds pending items in the background, backing off on failure.

In a file, one process does it at a time; on a server, machines share the items.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.embedding.embedding import MAX_PAUSE_SECONDS
from memstore.embedding.leases import LEASE_SECONDS, Lease
from memstore.embedding.pending import embed_pending, is_waiting
from memstore.errors import InvalidArgument, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from memstore.database.engine import Engine
    from memstore.database.journal import Author
    from memstore.embedding.current import CurrentEmbedder
    from memstore.embedding.pending import EmbedReport

JOB: Final = "embed"
"""The name of the lease: one for the whole file."""


class BackgroundEmbedding:
    """A thread that embeds pending items; after each failure it pauses longer.

    If this process dies, another one takes over after ``lease_seconds``.
    """

    def __init__(
        self,
        engine: Engine,
        author: Author,
        embedder: CurrentEmbedder,
        namespace: str | None,
        interval_seconds: float = 5.0,
        *,
        lease_seconds: float = LEASE_SECONDS,
        tell: Callable[[EmbedReport | Reason], object] = lambda _: None,
    ) -> None:
        if not interval_seconds > 0:
            raise InvalidArgument(
                f"must be more than 0, not {interval_seconds}", argument="interval_seconds"
            )
        self._engine = engine
        self._author = author
        self._embedder = embedder
        self._namespace = namespace
        self._interval_seconds = interval_seconds
        self._lease = Lease(engine, JOB, lease_seconds)
        self._tell = tell
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="memstore-embedding", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Tell the thread to end and wait for the current batch."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(timeout=self._interval_seconds)

    def _work(self) -> None:
        clock.wait(self._ended, self._interval_seconds)
        self.run()

    def run(self) -> None:
        """Work in this thread until :meth:`stop` is called from another one."""
        pause = self._interval_seconds
        while not self._ended.is_set():
            trouble = self._once()
            pause = min(pause * 2, MAX_PAUSE_SECONDS) if trouble else self._interval_seconds
            clock.wait(self._ended, pause)

    def _once(self) -> bool:
        """Embed pending items; return whether something failed, so that the pause grows."""
        try:
            # Usually nothing is pending: check by reading before taking the lease.
            if not is_waiting(self._engine, self._namespace):
                return False
            if self._engine.is_remote:  # machines share the texts; each batch has its leases
                report = self._embedded(lambda: not self._ended.is_set())
            elif not self._lease.is_free():
                return False
            else:
                with self._lease:
                    if not self._lease.is_held:
                        return False
                    report = self._embedded(
                        lambda: self._lease.is_held and not self._ended.is_set()
                    )
        # Busy, closed in the meantime, another model, an unreadable row: the thread must live on.
        except Exception as error:  # noqa: BLE001
            reason = Reason.of(error)
            self._embedder.current.note_trouble(reason)
            self._tell(reason)
            return True
        self._tell(report)
        return report.error is not None

    def _embedded(self, go_on: Callable[[], bool]) -> EmbedReport:
        return embed_pending(
            self._engine, self._author, self._embedder, self._namespace, go_on=go_on
        )
