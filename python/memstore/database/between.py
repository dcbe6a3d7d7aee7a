"""The facts whose state changed between two moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.dialect import SAME_OWNERS
from memstore.database.journal import UNCHANGED
from memstore.domain import clock
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.moments import Moment
    from memstore.domain.records import Scope


EXPIRED_INDEX: Final = "idx_memstore_expired"
"""Of few facts; the planner would prefer to read all facts of the owners."""


def facts(
    transaction: Transaction,
    a: Moment,
    b: Moment,
    namespaces: Sequence[str] | None,
    scope: Scope | None,
    *,
    subject: str | None = None,
    category: str | None = None,
) -> list[int]:
    """Return the ids of facts with lines between two moments, or that expired between them."""
    listed = transaction.dialect.listed
    tests = ["TRUE"]
    if namespaces is not None:
        tests.append(f"f.namespace IN {listed('namespaces')}")
    if scope is not None:
        tests.append(SAME_OWNERS)
    if subject is not None:
        tests.append("f.subject_key = :subject_key")
    if category is not None:
        tests.append("f.category = :category")
    wanted = " AND ".join(tests)
    hint = transaction.dialect.indexed_by(EXPIRED_INDEX)
    return transaction.ints(
        # CROSS: the lines between are read first; the plus keeps an index from being scanned.
        "SELECT DISTINCT +j.fact_id FROM memstore_journal j CROSS JOIN memstore_facts f"
        " WHERE f.id = +j.fact_id AND j.id > :first AND j.id <= :last"
        f" AND j.kind NOT IN {listed('unchanged')} AND {wanted}"
        f" UNION SELECT f.id FROM memstore_facts f {hint}"
        f" WHERE f.expired_at > :from_time AND f.expired_at <= :to_time AND {wanted} ORDER BY 1",
        {
            "first": a.line,
            "last": b.line,
            "unchanged": sorted(UNCHANGED),
            "from_time": clock.to_text(a.at),
            "to_time": clock.to_text(b.at),
            "namespaces": namespaces,
            "subject_key": None if subject is None else subject_key(subject),
            "category": category,
            **(scope.ids if scope else {}),
        },
    )
