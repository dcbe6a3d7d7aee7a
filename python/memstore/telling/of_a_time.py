"""What is told of a time that a question asks for, where nothing is relevant to it.

That a memory is known to be of that time is evidence, too. Which of all memories is the last one,
or the first, is none (decision 256).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.frozen import replace
from memstore.search.lookups import dates
from memstore.telling.recall import Found, matching

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.search.hybrid import Search
    from memstore.search.requests import Request


def is_asked_for(query: str, now: datetime) -> bool:
    """Return whether a question asks for what was so at some time."""
    condition = dates.read(query, now).condition
    return condition is not None and bool(condition.since or condition.until or condition.event)


def known(
    query: str,
    found: Found,
    request: Request[Any],
    facts: Search[Any, Any],
    turns: Search[Any, Any],
) -> Found:
    """Return what is known to be of the time that a question asks for.

    Args:
        found: what is nearest, at any time.
        request: whose memories are searched, and when it is asked.
        facts: finds the facts, which may tell when an event was; so may what ``turns`` finds.
    """
    kept, said = [*found.facts], [*matching(found.turns)]
    if dates.with_event(query, request.wanted.now) is not None:
        if not _is_told(query, request, facts, turns, [hit.fact.id for hit in kept]):
            kept = []
        if not _is_told(query, request, turns, facts, [hit.episode.id for hit in said]):
            said = []
    return found._replace(
        facts=replace(found.facts, items=[hit for hit in kept if hit.parts.date >= 0]),
        turns=replace(
            found.turns, items=[hit for hit in said if hit.parts.date >= 0], newest_first=0
        ),
    )


def _is_told(
    query: str,
    request: Request[Any],
    search: Search[Any, Any],
    elsewhere: Search[Any, Any],
    ids: list[int],
) -> bool:
    """Whether rows of one kind, or any of the other kind, tell of the event in a question."""
    if not ids:
        return False
    found = search.about(query, {}, {}, asks=True, found=ids)
    return found.has_event or bool(elsewhere.knowing([query], request).events)
