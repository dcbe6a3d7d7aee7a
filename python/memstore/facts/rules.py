"""Rules of facts: which may be seen, what may happen to one in its state, and which are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from memstore.database import journal
from memstore.database.journal import Kind
from memstore.database.tables import facts as fact_table
from memstore.domain import metadata
from memstore.domain.arguments import checked_id, shown
from memstore.domain.records import NOBODY
from memstore.errors import Conflict, InvalidArgument, NotFound, Remedy
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.domain.log import Outline
    from memstore.domain.records import Fact, NewFact
    from memstore.domain.standing import Standing
    from memstore.domain.trust import Credit

F = TypeVar("F", "Fact", "Outline")


def check_task(new: NewFact, credit: Credit) -> None:
    """Refuse a task made of the text of others."""
    if credit.is_foreign and fact_table.is_task(new.subject, new.metadata):
        raise Conflict(
            f"text from {credit.source!r} cannot become a task", remedy=Remedy.TRUST_SOURCE
        )


def equal(fact: Fact, new: NewFact) -> bool:
    """Return whether a fact has the same category, metadata and expiry as a new one."""
    return (
        subject_key(fact.category) == subject_key(new.category or "")
        and fact.expired_at == new.expired_at
        and metadata.same(fact.metadata, new.metadata or {})
    )


def covers(fact: Fact, new: NewFact) -> bool:
    """Return whether a fact's metadata includes all the metadata of a new one."""
    shared = {key: fact.metadata[key] for key in new.metadata or {} if key in fact.metadata}
    return metadata.same(shared, new.metadata or {})


def standing(fact: Fact) -> str:
    if fact.status == "superseded":
        return f"superseded by fact {fact.superseded_by}"
    return fact.status


def way_out(fact: Fact) -> Remedy | None:
    ways = {
        "superseded": Remedy.USE_NEWEST,
        "deleted": Remedy.RESTORE,
        "distrusted": Remedy.TRUST_SOURCE,
    }
    return ways.get(fact.status)


def not_found(fact_id: int, namespace: str) -> NotFound:
    return NotFound(
        f"there is no fact {shown(fact_id)} in namespace {namespace!r}", remedy=Remedy.FIND_ID
    )


def check_alike(old: Fact, new: Fact | NewFact) -> None:
    """Refuse a supersession across subjects, or between a task and a fact."""
    if subject_key(old.subject) != subject_key(new.subject):
        raise Conflict(
            f"fact {old.id} is about {old.subject!r}, but the fact to supersede it is about "
            f"{new.subject!r}",
            remedy=Remedy.SAY_ANY_SUBJECT,
        )
    is_task = fact_table.is_task(new.subject, new.metadata)
    if fact_table.is_task(old.subject, old.metadata) != is_task:
        old_kind, new_kind = ("not a task", "one") if is_task else ("a task", "not")
        raise Conflict(
            f"fact {old.id} is {old_kind}, but the fact to supersede it is {new_kind}",
            remedy=Remedy.SAY_ANY_SUBJECT,
        )


def check_unretired(fact: Fact) -> None:
    """Refuse a fact that is superseded or deleted; it may have expired."""
    if fact.status in ("superseded", "deleted"):
        raise Conflict(f"fact {fact.id} is {standing(fact)}", remedy=way_out(fact))


def check_holds(valid_at: datetime | None, expired_at: datetime | None) -> None:
    """Refuse an expiry before the time from which a fact is valid."""
    if expired_at and valid_at and expired_at <= valid_at:
        raise InvalidArgument(
            "is not after the time from which the fact is valid, so it would never hold",
            argument="expired_at",
        )


def check_undeleted(fact: Fact) -> None:
    if fact.deleted_at is not None:
        raise Conflict(f"fact {fact.id} is deleted", remedy=Remedy.RESTORE)


def stored(transaction: Transaction, namespaces: Sequence[str], fact_id: int) -> Fact:
    """Return one fact of these namespaces, even if it was erased."""
    checked_id(fact_id, "fact_id")
    for namespace in namespaces:
        fact = fact_table.get(transaction, fact_id, namespace)
        if fact is not None:
            return fact
    raise not_found(fact_id, namespaces[0])


def known(transaction: Transaction, standing: Standing, fact_id: int) -> Fact:
    """Return one fact of a standing, unless it was erased.

    Facts of other owners are not found: knowing an id gives no access.
    """
    return checked(stored(transaction, standing.namespaces, fact_id), standing)


def checked(fact: F, standing: Standing) -> F:
    """Return a fact if it is in the namespaces of a standing and of its owners, and not erased."""
    if not is_seen(fact, standing):
        raise not_found(fact.id, standing.namespace)
    return fact


def of_owners(fact: Fact, standing: Standing) -> Fact:
    """Return a fact if it is of the owners of a standing."""
    if not standing.reaches(fact):
        raise not_found(fact.id, standing.namespace)
    return fact


def is_seen(fact: Fact | Outline, standing: Standing) -> bool:
    """Return whether a fact is in the namespaces, of the owners, and not erased."""
    is_inside = fact.namespace in standing.namespaces and standing.reaches(fact)
    return is_inside and fact.status != "erased"


def reached(transaction: Transaction, standing: Standing, fact_id: int) -> Fact:
    """Return one fact of a standing, even if it was erased: then it has no owners any more.

    Whoever asks for owners of their own does not get an erased one.
    """
    fact = stored(transaction, standing.namespaces, fact_id)
    if fact.status != "erased" or standing.bound not in (None, NOBODY):
        return checked(fact, standing)
    return fact


def confirmed_by(transaction: Transaction, fact: Fact, episode_id: int) -> bool:
    """Return whether an episode states or has confirmed a fact."""
    return fact.episode_id == episode_id or any(
        line.kind == Kind.CONFIRM and (line.evidence or {}).get("episode") == episode_id
        for line in journal.of_fact(transaction, fact.id)
    )
