"""Limits texts to what a caller may see: of others' facts and episodes, only that there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.tables import facts as fact_table
from memstore.domain.records import is_among
from memstore.history import reasons
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from memstore.database.engine import Transaction
    from memstore.domain.episodes import Episode
    from memstore.domain.log import Outline
    from memstore.domain.records import AtLeast, Fact, Scope

ANOTHER_FACT = "another fact"
ANOTHER_EPISODE = "another episode"


class Seen(NamedTuple):
    """The namespaces and owners whose facts and episodes a caller sees; ``None`` for any."""

    namespaces: Sequence[str] | None
    owners: Scope | AtLeast | None

    def sees(self, one: Fact | Episode | None) -> bool:
        """Whether its words may be shown; an erased one has none."""
        return one is not None and bool(one.content) and self._is_inside(one)

    def names(self, fact: Fact | Outline | None) -> bool:
        """Whether the id of a fact may be shown: an erased one has no owners any more."""
        if fact is None:
            return False
        if fact.status == "erased":
            return self.namespaces is None or fact.namespace in self.namespaces
        return self._is_inside(fact)

    def named(self, fact: Fact | None) -> str:
        """Return a fact's name in a text."""
        return f"fact {fact.id}" if fact is not None and self.names(fact) else ANOTHER_FACT

    def quotes(self, transaction: Transaction, evidence: Mapping[str, Any] | None) -> bool:
        """Whether all facts that the evidence of a change names may be named."""
        named = reasons.facts_in(evidence)
        known = fact_table.get_many(transaction, named) if named else {}
        return all(self.names(known.get(id_)) for id_ in named)

    def unseen(self, transaction: Transaction, fact_ids: Collection[int]) -> set[int]:
        """Return which of these facts must not be named."""
        known = fact_table.get_many(transaction, [*fact_ids]) if fact_ids else {}
        return {id_ for id_ in fact_ids if not self.names(known.get(id_))}

    def _is_inside(self, one: Fact | Outline | Episode) -> bool:
        known = self.namespaces is None or one.namespace in self.namespaces
        return known and is_among(one.scope, self.owners)
