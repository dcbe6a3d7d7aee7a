"""Files opened without the library, as by another program. Only this module imports ``sqlite3``."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from sqlite3 import IntegrityError as IntegrityError
from typing import Any


@contextmanager
def raw(path: str | os.PathLike[str], **options: Any) -> Iterator[sqlite3.Connection]:
    """Open a file, and close it at the end; what was not committed is lost."""
    with closing(sqlite3.connect(path, **options)) as connection:
        yield connection


def sql(path: str | os.PathLike[str], statement: str, *values: Any) -> list[Any]:
    """Run one statement on a file, and return its rows."""
    with raw(path) as file:
        found = file.execute(statement, values).fetchall()
        file.commit()
        return found
