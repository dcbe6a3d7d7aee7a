"""The file of MCP's reference memory server, and of its forks: a graph of entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.importing import long_json, texts
from memstore.importing.long_json import JsonForm, raw
from memstore.importing.records import (
    Dump,
    Imported,
    Skipped,
    converted,
    described,
    identity,
    key,
    name_of,
    time_given,
)
from memstore.importing.values import any_moment
from memstore.importing.values import text as text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.records import Found

NAME: Final = "server-memory"

# Names of members, those of the reference server first; others are of its forks.
KINDS: Final = ("type", "_type")
ENTITY, RELATION, OBSERVATION = "entity", "relation", "observation"
ENTITY_NAMES: Final = ("name", "entityName", "entity_name")
ENTITY_TYPES: Final = ("entityType", "entity_type")
OBSERVATIONS: Final = ("observations", "contents", "observation", "content")
FROM: Final = ("from", "from_entity", "fromEntity", "source")
TO: Final = ("to", "to_entity", "toEntity", "target")
RELATION_TYPES: Final = ("relationType", "relation_type")
TEXTS: Final = ("content", "text", "observation", "value", "contents")
"""The text of an observation that is an object."""
TIMES: Final = ("timestamp", "createdAt", "created_at", "addedAt", "date", "time")


def _kind(values: Mapping[str, Any]) -> str | None:
    """Return what a record is: what it says, or what its members say."""
    said = next((text for name in KINDS if (text := text_of(values.get(name)))), None)
    if said in (ENTITY, RELATION, OBSERVATION):
        return said
    if _has(values, RELATION_TYPES) and _has(values, FROM) and _has(values, TO):
        return RELATION
    if _has(values, ENTITY_TYPES) and _has(values, ENTITY_NAMES):
        return ENTITY
    if "name" in values and isinstance(values.get("observations"), list):
        return ENTITY
    if _has(values, ENTITY_NAMES[1:]) and _has(values, OBSERVATIONS):
        return OBSERVATION
    return None


def _has(values: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    return any(values.get(name) is not None for name in names)


def is_typical(values: Mapping[str, Any]) -> bool:
    """Return whether a record can only be one of this program."""
    return _kind(values) is not None


def _is_record(values: Mapping[str, Any]) -> bool:
    # A record of another type is one, too: a fork's own, which is named and left out. What has
    # objects or JSON in it is none: they may be records.
    is_flat = not any(
        isinstance(one, dict | list) or (isinstance(one, str) and one.startswith("{"))
        for one in values.values()
    )
    return is_typical(values) or (is_flat and isinstance(values.get("type"), str))


FORM: Final = JsonForm(
    f"a record of {NAME}", _is_record, frozenset({"entities", "relations"}), keyed="name"
)
EXPECTED: Final = (
    "entities with observations, and relations, are expected, as JSON Lines or "
    '{"entities": […], "relations": […]}'
)


def found(path: Path, progress: Progress | None = None) -> Iterator[Found]:
    """Yield a fact for each observation and each relation of a file.

    What has no time gets that when the file was last written.
    """
    with texts.reading(path, progress) as file:
        records = raw(long_json.records(file, FORM))
        yield from converted(records, _Entities(Dump.of(NAME, path)).read)


class _Entities:
    def __init__(self, source: Dump) -> None:
        self._source = source
        self._number = 0
        self._seen: set[str] = set()

    def read(self, _: int, place: str, values: Mapping[str, Any]) -> Iterator[Found]:
        kind = _kind(values)
        if kind == RELATION:
            yield from self._relation(place, values)
        elif kind is not None:
            yield from self._entity(place, values)
        else:
            yield Skipped(f"records of type {str(values.get('type'))[:40]!r}", place, 1, False)

    def _entity(self, place: str, values: Mapping[str, Any]) -> Iterator[Found]:
        name = name_of(_first(values, ENTITY_NAMES), "its name")
        type_ = _first(values, ENTITY_TYPES)
        observations = _first(values, OBSERVATIONS) or []
        if isinstance(observations, str) and "observations" not in values:
            observations = [observations]  # of a record that is one observation
        if not isinstance(observations, list):
            raise TypeError("its observations must be a list of texts")
        if not observations:
            yield Skipped("entities without observations", name[:80])
        for given in observations:
            text, about = _observation(given)
            columns = {
                "content": text,
                "subject": name,
                "category": type_,
                "created_at": _time(about) or _time(values),
            }
            origin = {"entity_type": type_, "observation": about or None}
            yield from self._fact(place, (name, text), columns, origin)

    def _relation(self, place: str, values: Mapping[str, Any]) -> Iterator[Imported]:
        ends = [name_of(_first(values, names), f"its {names[0]!r}") for names in (FROM, TO)]
        label = name_of(_first(values, RELATION_TYPES), "its relationType")
        columns = {
            "content": f"{ends[0]} {label.replace('_', ' ')} {ends[1]}",
            "subject": ends[0],
            "category": "relation",
            "created_at": _time(values),
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


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((values[name] for name in names if values.get(name) is not None), None)


def _observation(given: object) -> tuple[str, dict[str, Any]]:
    """Return the text of an observation, and what else an object says of it."""
    if not isinstance(given, dict):
        return name_of(given, "an observation"), {}
    name = next((name for name in TEXTS if text_of(given.get(name))), None)
    if name is None:
        raise TypeError(f"an observation has no text: it is {described(given)}")
    return given[name], {one: value for one, value in given.items() if one != name}


def _time(values: Mapping[str, Any]) -> datetime | None:
    """Return when something was stored, as forks write it; ``None`` if that is no time."""
    for name in TIMES:
        try:
            found = time_given(any_moment(values.get(name), name), name)
        except (ValueError, TypeError, OverflowError):
            continue
        if found is not None:
            return found
    return None
