"""The doctor, started from a page: in a thread, with its progress; the last result stays."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from memstore.domain import clock
from memstore.errors import Cancelled, Explained
from memstore.faces import wording

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from memstore.file.file import File
    from memstore.file.findings import Finding


LOOK_SECONDS: Final = 1.0
"""How often it looks whether who started it is still signed in."""


class Doctor:
    """The doctor of one file."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._signed_out = False
        self.is_running = False
        self.done = 0
        self.total = 0
        self.at: datetime | None = None
        """When the last one ended; ``None`` if there was none."""
        self.findings: Sequence[Finding] = ()
        self.trouble = ""
        """Why the last one came to no result."""

    def start(self, *, deep: bool, stays: Callable[[], bool]) -> None:
        """Begin to check the file, unless that is being done.

        Args:
            deep: as of ``File.doctor``.
            stays: whether who starts it is still signed in: it ends with that.
        """
        with self._lock:
            if self.is_running:
                return
            self.is_running, self.done, self.total = True, 0, 0
            self._stop.clear()
            self._signed_out = False
        ended = threading.Event()
        run = partial(self._run, deep, ended)
        for work in (run, partial(self._watch, stays, ended)):
            threading.Thread(target=work, name="doctor", daemon=True).start()

    def stop(self) -> None:
        """End it; the result of the one before stays."""
        self._stop.set()

    def _watch(self, stays: Callable[[], bool], ended: threading.Event) -> None:
        # Not asked by the doctor itself: it asks amid its statements.
        while not ended.wait(LOOK_SECONDS):
            if not stays():
                self._signed_out = True
                self._stop.set()
                return

    def _run(self, deep: bool, ended: threading.Event) -> None:
        findings, trouble = self.findings, ""
        at: datetime | None = self.at
        try:
            findings = self._file.doctor(
                deep=deep, progress=self._tell, cancelled=self._stop.is_set
            )
            at = clock.utc_now()
        except Cancelled:
            by_itself = "The sign-in that started it has ended, so it was stopped."
            trouble = by_itself if self._signed_out else "It was stopped."
        except (Explained, ValueError) as error:
            trouble = wording.in_pages(error)
        finally:
            with self._lock:
                self.findings, self.trouble, self.at = findings, trouble, at
                self.is_running = False
            ended.set()

    def _tell(self, done: int, total: int) -> None:
        self.done, self.total = done, total


_known: WeakKeyDictionary[File, Doctor] = WeakKeyDictionary()
_lock = threading.Lock()


def of(file: File) -> Doctor:
    """Return the doctor of a file."""
    with _lock:
        if file not in _known:
            _known[file] = Doctor(file)
        return _known[file]
