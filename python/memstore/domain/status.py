"""The status of a store."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import Record, Scope
from memstore.frozen import asdict, frozen
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

MAX_NAMES: Final = 100
"""How many subjects, and how many categories, a status names."""

DAYS: Final = 28
"""How many days back a status counts what was added, with today."""

FIRST_OWNERS: Final = 3


class Contents(NamedTuple):
    """What a namespace holds, of every owner."""

    facts: int
    """Those that are active, expired or distrusted."""
    total: int
    """The facts in any state."""
    episodes: int
    """Including expired ones."""


@frozen(kw_only=True)
class Others:
    """What owners other than the ones asked for hold."""

    facts: int = 0
    """Active facts, including tasks."""
    episodes: int = 0
    first: tuple[Scope, ...] = ()
    """The owners with the most; at most three."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        owners = [{k: v for k, v in one.ids.items() if v is not None} for one in self.first]
        return {"facts": self.facts, "episodes": self.episodes, "first": owners}


@frozen(kw_only=True)
class PastStatus(Record):
    """How many memories a namespace had at an earlier moment."""

    namespace: str
    at: datetime
    """The moment."""
    head: str
    """The end of the journal then: the number of its lines and the last hash."""
    active: int
    superseded: int
    deleted: int
    """What was erased since is not counted."""
    expired: int
    episodes: int
    """Including expired ones."""


class SubjectOrder(StrEnum):
    """The order of subjects."""

    NAME = "name"
    SIZE = "size"
    """Those with the most facts first."""
    CHANGED = "changed"
    """The one that changed last first."""


@frozen(kw_only=True)
class Subject(Record):
    """A subject of active facts."""

    name: str
    """As its newest active fact spells it."""
    facts: int
    """Its active facts."""
    newest: int
    """The id of the newest of them."""
    line: int
    """The last line of the journal about any of its facts, embeddings aside; 0 if none is."""
    changed_at: datetime | None = None
    """The time of that line."""

    def __str__(self) -> str:
        return self.name


@frozen(kw_only=True)
class Owner(Record):
    """A set of owners, and what belongs to them in a namespace."""

    scope: Scope
    facts: int
    """Those that are neither superseded nor deleted."""
    total: int
    """Facts in any state. What was erased belongs to nobody."""
    episodes: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values; of the owners those that are set."""
        owners = {name: owner for name, owner in self.scope.ids.items() if owner is not None}
        return asdict(self) | {"scope": owners}


@frozen(kw_only=True)
class StoreCounts(Record):
    """How much a namespace holds, by state."""

    namespace: str
    active: int
    superseded: int
    deleted: int
    expired: int
    distrusted: int
    """Facts that would be active, but rest on distrusted sources alone."""
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
    not_learned: int
    """Conversations and texts of the log that a model was to read and has not: it failed or is at
    work."""


@frozen(kw_only=True)
class StoreStatus(StoreCounts):
    """The contents of a store, counted in its own namespace, and facts about its file."""

    unread: int
    """Conversations with turns that no model has read, such as those that were kept while there was
    no generator; with those that failed."""
    incomplete_imports: int
    """Imports that were interrupted; running the same import again completes it."""
    others: Others
    """What other owners hold in the namespace."""
    subjects: dict[str, int]
    """The active facts of the most frequent subjects, at most 100 of them."""
    subject_count: int
    """How many subjects there are."""
    categories: dict[str, int]
    """The active facts of the most frequent categories, at most 100 of them."""
    category_count: int
    facts_by_day: dict[str, int]
    """The facts stored on each of the user's last 28 days, in any state; days without any are left
    out."""
    episodes_by_day: dict[str, int]
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
    weakened_by: str | None
    """On a server, its setting with which a confirmed write may be lost, such as
    ``synchronous_commit = off``; ``None`` if there is none."""
    index_bytes: int
    """The memory that all indexes of this process take, estimated."""
    max_index_bytes: int
    """How much they may take; above it, the one used longest ago is dropped."""
    head: str
    """The end of the journal: the number of its lines and the last hash. Kept elsewhere, it shows
    :meth:`memstore.Store.ledger.verify` later that nobody rewrote them."""
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
        return asdict(self) | {"others": self.others.to_dict()}
