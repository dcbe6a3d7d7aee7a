"""Turns what a store or a view is asked into filters and requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memstore.database.filters import FactFilter
from memstore.database.journal import Kind
from memstore.domain import clock
from memstore.domain.arguments import (
    MAX_NUMBER,
    MAX_QUERY,
    checked_choice,
    checked_items,
    checked_name,
    checked_number,
    checked_page,
    checked_text,
    stored_text,
)
from memstore.domain.metadata import parse_filters
from memstore.domain.queries import FactRanking, FactRecall, Periods, as_given, times
from memstore.domain.records import STATES, TODO
from memstore.frozen import replace
from memstore.keywords import part
from memstore.lazy import lazy_import
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from memstore.database import changed_facts
    from memstore.domain import episodes as episode_records
    from memstore.domain import log as logs
    from memstore.domain import moments
    from memstore.domain.episodes import EpisodeHits
    from memstore.domain.log import Act
    from memstore.domain.queries import (
        ActList,
        DifferenceList,
        FactCount,
        FactNarrowing,
        FactSearch,
    )
    from memstore.domain.records import Fact
    from memstore.domain.standing import Standing
    from memstore.episodes.episodes import Episodes
    from memstore.history import differences as comparing
    from memstore.history import log as telling
    from memstore.history import moments as finding
    from memstore.history.differences import Differences
    from memstore.search import recall, requests
    from memstore.search import why_not as following
    from memstore.search.past import Past
    from memstore.search.why_not import WhyNot
    from memstore.store.file import File
else:
    changed_facts = lazy_import("memstore.database.changed_facts")
    episode_records = lazy_import("memstore.domain.episodes")
    logs = lazy_import("memstore.domain.log")
    comparing = lazy_import("memstore.history.differences")
    telling = lazy_import("memstore.history.log")
    finding = lazy_import("memstore.history.moments")
    recall = lazy_import("memstore.search.recall")
    moments = lazy_import("memstore.domain.moments")
    requests = lazy_import("memstore.search.requests")
    following = lazy_import("memstore.search.why_not")


def narrowing(
    standing: Standing, asked: FactNarrowing, *, now: datetime | None = None
) -> FactFilter:
    """Return the filter for what a search or a list asks for."""
    if asked["external_key_prefix"] is not None:
        stored_text(asked["external_key_prefix"], "external_key_prefix")
    subject, tasks, valid_on = asked["subject"], asked["tasks"], asked["valid_on"]
    if tasks is None:
        tasks = isinstance(subject, str) and subject_key(subject) == TODO
    return FactFilter(
        standing.select(asked["namespaces"]),
        now or clock.utc_now(),
        subject=subject,
        category=asked["category"],
        metadata=parse_filters(asked["filters"]),
        external_key_prefix=asked["external_key_prefix"],
        scope=standing.selected,
        active_only=asked["active_only"],
        tasks=tasks,
        valid_on=None if valid_on is None else moments.period(valid_on, "valid_on"),
        given=as_given(asked),
        **times(asked),
    )


def counting(standing: Standing, asked: FactCount, *, now: datetime | None = None) -> FactFilter:
    """Return the filter for what a list or a count asks for."""
    wanted = narrowing(standing, asked, now=now)
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
    standing: Standing,
    asked: FactSearch | FactRecall,
    ranking: FactRanking,
    past: Past | None = None,
) -> requests.Request[FactFilter]:
    """Return the request for a search of facts, now or at an earlier moment."""
    if asked["half_lives_seconds"] is None:
        ranking = {**ranking, "half_lives_seconds": file.half_lives_seconds}
    now = None if past is None else past.moment.at
    wanted = narrowing(standing, asked, now=now)
    wanted = replace(wanted, searched=True)
    made = requests.for_facts(wanted, **ranking)
    return replace(made, past=past, without_rules=file.without_rules)


def episodes_beside(episodes: Episodes, query: str, asked: FactRecall) -> EpisodeHits:
    """Search the episodes too, unless there is a filter that only facts have."""
    of_facts = asked["subject"] or asked["category"] or asked["filters"] or asked["valid_on"]
    if of_facts or asked["external_key_prefix"] is not None or not asked["active_only"]:
        return episode_records.EpisodeHits()
    return episodes.search(
        query,
        limit=recall.FOUND,
        namespaces=asked["namespaces"],
        min_relevance=asked["min_relevance"],
        **part(Periods, asked),
    )


class Budget(NamedTuple):
    """How many tokens a recall may have, counted by the model's own counter or the built-in one."""

    max_tokens: int | None
    counter: Callable[[str], int] | None


