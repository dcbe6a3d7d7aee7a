"""The seam to what is kept in the file beside the core, which does not import it: the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.changes import Changes
    from memstore.database.engine import Transaction
    from memstore.domain.entities import EntityDecision
    from memstore.domain.records import Fact


class Satellite(Protocol):
    """What is told of every erasure, inside its transaction, and examined with the file.

    The core passes it along in every process, whether or not that process uses it: a text that is
    erased must leave everything that was derived from it at once.
    """

    def forget_fact(self, changes: Changes, fact: Fact) -> None:
        """Forget a fact that is being erased; ``fact`` still has its text."""

    def forget_namespace(self, changes: Changes, namespace: str) -> None:
        """Forget all of a namespace, before its facts and episodes are erased one by one."""

    def troubles(self, transaction: Transaction) -> Iterator[tuple[str, bool]]:
        """Yield what is wrong, a sentence each, and whether :meth:`repair` mends it."""

    def repair(self, transaction: Transaction) -> list[str]:
        """Mend what can be mended, and return what was done, a sentence each."""

    def bring_decision(self, changes: Changes, namespace: str, decision: EntityDecision) -> bool:
        """Store a decision from an export; false if it is known or contradicts one made here."""
