"""What the facts drawn from a conversation are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.dialect import same_owners
from memstore.domain import project_names
from memstore.domain.records import SCOPE_FIELDS, Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter

FACTS_OF_EPISODE: Final = "idx_memstore_fact_episode"
"""Named, because SQLite's planner would prefer to read all facts of a namespace."""

OF_NO_PROJECT: Final = ", ".join(f"'{one}'" for one in project_names.ABOUT_THE_USER)


def subjects_of_threads(
    transaction: Transaction, ids: Sequence[int], wanted: FactFilter, last_fact: int
) -> dict[tuple[str, Scope, str], set[str]]:
    """Return the subjects of the facts drawn from the threads of some episodes, by their keys.

    A thread is its namespace, its owners and its name. Facts count that pass a filter, come no
    later than ``last_fact`` and are not about the user.
    """
    owners = ", ".join(f"e.{one}" for one in SCOPE_FIELDS)
    where, values = wanted.where(transaction.dialect)
    found: dict[tuple[str, Scope, str], set[str]] = {}
    for namespace, thread, subject, *ids_of_owners in transaction.rows(
        f"SELECT DISTINCT e.namespace, e.thread, f.subject_key, {owners} FROM memstore_episodes e"
        " JOIN memstore_episodes turn ON turn.namespace = e.namespace AND turn.thread = e.thread"
        f" AND {same_owners('turn', 'e')}"
        f" JOIN memstore_facts f {transaction.dialect.indexed_by(FACTS_OF_EPISODE)}"
        " ON f.episode_id = turn.id AND f.id <= :last"
        f" AND f.category_key NOT IN ({OF_NO_PROJECT}) AND {where}"
        f" WHERE e.id IN {transaction.dialect.listed('ids')}",
        {**values, "ids": ids, "last": last_fact},
    ):
        scope = Scope(**dict(zip(SCOPE_FIELDS, ids_of_owners, strict=True)))
        found.setdefault((namespace, scope, thread), set()).add(subject)
    return found
