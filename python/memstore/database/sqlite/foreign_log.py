"""A log that stands beside another file than the one it belongs to.

If a file is put in the place of an open one, the open one's log stays where it is, and SQLite would
copy it into the new file: nothing in a log says whose it is. So the log is moved out of the way, by
whoever comes first: a program that opens the new file, or one that still has the former one open.

Whose the log is can be told by the locks. A program that uses a log has a lock on its index, and,
from before that until after it, one on the file.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from typing import Final

from memstore.database.sqlite.locks import is_used

LOOKS: Final = 3
PAUSE_SECONDS: Final = 0.01
"""A program that is closing the file must not be taken for one that has another file open."""

ASIDE: Final = "former"
"""The log of ``memory.db`` becomes ``memory.db-wal.former-N``."""


def move_aside(path: str) -> None:
    """Move the log beside a file out of the way if it is used with another file.

    Call it before the file is opened.
    """
    file = os.path.realpath(path)
    index = f"{file}-shm"
    for look in range(LOOKS):
        # Asked again, because a program may have closed all between the first two questions.
        if not (is_used(index) and is_used(file) is False and is_used(index)):
            return
        if look + 1 < LOOKS:
            time.sleep(PAUSE_SECONDS)
    rename(path)


def rename(path: str) -> None:
    """Rename the log beside a file, and remove its index."""
    file = os.path.realpath(path)
    number = 1
    while os.path.lexists(aside := f"{file}-wal.{ASIDE}-{number}"):
        number += 1
    with suppress(FileNotFoundError):  # another program was faster
        os.rename(f"{file}-wal", aside)
        os.unlink(f"{file}-shm")


def remove_finished(path: str) -> None:
    """Remove former logs that are empty, because they were copied into their files."""
    folder, name = os.path.split(os.path.realpath(path))
    former = re.compile(rf"{re.escape(name)}-wal\.{ASIDE}-[0-9]+")
    with os.scandir(folder) as files:
        for one in files:
            is_log = former.fullmatch(one.name) and one.is_file(follow_symlinks=False)
            if is_log and not one.stat(follow_symlinks=False).st_size:
                os.unlink(one)
