"""Events and memories of ADK as episodes and facts, and back.

The text of a content is what is searched. The rest of it is in the metadata, or, if that would be
too large, in a fact that no search finds.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from memstore.adapters.values import check_json, to_json
from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME
from memstore.domain.episodes import NewEpisode
from memstore.domain.metadata import MAX_BYTES
from memstore.domain.records import NewFact, Scope
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact

NAME: Final = "adk"

OUR_BEGINNING: Final = "adk:"
"""Begins names that stand for others, which memstore would change or refuse."""

NO_SESSION: Final = f"{OUR_BEGINNING}none"
"""The thread of events without a session."""

ID: Final = "event_id"
MEMORY_ID: Final = "memory_id"
AUTHOR: Final = "author"
TIMESTAMP: Final = "timestamp"
CUSTOM: Final = "custom_metadata"
ROLE: Final = "role"
CONTENT: Final = "content"
CONTENT_KEY: Final = "content_key"
"""Keys of the metadata. A content that is one text has only its role there."""

MARKED: Final = 100
"""Bytes of the metadata that are left for marks."""

FACT_ID: Final = f"{OUR_BEGINNING}fact:"
EPISODE_ID: Final = f"{OUR_BEGINNING}episode:"
"""Begin the ids of what was stored in another way."""

SUBJECT: Final = "user"
"""The subject of memories without an author."""

CATEGORY: Final = "content"
"""The category of contents that are too large for metadata."""


class Entry(NamedTuple):
    """An event or a memory, as JSON values."""

    id: str | None
    author: str | None
    timestamp: str | None
    content: dict[str, Any]
    custom: dict[str, Any]

    @property
    def text(self) -> str:
        """Return all that is said in it; empty if there are only calls, responses and files."""
        parts = self.content.get("parts") or []
        return " ".join(part["text"] for part in parts if part.get("text"))


class Prepared(NamedTuple):
    """What is stored of an event or a memory."""

    id: str
    record: NewEpisode | NewFact
    content: NewFact | None
    """What of it is too large for the metadata."""


def exact_name(name: str, argument: str) -> str:
    """Return the name of an owner or a thread; no two names have the same.

    memstore would make one of a composed and a decomposed letter, and refuses blanks.

    Raises:
        InvalidArgumentType: it is not text.
    """
    if not isinstance(name, str):
        raise InvalidArgumentType(f"must be text, not {type(name).__name__}", argument=argument)
    is_plain = name.strip() == name and 0 < len(name) <= MAX_NAME and name.isprintable()
    if is_plain and not name.startswith(OUR_BEGINNING) and unicodedata.is_normalized("NFC", name):
        return name
    return OUR_BEGINNING + _digest(name)


def checked(entry: Entry, name: str) -> Entry:
    """Return an event or a memory; refuse what JSON cannot keep, with its place."""
    for part in ("id", "author", "timestamp", "content", "custom"):
        check_json(getattr(entry, part), f"{name}.{part}")
    return entry


def event(entry: Entry, scope: Scope, thread: str) -> Prepared:
    """Return the episode of an event; events that differ in anything have different keys."""
    known = [entry.id, entry.author, entry.timestamp, entry.content]
    id_ = entry.id or _digest(*known)[:32]
    key = OUR_BEGINNING + _digest(scope.user_id, scope.agent_id, thread, *known)
    metadata, content = _described(entry, {ID: id_}, key, scope)
    episode = NewEpisode(
        content=_stored(entry.text),
        source=NAME,
        thread=thread,
        speaker=_label(entry.author),
        valid_at=_moment(entry.timestamp),
        metadata=metadata,
        idempotency_key=key,
        **scope.ids,
    )
    return Prepared(id_, episode, content)


def memory(entry: Entry, scope: Scope, name: str) -> Prepared:
    """Return the fact of a memory.

    Raises:
        InvalidArgument: it has no text.
    """
    if not entry.text.strip():
        raise InvalidArgument("has no text, by which it could be found", argument=name)
    id_ = entry.id or _digest(entry.author, entry.timestamp, entry.content)[:32]
    metadata, content = _described(entry, {MEMORY_ID: id_}, f"{OUR_BEGINNING}{_digest(id_)}", scope)
    if entry.timestamp is not None:
        metadata[TIMESTAMP] = entry.timestamp
    fact = NewFact(
        content=_stored(entry.text),
        subject=_label(entry.author) or SUBJECT,
        source=NAME,
        valid_at=_moment(entry.timestamp),
        metadata=metadata,
        external_key=memory_key(id_),
        **scope.ids,
    )
    return Prepared(id_, fact, content)


def memory_key(id_: str) -> str:
    """Return the external key of a memory that was added directly."""
    return f"{OUR_BEGINNING}memory:{_digest(id_)}"


def _described(
    entry: Entry, ids: dict[str, Any], key: str, scope: Scope
) -> tuple[dict[str, Any], NewFact | None]:
    """Return the metadata, and the fact that has the content if that is too large for it."""
    metadata: dict[str, Any] = {**ids, AUTHOR: entry.author}
    if entry.custom:
        metadata[CUSTOM] = entry.custom
    if entry.content == _of_text(_stored(entry.text), entry.content.get("role")):
        return metadata | {ROLE: entry.content.get("role")}, None
    whole = metadata | {CONTENT: entry.content}
    if len(to_json(whole, "metadata").encode()) <= MAX_BYTES - MARKED:
        return whole, None
    content_key = f"{key}:content"
    content = NewFact(
        content=json.dumps(entry.content),  # ASCII: a fact's text has no NUL
        subject=NAME,
        category=CATEGORY,
        source=NAME,
        external_key=content_key,
        unsearched=True,
        **scope.ids,
    )
    return metadata | {CONTENT_KEY: content_key}, content


# -- reading -------------------------------------------------------------------------------


def of_episode(episode: Episode, contents: Mapping[str, Fact]) -> Entry:
    """Return the event of an episode; ``contents`` are the large ones, by key."""
    metadata = _own(episode)
    return Entry(
        id=metadata.get(ID, f"{EPISODE_ID}{episode.id}"),
        author=metadata.get(AUTHOR, episode.speaker),
        timestamp=clock.to_text(episode.valid_at or episode.created_at),
        content=_content(episode, metadata, contents),
        custom=metadata.get(CUSTOM, {}),
    )


def of_fact(fact: Fact, contents: Mapping[str, Fact]) -> Entry:
    """Return the memory of a fact; ``contents`` are the large ones, by key."""
    metadata = _own(fact)
    return Entry(
        id=metadata.get(MEMORY_ID, f"{FACT_ID}{fact.id}"),
        author=metadata.get(AUTHOR),
        timestamp=metadata.get(TIMESTAMP, clock.to_text(fact.valid_at or fact.created_at)),
        content=_content(fact, metadata, contents),
        custom=metadata.get(CUSTOM, {}),
    )


def content_key(row: Episode | Fact) -> str | None:
    """Return the key of the fact that has the content, if it is too large for the metadata."""
    return _own(row).get(CONTENT_KEY)


def event_id(episode: Episode) -> str | None:
    """Return the id of an episode's event; ``None`` if it was stored in another way."""
    return _own(episode).get(ID)


