"""Writes that nobody waits for: to a server in a thread of their own, to a file at once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from memstore.database.engine import Engine


class BackgroundWrites:
    """See the module. A write to a file takes less time than to start a thread.

    Args:
        write: writes what has gathered, and raises nothing.
        name: of the thread.
    """

    def __init__(self, engine: Engine, write: Callable[[], None], name: str) -> None:
        self._engine = engine
        self._write = write
        self._name = name
        self._lock = threading.Lock()
        self._writer: threading.Thread | None = None

    def start(self) -> None:
        """Write; what gathers while a thread writes waits for the next time."""
        if not self._engine.is_remote:
            self._write()
            return
        with self._lock:
            if self._writer is None or not self._writer.is_alive():
                self._writer = threading.Thread(target=self._write, name=self._name, daemon=True)
                self._writer.start()

    def finish(self) -> None:
        """Wait for the thread, and write what has gathered since."""
        with self._lock:
            writer = self._writer
        if writer is not None:
            writer.join()
        self._write()
