"""Recognising the program that wrote a file, for messages about a wrong or unknown one."""

from __future__ import annotations

import codecs
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from memstore.database.foreign import duckdb_file, original_tables, sqlite_file
from memstore.errors import StorageError, TransferError
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
    texts,
)
from memstore.importing.long_json import JsonForm
from memstore.importing.records import MAX_MEMBER, Damaged, Skipped, described

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

LOOKED_AT: Final = 5
"""How many records at the beginning of a file are looked at."""

ARCHIVE: Final = b"PK\3\4"
"""How a ZIP archive begins."""


def likely_source(path: Path) -> str | None:
    """Return the program that seems to have written a file; ``None`` if none is recognised."""
    try:
        if path.is_file():
            if duckdb_file.is_duckdb(path):
                return engram.NAME
            if sqlite_file.is_sqlite(path):
                return _of_tables(path)
        return _of_records(path)
    except (OSError, StorageError, TransferError):
        return None


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


def _of_records(path: Path) -> str | None:
    """Return the program of which the records are that a file or an export begins with."""
    whole = bundle.Bundle(path)
    is_single = path.is_file() and whole.archive is None
    for part in whole.parts:
        if not is_single and not claude.FILES.fullmatch(part.name):
            continue
        with whole.text(part) as file:
            found = [*islice(long_json.records(file, ANY), LOOKED_AT)]
        sources = {
            _of_record(one.value) if isinstance(one, long_json.JsonItem) else None
            for one in found
            if not isinstance(one, Skipped)
        }
        if len(sources) == 1 and (source := sources.pop()) is not None:
            return source
    return None


def _of_record(values: Mapping[str, Any]) -> str | None:
    """Return the program that a record can only be of."""
    for name, is_typical in TYPICAL:
        if is_typical(values):
            return name
    if "id" not in values:
        return None
    if any(isinstance(values.get(name), str) for name in mem0.TEXTS):
        return mem0.NAME
    return engram.NAME if isinstance(values.get("content"), str) else None


TYPICAL: Final[tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...]] = (
    (chatgpt.NAME, chatgpt.is_conversation),
    (claude.NAME, claude.is_of_export),
    (letta.NAME, letta.is_typical),
    (server_memory.NAME, server_memory.is_typical),
    (claude_mem.NAME, claude_mem.is_typical),
    (mcp_memory_service.NAME, mcp_memory_service.is_typical),
    (mem0.NAME, mem0.is_typical),
)
"""Of each program, what only its records are; before those that they resemble."""

ANY: Final = JsonForm(
    "a record of a known program",
    lambda values: _of_record(values) is not None,
    frozenset({"results", "memories", "episodes", "facts", "conversations"}),
)


# -- of no program ---------------------------------------------------------------------------


def description(path: Path) -> str:
    """Return what a file seems to be that no program is known for."""
    if path.is_dir():
        whole = bundle.Bundle(path)
        endings = sorted({PurePosixPath(part.name).suffix or "none" for part in whole.parts})
        return f"a folder of {len(whole.parts)} files, with the endings {_listed(endings)}"
    with open(path, "rb") as raw:
        beginning = raw.read(BEGINNING)
    if not beginning:
        return "empty"
    if sqlite_file.has_header(beginning):
        return _described_tables(path)
    if duckdb_file.has_header(beginning):
        return "a DuckDB database"
    if beginning.startswith(ARCHIVE):
        return f"a ZIP archive with {_listed([part.name for part in bundle.Bundle(path).parts])}"
    if why := texts.why_no_text(beginning):
        return "binary data" if "not text" in why else f"text {why}"
    return _described_text(path, texts.decoded(beginning).lstrip())


def _described_tables(path: Path) -> str:
    try:
        with sqlite_file.opened(path) as transaction:
            named = [*sqlite_file.tables(transaction)]
    except StorageError:
        return "a damaged SQLite database"
    return f"a SQLite database with the tables {_listed(named)}" if named else "an empty database"


def _described_text(path: Path, beginning: str) -> str:
    if not beginning.startswith(("{", "[")):
        return "text, but not JSON"
    with texts.reading(path) as file:
        first = next(long_json.records(file, NONE), None)
    if isinstance(first, long_json.JsonItem):
        kind = "a list of objects" if beginning.startswith("[") else "JSON"
        whole = described(first.value)
        return f"{kind}, the first of them {whole}" if kind != "JSON" else f"JSON, {whole}"
    return "damaged JSON" if isinstance(first, Damaged) else "JSON without objects"


NONE: Final = JsonForm("an object", lambda values: True)
BEGINNING: Final = 2**16
"""Bytes from which a file is described."""
NAMED: Final = 5


def _listed(names: Sequence[str]) -> str:
    more = ", …" if len(names) > NAMED else ""
    return ", ".join(repr(name[:MAX_MEMBER]) for name in names[:NAMED]) + more
