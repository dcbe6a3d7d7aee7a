"""Engram's DuckDB file. Only this module imports the driver, an optional dependency."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from memstore.errors import Remedy, StorageError
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb
else:
    duckdb = lazy_import("duckdb")

MAGIC: Final = b"DUCK"
MAGIC_AT: Final = 8
BATCH: Final = 500

TABLE: Final = "episodes"
TEXTS: Final = (
    "id", "content", "name", "source", "source_model", "source_description", "group_id",
    "embedding_model",
)  # fmt: skip
MOMENTS: Final = ("created_at", "valid_at", "expired_at")


def is_duckdb(file: Path) -> bool:
    with open(file, "rb") as beginning:
        return has_header(beginning.read(MAGIC_AT + len(MAGIC)))


def has_header(beginning: bytes) -> bool:
    return beginning[MAGIC_AT:].startswith(MAGIC)


class EpisodeTable:
    """The episodes of one file, open for reading."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        rows = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'main'"
        ).fetchall()
        self._columns: dict[str, set[str]] = {}
        for table, column in rows:
            self._columns.setdefault(table, set()).add(column)

    def count(self) -> int:
        return int(self._connection.execute(f"SELECT count(*) FROM {TABLE}").fetchone()[0])

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the episodes, oldest first; times are microseconds since 1970 in UTC."""
        columns = self._columns.get(TABLE, set())
        names = [name for name in (*TEXTS, "tags") if name in columns]
        moments = [name for name in MOMENTS if name in columns]
        selected = [
            *names,
            *(f"epoch_us({name}) AS {name}" for name in moments),
            "embedding IS NOT NULL" if "embedding" in columns else "false",
            "CAST(metadata AS VARCHAR)" if "metadata" in columns else "NULL",
        ]
        keys = (*names, *moments, "embedded", "metadata")
        order = ", ".join([*(f"{TABLE}.{name}" for name in moments[:1]), "id"])
        cursor = self._connection.cursor()
        cursor.execute(f"SELECT {', '.join(selected)} FROM {TABLE} ORDER BY {order}")
        while rows := cursor.fetchmany(BATCH):
            for row in rows:
                yield dict(zip(keys, row, strict=True))

    def others(self) -> dict[str, int]:
        """Return the number of rows of every other table."""
        counts = {}
        for table in sorted(self._columns.keys() - {TABLE}):
            quoted = table.replace('"', '""')
            counts[table] = int(
                self._connection.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()[0]
            )
        return counts


@contextmanager
def opened(file: Path) -> Iterator[EpisodeTable]:
    """Open a file read-only."""
    try:
        connect, failure = duckdb.connect, duckdb.Error
    except ImportError:
        raise StorageError(
            f"{str(file)!r} is a DuckDB file, and reading it needs the package duckdb",
            remedy=Remedy.INSTALL_DUCKDB,
        ) from None
    # Do not download or load extensions: reading episodes needs none.
    no_extensions: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    try:
        connection = connect(str(file), read_only=True, config=no_extensions)
        try:
            episodes = EpisodeTable(connection)
            if "id" not in episodes._columns.get(TABLE, ()):
                raise StorageError(
                    f"{str(file)!r} has no table episodes, so Engram did not write it",
                    remedy=Remedy.NAME_FILE,
                )
            yield episodes
        finally:
            connection.close()
    except failure as error:
        raise StorageError(
            f"cannot read {str(file)!r}: {error}", remedy=Remedy.RELEASE_FILE
        ) from error
