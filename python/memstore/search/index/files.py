"""The derived files of a database: beside it, named after it, each written once and then mapped.

They are never needed for a right answer, and may be deleted at any time. Each set has an identity
in its names and headers, which the database records together with how far in its changes they go;
so files of another database, of a backup or of a copy that went its own way are never used. A set
is not changed but followed by a new one, for what is mapped cannot be replaced on every system.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
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
        self._folder = Path(database).parent
        self._stem = f"{Path(database).name}.{rows}-"
        self._name = re.compile(
            rf"{re.escape(self._stem)}([0-9a-f]{{32}})\.(?:{'|'.join(PARTS)})(?:-\d+\.part)?"
        )

    def path(self, identity: str, part: str) -> Path:
        return self._folder / f"{self._stem}{identity}.{part}"

    def remove(self, identity: str) -> bool:
        """Remove a set, and return whether it is gone: some systems keep what is mapped."""
        paths = [self.path(identity, part) for part in PARTS]
        for path in paths:
            with suppress(OSError):
                path.unlink()
        return not any(path.exists() for path in paths)

    def remove_others(self, identity: str | None) -> None:
        """Remove what no process can want any more: sets that are old and not this one."""
        now = clock.utc_now().timestamp()
        for file, other in self._found():
            with suppress(OSError):
                if other != identity and abs(now - file.stat().st_mtime) > STRAY_SECONDS:
                    file.unlink()

    def _found(self) -> Iterator[tuple[Path, str]]:
        with suppress(OSError):
            for file in list(self._folder.iterdir()):
                if name := self._name.fullmatch(file.name):
                    yield file, name[1]
