"""The copies of a file that are known by their names; exports cannot be known."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memstore.file.scheduled import name_of_backups, usual_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES: Final = (
    r"\.version-\d+(?:-\d+)?|-wal\.former-\d+|\.before-recover-\w+(?:-\d+)?(?:-wal|-shm)?"
)
"""What follows the name of a file in those of its copies: from before an upgrade, a log of a former
file, and what a backup replaced."""


def known(path: str, folder: Path | None = None) -> list[str]:
    """Return the copies of a file: beside it, among its scheduled backups, and in this folder."""
    if path == ":memory:":
        return []
    file = Path(os.path.realpath(path))
    copy = re.compile(rf"{re.escape(file.name)}(?:{SUFFIXES})(?:\.part)?")
    backup = re.compile(rf"{name_of_backups(path).pattern}(?:\.part)?(?:\.gz)?")
    folders = {usual_folder(path), usual_folder(str(file)), *([folder] if folder else [])}
    found = {*_files(file.parent, copy)}
    for one in folders:
        found |= {*_files(one, backup)}
    return sorted(found)


def _files(folder: Path, name: re.Pattern[str]) -> Iterator[str]:
    if folder.is_dir():
        for file in folder.iterdir():
            if name.fullmatch(file.name) and file.is_file():
                yield str(file)
