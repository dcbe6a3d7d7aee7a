"""The reference knowledge-graph server's file: entities with observations, and relations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from memstore.importing import json_stream
from memstore.importing.records import (
    Damaged,
    Record,
    Skipped,
    identity,
    key,
    marked,
    name_of,
    new_fact,
)
from memstore.settings import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from memstore.importing.records import Found

NAME: Final = "server-memory"
RELATION: Final = "relation"
"""The category of a relation."""


def found(path: Path) -> Iterator[Found]:
    """Yield what a file of the server's holds: a fact for each observation and each relation.

    The file knows no times: everything counts as learnt when it was last written.

    Raises:
        OSError: the file cannot be read.
    """
    reader = _Reader(datetime.fromtimestamp(path.stat().st_mtime, UTC))
    for record in json_stream.records(path):
        if isinstance(record, Damaged | Skipped):
            yield record
            continue
        place, values = record
        try:
            yield from list(reader.read(place, values))
        except (ValueError, TypeError) as error:
            yield Damaged(place, str(error))


class _Reader:
    def __init__(self, at: datetime) -> None:
        self._at = at
        self._number = 0
        self._seen: set[str] = set()

    def read(self, place: str, values: Mapping[str, Any]) -> Iterator[Record | Skipped]:
        kind = values.get("type")
        if kind == "entity":
            yield from self._entity(place, values)
        elif kind == "relation":
            yield from self._relation(place, values)
        else:
            yield Skipped(f"records of type {str(kind)[:40]!r}", place)

    def _entity(self, place: str, values: Mapping[str, Any]) -> Iterator[Record | Skipped]:
        name = name_of(values.get("name"), "its name")
        type_ = values.get("entityType")
        observations = values.get("observations") or []
        if not isinstance(observations, list):
            raise TypeError("its observations must be a list of texts")
        if not observations:
            yield Skipped("entities without observations", name[:80])
        for content in observations:
            text = name_of(content, "an observation")
            columns = {"content": text, "subject": name, "category": type_}
            yield from self._fact(place, (name, text), columns, {"entity_type": type_})

    def _relation(self, place: str, values: Mapping[str, Any]) -> Iterator[Record]:
        ends = [name_of(values.get(name), f"its {name!r}") for name in ("from", "to")]
        label = name_of(values.get("relationType"), "its relationType")
        columns = {
            "content": f"{ends[0]} {label.replace('_', ' ')} {ends[1]}",
            "subject": ends[0],
            "category": RELATION,
        }
        parts = ("relation", ends[0], label, ends[1])
        yield from self._fact(
            place, parts, columns, {"relation": {"from": ends[0], "type": label, "to": ends[1]}}
        )

    def _fact(
        self,
        place: str,
        parts: tuple[str, ...],
        columns: Mapping[str, Any],
        origin: Mapping[str, Any],
    ) -> Iterator[Record]:
        known = identity(NAME, *parts)
        if known in self._seen:
            return  # said twice
        self._seen.add(known)
        self._number += 1
        # It has no ids of its own: names and texts are what identifies things there.
        fact = new_fact(
            self._number,
            known,
            {**columns, "namespace": DEFAULT_NAMESPACE, "idempotency_key": key(NAME, known)},
            metadata=marked(None, NAME, parts[0] if len(parts) == 2 else None, origin),
            fallback_at=self._at,
        )
        yield Record(place, fact)