def _own(row: Episode | Fact) -> dict[str, Any]:
    return row.metadata if row.source == NAME else {}


def _content(
    row: Episode | Fact, metadata: Mapping[str, Any], contents: Mapping[str, Fact]
) -> dict[str, Any]:
    if CONTENT in metadata:
        content: dict[str, Any] = metadata[CONTENT]
        return content
    if (large := contents.get(metadata.get(CONTENT_KEY, ""))) is not None:
        return dict(json.loads(large.content))
    return _of_text(row.content, metadata.get(ROLE, "user"))


def _of_text(text: str, role: str | None) -> dict[str, Any]:
    return {"parts": [{"text": text}]} | ({} if role is None else {"role": role})


def _stored(text: str) -> str:
    return text.replace("\x00", " ")


def _label(author: str | None) -> str | None:
    """Return an author as a speaker or a subject, which are not blank and not long."""
    shown = " ".join((author or "").replace("\x00", " ").split())[:MAX_NAME].strip()
    return shown or None


def _moment(timestamp: str | None) -> datetime | None:
    """Return a time; ``None`` for text that is none."""
    try:
        return None if timestamp is None else clock.from_text(timestamp)
    except ValueError:
        return None


def _digest(*values: object) -> str:
    """Return a hash that no two lists of JSON values share."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
