"""The order of the facts of a chain, and chains that are circles."""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from memstore.domain.records import Fact


def in_order(chain: Iterable[Fact]) -> list[Fact]:
    """Put each fact before the one that supersedes it: a clock that was set back gives no order."""
    facts = sorted(chain, key=_place)
    places = {fact.id: place for place, fact in enumerate(facts)}
    next_places = [places.get(fact.superseded_by or 0, len(facts)) for fact in facts]
    if all(following > place for place, following in enumerate(next_places)):
        return facts
    later = Counter(fact.superseded_by for fact in facts)
    ready = [place for place, fact in enumerate(facts) if not later[fact.id]]
    found: dict[int, Fact] = {}
    while ready:
        fact = facts[heappop(ready)]
        found[fact.id] = fact
        later[fact.superseded_by] -= 1
        if fact.superseded_by in places and not later[fact.superseded_by]:
            heappush(ready, places[fact.superseded_by])
    return [*found.values(), *(fact for fact in facts if fact.id not in found)]  # a circle is last


def older(history: Iterable[Fact], fact_id: int) -> Fact | None:
    """Return the newest fact that one of a chain superseded, and that can be reinstated."""
    superseded = (fact for fact in history if fact.superseded_by == fact_id)
    return max(
        (fact for fact in superseded if fact.status == "superseded"),
        key=lambda fact: fact.id,
        default=None,
    )


def circles(successors: Mapping[int, int | None]) -> list[list[int]]:
    """Return each circle of facts that supersede each other, as sorted ids."""
    found: list[list[int]] = []
    ended: set[int] = set()
    for start in successors:
        path: list[int] = []
        here: int | None = start
        while here is not None and here in successors and here not in ended:
            ended.add(here)
            path.append(here)
            here = successors[here]
        if here in path:
            found.append(sorted(path[path.index(here) :]))
    return found


def _place(fact: Fact) -> tuple[bool, datetime, int]:
    # The newest of a chain is last, even if an import gave it a smaller id.
    return fact.superseded_by is None, fact.superseded_at or fact.created_at, fact.id
