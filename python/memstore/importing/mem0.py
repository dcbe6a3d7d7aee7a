"""mem0's memories, from ``get_all`` or an export."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memstore.database.foreign import sqlite_file
from memstore.domain import moments
from memstore.domain.records import SCOPE_FIELDS
from memstore.errors import StorageError
from memstore.importing import long_json, texts
from memstore.importing.long_json import JsonForm, raw
from memstore.importing.records import (
    Dump,
    Imported,
    converted,
    identity,
    key,
    moment,
    name_of,
)
from memstore.importing.revisions import UPDATED
from memstore.importing.values import any_moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.records import Found

NAME: Final = "mem0"

TEXTS: Final = ("memory", "data", "text")
"""The key of a memory's text, which depends on the version of mem0."""
OF_OPENMEMORY: Final = "content"
"""The key of a memory's text in OpenMemory, which is part of mem0."""
MARKS_OF_OPENMEMORY: Final = frozenset({"app_id", "app_name", "state", "metadata_"})
PAYLOAD: Final = "payload"
"""Where a point of the vector store has the memory."""
COLUMNS: Final = frozenset({
    "id", *TEXTS, "metadata", "created_at", "updated_at", "expiration_date", *SCOPE_FIELDS,
})  # fmt: skip
OF_ITS_ANSWERS: Final = frozenset({"score", "score_details", "event"})
"""Fields that a search adds to a memory."""
TIMES: Final = ("created_at", "updated_at")
VECTORS: Final = frozenset({"embedding", "vector"})
NO_OWNER: Final = "user"
"""The subject of a memory without an owner."""


def _is_memory(values: Mapping[str, Any]) -> bool:
    payload = values.get(PAYLOAD)
    if isinstance(payload, dict):
        return _is_memory(payload)
    if is_typical(values):
        return True
    named = [name for name in TEXTS if name in values]
    return any(isinstance(values[name], str) for name in named) or ("id" in values and bool(named))


def is_typical(values: Mapping[str, Any]) -> bool:
    """Return whether a record can only be one of this program."""
    is_openmemory = bool(values.keys() & MARKS_OF_OPENMEMORY) and OF_OPENMEMORY in values
    return isinstance(values.get(PAYLOAD), dict) or ("id" in values and is_openmemory)


FORM: Final = JsonForm(
    "a memory of mem0", _is_memory, frozenset({"results", "memories", "items", "facts"})
)
EXPECTED: Final = (
    "what get_all or an export returns is expected: memories with an id and a text (memory), as a "
    'list, JSON Lines or {"results": […]}'
)


def found(path: Path, progress: Progress | None = None) -> Iterator[Found]:
    if sqlite_file.is_sqlite(path):
        raise StorageError(
            f"{path} is a SQLite database; mem0's history.db does not contain the owners of "
            "memories, so only the result of get_all can be imported"
        )
    with texts.reading(path, progress) as file:
        records = raw(long_json.records(file, FORM))
        yield from converted(records, partial(_record, Dump.of(NAME, path)))


def _record(source: Dump, number: int, place: str, given: Mapping[str, Any]) -> Iterator[Imported]:
    values = _of_other_layouts(given)
    id_ = name_of(values.get("id"), "its id")
    content = next((values[name] for name in TEXTS if values.get(name) is not None), None)
    columns = {
        **{name: values.get(name) for name in SCOPE_FIELDS},
        "content": content,
        "subject": _subject(values),
        "category": _category(values),
        "metadata": values.get("metadata"),
        "created_at": values.get("created_at"),
        "expired_at": _expiry(values.get("expiration_date")),
        "idempotency_key": key(NAME, id_),
    }
    moment(values, UPDATED)
    if columns["run_id"]:  # a run is one conversation
        at = moment(values, "created_at") or source.written_at
        columns |= {"thread": columns["run_id"], "seq": int(at.timestamp() * 1000)}
    origin = {"id": id_, **_origin(values)}
    fact = source.fact(number, identity(NAME, id_, content), columns, origin)
    vectors = any(values.get(name) for name in VECTORS)
    yield Imported(place, fact, ("embeddings",) if vectors else ())


def _of_other_layouts(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a memory of the vector store, or of OpenMemory, as ``get_all`` returns it."""
    payload = given.get(PAYLOAD)
    values = {"id": given.get("id"), **payload} if isinstance(payload, dict) else {**given}
    if OF_OPENMEMORY in values and not any(values.get(name) is not None for name in TEXTS):
        values["memory"] = values.pop(OF_OPENMEMORY)
        values["metadata"] = values.pop("metadata_", None) or values.get("metadata")
    for name in TIMES:
        values[name] = any_moment(values.get(name), name)
    return values


def _subject(values: Mapping[str, Any]) -> str:
    """Return the subject of a memory: its first owner."""
    for name in SCOPE_FIELDS:
        owner = values.get(name)
        if owner is not None and str(owner).strip():
            return name_of(owner, name)
    return NO_OWNER


def _category(values: Mapping[str, Any]) -> str | None:
    given = values.get("categories")
    if given is None:
        return None
    if not isinstance(given, list):
        raise TypeError("its categories must be a list of texts")
    return name_of(given[0], "a category") if given else None


def _expiry(given: object) -> object:
    """Return when a memory expires; mem0 gives its last valid day."""
    if isinstance(given, str) and len(given.strip()) == len("2026-03-01"):
        return moments.until(given, "expiration_date")
    return given


def _origin(values: Mapping[str, Any]) -> dict[str, Any]:
    kept = {k: v for k, v in values.items() if k not in COLUMNS | OF_ITS_ANSWERS | VECTORS}
    return {UPDATED: values.get(UPDATED)} | {k: v for k, v in kept.items() if v not in ([], {})}
