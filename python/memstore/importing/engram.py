"""Engram's episodes: from JSON Lines, a response of its HTTP server, or its DuckDB file."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memstore.database.foreign import duckdb_file
from memstore.domain import metadata
from memstore.domain.clock import EPOCH
from memstore.importing import long_json, texts
from memstore.importing.long_json import JsonForm, raw
from memstore.importing.records import Dump, Imported, Skipped, converted, identity, key, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.records import Found, Raw

NAME: Final = "engram"
ROWS_A_LOOK: Final = 1000

OF_ITS_ANSWERS: Final = frozenset({"similarity", "relevance", "score"})
"""Fields that a search adds to an episode."""
READ: Final = frozenset({
    "id", "content", "name", "source", "source_model", "source_description", "group_id", "tags",
    "embedding", "embedding_model", "created_at", "valid_at", "expired_at", "metadata", "embedded",
})  # fmt: skip


def _is_episode(values: Mapping[str, Any]) -> bool:
    return "content" in values or "id" in values


FORM: Final = JsonForm(
    "an episode of Engram",
    _is_episode,
    frozenset({"episodes", "results", "memories", "facts"}),
)
EXPECTED: Final = (
    "its DuckDB file is expected, or episodes with an id and a content as a list, JSON Lines or "
    '{"episodes": […]}'
)


def found(path: Path, progress: Progress | None = None) -> Iterator[Found]:
    read = _rows if duckdb_file.is_duckdb(path) else _exported
    yield from converted(read(path, progress), partial(_record, Dump.of(NAME, path)))


def _exported(path: Path, progress: Progress | None) -> Iterator[Raw]:
    with texts.reading(path, progress) as file:
        yield from raw(long_json.records(file, FORM))


def _rows(path: Path, progress: Progress | None) -> Iterator[Raw]:
    with duckdb_file.opened(path) as file:
        total = file.count()
        for number, row in enumerate(file.rows(), 1):
            if progress is not None and number % ROWS_A_LOOK == 1:
                progress(number, total)
            for name in duckdb_file.MOMENTS:
                row[name] = _from_microseconds(row.get(name))
            yield f"row {number}", row
        for table, count in file.others().items():
            if count:
                yield Skipped(f"table {table}", f"{count} rows", count)


def _from_microseconds(given: int | None) -> datetime | str | None:
    try:
        return None if given is None else EPOCH + timedelta(microseconds=given)
    except OverflowError:
        return f"{given} microseconds after 1970"  # the error for it names the accepted format


def _record(source: Dump, number: int, place: str, row: Mapping[str, Any]) -> Iterator[Imported]:
    id_ = name_of(row.get("id"), "its id")
    group, given = row.get("group_id"), row.get("metadata")
    values = {
        **row,
        "namespace": group,
        "metadata": metadata.decode(given) if isinstance(given, str) else given,
        "idempotency_key": key(NAME, id_),
    }
    uuid = identity(NAME, id_, row.get("content"))
    episode = source.episode(number, uuid, values, {"id": id_, "group_id": group})
    yield Imported(place, episode, tuple(_left_out(row)))


def _left_out(row: Mapping[str, Any]) -> Iterator[str]:
    if row.get("embedding") or row.get("embedded"):
        yield "embeddings"
    for name in row.keys() - READ - OF_ITS_ANSWERS:
        if row[name] not in (None, "", [], {}):
            yield f"field {name}"
