"""Statements of one transaction that the server runs while the program makes more.

Sending takes a thread of its own: the server reads the next statement only when it has run the one
before, and a large one does not fit between the two.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from memstore.database.postgres.connection import Connection

MAX_WAITING: Final = 6
"""How many statements may wait to be sent. Each holds its rows in memory."""


class Sender:
    """See the module. Nobody else uses the connection before :meth:`wait` or :meth:`close`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memstore-sending")
        self._sent: deque[Future[None]] = deque()

    def send(self, text: str, values: Sequence[object]) -> None:
        """Run a statement after those before it.

        Raises:
            psycopg.Error: an earlier one failed.
        """
        while len(self._sent) >= MAX_WAITING:
            self._sent.popleft().result()
        self._sent.append(self._thread.submit(self._run, text, values))

    def _run(self, text: str, values: Sequence[object]) -> None:
        self._connection.run(text, *values)

    def wait(self) -> None:
        """Wait until all have run.

        Raises:
            psycopg.Error: the error of the first that failed.
        """
        while self._sent:
            self._sent.popleft().result()

    def close(self) -> None:
        """Wait for the one that runs, and run no other."""
        self._thread.shutdown(cancel_futures=True)
