"""The interface to the graph, which is stored in the same file but not imported by the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.changes import Changes
    from memstore.database.engine import Transaction
    from memstore.domain.entities import EntityDecision
    from memstore.domain.records import Fact


class Dependents(Protocol):
    """Derived data that follows every erasure, and that the doctor checks with the file.

    Every process passes it along, even if it does not use it: erased text must disappear at once
    from everything that was derived from it.
    """

    def forget_fact(self, changes: Changes, fact: Fact) -> None:
        """Forget a fact that is being erased; ``fact`` still has its text."""

    def forget_build(self, changes: Changes, namespace: str) -> None:
        """Discard what was built of a namespace as a whole, before many of its facts are erased."""

    def forget_namespace(self, changes: Changes, namespace: str) -> None:
        """Forget a whole namespace, before its facts and episodes are erased one by one.

        The rows of its graph are discarded, for the caller to remove some at a time.
        """

    def troubles(self, transaction: Transaction) -> Iterator[tuple[str, bool]]:
        """Yield each problem as a sentence, and whether :meth:`repair` fixes it."""

    def repair(self, transaction: Transaction) -> list[str]:
        """Repair what can be repaired; return a sentence for each repair."""

    def bring_decision(
        self,
        changes: Changes,
        namespace: str,
        decision: EntityDecision,
        erased: Sequence[Fact] = (),
    ) -> bool:
        """Store a decision from an export, unless it is known or contradicts a local one.

        Nor is it stored if it has a name that only these facts have, which were erased here.
        """
