"""Answers ``/livez``, ``/readyz`` and ``/health``: whether the server can answer requests now.

Live is a process whose loop answers. Ready is one whose database can be read, and which has not
been told to end. Restarting a server helps only one that is not live, so the two are apart.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread

from memstore.domain import clock
from memstore.errors import FileMissing, MemstoreError
from memstore.faces import wording

if TYPE_CHECKING:
    from memstore.faces.serving.stores import Stores

logger = logging.getLogger(__name__)

HEALTH: Final = "/health"
"""The same answer as ``READY``, with the version."""
LIVE: Final = "/livez"
READY: Final = "/readyz"
PROBES: Final = frozenset({HEALTH, LIVE, READY})

CHECK_SECONDS: Final = 2.0
"""Time for the database to answer a check."""

FRESH_SECONDS: Final = 1.0
"""How long a check that succeeded is believed. One that failed is not, so that the server is ready
again as soon as its database is."""

RETRY_SECONDS: Final = 2
"""When a client that was refused should come back, as ``Retry-After`` says."""

AWAY: Final = "the database cannot be read; the server's log says why"
MISSING: Final = (
    "the memory's file is missing, and nothing was stored; the server's log says which it is, and "
    "requests are answered again when it is back"
)
"""What a client is told while the database cannot be read: no path, as its sender is unknown."""

OK: Final = "ok"
UNAVAILABLE: Final = "unavailable"
DRAINING: Final = "draining"


class Readiness:
    """Knows whether the database could be read lately, and whether the server is ending.

    A check is one small read in a thread of its own, and only one runs at a time: a database that
    hangs holds one thread, however many ask.
    """

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._threads = anyio.CapacityLimiter(1)
        self._examining = threading.Lock()
        self._fresh_until = 0.0
        self._has_failed = False
        self.is_draining = False
        self.trouble = AWAY
        """What to tell clients after a failure."""

    def drain(self) -> None:
        """Be unready from now on: the server is about to end."""
        self.is_draining = True

    async def state(self) -> str:
        """Return ``ok``, ``unavailable`` or ``draining``, after at most ``CHECK_SECONDS``."""
        if self.is_draining:
            return DRAINING
        return OK if await self._check() else UNAVAILABLE

    async def is_away(self) -> bool:
        """Whether the database is known to be away; checks only after a failure."""
        return self._has_failed and not await self._check()

    def note_failure(self, error: Exception | None = None) -> None:
        """Note that a request could not read the database, so that the next ones need not wait."""
        self._has_failed, self._fresh_until = True, 0.0
        self.trouble = MISSING if isinstance(error, FileMissing) else AWAY

    async def _check(self) -> bool:
        if clock.monotonic() < self._fresh_until:
            return True
        answers, failure = False, None
        with anyio.move_on_after(CHECK_SECONDS):
            try:
                answers = await anyio.to_thread.run_sync(
                    self._database_answers, limiter=self._threads, abandon_on_cancel=True
                )
            except (MemstoreError, ValueError, TypeError) as error:
                failure = error
                if not self._has_failed:  # not once for every check while it is away
                    logger.warning("the database does not answer: %s", wording.in_server(error))
        if answers:
            self._has_failed, self._fresh_until = False, clock.monotonic() + FRESH_SECONDS
        else:
            self.note_failure(failure)
        return answers

    def _database_answers(self) -> bool:
        if not self._examining.acquire(blocking=False):
            return False  # an earlier check has timed out and is still running
        try:
            file = self._stores.store().file
            file.engine.check_file()
            file.tokens.required()
            return True
        finally:
            self._examining.release()
