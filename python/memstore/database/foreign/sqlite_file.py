"""SQLite files of other programs, opened without changing a byte of them."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from memstore.database.sqlite.copying import reading
from memstore.database.sqlite.engine import WAIT_SECONDS
from memstore.database.sqlite.transaction import HEADER
from memstore.errors import Remedy, StorageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from memstore.database.engine import Transaction


def rows(
    transaction: Transaction, table: str, wanted: Collection[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the wanted columns of each row; a column that is missing is left out.

    Text that is not UTF-8 has lone surrogates, for which a record is refused.
    """
    here = columns(transaction, table)
    found = [name for name in here if name in wanted]
    selected = ", ".join(
        f"typeof({quoted}), CASE typeof({quoted}) WHEN 'text' THEN CAST({quoted} AS BLOB)"
        f" ELSE {quoted} END"
        for quoted in map(_quoted, found)
    )
    query = f"SELECT {selected} FROM {_quoted(table)}"
    for number, row in enumerate(transaction.rows(query) if found else (), 1):
        values = zip(found, row[::2], row[1::2], strict=True)
        yield number, {name: _value(kind, value) for name, kind, value in values}


def names(transaction: Transaction, table: str) -> frozenset[str]:
    """Return the names of a table's columns; empty if it does not exist."""
    return frozenset(columns(transaction, table))


def _value(kind: object, value: Any) -> Any:
    if kind == "text" and isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# The header of a SQLite file: https://www.sqlite.org/fileformat.html
WRITE_VERSION: Final = 18
LOGGED: Final = 2
"""The value of the byte at ``WRITE_VERSION`` in a file with a write-ahead log."""

REMEDIES: Final = {None: Remedy.RELEASE_FILE, Remedy.RESTORE_BACKUP: Remedy.NAME_FILE}
"""Remedies for a file of another program, in place of those for our own."""


@contextmanager
def opened(file: Path) -> Iterator[Transaction]:
    """Open a read transaction of a file, including what is only in its write-ahead log.

    A file in WAL mode that no process has open is copied first, because reading it in place would
    create a log beside it.
    """
    with ExitStack() as held:
        try:
            name = _name(file, held)
            transaction = held.enter_context(reading(name, WAIT_SECONDS, str(file)))
        except OSError as error:
            raise StorageError(f"cannot read {str(file)!r}: {error.strerror or error}") from error
        except StorageError as error:
            remedy = REMEDIES.get(error.remedy, error.remedy)
            raise StorageError(f"cannot read {str(file)!r}: {error}", remedy=remedy) from error
        yield transaction


def is_sqlite(file: Path) -> bool:
    with open(file, "rb") as beginning:
        return has_header(beginning.read(len(HEADER)))


def has_header(beginning: bytes) -> bool:
    return beginning.startswith(HEADER)


def tables(transaction: Transaction) -> dict[str, int]:
    """Return the number of rows of each table, without virtual tables and their shadow tables."""
    found = [
        (str(name), str(sql or ""))
        for name, sql in transaction.rows(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        )
    ]
    virtual = [name for name, sql in found if sql.lstrip().upper().startswith("CREATE VIRTUAL")]
    plain = [
        name
        for name, _ in found
        if name not in virtual and not name.startswith(("sqlite_", *(f"{v}_" for v in virtual)))
    ]
    quoted = {name: name.replace('"', '""') for name in plain}
    return {n: transaction.scalar(f'SELECT count(*) FROM "{q}"') for n, q in quoted.items()}


def columns(transaction: Transaction, table: str) -> list[str]:
    """Return the names of a table's columns; empty if the table does not exist."""
    rows = transaction.rows("SELECT name FROM pragma_table_info(:table)", {"table": table})
    return [str(row[0]) for row in rows]


def _name(file: Path, stack: ExitStack) -> str:
    """Return a URI to read the file, or a copy of it, without changing the file."""
    log = Path(f"{file}-wal")
    with open(file, "rb") as beginning:
        header = beginning.read(WRITE_VERSION + 1)
    if not header.startswith(HEADER):
        raise StorageError("it is not a SQLite database", remedy=Remedy.NAME_FILE)
    logged = log.exists() and log.stat().st_size > 0
    in_place = f"{file.absolute().as_uri()}?mode=ro"
    if not logged and header[-1] != LOGGED:
        return in_place  # not in WAL mode: reading creates no files
    if logged and (Path(f"{file}-shm").exists() or os.access(file.absolute().parent, os.W_OK)):
        return in_place  # reading needs the log's index (-shm), which exists or can be created
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="memstore-")))
    before = file.stat()
    copy = Path(shutil.copyfile(file, folder / "copy.db"))
    if logged:
        shutil.copyfile(log, f"{copy}-wal")
    after = file.stat()
    same = (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
    if not same or (not logged and log.exists() and log.stat().st_size > 0):
        raise StorageError("it was changed while it was being read", remedy=Remedy.WAIT)
    return copy.as_uri()