def why_not(
    file: File,
    standing: Standing,
    episodes: Episodes | None,
    query: str,
    fact: Fact,
    asked: FactSearch,
    budget: Budget,
    past: Past | None = None,
) -> WhyNot:
    """Return why a search, or a recall with a budget, does not find a fact, now or then.

    Args:
        file: the file.
        standing: of the store.
        episodes: those that the recall has, too; ``None`` for none.
        query: the query.
        fact: a fact that the caller may see.
        asked: the keywords of the search.
        budget: of a recall; without a number, it is a search.
        past: the moment of a view.
    """
    max_tokens, counter = budget
    ranking = part(FactRanking, asked)
    if max_tokens is not None:
        checked_number(max_tokens, "max_tokens", 1, MAX_NUMBER)
        ranking = {**part(FactRanking, part(FactRecall, asked)), "limit": recall.FOUND}
    made = request(file, standing, asked, ranking, past)
    outcome, hits = file.searches.facts.examine(query, made, following.examined(fact, made))
    if max_tokens is None or outcome.stage != "found":
        return outcome
    turns = episode_records.EpisodeHits()
    if episodes is not None:
        turns = episodes_beside(episodes, query, part(FactRecall, asked))
    with file.engine.read() as transaction:
        marks = recall.sources_of(transaction, hits, turns)
    return following.recalled(outcome, hits, turns, max_tokens, counter, marks)


def changed(
    after: datetime | str | None, before: datetime | str | None
) -> tuple[datetime | None, datetime | None]:
    """Return the times between which something changed last."""
    return (
        moments.after(after, "changed_after"),
        moments.before(before, "changed_before"),
    )


def first_time(file: File, standing: Standing, since: datetime | str | None) -> datetime | None:
    """Return the time from which on a caller asks for changes."""
    if since is None:
        return None
    with file.engine.read() as transaction:
        return finding.first_time(transaction, since, standing)


def last_time(file: File, standing: Standing, until: datetime | str | None) -> datetime | None:
    """Return the time up to which a caller asks for changes."""
    if until is None:
        return None
    with file.engine.read() as transaction:
        return finding.last_time(transaction, until, standing)


def acts(
    file: File,
    standing: Standing,
    asked: ActList,
    last: int | None = None,
) -> list[Act]:
    """Return the acts that are asked for, up to that of the line ``last``."""
    before = asked["before"]
    if last is not None:
        before = last + 1 if before is None else min(before, last + 1)
    wanted = logs.log_filter(
        since=first_time(file, standing, asked["since"]),
        until=last_time(file, standing, asked["until"]),
        run=asked["run"],
        source=asked["source"],
        actor=asked["actor"],
        fact=asked["fact"],
        kinds=asked["kinds"],
        known=[*Kind],
        limit=asked["limit"],
        before=before,
        after=asked["after"],
    )
    return telling.acts(file.engine, wanted, standing)


def differences(
    file: File,
    standing: Standing,
    a: datetime | str,
    b: datetime | str,
    asked: DifferenceList,
) -> Differences:
    """Return the differences that are asked for."""
    limit, offset = asked["limit"], asked["offset"]
    checked_page(limit, offset)
    for name, text in (("subject", asked["subject"]), ("category", asked["category"])):
        if text is not None:
            checked_text(text, name, MAX_QUERY)
    wanted = changed_facts.DifferenceFilter(
        standing.namespaces,
        standing.selected,
        subject=asked["subject"],
        category=asked["category"],
    )
    return comparing.differences(file.engine, a, b, wanted, standing, limit=limit, offset=offset)
