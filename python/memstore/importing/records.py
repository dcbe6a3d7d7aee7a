"""The records of a source: checked facts and episodes with stable identities.

A record's UUID is derived from its source and its identity there, so that importing it again adds
nothing, even after the imported record was erased here.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memstore.domain import clock, metadata, moments
from memstore.domain.arguments import (
    MAX_CONTENT,
    MAX_NAME,
    MAX_NUMBER,
    check_size,
    checked_name,
    checked_number,
    checked_place,
    checked_text,
    stored_text,
)
from memstore.domain.episodes import Episode
from memstore.domain.records import DEFAULT_CATEGORY, SCOPE_FIELDS, Fact
from memstore.episodes.checks import checked_tags, hash_of
from memstore.frozen import frozen
from memstore.settings import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

FAMILY: Final = uuid.UUID("5d0b4b1e-6a0c-5a53-9a4f-0d1f3c9c2a77")
"""The UUID namespace (RFC 9562, version 5) of all imported records; it must never change."""

MARK: Final = "imported"
"""The metadata key for the source of a record, and its id there."""


@frozen
class Imported:
    place: str
    """Where it is in the source, for messages: ``line 12``."""
    item: Fact | Episode
    left_out: tuple[str, ...] = ()
    """Kinds of data of the record that cannot be imported."""
    group: int | None = None
    """Records of one group are imported together, so that chains stay complete."""


@frozen
class Damaged:
    place: str
    reason: str


@frozen
class Foreign:
    """Something that is no record of the program: if all of a file is, it is another's."""

    place: str
    reason: str


@frozen
class Skipped:
    kind: str
    name: str
    count: int = 1
    is_known: bool = True
    """Whether only a file of the program has it."""


Found: TypeAlias = Imported | Damaged | Foreign | Skipped

Raw: TypeAlias = tuple[str, dict[str, Any]] | Damaged | Foreign | Skipped
"""A record of the source with its place, or something that cannot be imported."""


def converted(
    source: Iterable[Raw], convert: Callable[[int, str, dict[str, Any]], Iterable[Found]]
) -> Iterator[Found]:
    """Convert each record of a source.

    ``convert`` is called with the number of the record, its place and its values; if it raises
    ``ValueError`` or ``TypeError``, the record counts as damaged.
    """
    for number, record in enumerate(source, 1):
        if isinstance(record, Damaged | Foreign | Skipped):
            yield record
            continue
        place, values = record
        try:
            found = [*convert(number, place, values)]
        except (ValueError, TypeError) as error:
            found = [Damaged(place, str(error))]
        yield from found


MEMBERS_NAMED: Final = 6
MAX_MEMBER: Final = 40
"""Characters of a member's name that are told."""


