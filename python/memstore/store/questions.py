"""What was asked of a store or a view, as filters and requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.filters import FactFilter
from memstore.domain import clock
from memstore.domain.arguments import (
    MAX_NUMBER,
    checked_choice,
    checked_items,
    checked_name,
    checked_number,
)
from memstore.domain.metadata import parse_filters
from memstore.domain.queries import Periods
from memstore.domain.records import STATES, TODO, selected_scope
from memstore.frozen import replace
from memstore.keywords import part
from memstore.lazy import lazy_import
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.domain import episodes as episode_records
    from memstore.domain import moments
    from memstore.domain.episodes import EpisodeHits
    from memstore.domain.namespaces import Namespaces, Reach
    from memstore.domain.queries import (
        FactCount,
        FactNarrowing,
        FactRanking,
        FactRecall,
        FactSearch,
    )
    from memstore.episodes.log import Episodes
    from memstore.search import recall, requests
    from memstore.search.past import Past
    from memstore.store.file import File
else:
    episode_records = lazy_import("memstore.domain.episodes")
    recall = lazy_import("memstore.search.recall")
    moments = lazy_import("memstore.domain.moments")
    requests = lazy_import("memstore.search.requests")


def narrowing(
    reach: Reach,
    asked: FactNarrowing,
    namespaces: Namespaces = None,
    *,
    now: datetime | None = None,
) -> FactFilter:
    """Return the filter for what a search or a list asks for."""
    subject, tasks, valid_on = asked["subject"], asked["tasks"], asked["valid_on"]
    if tasks is None:
        tasks = isinstance(subject, str) and subject_key(subject) == TODO
    return FactFilter(
        reach.select(namespaces),
        now or clock.utc_now(),
        subject=subject,
        category=asked["category"],
        metadata=parse_filters(asked["filters"]),
        scope=selected_scope(asked["scope"]),
        active_only=asked["active_only"],
        tasks=tasks,
        valid_on=None if valid_on is None else moments.period(valid_on, "valid_on"),
        created_after=clock.moment(asked["created_after"], "created_after"),
        created_before=clock.moment(asked["created_before"], "created_before"),
        valid_after=clock.moment(asked["valid_after"], "valid_after"),
        valid_before=clock.moment(asked["valid_before"], "valid_before"),
    )


def counting(reach: Reach, asked: FactCount, *, now: datetime | None = None) -> FactFilter:
    """Return the filter for what a list or a count asks for."""
    wanted = narrowing(reach, asked, now=now)
    thread = None if asked["thread"] is None else checked_name(asked["thread"], "thread")
    if asked["episode"] is not None:
        checked_number(asked["episode"], "episode", 0, MAX_NUMBER)
    wanted = replace(
        wanted,
        include_deleted=asked["include_deleted"],
        pinned=asked["pinned"],
        source=asked["source"],
        thread=thread,
        episode_id=asked["episode"],
    )
    if asked["states"] is None:
        return wanted
    given = [
        checked_choice(one, STATES, "states") for one in checked_items(asked["states"], "states")
    ]
    if given == ["active"]:  # so that counts that are kept and indexes of active facts serve
        return replace(wanted, active_only=True, include_deleted=False)
    return replace(wanted, states=tuple(one for one in STATES if one in given))


def request(
    file: File,
    reach: Reach,
    asked: FactSearch | FactRecall,
    ranking: FactRanking,
    past: Past | None = None,
) -> requests.Request[FactFilter]:
    """Return the request for a search of facts, now or at an earlier moment."""
    if asked["half_lives_seconds"] is None:
        ranking = {**ranking, "half_lives_seconds": file.half_lives_seconds}
    now = None if past is None else past.moment.at
    wanted = narrowing(reach, asked, asked["namespaces"], now=now)
    made = requests.for_facts(wanted, **ranking)
    return made if past is None else replace(made, past=past)


def episodes_beside(episodes: Episodes, query: str, asked: FactRecall) -> EpisodeHits:
    """Search the episodes too, unless there is a filter that only facts have."""
    of_facts = asked["subject"] or asked["category"] or asked["filters"] or asked["valid_on"]
    if of_facts or not asked["active_only"]:
        return episode_records.EpisodeHits()
    return episodes.search(
        query,
        limit=recall.FOUND,
        namespaces=asked["namespaces"],
        scope=asked["scope"],
        min_relevance=asked["min_relevance"],
        **part(Periods, asked),
    )
