"""Questions: what searches, lists and counts of facts, episodes and the journal are asked for.

The public methods have a parameter for each field, with the same default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.frozen import asdict, frozen
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from memstore.domain import moments
    from memstore.domain.metadata import Filters
    from memstore.domain.standing import Namespaces
else:
    moments = lazy_import("memstore.domain.moments")

TIMES: Final = frozenset(
    f"{what}_{side}" for what in ("created", "valid", "expired") for side in ("after", "before")
)


@frozen(kw_only=True)
class Periods:
    """When something was stored, and since when it is valid."""

    created_after: datetime | str | None = None
    created_before: datetime | str | None = None
    valid_after: datetime | str | None = None
    valid_before: datetime | str | None = None


@frozen(kw_only=True)
class FactNarrowing(Periods):
    """Which facts to select."""

    subject: str | None = None
    category: str | None = None
    filters: Filters = None
    namespaces: Namespaces = None
    external_key_prefix: str | None = None
    active_only: bool = True
    tasks: bool | None = None
    valid_on: datetime | str | None = None


@frozen(kw_only=True)
class FactRecall(FactNarrowing):
    """What ``Store.recall`` and ``Store.turns_for`` are asked."""

    half_lives_seconds: Mapping[str, float] | None = None
    min_relevance: float | None = None
    touch: bool = True


@frozen(kw_only=True)
class FactSearch(FactRecall):
    """What ``Store.search`` is asked: also how to rank, and how many to return."""

    limit: int = 10
    offset: int | None = None
    context: int = 0
    word_weight: float | None = None
    vector_weight: float | None = None
    ranking: str | None = None
    matched: bool = False


@frozen(kw_only=True)
class FactCount(FactNarrowing):
    """What ``Store.count`` is asked."""

    tasks: bool | None = True
    include_deleted: bool = False
    pinned: bool = False
    states: Iterable[str] | None = None
    source: str | None = None
    thread: str | None = None
    episode: int | None = None


@frozen(kw_only=True)
class Page:
    """Which part of a list to return, and in what order."""

    limit: int | None = None
    offset: int = 0
    newest_first: bool = False
    before_id: int | None = None
    after_id: int | None = None


@frozen(kw_only=True)
class ProposalNarrowing:
    """What ``proposals.count`` is asked, but for the state."""

    subject: str | None = None
    category: str | None = None
    source: str | None = None
    created_after: datetime | str | None = None
    created_before: datetime | str | None = None


@frozen(kw_only=True)
class LineNarrowing:
    """What ``Store.ledger.log`` and ``changes`` are asked."""

    since: datetime | str | None = None
    until: datetime | str | None = None
    run: str | None = None
    source: str | None = None
    actor: str | None = None
    fact: int | None = None
    kinds: Iterable[str] | None = None
    limit: int | None = 50
    before: int | None = None
    after: int | None = None


@frozen(kw_only=True)
class EpisodeNarrowing(Periods):
    """Which episodes to select; what ``Episodes.count`` is asked."""

    source: str | None = None
    tags: Iterable[str] = ()
    thread: str | None = None
    speaker: str | None = None
    filters: Filters = None
    expired_after: datetime | str | None = None
    expired_before: datetime | str | None = None
    include_expired: bool = False
    namespaces: Namespaces = None


@frozen(kw_only=True)
class EpisodeSearch(EpisodeNarrowing):
    """What ``Episodes.search`` is asked: also how to rank, and how many to return."""

    limit: int = 10
    offset: int | None = None
    context: int = 0
    mode: str = "hybrid"
    alpha: float | None = None
    tag_boost: float = 0.0
    min_similarity: float | None = None
    ranking: str | None = None
    min_relevance: float | None = None


def as_given(asked: Periods) -> tuple[tuple[str, str], ...]:
    """Return the times that are asked for as texts, by name."""
    return tuple(
        (name, value.strip())
        for name, value in asdict(asked).items()
        if name in (*TIMES, "valid_on") and isinstance(value, str)
    )


def times(asked: Periods | ProposalNarrowing) -> dict[str, Any]:
    """Return the times of the periods that are asked for, by name."""
    return {
        name: (moments.after if name.endswith("after") else moments.before)(value, name)
        for name, value in asdict(asked).items()
        if name in TIMES and value is not None
    }
