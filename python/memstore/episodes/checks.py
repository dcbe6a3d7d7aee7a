"""Checks of new episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain import moments
from memstore.domain.arguments import MAX_NAME, MAX_NUMBER, checked_place, checked_text
from memstore.domain.metadata import checked_new
from memstore.domain.records import Scope
from memstore.errors import InvalidArgument, InvalidArgumentType, Remedy
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Iterable

    from memstore.domain.episodes import NewEpisode
else:
    hashlib = lazy_import("hashlib")

MAX_TAGS: Final = 1000

MAX_BYTES: Final = 450_000_000
"""SQLite's limit for a row is 1,000,000,000 bytes. A row holds a text in a script without spaces
twice: as it is, and segmented for the index."""

MAX_DESCRIPTION: Final = 10_000
"""Characters of the description of a source."""


def checked(new: NewEpisode) -> dict[str, Any]:
    """Return the columns of a new episode; the caller checks its source, which may be missing."""
    owners = Scope(user_id=new.user_id, agent_id=new.agent_id, run_id=new.run_id)
    about = new.source_description
    thread, seq = checked_place(new.thread, new.seq)
    metadata, _ = checked_new(new.metadata)
    if seq is not None and thread is None:
        raise InvalidArgument("is a place in a thread, but no thread is given", argument="seq")
    return {
        "content": _checked_content(new.content),
        "content_hash": hash_of(new.content),
        "source": new.source.strip() or None,
        "name": _short(new.name, "name"),
        "source_model": _short(new.source_model, "source_model"),
        "source_description": _short(about, "source_description", MAX_DESCRIPTION),
        "tags": checked_tags(new.tags),
        "thread": thread,
        "seq": seq,
        "speaker": _short(new.speaker, "speaker"),
        "valid_at": moments.instant(new.valid_at, "valid_at"),
        "metadata": metadata,
        "idempotency_key": _short(new.idempotency_key, "idempotency_key"),
        **owners.ids,
    }


def checked_tags(tags: Iterable[str]) -> list[str]:
    """Return tags as they are stored: stripped and without duplicates, in order."""
    if isinstance(tags, str):
        raise InvalidArgumentType(
            f"must be a list of texts, such as [{tags[:60]!r}], not one text", argument="tags"
        )
    try:
        listed = list(tags)
    except TypeError:
        raise InvalidArgumentType(
            f"must be a list of texts, not {type(tags).__name__}", argument="tags"
        ) from None
    unique = list(dict.fromkeys(checked_text(tag, "a tag", MAX_NAME).strip() for tag in listed))
    if len(unique) > MAX_TAGS:
        raise InvalidArgument(
            f"are {len(unique):,}, over the limit of {MAX_TAGS:,}", argument="tags"
        )
    return unique


def hash_of(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8")).hexdigest()


def _checked_content(content: str) -> str:
    checked_text(content, "content", MAX_NUMBER)
    size = len(content.encode("utf-8"))
    if size > MAX_BYTES:
        raise InvalidArgument(
            f"has {size:,} bytes, over the limit of {MAX_BYTES:,}",
            argument="content",
            remedy=Remedy.RECORD_PARTS,
        )
    return content


def _short(text: str | None, name: str, limit: int = MAX_NAME) -> str | None:
    return None if text is None else checked_text(text, name, limit).strip()
