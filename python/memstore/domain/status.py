"""What a store says about itself."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus:
    """What a store holds, counted in its own namespace, and where it lives."""

    namespace: str
    active: int
    superseded: int
    deleted: int
    expired: int
    pending: int
    """Facts found by words only so far, waiting for their embedding."""
    quarantined: int
    """Facts whose embedding failed for good; their ``embed_error`` says why."""
    episodes: int
    """Episodes of the log, expired ones too."""
    episodes_pending: int
    """Episodes of which a piece waits for its embedding; words find them already."""
    episodes_quarantined: int
    """Episodes of which a piece could not be embedded, and was given up."""
    unlearnt: int
    """Conversations of the log that nothing was learnt from: a model failed, or is being asked."""
    incomplete_imports: int
    """Imports that were interrupted; the same import again completes each, or it is given up."""
    subjects: dict[str, int]
    categories: dict[str, int]
    model: str | None
    """The model of the stored vectors; ``None`` before the first embedding."""
    dimension: int | None
    embedder: str | None
    """The model this store embeds with; ``None`` means words only."""
    path: str
    size_bytes: int
    """The file and its write-ahead log."""
    log_bytes: int
    """The write-ahead log alone."""
    durability: str
    """What a confirmed write survives: ``full`` the loss of power, ``normal`` the end of the
    process."""
    schema_version: int
    locks: str
    """What locks of the file belong to: ``open file description``, ``handle`` on Windows, or
    ``process``, which any other user of the file in this process can drop."""
    exposed: dict[str, int]
    """Files of the store that other users of the machine may open, with their permission bits."""
    namespaces: dict[str, int]
    """Every namespace of the file, and how many facts it holds in whatever state."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {f.name: getattr(self, f.name) for f in fields(self)}
