"""Folders beside the user's memories that nobody else may read."""

from __future__ import annotations

import errno
import os
from contextlib import suppress


def make_folder(folder: str) -> None:
    """Make a folder, and check that no other user can read what is in it.

    Raises:
        OSError: it cannot be made, or it belongs to another user.
    """
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(folder, mode=0o700)
    if hasattr(os, "getuid"):
        status = os.lstat(folder)
        if status.st_uid != os.getuid():
            raise OSError(errno.EPERM, "it belongs to another user")
        if status.st_mode & 0o077:
            os.chmod(folder, 0o700)
