"""What the facts drawn from a conversation are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction


def subjects_of_threads(
    transaction: Transaction, ids: Sequence[int], last_fact: int
) -> dict[tuple[str, str], set[str]]:
    """Return the subjects of the facts drawn from the threads of some episodes, by their keys.

    A thread is its namespace and its name, among the owners of the episode. No fact after
    ``last_fact`` counts.
    """
    owners = " AND ".join(
        f"turn.{one} IS NOT DISTINCT FROM e.{one}" for one in ("user_id", "agent_id", "run_id")
    )
    found: dict[tuple[str, str], set[str]] = {}
    for namespace, thread, subject in transaction.rows(
        "SELECT DISTINCT e.namespace, e.thread, f.subject_key FROM memstore_episodes e"
        " JOIN memstore_episodes turn ON turn.namespace = e.namespace AND turn.thread = e.thread"
        f" AND {owners} JOIN memstore_facts f ON f.episode_id = turn.id AND f.id <= :last"
        f" WHERE e.id IN {transaction.dialect.listed('ids')}",
        {"ids": ids, "last": last_fact},
    ):
        found.setdefault((namespace, thread), set()).add(subject)
    return found
