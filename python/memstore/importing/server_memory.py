"""The file of MCP's reference memory server: entities with observations, and relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.importing import long_json
from memstore.importing.records import Dump, Imported, Skipped, converted, identity, key, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.records import Found

NAME: Final = "server-memory"


def found(path: Path, progress: Progress | None = None) -> Iterator[Found]:
    """Yield a fact for each observation and each relation of a file.

    The file has no times, so all records get the time when it was last written.
    """
    yield from converted(long_json.records(path, progress), _Entities(Dump.of(NAME, path)).read)


class _Entities:
    def __init__(self, source: Dump) -> None:
        self._source = source
        self._number = 0
        self._seen: set[str] = set()

    def read(self, _: int, place: str, values: Mapping[str, Any]) -> Iterator[Found]:
        kind = values.get("type")
        if kind == "entity":
            yield from self._entity(place, values)
        elif kind == "relation":
            yield from self._relation(place, values)
        else:
            yield Skipped(f"records of type {str(kind)[:40]!r}", place)

    def _entity(self, place: str, values: Mapping[str, Any]) -> Iterator[Found]:
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

    def _relation(self, place: str, values: Mapping[str, Any]) -> Iterator[Imported]:
        ends = [name_of(values.get(name), f"its {name!r}") for name in ("from", "to")]
        label = name_of(values.get("relationType"), "its relationType")
        columns = {
            "content": f"{ends[0]} {label.replace('_', ' ')} {ends[1]}",
            "subject": ends[0],
            "category": "relation",
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
    ) -> Iterator[Imported]:
        known = identity(NAME, *parts)
        if known in self._seen:
            return  # a duplicate
        self._seen.add(known)
        self._number += 1
        # The file has no ids: names and texts identify its records.
        columns = {**columns, "idempotency_key": key(NAME, known)}
        name = parts[0] if len(parts) == 2 else None
        fact = self._source.fact(self._number, known, columns, {"id": name, **origin})
        yield Imported(place, fact)
