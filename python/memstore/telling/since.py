"""Finds what came after a turn and changed what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.tables import facts as fact_table
from memstore.episodes import passages
from memstore.telling.reminder import Afterwards

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact


def since(
    transaction: Transaction,
    episode: Episode,
    *,
    namespaces: Sequence[str] | None,
    found: Sequence[Episode],
) -> Afterwards | None:
    """Return the corrections of a turn in its thread, and what superseded the facts drawn from it.

    ``found`` are the turns that the search found. ``None`` if something superseded them that may
    not be shown: it was deleted, has expired, or is in another namespace or of other owners.
    """
    facts = [*_superseding(transaction, episode)]
    if any(not _may_show(fact, episode, namespaces) for fact in facts):
        return None
    return Afterwards(passages.corrections(transaction, episode, found), facts)


def _superseding(transaction: Transaction, episode: Episode) -> Iterator[Fact]:
    seen = set()
    for fact in fact_table.of_episode(transaction, episode.namespace, episode.id):
        newest = fact
        while newest.superseded_by is not None and newest.id not in seen:
            seen.add(newest.id)
            newest = fact_table.get_many(transaction, [newest.superseded_by])[newest.superseded_by]
        if newest.id not in seen and newest.episode_id != episode.id:
            seen.add(newest.id)
            yield newest


def _may_show(fact: Fact, episode: Episode, namespaces: Sequence[str] | None) -> bool:
    is_seen = namespaces is None or fact.namespace in namespaces
    return is_seen and fact.status == "active" and fact.scope == episode.scope
