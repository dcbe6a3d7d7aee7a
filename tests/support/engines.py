"""The engine of a memory that a test opened by its path.

With ``--engine postgres``, a path stands for a database.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from memstore.database.engine import Engine
from memstore.database.sqlite.engine import SqliteEngine

SERVED: dict[str, Callable[[], Engine]] = {}
"""What opens the database that stands for a path."""


COPYING: list[Callable[[str, str], None]] = []
"""What copies the database that stands for a path; the last one counts."""


def copied(source: str | os.PathLike[str], target: Path) -> Path:
    """Copy a memory that is closed to a path or into a folder, and return its path.

    With ``--engine postgres``, the path may be the URL of an empty database.
    """
    if not COPYING:
        return Path(shutil.copy(source, target))
    if os.path.isdir(target):
        target = target / Path(source).name
    COPYING[-1](os.fspath(source), os.fspath(target))
    return target


def engine_of(path: str | os.PathLike[str]) -> Engine:
    """Open an engine of its own, which the caller closes."""
    opened = SERVED.get(os.fspath(path))
    return SqliteEngine(path) if opened is None else opened()
