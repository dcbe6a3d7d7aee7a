"""New episodes, checked: each error names the argument."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.domain.arguments import MAX_NAME, MAX_NUMBER, checked_text
from memstore.domain.metadata import check_size
from memstore.domain.records import Scope
from memstore.errors import InvalidArgument, InvalidArgumentType, Remedy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

MAX_TAGS: Final = 1000

MAX_BYTES: Final = 450_000_000
"""SQLite holds 1,000,000,000 bytes in a row. A text in a script without spaces is in it twice: as
it is, and as the index wants it."""

MAX_DESCRIPTION: Final = 10_000
"""Characters of what is told of the source."""


def checked(
    content: str,
    source: str | None,
    *,
    name: str | None = None,
    source_model: str | None = None,
    source_description: str | None = None,
    tags: Iterable[str] = (),
    valid_at: datetime | str | None = None,
    metadata: Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
    user_id: str | None = None,
    agent_id: str | None = None,
    run_id: str | None = None,
) -> dict[str, Any]:
    """Return the columns that a caller gives of a new episode, with the hash of its content."""
    check_size(metadata)
    owners = Scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
    return {
        "content": _checked_content(content),
        "content_hash": hash_of(content),
        "source": _short(source, "source"),
        "name": _short(name, "name"),
        "source_model": _short(source_model, "source_model"),
        "source_description": _short(source_description, "source_description", MAX_DESCRIPTION),
        "tags": checked_tags(tags),
        "valid_at": clock.moment(valid_at, "valid_at"),
        "metadata": None if metadata is None else dict(metadata),
        "idempotency_key": _short(idempotency_key, "idempotency_key"),
        **owners.ids,
    }


def checked_tags(tags: Iterable[str]) -> list[str]:
    """Return tags as they are stored: without blanks around them, each once, in their order."""
    if isinstance(tags, str):
        raise InvalidArgumentType(
            f"must be a list of texts, such as [{tags[:60]!r}], not one text", argument="tags"
        )
    try:
        given = list(tags)
    except TypeError:
        raise InvalidArgumentType(
            f"must be a list of texts, not {type(tags).__name__}", argument="tags"
        ) from None
    found = list(dict.fromkeys(checked_text(tag, "a tag", MAX_NAME).strip() for tag in given))
    if len(found) > MAX_TAGS:
        raise InvalidArgument(
            f"are {len(found):,}, over the limit of {MAX_TAGS:,}", argument="tags"
        )
    return found


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


def _short(given: str | None, name: str, limit: int = MAX_NAME) -> str | None:
    return None if given is None else checked_text(given, name, limit).strip()
