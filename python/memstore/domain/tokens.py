"""Access tokens for the HTTP server."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from memstore.domain import clock
from memstore.domain.records import json_value
from memstore.frozen import asdict, frozen

if TYPE_CHECKING:
    from datetime import datetime


class Access(StrEnum):
    READ = "read"
    WRITE = "write"


@frozen(kw_only=True)
class AccessToken:
    """An access token for the HTTP server; the secret itself is not stored."""

    id: int
    name: str
    namespace: str
    """The namespace it gives access to."""
    access: str
    """``read`` or ``write``."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    """Approximate: recorded at most once a minute, best effort."""

    @property
    def status(self) -> str:
        """``active``, ``revoked`` or ``expired``."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= clock.utc_now():
            return "expired"
        return "active"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, and the status."""
        values = {name: json_value(value) for name, value in asdict(self).items()}
        return values | {"status": self.status}
