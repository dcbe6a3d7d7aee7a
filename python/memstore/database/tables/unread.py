"""Selects the turns of conversations that no model has read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database import origins
from memstore.database.journal import Kind
from memstore.database.tables.readings import NO_OPTIONS, NOT_LEARNED
from memstore.domain.episodes import TRACE
from memstore.domain.records import SCOPE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction
    from memstore.database.filters import EpisodeFilter

_KEPT: Final = (
    "(CASE WHEN e.thread IS NULL THEN FALSE ELSE NOT EXISTS"
    " (SELECT 1 FROM memstore_readings r WHERE r.episode_id = e.id) AND NOT EXISTS"
    f" (SELECT 1 FROM memstore_episode_tags WHERE tag = '{TRACE}' AND episode_id = e.id)"
    "{} END)"
)
_OF_OTHERS: Final = (
    " AND NOT EXISTS (SELECT 1 FROM memstore_journal j JOIN memstore_taken t ON t.line = j.id"
    "  WHERE j.episode_id = e.id AND j.fact_id IS NULL AND t.device > 0"
    f"  AND j.kind IN ('{Kind.EPISODE}', '{Kind.ADOPT}'))"
)

UNTRIED: Final = _KEPT.format(_OF_OTHERS)
"""The condition that ``memstore_episodes e`` is a turn of a conversation that was only kept: no
model was to read it. One that another device recorded is that device's to read."""

_OR_NOT_LEARNED: Final = (
    " OR EXISTS (SELECT 1 FROM memstore_readings r"
    f" WHERE r.episode_id = e.id AND r.kind = '{NOT_LEARNED}' AND r.asked = '{NO_OPTIONS}')"
)

UNREAD: Final = f"({UNTRIED}{_OR_NOT_LEARNED})"
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
    # Of one set of owners, from one thread to the next one: long ones have many turns.
    first = (
        f"FROM memstore_episodes s {dialect.indexed_by(THREAD_INDEX)}"
        f" WHERE s.thread IS NOT NULL AND {within}"
    )
    names = (
        f"WITH RECURSIVE t (thread) AS (SELECT min(s.thread) {first} UNION ALL"
        f" SELECT (SELECT min(s.thread) {first} AND s.thread > t.thread)"
        " FROM t WHERE t.thread IS NOT NULL) SELECT count(*) FROM t WHERE t.thread IS NOT NULL AND"
    )
    same: tuple[str, ...] = ("thread",)
    if not wanted.is_exact or len(wanted.namespaces or ()) != 1:
        every = f"SELECT DISTINCT s.{', s.'.join(THREAD)} {first}"
        names, same = f"SELECT count(*) FROM ({every}) t WHERE", THREAD
    unread = UNREAD if origins.is_any(transaction) else f"({_KEPT.format('')}{_OR_NOT_LEARNED})"
    threads = transaction.scalar(
        f"{names} EXISTS (SELECT 1 FROM memstore_episodes e {dialect.indexed_by(THREAD_INDEX)}"
        f" WHERE {' AND '.join(f'e.{name} IS NOT DISTINCT FROM t.{name}' for name in same)}"
        f" AND e.thread IS NOT NULL AND {where} AND {unread})",
        {**values, **its},
    )
    alone = transaction.scalar(
        "SELECT count(*) FROM memstore_readings r CROSS JOIN memstore_episodes e"
        f" WHERE r.kind = '{NOT_LEARNED}' AND r.asked = '{NO_OPTIONS}' AND e.id = r.episode_id"
        f" AND e.thread IS NULL AND {where}",
        values,
    )
    return threads + alone


def are_unread(transaction: Transaction, ids: Sequence[int]) -> bool:
    """Return whether each of these turns is one that no model has read."""
    among = transaction.dialect.listed("ids")
    found = transaction.scalar(
        f"SELECT count(*) FROM memstore_episodes e WHERE e.id IN {among} AND {UNREAD}",
        {"ids": [*ids]},
    )
    return found == len({*ids})
