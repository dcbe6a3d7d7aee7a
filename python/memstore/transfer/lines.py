"""The lines of an export: how each thing is written, and how it is read and checked again.

The first line says what the file is and how much follows. Then come episodes and facts, and behind
each one line for each operation of its journal; then what hangs on them (:mod:`.attachments`).
Ids are the file's own; things are known by their UUID.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memstore.database.journal import Kind
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.domain import clock, metadata
from memstore.domain.arguments import MAX_NUMBER, checked_text, stored_text
from memstore.domain.records import MOMENT_FIELDS, Episode, Fact, Operation
from memstore.episodes.new import hash_of
from memstore.errors import TransferError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

FORMAT: Final = 1
"""Goes up when a reader of today would misread what is written, not when there is more of it."""

NOT_EXPORTED: Final = frozenset({"embedded", "embed_error", "status", "content_hash"})
FACT_FIELDS: Final = tuple(name for name in fact_table.STORED if name not in NOT_EXPORTED)
FACT_NEEDS: Final = ("id", "uuid", "namespace", "content", "subject", "category", "created_at")
FACT_NUMBERS: Final = ("id", "superseded_by", "confirmed_count", "use_count", "episode_id")
EPISODE_FIELDS: Final = (
    "id",
    *(name for name in episode_table.INSERT_LIST if name not in NOT_EXPORTED),
)
EPISODE_NEEDS: Final = ("id", "uuid", "namespace", "content", "created_at")


def line(**values: object) -> str:
    """Return one line of an export, without its end."""
    return json.dumps(values, ensure_ascii=False)


def objects(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of each line that is not empty, and the JSON object it holds."""
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise bad(number, f"is no JSON ({error})") from None
        if not isinstance(value, dict):
            raise bad(number, "is no JSON object")
        yield number, value


def bad(number: int, what: str) -> TransferError:
    """Return the error for a line that is wrong."""
    return TransferError(f"line {number} {what}; nothing was imported")


def check_header(number: int, value: Mapping[str, Any]) -> None:
    """Refuse what is not the first line of an export that is read here."""
    if value.get("memstore") != "export":
        raise bad(number, 'is not the first line of an export ({"memstore": "export", …})')
    if value.get("format") != FORMAT:
        raise bad(number, f"names format {value.get('format')!r}, and this memstore reads {FORMAT}")


def fact_out(fact: Fact) -> str:
    """Write a fact."""
    return line(fact={k: v for k, v in fact.to_dict().items() if k not in NOT_EXPORTED})


def fact_in(number: int, values: Mapping[str, Any]) -> Fact:
    """Read a fact, checked."""
    known = _known(number, values, FACT_FIELDS, FACT_NEEDS, FACT_NUMBERS)
    return Fact(**known)


def episode_out(episode: Episode) -> str:
    """Write an episode."""
    values = episode.to_dict()
    return line(episode={k: values[k] for k in EPISODE_FIELDS if k in values})


def episode_in(number: int, values: Mapping[str, Any]) -> Episode:
    """Read an episode, checked."""
    known = _known(number, values, EPISODE_FIELDS, EPISODE_NEEDS, ("id",))
    tags = known.pop("tags", [])
    if not isinstance(tags, list):
        raise bad(number, "has tags that are no list")
    try:
        known["tags"] = [stored_text(tag, "a tag") for tag in tags]
    except (ValueError, TypeError) as error:
        raise bad(number, f"holds what cannot be stored: {error}") from None
    content = known["content"]
    return Episode(**known, content_hash=hash_of(content) if content else "")


def _known(
    number: int,
    values: Mapping[str, Any],
    fields: Collection[str],
    needs: Collection[str],
    numbers: Collection[str],
) -> dict[str, Any]:
    """Return the fields of ours, with times read, and refuse what cannot be stored."""
    known = {k: v for k, v in values.items() if k in fields and v is not None}
    if missing := [name for name in needs if name not in known]:
        raise bad(number, f"lacks {', '.join(missing)}")
    if empty := [name for name in ("uuid", "namespace") if known[name] == ""]:
        raise bad(number, f"has an empty {empty[0]}")
    for name in numbers:
        if not is_whole(known.get(name, 0)):
            raise bad(number, f"has a {name} that is no whole number")
    try:
        metadata.encode(known.setdefault("metadata", {}))
        for name in known.keys() - {*numbers, *MOMENT_FIELDS, "metadata", "tags"}:
            if known[name] != "":  # blank where something was erased
                stored_text(known[name], name)
        for name in MOMENT_FIELDS & known.keys():
            known[name] = clock.moment(known[name], name)
    except (ValueError, TypeError) as error:
        raise bad(number, f"holds what cannot be stored: {error}") from None
    return known


def is_whole(value: object) -> bool:
    """Whether a value is a whole number that the database holds."""
    return type(value) is int and 0 <= value <= MAX_NUMBER


def operation_out(operation: Operation) -> str:
    """Write an operation: on a fact, or else on an episode."""
    values = operation._asdict() | {"at": clock.to_text(operation.at)}
    for name in ("id", "fact_id", "episode_id"):
        del values[name]
    about = (
        {"fact": operation.fact_id}
        if operation.fact_id is not None
        else {"episode": operation.episode_id}
    )
    return line(operation={k: v for k, v in (values | about).items() if v is not None})


def operation_in(number: int, values: Mapping[str, Any]) -> tuple[str, int, Operation]:
    """Read an operation, checked: what it is about (``fact`` or ``episode``), its id, and it."""
    about = "episode" if "episode" in values else "fact"
    if not is_whole(values.get(about)):
        raise bad(number, "names no fact by its id")
    for name in ("before", "after", "evidence"):
        if not isinstance(values.get(name, {}), dict):
            raise bad(number, f"has a {name} that is no object")
    try:
        operation = Operation(
            id=0,
            at=clock.from_text(values["at"]),
            actor=checked_text(values["actor"], "actor", MAX_NUMBER),
            source=checked_text(values["source"], "source", MAX_NUMBER),
            kind=Kind(values["kind"]),
            fact_id=None,
            before=values.get("before"),
            after=values.get("after"),
            evidence=values.get("evidence"),
        )
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise bad(number, f"is no operation: {error}") from None
    return about, values[about], operation
