"""The records of a source: facts and episodes with identities that never change, checked.

The UUID of a record is made of its source and what identifies it there, so that importing twice
adds nothing twice, also after what was imported has been erased here.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memstore.domain import clock, metadata
from memstore.domain.arguments import MAX_NAME, MAX_NUMBER, checked_text, stored_text
from memstore.domain.records import DEFAULT_CATEGORY, Episode, Fact
from memstore.episodes.new import checked_tags, hash_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

FAMILY: Final = uuid.UUID("5d0b4b1e-6a0c-5a53-9a4f-0d1f3c9c2a77")
"""The name space (RFC 9562, version 5) of everything imported; never to be changed."""

MARK: Final = "imported"
"""The metadata key that says where something came from, and its id there."""


@dataclass(frozen=True, slots=True)
class Record:
    """One fact or episode that comes in."""

    place: str
    """Where in the source it stands, for messages: ``line 12``."""
    item: Fact | Episode
    left_out: tuple[str, ...] = ()
    """Kinds of what it has there and cannot have here."""
    group: int | None = None
    """Records of one group come in together, so that chains are whole. ``None``: by itself."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A record that cannot be read."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something of the source that is not carried over."""

    kind: str
    name: str
    count: int = 1


Found: TypeAlias = Record | Damaged | Skipped


def identity(source: str, *parts: object) -> str:
    """Return the UUID of a record: always the same for the same source and parts.

    Raises:
        ValueError: a part holds half of a character.
    """
    texts = [stored_text(str(part), "what identifies it") for part in parts]
    return str(uuid.uuid5(FAMILY, "\x1f".join([source, *texts])))


def marked(
    given: Mapping[str, Any] | None, source: str, id_: object, more: Mapping[str, Any]
) -> dict[str, Any]:
    """Return metadata that says where it came from; what is not set there is left out.

    Raises:
        ValueError: it cannot be stored.
        TypeError: it is no object.
    """
    origin = {"from": source, "id": id_, **{k: v for k, v in more.items() if v not in (None, "")}}
    whole = {} if given is None else dict(given)
    if MARK in whole:
        origin["metadata"] = {MARK: whole[MARK]}
    whole[MARK] = {k: v for k, v in origin.items() if v is not None}
    metadata.encode(whole)
    return whole


def new_fact(
    place: int,
    identity: str,
    values: Mapping[str, Any],
    *,
    metadata: dict[str, Any],
    fallback_at: datetime,
) -> Fact:
    """Return a fact of a source.

    Args:
        place: its id among the records of this import.
        identity: its UUID.
        values: its columns as the source has them; ``None`` and blank ones are not set.
        metadata: what :func:`marked` returned.
        fallback_at: when it was learnt, where the source does not say.

    Raises:
        ValueError: it cannot be stored.
        TypeError: a column of another type.
    """
    return Fact(
        id=place,
        uuid=identity,
        namespace=checked_text(values["namespace"], "its namespace", MAX_NAME),
        content=_content(values.get("content")),
        subject=checked_text(values.get("subject"), "its subject", MAX_NUMBER).strip(),
        category=(_text(values, "category") or DEFAULT_CATEGORY).strip(),
        metadata=metadata,
        superseded_by=values.get("superseded_by"),
        superseded_at=moment(values, "superseded_at"),
        confirmed_count=_count(values, "confirmed_count"),
        last_confirmed_at=moment(values, "last_confirmed_at"),
        use_count=_count(values, "use_count"),
        last_used_at=moment(values, "last_used_at"),
        created_at=moment(values, "created_at") or fallback_at,
        valid_at=moment(values, "valid_at"),
        expired_at=moment(values, "expired_at"),
        deleted_at=moment(values, "deleted_at"),
        source=_text(values, "source"),
        idempotency_key=values.get("idempotency_key"),
        user_id=_owner(values, "user_id"),
        agent_id=_owner(values, "agent_id"),
        run_id=_owner(values, "run_id"),
    )


def new_episode(
    place: int,
    identity: str,
    values: Mapping[str, Any],
    *,
    metadata: dict[str, Any],
    fallback_at: datetime,
) -> Episode:
    """Return an episode of a source; arguments and errors as of :func:`new_fact`."""
    content = _content(values.get("content"))
    return Episode(
        id=place,
        uuid=identity,
        namespace=checked_text(values["namespace"], "its namespace", MAX_NAME),
        content=content,
        content_hash=hash_of(content),
        source=_text(values, "source"),
        source_model=_text(values, "source_model"),
        source_description=_text(values, "source_description"),
        name=_text(values, "name"),
        tags=_tags(values.get("tags")),
        metadata=metadata,
        valid_at=moment(values, "valid_at"),
        created_at=moment(values, "created_at") or fallback_at,
        expired_at=moment(values, "expired_at"),
        idempotency_key=values.get("idempotency_key"),
        user_id=_owner(values, "user_id"),
        agent_id=_owner(values, "agent_id"),
        run_id=_owner(values, "run_id"),
    )


def moment(values: Mapping[str, Any], name: str) -> datetime | None:
    """Return a time that a source has under a name.

    Raises:
        ValueError: it is none; the message shows the accepted form.
        TypeError: it is neither a text nor a time.
    """
    given = values.get(name)
    return None if given == "" else clock.moment(given, name)


def key(source: str, id_: str) -> str:
    """Return the idempotency key of a record; a long id is told by its hash."""
    whole = f"{source}:{id_}"
    return whole if len(whole) <= MAX_NAME else f"{source}:{hash_of(id_)}"


def name_of(given: object, what: str) -> str:
    """Return an id or a name that a source must have.

    Raises:
        ValueError: it is blank.
        TypeError: it is neither text nor a whole number.
    """
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    return checked_text(given, what, MAX_NUMBER)


def _content(given: object) -> str:
    return checked_text(given, "its content", MAX_NUMBER)


def _text(values: Mapping[str, Any], name: str) -> str | None:
    given = values.get(name)
    if given is None or (isinstance(given, str) and not given.strip()):
        return None
    return stored_text(given, name)


def _owner(values: Mapping[str, Any], name: str) -> str | None:
    given = values.get(name)
    if given is None or (isinstance(given, str) and not given.strip()):
        return None
    return checked_text(name_of(given, name), name, MAX_NAME)


def _count(values: Mapping[str, Any], name: str) -> int:
    given = values.get(name)
    if given is None:
        return 0
    if type(given) is not int or not 0 <= given <= MAX_NUMBER:
        raise ValueError(f"{name} must be a whole number from 0 on, not {given!r}")
    return given


def _tags(given: object) -> list[str]:
    if given is None:
        return []
    if not isinstance(given, list | tuple):
        raise TypeError(f"its tags must be a list of texts, not {type(given).__name__}")
    return checked_tags([tag for tag in given if not isinstance(tag, str) or tag.strip()])
