"""Identifies the sender of a request over HTTP, and what they may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.domain.tokens import AccessToken


@frozen
class Caller:
    """The holder of an accepted token."""

    name: str
    namespace: str
    """The only one that is reached."""
    access: str
    """``read`` or ``write``."""
    owners: Mapping[str, Any] | None = None
    """The owners whose memories alone are reached; ``None`` if calls may name any."""

    @classmethod
    def of(cls, token: AccessToken) -> Caller:
        """Return the caller with a token of the file."""
        return cls(token.name, token.namespace, token.access)
