"""Which episodes are turns of conversations that no model has read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.tables.readings import NO_OPTIONS, NOT_LEARNED
from memstore.domain.episodes import TRACE

if TYPE_CHECKING:
    from memstore.database.engine import Transaction
    from memstore.database.filters import EpisodeFilter

UNTRIED: Final = (
    "(CASE WHEN e.thread IS NULL THEN FALSE ELSE NOT EXISTS"
    " (SELECT 1 FROM memstore_readings r WHERE r.episode_id = e.id) AND NOT EXISTS"
    f" (SELECT 1 FROM memstore_episode_tags WHERE tag = '{TRACE}' AND episode_id = e.id) END)"
)
"""The condition that ``memstore_episodes e`` is a turn of a conversation that was only kept: no
model was to read it."""

UNREAD: Final = (
    f"({UNTRIED} OR EXISTS (SELECT 1 FROM memstore_readings r"
    f" WHERE r.episode_id = e.id AND r.kind = '{NOT_LEARNED}' AND r.asked = '{NO_OPTIONS}'))"
)
"""The condition that ``memstore_episodes e`` is a turn of a conversation that no model has read."""


def count(transaction: Transaction, wanted: EpisodeFilter) -> int:
    """Return how many conversations have turns that no model has read."""
    where, values = wanted.where(transaction.dialect, by_id=True)
    number = transaction.one(
        f"SELECT count(*) FROM (SELECT 1 FROM memstore_episodes e WHERE {where} AND {UNREAD}"
        " GROUP BY e.thread, e.user_id, e.agent_id, e.run_id,"
        " CASE WHEN e.thread IS NULL THEN e.id END) unread",
        values,
    )
    return int(number[0]) if number else 0
