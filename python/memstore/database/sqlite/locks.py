"""File locks that other users of the file in this process cannot release.

SQLite uses POSIX locks, which belong to the process: another copy of SQLite in it, or a mere
``open(path).read()``, releases them when it closes the file. Then two processes can write at
once, and the write-ahead log can be deleted with acknowledged writes in it. So the driver's SQLite
is given locks on open file descriptions, implemented in ``rust/locks``; see decision 32.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final, Literal

import apsw

from memstore._kernel.locks import lock_is_seen, lock_system_calls, locks_held
from memstore.errors import Remedy, StorageError
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import logging
else:
    logging = lazy_import("logging")

Locks = Literal["open file description", "process", "handle"]
"""What a lock belongs to. On Windows that is always the handle, which is just as safe."""

_installing: Final = threading.Lock()
_installed = False
_warned = False


def install(path: str) -> None:
    """Make the driver lock files by open file description from now on.

    Args:
        path: the file that is about to be opened.

    Raises:
        StorageError: the driver already has the file open, with locks of the process.
    """
    global _installed
    with _installing:
        if _installed:
            return
        calls = lock_system_calls()
        if calls and any(_is_of(connection, path) for connection in apsw.connections()):
            raise StorageError(
                f"{path!r} was opened with apsw before memstore was first used, and the locks of "
                "that connection do not protect it",
                remedy=Remedy.CLOSE_OTHERS,
            )
        if calls:
            vfs = apsw.VFS("memstore-locks", "unix")
            for name, address in calls:
                vfs.xSetSystemCall(name, address)
            vfs.unregister()  # the calls stay replaced, because they are those of the base VFS
        _installed = True


def in_force() -> Locks:
    """Return what owns the locks of the files open in this process; the weakest, if they differ."""
    if not lock_system_calls():
        return "handle"
    _, by_process, _ = locks_held()
    return "process" if by_process else "open file description"


def check(path: str) -> None:
    """Check the locks of a file that was just locked.

    Warns once if they are only of the process.

    Raises:
        StorageError: they have no effect, so another process would write at the same time.
    """
    global _warned
    by_description, by_process, _ = locks_held()
    if by_description and not by_process and lock_is_seen(path) is False:
        raise StorageError(
            f"locks have no effect on the file system of {path!r}, so two processes would write "
            "at once and damage the file; nothing was stored",
            remedy=Remedy.LOCAL_DISK,
        )
    if _warned or not lock_system_calls() or (by_description and not by_process):
        return
    _warned = True
    logging.getLogger(__name__).warning(
        "%s: this system or file system does not support locks on open file descriptions. Do not "
        "open the file with another SQLite library in this process, nor with open(): either "
        "releases the locks that protect it",
        path,
    )


def is_used(file: str) -> bool | None:
    """Return whether any program, this one too, has locks on a file; ``None`` if unknown."""
    return lock_is_seen(file)


def _is_of(connection: apsw.Connection, path: str) -> bool:
    try:
        return os.path.samefile(connection.filename, path)
    except OSError:  # in memory, or deleted
        return False
