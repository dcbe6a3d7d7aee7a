"""Recognising the program that wrote a file, for messages about a wrong or unknown one."""

from __future__ import annotations

import codecs
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from memstore.database.foreign import duckdb_file, original_tables, sqlite_file
from memstore.errors import StorageError
from memstore.importing import (
    bundle,
    chatgpt,
    claude,
    claude_mem,
    engram,
    langgraph,
    letta,
    long_json,
    mcp_memory_service,
    mem0,
    original,
    server_memory,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LOOKED_AT: Final = 5
"""How many records at the beginning of a file are looked at."""

GRAPH: Final = frozenset({"entityType", "observations", "relationType"})


ARCHIVE: Final = b"PK\3\4"
"""How a ZIP archive begins."""


def likely_source(path: Path) -> str | None:
    """Return the program that seems to have written a file; ``None`` if none is recognised."""
    try:
        if duckdb_file.is_duckdb(path):
            return engram.NAME
        if sqlite_file.is_sqlite(path):
            return _of_tables(path)
        if source := _of_conversations(path):
            return source
        records = list(islice(long_json.records(path), LOOKED_AT))
    except (OSError, StorageError):
        return None
    read = [one[1] for one in records if isinstance(one, tuple)]
    sources = {_of_record(values) for values in read}
    return sources.pop() if len(sources) == 1 else None


def may_be_imported(beginning: bytes) -> bool:
    """Return whether a file that begins with these bytes may be one of a known program."""
    text = beginning.removeprefix(codecs.BOM_UTF8).lstrip()
    is_json = not text or text.startswith((b"{", b"["))
    return (
        is_json
        or beginning.startswith(ARCHIVE)
        or sqlite_file.has_header(beginning)
        or duckdb_file.has_header(beginning)
    )


def _of_tables(path: Path) -> str | None:
    with sqlite_file.opened(path) as transaction:
        found = original_tables.look(transaction)
        if found.family is None and found.version and "content" in found.columns:
            return original.NAME
        if sqlite_file.names(transaction, mcp_memory_service.TABLE) >= mcp_memory_service.MARKS:
            return mcp_memory_service.NAME
        if sqlite_file.names(transaction, langgraph.TABLE) >= langgraph.MARKS:
            return langgraph.NAME
        known = sqlite_file.names(transaction, claude_mem.OBSERVATIONS)
    return claude_mem.NAME if "narrative" in known else None


def _of_conversations(path: Path) -> str | None:
    """Return the program whose conversations a list or an archive holds."""
    whole = bundle.Bundle(path)
    for part in whole.parts:
        if whole.archive is not None and not claude.FILES.fullmatch(part.name):
            continue
        with whole.text(part) as file:
            looked_at = list(islice(long_json.items(file), LOOKED_AT))
        keys = {one.key for one in looked_at if isinstance(one, long_json.JsonItem)}
        if keys & {"agents", "core_memory"}:
            return letta.NAME
        first = looked_at[0] if looked_at else None
        value = first.value if isinstance(first, long_json.JsonItem) and not first.key else None
        if isinstance(value, dict):
            if isinstance(value.get("mapping"), dict):
                return chatgpt.NAME
            if isinstance(value.get("chat_messages"), list):
                return claude.NAME
    return None


def _of_record(values: Mapping[str, Any]) -> str | None:
    if values.get("type") in ("entity", "relation") and values.keys() & GRAPH:
        return server_memory.NAME
    if "id" not in values:
        return None
    if any(isinstance(values.get(name), str) for name in mem0.TEXTS):
        return mem0.NAME
    return engram.NAME if isinstance(values.get("content"), str) else None
