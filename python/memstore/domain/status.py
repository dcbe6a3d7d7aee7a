"""The status of a store."""

from __future__ import annotations

from typing import Any

from memstore.frozen import asdict, frozen


@frozen(kw_only=True)
class StoreStatus:
    """The contents of a store, counted in its own namespace, and facts about its file."""

    namespace: str
    active: int
    superseded: int
    deleted: int
    expired: int
    pending: int
    """Facts without an embedding yet; searches find them by words."""
    quarantined: int
    """Facts whose embedding failed permanently; their ``embed_error`` says why."""
    episodes: int
    """Episodes of the log, including expired ones."""
    episodes_pending: int
    """Episodes with a piece that has no embedding yet; searches find them by words."""
    episodes_quarantined: int
    """Episodes with a piece whose embedding failed permanently."""
    unlearnt: int
    """Conversations of the log that nothing was learnt from yet: a model failed or is at work."""
    incomplete_imports: int
    """Imports that were interrupted; running the same import again completes it."""
    subjects: dict[str, int]
    categories: dict[str, int]
    model: str | None
    """The model of the stored vectors; ``None`` before the first embedding."""
    dimension: int | None
    embedder: str | None
    """The model that this store embeds with; ``None`` means words only."""
    path: str
    size_bytes: int
    """The file and its write-ahead log."""
    log_bytes: int
    """The write-ahead log alone."""
    durability: str
    """What a confirmed write survives: ``full`` a power failure, ``normal`` a crash of the
    process."""
    schema_version: int
    locks: str
    """What owns the locks on the file: ``open file description``, ``handle`` on Windows, or
    ``process``, whose locks any other user of the file in this process can release."""
    exposed: dict[str, int]
    """Files of the store that other users of the machine can open, with their permission bits."""
    namespaces: dict[str, int]
    """Every namespace of the file, with its number of facts in any state."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)
