"""Files opened without the library, as by another program. Only this module imports ``sqlite3``.

With ``--engine postgres``, a path stands for a database, which is opened in their place.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from sqlite3 import IntegrityError as IntegrityError
from typing import Any

SERVED: dict[str, Callable[[], AbstractContextManager[Any]]] = {}
"""What opens the database that stands for a path."""


@contextmanager
def raw(path: str | os.PathLike[str], **options: Any) -> Iterator[sqlite3.Connection]:
    """Open a file, and close it at the end; what was not committed is lost."""
    if (opened := SERVED.get(os.fspath(path))) is not None:
        with opened() as database:
            yield database
        return
    with closing(sqlite3.connect(path, **options)) as connection:
        yield connection


def columns(file: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns of a table of memories, without those that only a server has."""
    return [row[1] for row in file.execute(f"PRAGMA table_info({table})")]


@contextmanager
def unguarded(path: str | os.PathLike[str], *triggers: str) -> Iterator[sqlite3.Connection]:
    """Open a file without these triggers (by default, all) and without foreign keys.

    So somebody would who rewrites history. What was changed is committed.
    """
    with raw(path) as file:
        file.execute("PRAGMA foreign_keys = OFF")
        found = [
            (name, text)
            for name, text in file.execute(
                "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
            ).fetchall()
            if name in triggers or not triggers
        ]
        for name, _ in found:
            file.execute(f"DROP TRIGGER {name}")
        yield file
        for _, text in found:
            file.execute(text)
        file.commit()


def stored(path: str | os.PathLike[str]) -> bytes:
    """Return what is at a path: the bytes of a file and its log, or the rows of a database."""
    if os.fspath(path) in SERVED:
        with raw(path) as database:
            return "\n".join(database.iterdump()).encode()
    file = Path(path)
    return file.read_bytes() + file.with_name(f"{file.name}-wal").read_bytes()


def sql(path: str | os.PathLike[str], statement: str, *values: Any) -> list[Any]:
    """Run one statement on a file, and return its rows."""
    with raw(path) as file:
        found = file.execute(statement, values).fetchall()
        file.commit()
        return found