def described(value: object) -> str:
    """Return what a JSON value is, for messages: its form, and the names of its members."""
    if isinstance(value, dict) and value:
        names = ", ".join(repr(name[:MAX_MEMBER]) for name in [*value][:MEMBERS_NAMED])
        more = ", …" if len(value) > MEMBERS_NAMED else ""
        return f"an object with {names}{more}"
    if isinstance(value, dict | list) and not value:
        return f"an empty {'object' if isinstance(value, dict) else 'list'}"
    kinds = {list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def identity(source: str, *parts: object) -> str:
    """Return the UUID of a record, always the same for the same source and parts."""
    texts = [stored_text(str(part), "what identifies it") for part in parts]
    return str(uuid.uuid5(FAMILY, "\x1f".join([source, *texts])))


@frozen
class Dump:
    name: str
    written_at: datetime
    """When the file was last written: the time of records without one."""

    @classmethod
    def of(cls, name: str, path: Path) -> Dump:
        return cls(name, datetime.fromtimestamp(path.stat().st_mtime, UTC))

    def fact(
        self, number: int, uuid: str, values: Mapping[str, Any], origin: Mapping[str, Any]
    ) -> Fact:
        """Return a fact; raise ``ValueError`` or ``TypeError`` if it cannot be stored.

        Args:
            number: its id among the records of this import.
            uuid: its :func:`identity`.
            values: its columns in the source; ``None`` and blank values are not set.
            origin: its id and other values to keep in its metadata, if they are set.
        """
        columns = self._columns(number, uuid, values, origin)
        check_size(columns["content"], "its content")
        return Fact(
            **columns,
            subject=checked_text(values.get("subject"), "its subject", MAX_CONTENT).strip(),
            category=(_text(values, "category") or DEFAULT_CATEGORY).strip(),
            external_key=values.get("external_key"),
            superseded_by=values.get("superseded_by"),
            superseded_at=moment(values, "superseded_at"),
            confirmed_count=_count(values, "confirmed_count"),
            last_confirmed_at=moment(values, "last_confirmed_at"),
            use_count=_count(values, "use_count"),
            last_used_at=moment(values, "last_used_at"),
            deleted_at=moment(values, "deleted_at"),
        )

    def episode(
        self, number: int, uuid: str, values: Mapping[str, Any], origin: Mapping[str, Any]
    ) -> Episode:
        columns = self._columns(number, uuid, values, origin)
        return Episode(
            **columns,
            content_hash=hash_of(columns["content"]),
            source_model=_text(values, "source_model"),
            source_description=_text(values, "source_description"),
            name=_text(values, "name"),
            speaker=_owner(values, "speaker"),
            tags=_tags(values.get("tags")),
        )

    def _columns(
        self, number: int, uuid: str, values: Mapping[str, Any], origin: Mapping[str, Any]
    ) -> dict[str, Any]:
        namespace = values.get("namespace") or DEFAULT_NAMESPACE
        thread = _owner(values, "thread")
        # Every row of a thread has a place; without one, in the order of the source.
        seq = number if values.get("seq") is None else values["seq"]
        thread, seq = checked_place(thread, seq if thread is not None else None)
        return {
            "id": number,
            "uuid": uuid,
            "namespace": checked_name(namespace, "its namespace"),
            "content": checked_text(values.get("content"), "its content", MAX_NUMBER),
            "metadata": _marked(values.get("metadata"), {"from": self.name, **origin}),
            "created_at": moment(values, "created_at") or self.written_at,
            "valid_at": moment(values, "valid_at"),
            "expired_at": moment(values, "expired_at"),
            "source": _text(values, "source"),
            "idempotency_key": values.get("idempotency_key"),
            "thread": thread,
            "seq": seq,
            **{name: _owner(values, name) for name in SCOPE_FIELDS},
        }


def _marked(given: object, origin: Mapping[str, Any]) -> dict[str, Any]:
    if given is not None and not isinstance(given, dict):
        raise TypeError(f"its metadata must be an object, not {type(given).__name__}")
    whole = dict(given or {})
    mark = {name: value for name, value in origin.items() if value not in (None, "")}
    if MARK in whole:
        mark["metadata"] = {MARK: whole[MARK]}
    whole[MARK] = mark
    metadata.encode(whole)
    return whole


def moment(values: Mapping[str, Any], name: str) -> datetime | None:
    given = values.get(name)
    return None if given == "" else time_given(given, name)


def key(source: str, id_: str) -> str:
    """Return the idempotency key of a record; a long id is replaced by its hash."""
    whole = f"{source}:{id_}"
    return whole if len(whole) <= MAX_NAME else f"{source}:{hash_of(id_)}"


def name_of(given: object, what: str) -> str:
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    return checked_text(given, what, MAX_NUMBER)


def _unless_blank(given: Any) -> Any:
    return None if isinstance(given, str) and not given.strip() else given


def _text(values: Mapping[str, Any], name: str) -> str | None:
    given = _unless_blank(values.get(name))
    return None if given is None else stored_text(given, name)


def _owner(values: Mapping[str, Any], name: str) -> str | None:
    given = _unless_blank(values.get(name))
    return None if given is None else checked_name(name_of(given, name), name)


def _count(values: Mapping[str, Any], name: str) -> int:
    given = values.get(name)
    checked_number(0 if given is None else given, name, 0, MAX_NUMBER)
    return given or 0


def _tags(given: object) -> list[str]:
    if given is None:
        return []
    if not isinstance(given, list | tuple):
        raise TypeError(f"its tags must be a list, not {type(given).__name__}")
    return checked_tags([tag for tag in given if not isinstance(tag, str) or tag.strip()])


def time_given(given: datetime | str | None, name: str) -> datetime | None:
    """Return a time of another program: a date is the user's day, a time without an offset UTC.

    A word such as ``yesterday`` is none: a file does not say on which day it was written.
    """
    is_word = isinstance(given, str) and given.strip().lower() in moments.DAYS
    if isinstance(given, str) and not is_word and moments.day(given) is not None:
        return moments.instant(given, name)
    return clock.moment(given, name)
