"""The derived files of a database: beside it, named after it, each written once and then mapped.

They are never needed for a right answer, and may be deleted at any time. Each set has an identity
in its names and headers, which the database records together with how far in its changes they go;
so files of another database, of a backup or of a copy that went its own way are never used. A set
is not changed but followed by a new one, for what is mapped cannot be replaced on every system.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memstore.domain import clock

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS: Final = ("columns", "words", "texts", "codes")

STRAY_SECONDS: Final = 3600.0
"""A file that the database does not name and that is older was left by a process that was killed.
A younger one may be of a set that is being written."""


class Files:
    """Names of the derived files for one kind of rows."""

    def __init__(self, database: str, rows: str) -> None:
        self._stem = f"{database}.{rows}-"

    def path(self, identity: str, part: str) -> str:
        return f"{self._stem}{identity}.{part}"

    def remove(self, identity: str) -> bool:
        """Remove a set, and return whether it is gone: some systems keep what is mapped."""
        paths = [self.path(identity, part) for part in PARTS]
        for path in paths:
            with suppress(OSError):
                os.unlink(path)
        return not any(map(os.path.exists, paths))

    def remove_others(self, identity: str | None) -> None:
        """Remove what no process can want any more: sets that are old and not this one."""
        now = clock.utc_now().timestamp()
        for file, other in self._found():
            with suppress(OSError):
                if other != identity and abs(now - os.stat(file).st_mtime) > STRAY_SECONDS:
                    os.unlink(file)

    def _found(self) -> Iterator[tuple[str, str]]:
        folder, stem = os.path.split(self._stem)
        ours = rf"{re.escape(stem)}([0-9a-f]{{32}})\.(?:{'|'.join(PARTS)})(?:-\d+\.part)?"
        with suppress(OSError):
            for file in os.listdir(folder):
                if name := re.fullmatch(ours, file):
                    yield os.path.join(folder, file), name[1]
