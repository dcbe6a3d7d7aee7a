"""File locks that no other user of the file in this process can drop.

POSIX locks, SQLite's own choice, belong to the process: another copy of SQLite in it, or a mere
``open(path).read()``, drops them when it closes the file. Then two writers meet, and the
write-ahead log is deleted with what was acknowledged in it. So the driver's SQLite is given locks
of open file descriptions; ``rust/locks`` says how, and decision 23 why.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final, Literal

import apsw

from memstore._kernel import lock_system_calls, locks_held
from memstore.errors import Remedy, StorageError
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import logging
else:
    logging = lazy_import("logging")

Locks = Literal["open file description", "process", "handle"]
"""What a lock belongs to. On Windows it is always the handle, which is as good."""

_installing: Final = threading.Lock()
_installed = False
_warned = False


def install(path: str) -> None:
    """Have every file that the driver opens from now on locked by its open file description.

    Args:
        path: the file that is about to be opened.

    Raises:
        StorageError: the driver has the file open already, with locks of the process.
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
            vfs.unregister()  # the calls stay replaced: they are the base's
        _installed = True


def in_force() -> Locks:
    """Return what the locks of the files open in this process belong to; the worst, if several."""
    if not lock_system_calls():
        return "handle"
    _, by_process, _ = locks_held()
    return "process" if by_process else "open file description"


def check(path: str) -> None:
    """Warn, once, where a file that has just been locked has only locks of the process."""
    global _warned
    by_description, by_process, _ = locks_held()
    if _warned or not lock_system_calls() or (by_description and not by_process):
        return
    _warned = True
    logging.getLogger(__name__).warning(
        "%s: this system or file system has no locks of open file descriptions. Do not open the "
        "file with another SQLite in this process, nor read it with open(): either drops the "
        "locks that protect it",
        path,
    )


def _is_of(connection: apsw.Connection, path: str) -> bool:
    try:
        return os.path.samefile(connection.filename, path)
    except OSError:  # in memory, or gone
        return False
