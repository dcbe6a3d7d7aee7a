"""Leases: one process at a time does a job, and another takes over if it dies.

A lease only saves duplicate work: if two processes do the job at once, because a clock was set or
one of them was suspended, no harm is done.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memstore.database.tables import leases as lease_table
from memstore.domain import clock
from memstore.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from memstore.database.engine import Engine, Transaction

LEASE_SECONDS: Final = 20.0
"""How long a dead holder blocks the job. A living one renews the lease three times as often, in a
separate thread, so a slow embedder does not matter."""


ITEM_SECONDS: Final = 120.0
"""How long a dead machine keeps the texts of one batch from others; a slow embedder needs less."""


class ItemLeases:
    """One machine's claims to some of the texts that wait on a server, which others leave alone.

    In a file, one process embeds at a time. On a server, machines share the work: each takes texts
    that nobody has, and gives them back with their vectors.
    """

    def __init__(self, engine: Engine, seconds: float = ITEM_SECONDS) -> None:
        self._engine = engine
        self._seconds = seconds
        self._holder = f"{os.getpid()}-{os.urandom(8).hex()}"
        self._own: dict[str, set[int]] = {}

    def take(self, job: str, unclaimed: Callable[[Transaction], Sequence[int]]) -> list[int]:
        """Return those of the items that wait and are now this machine's.

        Args:
            unclaimed: returns the ids that still wait, without those that another machine is
                taking; others may have done them just now.
        """
        with self._engine.claim() as transaction:
            lease_table.forget_ended(transaction, job, clock.utc_now())
            taken = lease_table.take_items(
                transaction,
                job,
                unclaimed(transaction),
                self._holder,
                clock.utc_now(),
                self._seconds,
            )
        self._own.setdefault(job, set()).update(taken)
        return taken

    def taken_by_others(self, transaction: Transaction, job: str) -> set[int]:
        return lease_table.held_items(transaction, job, clock.utc_now(), self._seconds)

    def release(self, transaction: Transaction, job: str, ids: Sequence[int]) -> None:
        lease_table.release_items(transaction, job, ids, self._holder)
        self._own.get(job, set()).difference_update(ids)

    def release_all(self) -> None:
        """Give back what was not embedded."""
        if any(self._own.values()):
            with suppress(StorageError), self._engine.claim() as transaction:
                for job, ids in self._own.items():
                    lease_table.release_items(transaction, job, sorted(ids), self._holder)
            self._own.clear()


class Lease:
    """One holder's claim to a job; a context manager that renews it while it is open."""

    def __init__(self, engine: Engine, job: str, seconds: float = LEASE_SECONDS) -> None:
        self._engine = engine
        self._job = job
        self._seconds = seconds
        self._holder = f"{os.getpid()}-{os.urandom(8).hex()}"
        self.is_held = False
        """Whether this process holds the lease, as of the last renewal."""
        self._ended = threading.Event()
        self._renewing: threading.Thread | None = None

    def is_free(self) -> bool:
        """Whether no other process holds it; only reads, so it never waits for a writer."""
        with self._engine.read() as transaction:
            return not lease_table.is_held(
                transaction, self._job, self._holder, clock.utc_now(), self._seconds
            )

    def __enter__(self) -> Self:
        """Try to take it; see :attr:`is_held` for whether that worked."""
        self._take(None)
        if self.is_held:
            self._ended.clear()
            self._renewing = threading.Thread(
                target=self._renew, name="memstore-lease", daemon=True
            )
            self._renewing.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._renewing is not None:
            self._renewing.join()
            self._renewing = None
        if self.is_held:
            self.is_held = False
            with suppress(StorageError), self._engine.claim() as transaction:
                lease_table.release(transaction, self._job, self._holder)

    def _take(self, wait_seconds: float | None) -> None:
        with self._engine.claim(wait_seconds=wait_seconds) as transaction:
            self.is_held = lease_table.take(
                transaction, self._job, self._holder, clock.utc_now(), self._seconds
            )

    def _renew(self) -> None:
        pause = self._seconds / 3
        while self.is_held and not clock.wait(self._ended, pause):
            # Another process writes for long: try again after the next pause.
            with suppress(StorageError):
                self._take(pause)
