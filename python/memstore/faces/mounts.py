"""Remembers which disk each memory file is on, so that none is created while it is not mounted.

A program that starts may create a file that is missing. If its disk is not mounted, that would be
in the empty folder of the mount, and hidden once the disk is there. Files on the root's disk are
not recorded.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Final

from memstore import settings
from memstore.errors import FileMissing, Remedy
from memstore.file.paths import has_own_disk, mount_of

MAX_PATHS: Final = 100
"""Paths that are remembered."""


def check(path: str) -> None:
    """Check that the disk of a missing file is mounted, if it was known to be on one.

    Raises:
        FileMissing: it is not.
    """
    place = _known().get(os.path.abspath(path))
    if place is not None and mount_of(path) != place:
        raise FileMissing(
            f"{path!r} is missing: it was on the disk at {place!r}, which is not mounted; nothing "
            "was created",
            remedy=Remedy.MOUNT_DISK,
        )


def note(path: str) -> None:
    """Remember the disk of an open file, or forget it if that is the root's."""
    file = os.path.abspath(path)
    place = mount_of(path) if has_own_disk(path) else None
    with suppress(OSError):  # a full or read-only disk: then it is not known
        known = _known()
        if known.get(file) != place:
            known.pop(file, None)
            _write(dict([*known.items(), *([(file, place)] if place else [])][-MAX_PATHS:]))


def _known() -> dict[str, str]:
    try:
        with open(settings.mounts_file(), "rb") as file:
            return {str(path): str(place) for path, place in json.load(file).items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _write(known: dict[str, str]) -> None:
    file = settings.mounts_file()
    os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
    part = f"{file}.{os.getpid()}"
    with open(part, "w", encoding="utf-8", opener=_private) as opened:
        json.dump(known, opened)
    os.replace(part, file)


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)
