"""What is told of facts where they are some of many: their claims, and whose they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.tables import facts
from memstore.domain.log import Outline
from memstore.domain.records import scope_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction


def of_facts(transaction: Transaction, fact_ids: Sequence[int]) -> dict[int, Outline]:
    """Return what is told of facts that are some of many, by id. The caller has filtered the ids.

    Those that were deleted or are distrusted are read as a whole: what they are depends on more.
    """
    rows = transaction.rows(
        "SELECT f.id, f.uuid, f.namespace, f.subject, f.content, f.user_id, f.agent_id, f.run_id,"
        " f.deleted_at IS NOT NULL OR f.id IN (SELECT fact_id FROM memstore_distrusted)"
        f" FROM memstore_facts f WHERE f.id IN {transaction.dialect.listed('ids')}",
        {"ids": fact_ids},
    )
    found = {}
    others = []
    for id_, uuid, namespace, subject, content, *owners, is_other in rows:
        found[id_] = Outline(id_, uuid, namespace, subject, content, scope_of(*owners))
        if is_other:
            others.append(id_)
    for id_, fact in facts.get_many(transaction, others).items() if others else ():
        if fact.status in OUTLINED_STATES:
            found[id_] = found[id_]._replace(status=fact.status)
    return found


OUTLINED_STATES: Final = ("erased", "distrusted")
