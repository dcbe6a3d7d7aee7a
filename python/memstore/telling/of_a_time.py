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


def is_asked_for(query: str, now: datetime) -> bool:
    """Return whether a question asks for what was so at some time."""
    condition = dates.read(query, now).condition
    return condition is not None and bool(condition.since or condition.until or condition.event)


def known(
    query: str, now: datetime, found: Found, facts: Search[Any, Any], turns: Search[Any, Any]
) -> Found:
    """Return what is known to be of the time that a question asks for.

    Args:
        found: what is nearest, at any time.
        facts: finds the facts, and knows by them alone when an event was; the same of ``turns``.
    """
    condition = dates.read(query, now).condition
    kept, said = [*found.facts], [*matching(found.turns)]
    if condition is not None and condition.event:
        if not _is_told(query, facts, [hit.fact.id for hit in kept]):
            kept = []
        if not _is_told(query, turns, [hit.episode.id for hit in said]):
            said = []
    return found._replace(
        facts=replace(found.facts, items=[hit for hit in kept if hit.parts.date >= 0]),
        turns=replace(
            found.turns, items=[hit for hit in said if hit.parts.date >= 0], newest_first=0
        ),
    )


def _is_told(query: str, search: Search[Any, Any], ids: list[int]) -> bool:
    return search.about(query, {}, {}, asks=True, found=ids).has_event
