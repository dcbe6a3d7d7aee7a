"""The derived files of a database: beside it, named after it, each written once and then mapped.

They may be deleted at any time; answers are the same without them. Each set has an identity in its
names and headers, which the database records together with the position in its changes. So files
of another database, of a backup or of a copy that was changed separately are never used. A set is
never changed, only replaced by a new one, because some systems cannot replace a mapped file.

The names of a set are claimed before anything is written, and writing a file does not create it. So
whoever removes a set knows that it does not come back, even if the process that was writing it goes
on (decision 67).
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

PARTS: Final = ("columns", "words", "features", "codes")

MAGIC: Final = b"memstore"
"""The first bytes of a file (``rust/kernel/src/index/mapped``)."""

HEADER_BYTES: Final = 64
"""Within these is the identity of the set."""


class Files:
    """Names of the derived files for one kind of rows."""

    def __init__(self, database: str, rows: str) -> None:
        self._stem = f"{database}.{rows}-"

    def path(self, identity: str, part: str) -> str:
        return f"{self._stem}{identity}.{part}"

    def claim(self, identity: str, parts: Sequence[str]) -> None:
        """Create files of a set, empty.

        Raises:
            OSError: they cannot be created.
        """
        for part in parts:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            os.close(os.open(self.path(identity, part), flags, 0o600))

    def are_there(self, identity: str, parts: Sequence[str]) -> bool:
        return all(os.path.exists(self.path(identity, part)) for part in parts)

    def size(self, identity: str, parts: Sequence[str]) -> int:
        """Return the bytes of a set; files that were removed meanwhile count as none."""
        size = 0
        for part in parts:
            with suppress(OSError):
                size += os.stat(self.path(identity, part)).st_size
        return size

    def remove(self, identity: str) -> bool:
        """Remove a set; return whether it is gone, because some systems keep mapped files."""
        return _removed([self.path(identity, part) for part in PARTS])

    def others(self, identity: str | None, recorded: str | None = None) -> list[str]:
        """Return the files of all sets but this.

        A file of such a name that nobody has recorded may be somebody else's: its beginning tells.

        Args:
            identity: the set that stays.
            recorded: the set that was recorded last, whatever is in its files by now.
        """
        folder, stem = os.path.split(self._stem)
        ours = rf"{re.escape(stem)}([0-9a-f]{{32}})\.(?:{'|'.join(PARTS)})(?:-\d+\.part)?"
        found = (re.fullmatch(ours, file) for file in os.listdir(folder))
        paths = [(os.path.join(folder, name[0]), name[1]) for name in found if name]
        return [
            path
            for path, owner in paths
            if owner != identity and (owner == recorded or _is_derived(path, owner))
        ]

    def remove_others(self, identity: str | None, recorded: str | None = None) -> bool:
        """Remove all sets but this, see :meth:`others`; return whether they are gone."""
        return _removed(self.others(identity, recorded))


def _is_derived(path: str, identity: str) -> bool:
    """Return whether a file begins as those of a set do, or is empty, or cannot be read.

    One of the two marks is enough: the file may be damaged.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return False
        with open(path, "rb") as file:
            beginning = file.read(HEADER_BYTES)
    except OSError:
        return True
    return not beginning or beginning.startswith(MAGIC) or bytes.fromhex(identity) in beginning


def _removed(paths: Sequence[str]) -> bool:
    for path in paths:
        with suppress(OSError):
            os.unlink(path)
    return not any(map(os.path.lexists, paths))
