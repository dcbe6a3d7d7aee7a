"""Engram's episodes, as JSON Lines, as its HTTP server answers, or in its DuckDB file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from memstore.database.foreign import duckdb_file
from memstore.domain import metadata
from memstore.domain.clock import EPOCH
from memstore.importing import json_stream
from memstore.importing.records import (
    Damaged,
    Record,
    Skipped,
    identity,
    key,
    marked,
    name_of,
    new_episode,
)
from memstore.settings import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from memstore.importing.records import Found

NAME: Final = "engram"

OF_ITS_ANSWERS: Final = frozenset({"similarity", "relevance", "score"})
"""What a search adds to an episode, and is no part of it."""
READ: Final = frozenset({
    "id", "content", "name", "source", "source_model", "source_description", "group_id", "tags",
    "embedding", "embedding_model", "created_at", "valid_at", "expired_at", "metadata", "embedded",
})  # fmt: skip


def found(path: Path) -> Iterator[Found]:
    """Yield what a file of Engram's holds.

    Raises:
        StorageError: a DuckDB file cannot be read.
        OSError: the file cannot be read.
    """
    fallback_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    if duckdb_file.is_duckdb(path):
        yield from _of_duckdb(path, fallback_at)
        return
    for number, record in enumerate(json_stream.records(path), 1):
        if isinstance(record, Damaged | Skipped):
            yield record
        else:
            yield _record(number, *record, fallback_at)


def _of_duckdb(path: Path, fallback_at: datetime) -> Iterator[Found]:
    with duckdb_file.opened(path) as file:
        for number, row in enumerate(file.rows(), 1):
            for name in duckdb_file.MOMENTS:
                row[name] = _from_microseconds(row.get(name))
            yield _record(number, f"row {number}", row, fallback_at)
        for table, count in file.others().items():
            if count:
                yield Skipped(f"table {table}", f"{count} rows", count)


def _from_microseconds(given: int | None) -> datetime | str | None:
    try:
        return None if given is None else EPOCH + timedelta(microseconds=given)
    except OverflowError:
        return f"{given} microseconds after 1970"  # refused with the form that is read


def _record(
    number: int, place: str, row: Mapping[str, Any], fallback_at: datetime
) -> Record | Damaged:
    try:
        id_ = name_of(row.get("id"), "its id")
        values = {
            **row,
            "namespace": row.get("group_id") or DEFAULT_NAMESPACE,
            "idempotency_key": key(NAME, id_),
        }
        origin = {"group_id": row.get("group_id")}
        episode = new_episode(
            number,
            identity(NAME, id_, row.get("content")),
            values,
            metadata=marked(_metadata(row.get("metadata")), NAME, id_, origin),
            fallback_at=fallback_at,
        )
    except (ValueError, TypeError) as error:
        return Damaged(place, str(error))
    return Record(place, episode, tuple(_left_out(row)))


def _metadata(given: object) -> Mapping[str, Any] | None:
    """Read metadata, which Engram keeps as JSON text."""
    if given is None or isinstance(given, dict):
        return given
    if not isinstance(given, str):
        raise TypeError(f"its metadata must be an object, not {type(given).__name__}")
    return metadata.decode(given)


def _left_out(row: Mapping[str, Any]) -> Iterator[str]:
    if row.get("embedding") or row.get("embedded"):
        yield "embeddings"
    for name in row.keys() - READ - OF_ITS_ANSWERS:
        if row[name] not in (None, "", [], {}):
            yield f"field {name}"
