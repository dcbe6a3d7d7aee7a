"""Where the file system of a folder is mounted: a stick that is away is no folder that was emptied.

The folder at which it was mounted may stay, empty. What tells the two apart is the path of the
mount: numbers of devices change with each mount of a share, and with each stick.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "mount.json"
"""In a file's folder of this machine: the folder of its place, and where that was mounted."""


def mount_of(folder: str) -> str:
    """Return the folder at which the file system of a folder is mounted."""
    at = os.path.realpath(folder)
    while not os.path.ismount(at) and os.path.dirname(at) != at:
        at = os.path.dirname(at)
    return at


def remembered(state: Path, folder: str) -> str | None:
    """Return where the file system of a folder was mounted; ``None`` if that is not known."""
    try:
        named, mount = json.loads((state / FILE).read_bytes())
    except (OSError, ValueError, TypeError):
        return None
    return str(mount) if named == folder else None


def remember(state: Path, folder: str) -> None:
    """Remember where the file system of a folder is mounted."""
    mount = mount_of(folder)
    if mount == remembered(state, folder):
        return
    with suppress(OSError):  # a full or read-only disk: then it is not known
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = state / f".{FILE}.new"
        new.write_text(json.dumps([folder, mount]), encoding="utf-8")
        new.replace(state / FILE)


def forget(state: Path) -> None:
    """Forget where the folder of a place was mounted."""
    with suppress(FileNotFoundError):
        os.unlink(state / FILE)
