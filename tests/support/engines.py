"""The engine of a memory that a test opened by its path.

With ``--engine postgres``, a path stands for a database.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from memstore.database.engine import Engine
from memstore.database.sqlite.engine import SqliteEngine

SERVED: dict[str, Callable[[], Engine]] = {}
"""What opens the database that stands for a path."""


def engine_of(path: str | os.PathLike[str]) -> Engine:
    """Open an engine of its own, which the caller closes."""
    opened = SERVED.get(os.fspath(path))
    return SqliteEngine(path) if opened is None else opened()
