"""The lines of an export: writing and reading facts, episodes and operations.

The first line says what the file is and how much follows. Then come episodes and facts, each
followed by its journal lines ("operations"), then the records that refer to them
(:mod:`.attachments`). Ids are those of the source file; records are identified by their UUID.

Invalid lines raise ``ValueError`` or ``TypeError``; :mod:`.parsing` adds the number of the line.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.database.journal import Kind
from memstore.database.tables import facts as fact_table
from memstore.domain import clock, episodes, metadata
from memstore.domain.arguments import (
    MAX_CONTENT,
    MAX_NUMBER,
    MAX_UNSEARCHED,
    check_length,
    check_size,
    checked_text,
    nfc,
    stored_text,
)
from memstore.domain.episodes import Episode
from memstore.domain.records import MOMENT_FIELDS, SCOPE_FIELDS, Fact, JournalLine
from memstore.episodes.checks import hash_of
from memstore.text.judging import slots

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

FORMAT: Final = 1
"""Increased if older readers would misread the lines, not if they only contain more."""

NOT_EXPORTED: Final = frozenset({"embedded", "embed_error", "status", "content_hash"})
FACT_FIELDS: Final = tuple(name for name in fact_table.STORED if name not in NOT_EXPORTED)
FACT_NEEDS: Final = ("id", "uuid", "namespace", "content", "subject", "category", "created_at")
FACT_NUMBERS: Final = ("id", "superseded_by", "confirmed_count", "use_count", "episode_id", "seq")
EPISODE_FIELDS: Final = tuple(name for name in episodes.EPISODE_FIELDS if name not in NOT_EXPORTED)
EPISODE_NEEDS: Final = ("id", "uuid", "namespace", "content", "created_at")

NO_TEXTS: Final = ("metadata", "slots", "tags", "unsearched")
"""Fields of other types than text, number and time."""

JSON_TYPES: Final[Mapping[type, str]] = {
    list: "a list",
    dict: "an object",
    str: "text",
    bool: "a boolean",
}

T = TypeVar("T")


HEAD_KEYS: Final = ("head", "hash")
"""What the first line has to show that an export is unchanged; older exports have neither."""

ENCODER: Final = json.JSONEncoder(ensure_ascii=False)


def line(**values: object) -> str:
    return ENCODER.encode(values)


class Digest:
    """SHA-256 over the lines of an export, each over the ones before; spaces around do not count.

    Args:
        header: the first line, without the hash.
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        self._hash = hashlib.sha256(line(**header).encode())

    def add(self, text: str) -> None:
        self._hash.update(b"\n" + text.strip().encode("utf-8", "replace"))

    @property
    def text(self) -> str:
        return self._hash.hexdigest()


def fact_out(fact: Fact) -> str:
    return line(fact={k: v for k, v in fact.to_dict().items() if k not in NOT_EXPORTED})


def fact_in(values: Mapping[str, Any]) -> Fact:
    known = _known(values, FACT_FIELDS, FACT_NEEDS, FACT_NUMBERS)
    if "unsearched" in known:
        of_type(bool, known["unsearched"], "unsearched")
        known["unsearched"] = known["unsearched"] or None
    longest = MAX_UNSEARCHED if known.get("unsearched") else MAX_CONTENT
    for name, value in known.items():
        if isinstance(value, str):  # also what other programs stored may have longer names
            check_length(value, name, longest)
    fact = Fact(**known)
    if not fact.unsearched:
        check_size(fact.content, "content")
    return fact


def episode_out(episode: Episode) -> str:
    values = episode.to_dict() | ({"salt": episode.salt} if episode.salt else {})
    return line(episode={k: values[k] for k in EPISODE_FIELDS if k in values})


def episode_in(values: Mapping[str, Any]) -> Episode:
    known = _known(values, EPISODE_FIELDS, EPISODE_NEEDS, ("id", "seq"))
    known["tags"] = [
        stored_text(tag, "tag") for tag in of_type(list, known.get("tags", []), "tags")
    ]
    content = known["content"]
    return Episode(**known, content_hash=hash_of(content) if content else "")


def _known(
    values: Mapping[str, Any],
    fields: Collection[str],
    needs: Collection[str],
    numbers: Collection[str],
) -> dict[str, Any]:
    """Return the known fields, checked, with times parsed."""
    known = {k: v for k, v in values.items() if k in fields and v is not None}
    if missing := [name for name in needs if name not in known]:
        raise ValueError(f"lacks {', '.join(missing)}")
    if empty := [name for name in ("uuid", "namespace", "thread") if known.get(name) == ""]:
        raise ValueError(f"{empty[0]} is empty")
    for name in numbers:
        if not is_whole(known.get(name, 0)):
            raise ValueError(f"{name} is not a whole number")
    metadata.encode(known.setdefault("metadata", {}))
    if "slots" in known:
        slots.checked(known["slots"])
    for name in known.keys() - {*numbers, *MOMENT_FIELDS, *NO_TEXTS}:
        if known[name] != "":  # erased records have blank fields
            stored_text(known[name], name)
    for name in ("namespace", "thread", *SCOPE_FIELDS):
        if name in known:
            known[name] = nfc(known[name])
    if ("thread" in known) != ("seq" in known):
        raise ValueError("has a thread without a place in it, or a place without a thread")
    for name in MOMENT_FIELDS & known.keys():
        known[name] = clock.moment(known[name], name)
    return known


def operation_out(operation: JournalLine) -> str:
    values = operation._asdict() | {"at": clock.to_text(operation.moment)}
    for name in ("id", "fact_id", "episode_id", "txn", "run", "said_at"):  # of this file
        del values[name]
    if operation.kind == Kind.REDACT:  # it names a line of this file
        values["evidence"] = {k: v for k, v in (operation.evidence or {}).items() if k != "line"}
    about = (
        {"fact": operation.fact_id}
        if operation.fact_id is not None
        else {"episode": operation.episode_id}
    )
    return line(operation={k: v for k, v in (values | about).items() if v is not None})


def operation_in(values: Mapping[str, Any]) -> JournalLine:
    """Read an operation, without the ids of its fact and episode, which are those of the export."""
    before, after, evidence = (
        of_type(dict, values[name], name) if name in values else None
        for name in ("before", "after", "evidence")
    )
    return JournalLine(
        id=0,
        at=clock.from_text(moment_in(values, "at")),
        actor=checked_text(values["actor"], "actor", MAX_NUMBER),
        source=checked_text(values["source"], "source", MAX_NUMBER),
        kind=Kind(values["kind"]),
        fact_id=None,
        before=before,
        after=after,
        evidence=evidence,
    )


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number that the database can store."""
    return type(value) is int and 0 <= value <= MAX_NUMBER


def of_type(expected: type[T], value: object, name: str) -> T:
    if not isinstance(value, expected):
        raise TypeError(f"{name} is not {JSON_TYPES[expected]}")
    return value


def moment_in(values: Mapping[str, Any], name: str) -> str:
    return clock.to_text(clock.from_text(stored_text(values[name], name)))
