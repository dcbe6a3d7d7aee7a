"""Facts with the facts that they replaced, as lists show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.domain.records import Fact
    from memstore.store.store import Store


class Row(NamedTuple):
    """A fact in a list.

    Attributes:
        older: what it replaced, oldest first.
    """

    fact: Fact
    older: tuple[Fact, ...] = ()


def rows(store: Store, facts: Sequence[Fact]) -> list[Row]:
    """Return facts with what each replaced, by one read for all of them."""
    chains = store.ledger.histories([fact.id for fact in facts])
    return [Row(fact, older(fact, chains.get(fact.id, []))) for fact in facts]


def older(fact: Fact, chain: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the facts of a chain before one of them."""
    ids = [one.id for one in chain]
    return tuple(chain[: ids.index(fact.id)]) if fact.id in ids else ()
