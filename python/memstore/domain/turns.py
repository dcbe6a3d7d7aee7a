"""Identifies a turn of a host's session, so that it is one episode whichever session repeats it.

The idempotency key of such an episode names the turn: its source, its session, its id there and a
hash of its text, because a host may write an incomplete turn first and the complete one later, both
under one id. A session that was forked from another has the turns of that one under the ids they
have there. So a turn with an id that no other session gives is named without its session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain.records import NOBODY
from memstore.lazy import lazy_import, lazy_pattern
from memstore.named import NamedTuple

if TYPE_CHECKING:
    import hashlib

    from memstore.domain.episodes import Episode
    from memstore.domain.records import Scope
else:
    hashlib = lazy_import("hashlib")

UNIQUE: Final = lazy_pattern(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{1,10}_[0-9A-Za-z-]{20,}"
)
"""An id that no other session gives: a UUID, or one of a model's API."""

ERASED: Final = "erased:"
COPY: Final = "copy:"
DIGEST_CHARACTERS: Final = 12


class TurnKey(NamedTuple):
    """The idempotency key of a turn, ``str()`` of which is stored."""

    source: str
    session: str
    """Empty, or ``@`` and a hash of the owners, if the id says enough."""
    mark: str
    """The id."""
    digest: str
    """Of the text."""

    def __str__(self) -> str:
        return ":".join(self)

    @classmethod
    def of(cls, source: str, session: str, mark: str, digest: str, owner: Scope) -> TurnKey:
        """Return the key of a turn that is stored now."""
        if UNIQUE.fullmatch(mark) is None:
            return cls(source, session, mark, digest)
        owners = "\0".join(f"{name}={one}" for name, one in owner.ids.items() if one)
        named = "" if owner == NOBODY else f"@{_hash(owners)[:16]}"
        return cls(source, named, mark, digest)

    @classmethod
    def read(cls, episode: Episode) -> TurnKey | None:
        """Return what the key of an episode says; ``None`` if it is not the key of a turn."""
        return cls.parse(episode.source, episode.idempotency_key, episode.scope)

    @classmethod
    def parse(cls, source: str | None, key: str | None, owner: Scope) -> TurnKey | None:
        """Return the key of a turn as it is written now.

        Earlier versions named the session in every key.
        """
        if not key or not source or not key.startswith(f"{source}:"):
            return None
        parts = key[len(source) + 1 :].rsplit(":", 2)
        if len(parts) < 3 or not parts[1] or len(parts[2]) != DIGEST_CHARACTERS:
            return None
        session, mark, digest = parts
        return cls.of(source, session, mark, digest, owner)

    @property
    def erased(self) -> str:
        """The tag that is left of the turn after it was erased; it has nothing of its text."""
        return ERASED + _hash("\0".join(self[:3]))[:32]


def digest_of(text: str) -> str:
    """Return the hash of a text that keys have."""
    return _hash(text)[:DIGEST_CHARACTERS]


def copy_of(episode: Episode) -> str:
    """Return the tag of the copies of an episode that were recorded as turns of their own."""
    return f"{COPY}{episode.uuid}"


def left_of(episode: Episode) -> list[str]:
    """Return the tags that stay when an episode is erased: what keeps a turn from coming back."""
    if not episode.content:  # it was
        return [tag for tag in episode.tags if tag.startswith(ERASED)]
    key = TurnKey.read(episode)
    return [] if key is None else [key.erased]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
