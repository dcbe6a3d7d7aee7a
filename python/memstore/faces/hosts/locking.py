"""A lock between processes: a file that stays, so that nobody locks one that was removed."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from memstore.domain import clock

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator

PAUSE_SECONDS: Final = 0.05


@contextmanager
def locked(file: str, seconds: float) -> Iterator[bool]:
    """Lock a file, or wait for whoever has it locked; yields whether it is ours.

    A process that ends, also by a kill, gives up its locks.
    """
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        end = clock.monotonic() + seconds
        while not (ours := try_lock(handle)) and clock.monotonic() < end:
            clock.sleep(PAUSE_SECONDS)
        yield ours
    finally:
        os.close(handle)


def try_lock(handle: int) -> bool:
    """Lock a file if nobody else has it locked; return whether that was so."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
