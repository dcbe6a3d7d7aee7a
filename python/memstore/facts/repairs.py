"""Taking back a deletion, a supersession or a consolidation, in an open transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.database import journal
from memstore.database.journal import Kind
from memstore.database.tables import facts as fact_table
from memstore.database.tables import generations as generation_table
from memstore.database.tables import vectors as vector_table
from memstore.domain.repairs import RepairedFact
from memstore.errors import Conflict, Remedy
from memstore.facts import rules
from memstore.facts.checks import Prepared
from memstore.frozen import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memstore.database.engine import Transaction
    from memstore.domain.records import Fact
    from memstore.facts.writer import FactWriter


def restore(writer: FactWriter, fact: Fact) -> RepairedFact:
    """Restore a deleted fact, or the text of a superseded one as the newest of its chain."""
    if fact.deleted_at is not None:
        back = writer.restore(fact)
        newer = None if back.superseded_by is None else _newest(writer, fact)
        return RepairedFact.of(back, "restore", newer=newer)
    if fact.superseded_by is None:
        raise Conflict(f"fact {fact.id} is {rules.standing(fact)}, so there is nothing to restore")
    chain = {one.id: one for one in fact_table.chain(writer.transaction, fact.id)}
    newest = [*chain.values()][-1]
    if newest.deleted_at is not None:
        raise Conflict(
            f"the newest fact of this chain, fact {newest.id}, is {newest.status}",
            remedy=Remedy.RESTORE if newest.content else Remedy.ADD_AGAIN,
        )
    replaced, step = [fact], fact
    while step.superseded_by in chain and step.superseded_by != newest.id:
        replaced.append(step := chain[step.superseded_by])
    others = [
        one
        for step in replaced
        for one in _superseded_with(writer.transaction, step)
        if writer.standing.reaches(one)
    ]
    back = writer.insert(_copy(writer.transaction, fact, newest.id), decided=True)
    others_back = _back_too(writer, others)
    return RepairedFact.of(back, "restore", others=others_back, newer=writer.known(newest.id))


def reinstate(writer: FactWriter, fact: Fact) -> RepairedFact:
    """Store the text of a superseded fact again, next to the fact that superseded it."""
    if fact.status != "superseded":
        raise Conflict(
            f"fact {fact.id} is {rules.standing(fact)}, not superseded, so there is nothing to "
            "reinstate",
            remedy=rules.way_out(fact),
        )
    copy = _copy(writer.transaction, fact, None)
    same = writer.same(copy)
    if same is not None:
        raise Conflict(f"active fact {same.id} already says the same as fact {fact.id}")
    others = [
        one for one in _superseded_with(writer.transaction, fact) if writer.standing.reaches(one)
    ]
    back = writer.insert(copy, {"reinstates": fact.id})
    if fact.pinned_at is not None:
        back = writer.pin(back, {"reinstates": fact.id})
    others_back = _back_too(writer, others)
    return RepairedFact.of(back, "reinstate", others=others_back, newer=_newest(writer, fact))


def again(writer: FactWriter, fact: Fact, evidence: Mapping[str, Any]) -> Fact:
    """Return the active fact with the text of a superseded one, storing it if necessary.

    A new one has the old one's time of creation and derivation.
    """
    copy = _copy(writer.transaction, fact, None)
    copy = replace(copy, derivation=fact.derivation, created_at=fact.created_at)
    return writer.same(copy) or writer.insert(copy, evidence)


def _copy(transaction: Transaction, fact: Fact, supersedes: int | None) -> Prepared:
    """Return a new fact with the text of an old one, which was checked when it was stored."""
    active = generation_table.active(transaction)
    return Prepared(
        content=fact.content,
        subject=fact.subject,
        category=fact.category,
        metadata=fact.metadata,
        supersedes=supersedes,
        any_subject=True,  # the chain may already cross subjects
        valid_at=fact.valid_at,
        source=fact.source,
        episode_id=fact.episode_id,
        thread=fact.thread,
        seq=fact.seq,
        slots=fact.slots,
        unsearched=fact.unsearched,
        encoded=fact_table.encoded(fact),
        blob=vector_table.get(transaction, vector_table.FACTS, active.id, fact.id),
        model=active.model,
        **fact.scope.ids,
    )


def _newest(writer: FactWriter, fact: Fact) -> Fact | None:
    """Return the newest fact of a chain, unless it is of owners that are not reached."""
    newest = fact_table.chain(writer.transaction, fact.id)[-1]
    return newest if writer.standing.reaches(newest) else None


def _superseded_with(transaction: Transaction, fact: Fact) -> list[Fact]:
    """Return the facts that were superseded together with one, by a consolidation.

    They are found by each fact's own lines, because the ids inside a line may be those of the
    file that it was imported from.
    """
    retired = fact_table.superseded_by(transaction, fact.superseded_by or 0)
    together = {
        line.fact_id
        for line in journal.of_facts(transaction, [one.id for one in retired])
        if line.kind == Kind.SUPERSEDE and "consolidates" in (line.evidence or {})
    }
    if fact.id not in together:
        return []
    return [one for one in retired if one.id in together and one.id != fact.id]


def _back_too(writer: FactWriter, others: Iterable[Fact]) -> tuple[Fact, ...]:
    """Bring back the facts of an undone consolidation, except those deleted since."""
    found = []
    for one in others:
        copy = _copy(writer.transaction, one, None)
        if one.deleted_at is None and writer.same(copy) is None:
            found.append(writer.insert(copy, {"reinstates": one.id}))
    return tuple(found)
