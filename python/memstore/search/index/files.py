"""The derived files of a database: beside it, named after it, each written once and then mapped.

They may be deleted at any time; answers are the same without them. Each set has an identity in its
names and headers, which the database records together with the position in its changes. So files
of another database, of a backup or of a copy that was changed separately are never used. A set is
never changed, only replaced by a new one, because some systems cannot replace a mapped file.
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
"""An older file that the database does not name was left by a process that was killed. A younger
one may belong to a set that is being written."""


class Files:
    """Names of the derived files for one kind of rows."""

    def __init__(self, database: str, rows: str) -> None:
        self._stem = f"{database}.{rows}-"

    def path(self, identity: str, part: str) -> str:
        return f"{self._stem}{identity}.{part}"

    def remove(self, identity: str) -> bool:
        """Remove a set; return whether it is gone, because some systems keep mapped files."""
        paths = [self.path(identity, part) for part in PARTS]
        for path in paths:
            with suppress(OSError):
                os.unlink(path)
        return not any(map(os.path.exists, paths))

    def remove_others(self, identity: str | None) -> None:
        """Remove the sets that no process uses any more: old ones other than this."""
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
