"""The SQLite store of LangGraph: items by namespace and key, also those that LangMem keeps.

An item gets the external key by which :mod:`memstore.adapters.langgraph` finds it.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memstore.database.foreign import sqlite_file
from memstore.domain.arguments import stored_text
from memstore.errors import StorageError
from memstore.importing import langgraph_keys, values
from memstore.importing.records import Dump, Imported, Skipped, converted, identity, key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.records import Found, Raw

NAME: Final = "langgraph"
TABLE: Final = "store"
MARKS: Final = frozenset({"prefix", "key", "value"})
"""Columns that tell its table from another program's."""
COLUMNS: Final = MARKS | {"created_at", "updated_at", "expires_at"}
TEXT: Final = "content"
ROWS_A_LOOK: Final = 1000
EXPECTED: Final = "the SQLite file of its store is expected"


def found(path: Path, progress: Progress | None = None) -> Iterator[Found]:
    yield from converted(_rows(path, progress), partial(_record, Dump.of(NAME, path)))


def _rows(path: Path, progress: Progress | None) -> Iterator[Raw]:
    with sqlite_file.opened(path) as transaction:
        if not sqlite_file.names(transaction, TABLE) >= MARKS:
            raise StorageError(f"{path} holds no store of LangGraph")
        counted = sqlite_file.tables(transaction)
        total = counted.pop(TABLE)
        for number, row in sqlite_file.rows(transaction, TABLE, COLUMNS):
            if progress is not None and number % ROWS_A_LOOK == 0:
                progress(number, total)
            yield f"item {number}", row
        for table, count in counted.items():
            if count and not table.endswith("_migrations"):
                kind = "embeddings" if table == "store_vectors" else f"table {table}"
                yield Skipped(kind, f"{count} rows of {table}", count)


def _record(dump: Dump, number: int, place: str, row: Mapping[str, Any]) -> Iterator[Imported]:
    prefix, name = _label(row.get("prefix"), "its prefix"), _label(row.get("key"), "its key")
    given = row.get("value")
    if isinstance(given, bytes):
        given = given.decode("utf-8", "surrogateescape")
    value = values.mapping(given, "value")
    content = _text(value)
    known = identity(NAME, prefix, name)
    metadata: dict[str, Any] = {langgraph_keys.VALUE: value}
    external_key = langgraph_keys.of_row(prefix, name)
    if external_key is not None and langgraph_keys.read(external_key).key is None:
        metadata[langgraph_keys.KEY] = name
    columns = {
        "namespace": prefix if prefix.strip() else None,
        "content": content or json.dumps(value, ensure_ascii=False),
        "subject": prefix.replace(".", "/").replace("\0", " ").strip() or NAME,
        "category": values.name(value.get("kind")),
        "metadata": metadata,
        "created_at": values.text(row.get("created_at")),
        "expired_at": values.text(row.get("expires_at")),
        "idempotency_key": key(NAME, known),
        "external_key": external_key,
    }
    origin = {"id": known, "key": name, "namespace": prefix, "updated_at": row.get("updated_at")}
    uuid = identity(NAME, known, columns["content"])
    yield Imported(place, dump.fact(number, uuid, columns, origin))


def _label(given: object, what: str) -> str:
    """Return a key or a namespace as LangGraph takes them: any text, also an empty one."""
    return stored_text(str(given) if isinstance(given, int) else given, what)


def _text(value: Mapping[str, Any]) -> str | None:
    """Return the text of an item: its content, which LangMem puts into another object."""
    content = value.get(TEXT)
    if isinstance(content, dict):
        content = content.get(TEXT)
    return values.text(content)
