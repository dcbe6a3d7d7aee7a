"""Identifies who sends a request over HTTP: what they may do, and the run that a call belongs to.

Requests over HTTP are complete in themselves, so the server has no sessions to name. The calls of
one client with one token are a run until it makes none for a while.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from memstore.domain.tokens import AccessToken


PAUSE: Final = timedelta(minutes=30)
"""A client that makes no call for so long begins another run."""

MAX_RUNS: Final = 1024
"""How many clients are remembered; one that is forgotten begins another run."""


class Runs:
    """The run of each client."""

    def __init__(self) -> None:
        self._finding = threading.Lock()
        self._runs: OrderedDict[tuple[str | None, str | None], tuple[bytes, datetime]]
        self._runs = OrderedDict()

    def of(self, token: str | None, client: str | None) -> bytes:
        """Return the run that a call belongs to, a UUIDv7."""
        now, key = clock.utc_now(), (token, client)
        with self._finding:
            run, last = self._runs.pop(key, (b"", now))
            if not run or now - last >= PAUSE:
                run = clock.new_run()
            self._runs[key] = run, now
            if len(self._runs) > MAX_RUNS:
                self._runs.popitem(last=False)
            return run


@frozen
class Caller:
    """The holder of an accepted token."""

    name: str
    namespace: str
    """The only one that is reached."""
    access: str
    """``read`` or ``write``."""
    owners: Mapping[str, Any] | None = None
    """The owners whose memories alone are reached; ``None`` if calls may name any."""

    @classmethod
    def of(cls, token: AccessToken) -> Caller:
        """Return the caller with a token of the file."""
        return cls(token.name, token.namespace, token.access)
