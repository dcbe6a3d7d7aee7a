"""Selects the turns of conversations that no model has read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.journal import Kind
from memstore.database.tables.readings import NO_OPTIONS, NOT_LEARNED
from memstore.domain.episodes import TRACE
from memstore.domain.records import SCOPE_FIELDS

if TYPE_CHECKING:
    from memstore.database.engine import Transaction
    from memstore.database.filters import EpisodeFilter

UNTRIED: Final = (
    "(CASE WHEN e.thread IS NULL THEN FALSE ELSE NOT EXISTS"
    " (SELECT 1 FROM memstore_readings r WHERE r.episode_id = e.id) AND NOT EXISTS"
    f" (SELECT 1 FROM memstore_episode_tags WHERE tag = '{TRACE}' AND episode_id = e.id)"
    " AND NOT EXISTS (SELECT 1 FROM memstore_journal j JOIN memstore_taken t ON t.line = j.id"
    "  WHERE j.episode_id = e.id AND j.fact_id IS NULL AND t.device > 0"
    f"  AND j.kind IN ('{Kind.EPISODE}', '{Kind.ADOPT}')) END)"
)
"""The condition that ``memstore_episodes e`` is a turn of a conversation that was only kept: no
model was to read it. One that another device recorded is that device's to read."""

UNREAD: Final = (
    f"({UNTRIED} OR EXISTS (SELECT 1 FROM memstore_readings r"
    f" WHERE r.episode_id = e.id AND r.kind = '{NOT_LEARNED}' AND r.asked = '{NO_OPTIONS}'))"
)
"""The condition that ``memstore_episodes e`` is a turn of a conversation that no model has read."""

THREAD: Final = ("thread", *SCOPE_FIELDS)
"""What the turns of one conversation have in common."""

THREAD_INDEX: Final = "idx_memstore_episode_thread"
"""The planner would prefer to read all episodes."""


def count(transaction: Transaction, wanted: EpisodeFilter) -> int:
    """Return how many conversations have turns that no model has read.

    Of each thread, turns are read up to the first that is unread.
    """
    dialect = transaction.dialect
    where, values = wanted.where(dialect, by_id=True)
    within, its = wanted.of("s", dialect)
    threads = transaction.scalar(
        f"SELECT count(*) FROM (SELECT DISTINCT s.{', s.'.join(THREAD)} FROM memstore_episodes s"
        f" {dialect.indexed_by(THREAD_INDEX)} WHERE s.thread IS NOT NULL AND {within}) t"
        f" WHERE EXISTS (SELECT 1 FROM memstore_episodes e {dialect.indexed_by(THREAD_INDEX)}"
        f" WHERE {' AND '.join(f'e.{name} IS NOT DISTINCT FROM t.{name}' for name in THREAD)}"
        f" AND e.thread IS NOT NULL AND {where} AND {UNREAD})",
        {**values, **its},
    )
    alone = transaction.scalar(
        "SELECT count(*) FROM memstore_readings r CROSS JOIN memstore_episodes e"
        f" WHERE r.kind = '{NOT_LEARNED}' AND r.asked = '{NO_OPTIONS}' AND e.id = r.episode_id"
        f" AND e.thread IS NULL AND {where}",
        values,
    )
    return threads + alone
