"""Reads facts by their ids, subjects and chains, as they are or as they were at a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from memstore.database.tables import facts as fact_table
from memstore.domain import clock
from memstore.domain.arguments import MAX_QUERY, checked_id, checked_ids, checked_text
from memstore.domain.records import is_among
from memstore.errors import NotFound, Remedy
from memstore.facts import rules
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memstore.database.engine import Transaction
    from memstore.domain.log import Outline
    from memstore.domain.moments import Moment
    from memstore.domain.records import Fact
    from memstore.domain.standing import Standing
    from memstore.history import past
else:
    past = lazy_import("memstore.history.past")

F = TypeVar("F", "Fact", "Outline")

# ``moment`` is that of a view; ``None`` for now.


def then(transaction: Transaction, fact: Fact, moment: Moment | None) -> Fact:
    """Return a fact as it was.

    Raises:
        NotFound: it was stored later.
    """
    if moment is None:
        return fact
    found = past.facts_at(transaction, [fact.id], moment).get(fact.id)
    if found is None:
        raise NotFound(
            f"fact {fact.id} was stored after {clock.to_text(moment.at)}",
            remedy=Remedy.LATER_MOMENT,
        )
    return found


def get(
    transaction: Transaction, standing: Standing, fact_id: int, moment: Moment | None = None
) -> Fact:
    """Return a fact in any state, unless it was erased."""
    return then(transaction, rules.known(transaction, standing, fact_id), moment)


def get_many(
    transaction: Transaction,
    standing: Standing,
    fact_ids: Iterable[int],
    moment: Moment | None = None,
) -> list[Fact]:
    """Return those of the facts that exist and were not erased, in the order of the ids."""
    ids = [*dict.fromkeys(checked_ids(fact_ids))]
    found = fact_table.get_many(transaction, ids)
    seen = [id_ for id_ in ids if id_ in found and rules.is_seen(found[id_], standing)]
    if moment is not None:
        found = past.facts_at(transaction, seen, moment)
    return [found[id_] for id_ in seen if id_ in found]


def find(
    transaction: Transaction,
    standing: Standing,
    fact_id: int,
    namespaces: Sequence[str] | None,
    moment: Moment | None = None,
) -> Fact:
    """Return a fact of these namespaces (``None``: all) in any state, even if it was erased.

    Of an erased one the owners are not known, so whoever asks for owners does not get it.
    """
    checked_id(fact_id, "fact_id")
    fact = fact_table.get_many(transaction, checked_ids([fact_id])).get(fact_id)
    if fact is None or (namespaces is not None and fact.namespace not in namespaces):
        raise rules.not_found(fact_id, standing.namespace)
    if standing.bound is not None and fact.status == "erased":
        raise rules.not_found(fact_id, standing.namespace)
    return then(transaction, rules.of_owners(fact, standing), moment)


def chain(
    transaction: Transaction, standing: Standing, fact_id: int, moment: Moment | None = None
) -> list[Fact]:
    """Return the whole chain of any of its facts, oldest first."""
    checked_id(fact_id, "fact_id")
    if moment is not None:
        first = get(transaction, standing, fact_id, moment)
        return those_seen(past.chain_at(transaction, first.id, moment), first, standing)
    facts = fact_table.chain(transaction, fact_id)
    stored = next((fact for fact in facts if fact.id == fact_id), None)
    if stored is None:
        raise rules.not_found(fact_id, standing.namespace)
    return those_seen(facts, rules.checked(stored, standing), standing)


def chains(
    transaction: Transaction,
    standing: Standing,
    fact_ids: Sequence[int],
    moment: Moment | None = None,
) -> dict[int, list[Fact]]:
    """Return the whole chain of each fact, oldest first, without facts that do not exist."""
    if moment is not None:
        known = [fact.id for fact in get_many(transaction, standing, fact_ids, moment)]
        return {id_: chain(transaction, standing, id_, moment) for id_ in known}
    every = fact_table.chains_of(transaction, checked_ids(fact_ids))
    return {
        id_: those_seen(facts, first, standing)
        for id_, facts in every.items()
        for first in facts
        if first.id == id_ and rules.is_seen(first, standing)
    }


def of_subject(
    transaction: Transaction, standing: Standing, subject: str, moment: Moment | None = None
) -> list[Fact]:
    """Return every fact there ever was about a subject, oldest first."""
    name, owners = checked_text(subject, "subject", MAX_QUERY), standing.selected
    found = [
        fact
        for namespace in standing.namespaces
        for fact in fact_table.of_subject(transaction, namespace, name)
        if is_among(fact.scope, owners)
    ]
    if moment is not None:
        facts = past.facts_at(transaction, [fact.id for fact in found], moment)
        found = [facts[fact.id] for fact in found if fact.id in facts]
    # In one namespace they are in the order of their times, which an import keeps.
    return found if standing.shared is None else sorted(found, key=lambda fact: fact.id)


def those_seen(facts: Iterable[F], first: Fact | Outline, standing: Standing) -> list[F]:
    """Return the facts of a chain that may be seen by whoever may see one of them.

    A chain may contain facts of other owners, and in files of the original of other namespaces:
    those are left out. Erased facts have no owners any more.
    """
    return [
        fact
        for fact in facts
        if fact.namespace == first.namespace and (standing.reaches(fact) or fact.status == "erased")
    ]
