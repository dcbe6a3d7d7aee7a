"""mcp-memory-service's memories: its SQLite file, or its export as JSON."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memstore.database.foreign import sqlite_file
from memstore.errors import StorageError
from memstore.importing import long_json, texts, values
from memstore.importing.long_json import JsonForm, raw
from memstore.importing.records import (
    Dump,
    Imported,
    Skipped,
    converted,
    identity,
    key,
    name_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.records import Found, Raw

NAME: Final = "mcp-memory-service"
TABLE: Final = "memories"
MARKS: Final = frozenset({"content", "content_hash"})
"""Columns that tell its table from another program's."""
COLUMNS: Final = frozenset({
    "content", "content_hash", "tags", "memory_type", "metadata", "created_at", "created_at_iso",
    "updated_at", "deleted_at",
})  # fmt: skip
NO_SUBJECT: Final = "memory"
"""The subject of a memory without tags."""
ROWS_A_LOOK: Final = 1000


OF_MEMORIES: Final = frozenset({"content_hash", "memory_type", "tags", "created_at_iso"})
"""Members that tell a memory from another program's record with a content."""


def _is_memory(values: Mapping[str, Any]) -> bool:
    known = bool(values.keys() & OF_MEMORIES) or values.keys() <= COLUMNS
    return isinstance(values.get("content"), str) and known


def is_typical(values: Mapping[str, Any]) -> bool:
    """Return whether a record can only be one of this program."""
    return values.keys() >= MARKS


FORM: Final = JsonForm(f"a memory of {NAME}", _is_memory, frozenset({TABLE, "results"}))
EXPECTED: Final = (
    "its SQLite file is expected, or memories with a content and a content_hash, as a list, JSON "
    'Lines or {"memories": […]}'
)


def found(path: Path, progress: Progress | None = None) -> Iterator[Found]:
    read = _rows if sqlite_file.is_sqlite(path) else _exported
    yield from converted(read(path, progress), partial(_record, Dump.of(NAME, path)))


def _rows(path: Path, progress: Progress | None) -> Iterator[Raw]:
    with sqlite_file.opened(path) as transaction:
        if not sqlite_file.names(transaction, TABLE) >= MARKS:
            raise StorageError(f"{path} holds no memories of {NAME}")
        counted = sqlite_file.tables(transaction)
        total = counted.pop(TABLE)
        for number, row in sqlite_file.rows(transaction, TABLE, COLUMNS):
            if progress is not None and number % ROWS_A_LOOK == 0:
                progress(number, total)
            yield f"memory {number}", row
        for table, count in counted.items():
            if count:
                yield Skipped(f"table {table}", f"{count} rows", count)


def _exported(path: Path, progress: Progress | None) -> Iterator[Raw]:
    with texts.reading(path, progress) as file:
        yield from raw(long_json.records(file, FORM))


def _record(dump: Dump, number: int, place: str, row: Mapping[str, Any]) -> Iterator[Imported]:
    content = row.get("content")
    id_ = name_of(row.get("content_hash") or identity(NAME, content), "its content_hash")
    tags = values.tags(row.get("tags"))
    metadata = values.mapping(row.get("metadata"), "metadata")
    columns = {
        "content": content,
        "subject": tags[0] if tags else NO_SUBJECT,
        "category": values.name(row.get("memory_type")),
        "metadata": {**metadata, **({"tags": tags} if tags else {})},
        "created_at": values.moment(row.get("created_at"), "created_at")
        or values.text(row.get("created_at_iso")),
        "deleted_at": values.moment(row.get("deleted_at"), "deleted_at"),
        "idempotency_key": key(NAME, id_),
    }
    fact = dump.fact(number, identity(NAME, id_, content), columns, {"id": id_})
    embedded = ("embeddings",) if row.get("embedding") else ()
    yield Imported(place, fact, embedded)
