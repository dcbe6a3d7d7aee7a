"""The keywords of searches, lists and counts of facts and of episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypedDict

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


class Periods(TypedDict, total=False):
    """When something was stored, and since when it is valid."""

    created_after: datetime | str | None
    created_before: datetime | str | None
    valid_after: datetime | str | None
    valid_before: datetime | str | None


class FactNarrowing(Periods, total=False):
    """Which facts to select."""

    subject: str | None
    category: str | None
    filters: Filters
    namespaces: Namespaces
    external_key_prefix: str | None
    active_only: bool
    tasks: bool | None
    valid_on: datetime | str | None


class FactRanking(TypedDict, total=False):
    """How facts are ranked, and how many are returned."""

    limit: int
    offset: int | None
    context: int
    word_weight: float | None
    vector_weight: float | None
    half_lives_seconds: Mapping[str, float] | None
    ranking: str | None
    min_relevance: float | None
    matched: bool


class FactSearch(FactNarrowing, FactRanking, total=False):
    touch: bool


class FactRecall(FactNarrowing, total=False):
    """The keywords of ``Store.recall`` and ``Store.turns_for``."""

    half_lives_seconds: Mapping[str, float] | None
    min_relevance: float | None
    touch: bool


class FactCount(FactNarrowing, total=False):
    include_deleted: bool
    pinned: bool
    states: Iterable[str] | None
    source: str | None
    thread: str | None
    episode: int | None


class Page(TypedDict, total=False):
    """Which part of a list to return, and in what order."""

    limit: int | None
    offset: int
    newest_first: bool
    before_id: int | None
    after_id: int | None


class FactList(FactCount, Page, total=False):
    """The keywords of ``Store.list``."""


class ProposalNarrowing(TypedDict, total=False):
    """Which proposals to select; the keywords of ``proposals.count``."""

    subject: str | None
    category: str | None
    source: str | None
    created_after: datetime | str | None
    created_before: datetime | str | None


class ProposalList(ProposalNarrowing, total=False):
    """The keywords of ``proposals.list``."""

    limit: int | None
    after_id: int | None


class ActList(TypedDict, total=False):
    """The keywords of ``Store.ledger.log``."""

    since: datetime | str | None
    until: datetime | str | None
    run: str | None
    source: str | None
    actor: str | None
    fact: int | None
    kinds: Iterable[str] | None
    limit: int | None
    before: int | None
    after: int | None


class DifferenceList(TypedDict, total=False):
    """The keywords of ``Store.ledger.diff``."""

    subject: str | None
    category: str | None
    limit: int | None
    offset: int


class EpisodeChoice(Periods, total=False):
    """Which active episodes of a store's own namespace; keywords of ``Episodes.pop``."""

    source: str | None
    tags: Iterable[str]
    thread: str | None
    speaker: str | None
    filters: Filters


class EpisodeNarrowing(EpisodeChoice, total=False):
    """Which episodes to select; the keywords of ``Episodes.count``."""

    expired_after: datetime | str | None
    expired_before: datetime | str | None
    include_expired: bool
    namespaces: Namespaces


class EpisodeList(EpisodeNarrowing, Page, total=False):
    """The keywords of ``Episodes.list``."""


class EpisodeRanking(TypedDict, total=False):
    """How episodes are ranked, and how many are returned."""

    limit: int
    offset: int | None
    context: int
    mode: str
    alpha: float | None
    tag_boost: float
    min_similarity: float | None
    ranking: str | None
    min_relevance: float | None


class EpisodeSearch(EpisodeNarrowing, EpisodeRanking, total=False):
    """The keywords of ``Episodes.search``."""


def as_given(asked: FactNarrowing | EpisodeChoice) -> tuple[tuple[str, str], ...]:
    """Return the times that are asked for as texts, by keyword."""
    return tuple(
        (name, value.strip())
        for name, value in asked.items()
        if name in (*TIMES, "valid_on") and isinstance(value, str)
    )


def times(asked: FactNarrowing | EpisodeChoice | ProposalNarrowing) -> dict[str, Any]:
    """Return the times of the periods that are asked for, by keyword."""
    return {
        name: (moments.after if name.endswith("after") else moments.before)(value, name)  # type: ignore[arg-type]
        for name, value in asked.items()
        if name in TIMES and value is not None
    }
