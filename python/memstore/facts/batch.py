"""Several changes, applied together or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from memstore.database.tables import proposals as proposal_table
from memstore.domain import metadata
from memstore.domain.arguments import MAX_NUMBER, checked_id, checked_number
from memstore.domain.records import NewFact
from memstore.errors import Conflict, InvalidArgument, InvalidArgumentType
from memstore.facts import keyed, provenance, rules
from memstore.facts.rules import check_alike, covers
from memstore.frozen import frozen
from memstore.text.folding import spaced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from memstore.domain.records import Fact
    from memstore.facts.checks import Prepared
    from memstore.facts.transactions import FactTransactions
    from memstore.facts.writer import FactWriter


@frozen
class MayReplace:
    """Propose that the new fact replaces an active one; nothing is retired yet."""

    fact_id: int
    similarity: float = 0.0
    """Cosine of the two contents, stored with the proposal."""


@frozen
class MayYieldTo:
    """Propose that an active fact, which was said later, replaces the new one."""

    fact_id: int
    similarity: float = 0.0
    """Cosine of the two contents, stored with the proposal."""


@frozen
class YieldsTo:
    """Let an active fact, which was said later and contradicts the new one, supersede it."""

    fact_id: int


@frozen
class AlsoReplaces:
    """Let the new fact supersede a further active one."""

    fact_id: int
    evidence: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class AddFact:
    """Store a fact; with ``fact.supersedes`` it replaces an active one.

    If it has neither a thread nor an episode, it takes the replaced fact's place in its thread.
    """

    fact: NewFact
    unless_known: bool = False
    """If an active fact of the same owners, with all of the new one's metadata, already says this,
    store nothing: confirm that fact, and let it supersede what the new one would have."""
    precedence: MayReplace | MayYieldTo | YieldsTo | None = None
    """Which takes precedence, it or an active fact that it does not simply replace."""
    also: tuple[AlsoReplaces, ...] = ()
    """Further active facts that it replaces, whatever their subject; not with ``precedence``."""
    evidence: Mapping[str, Any] | None = None
    """The reasons; journalled with the retired or proposed fact, else with the new one."""


@frozen(kw_only=True)
class SupersedeFact:
    """Let a stored fact supersede another one."""

    old_id: int
    new_id: int
    any_subject: bool = False
    """Allow different subjects, or a task and a fact."""
    evidence: Mapping[str, Any] | None = None


@frozen(kw_only=True)
class DeleteFact:
    """Delete an active fact; it can be restored."""

    fact_id: int
    evidence: Mapping[str, Any] | None = None
    at: datetime | None = None
    """When it counts as deleted, ``None`` for now. Facts deleted at one moment, even by several
    transactions, can be restored together: :meth:`memstore.Store.ledger.restore_deleted`."""


@frozen(kw_only=True)
class KeepFact:
    """Keep an active fact as it is, and record that in the journal."""

    fact_id: int
    evidence: Mapping[str, Any] | None = None


Change: TypeAlias = AddFact | SupersedeFact | DeleteFact | KeepFact


@frozen(kw_only=True)
class Applied:
    """The result of one change."""

    change: Change
    fact: Fact
    """The fact that was added, already known, deleted or kept; for a supersession, the retired
    one."""
    known: bool = False
    """True if nothing was added, because ``fact`` already says the same or said it and was
    erased."""
    previous: Fact | None = None
    """The superseded or deleted fact, as it was before."""
    also: tuple[Fact, ...] = ()
    """Further superseded facts, as they were before."""
    proposal_id: int | None = None


def apply(
    facts: FactTransactions, changes: Sequence[Change], since: int | None = None
) -> list[Applied]:
    """Apply changes in order, in one transaction; see :meth:`memstore.Store.ledger.apply`."""
    if since is not None:
        checked_id(since, "since")
        checked_number(since, "since", 0, MAX_NUMBER)
    for change in changes:
        _check(change)
    for change in changes:
        metadata.encode(change.evidence, "evidence")  # raises before anything is written
        for other in change.also if isinstance(change, AddFact) else ():
            metadata.encode(other.evidence, "evidence")
    prepared = facts.prepare([c.fact for c in changes if isinstance(c, AddFact)])
    if not changes:
        return []
    with facts.writing() as transaction:
        writer = facts.writer(transaction)
        if since is not None:
            subjects = {c.fact.subject for c in changes if isinstance(c, AddFact)}
            writer.refuse_newer(since, subjects)
        return carry_out(writer, changes, prepared)


def carry_out(
    writer: FactWriter,
    changes: Sequence[Change],
    prepared: Sequence[Prepared],
) -> list[Applied]:
    """Apply changes in order, in an open transaction.

    New facts already have their owners; ``prepared`` is what
    :meth:`FactTransactions.prepare` returned.
    """
    claims = any(isinstance(change, AddFact) and change.unless_known for change in changes)
    writer.look_up(prepared, claims=claims)
    ready = iter(prepared)
    return [
        _add(writer, change, next(ready))
        if isinstance(change, AddFact)
        else _carry_out(writer, change)
        for change in changes
    ]


def _check(change: object) -> None:
    if not isinstance(change, Change):
        raise InvalidArgumentType(
            f"must be AddFact, SupersedeFact, DeleteFact or KeepFact, not {type(change).__name__}",
            argument="changes",
        )
    if not isinstance(change, AddFact):
        return
    if not isinstance(change.fact, NewFact):
        raise InvalidArgumentType(
            f"must be a NewFact, not {type(change.fact).__name__}", argument="fact"
        )
    if not isinstance(change.precedence, MayReplace | MayYieldTo | YieldsTo | None):
        raise InvalidArgumentType(
            f"must be MayReplace, MayYieldTo or YieldsTo, not {type(change.precedence).__name__}",
            argument="precedence",
        )
    kept = (change.precedence, change.also or None, change.unless_known or None)
    if change.fact.external_key is not None and kept != (None, None, None):
        raise InvalidArgument(
            "needs an addition without precedence, also and unless_known", argument="external_key"
        )
    if change.also and (change.precedence is not None or change.fact.supersedes is None):
        raise InvalidArgument(
            "needs a fact that supersedes one, without a precedence", argument="also"
        )


def _add(writer: FactWriter, change: AddFact, prepared: Prepared) -> Applied:
    prepared = writer.of_its_kind(prepared)
    if prepared.external_key is not None:
        put = keyed.put(writer, prepared, change.evidence)
        previous = None if put.is_known else put.previous
        return Applied(change=change, fact=put.fact, known=put.is_known, previous=previous)
    known = writer.same_key(prepared)
    if known is None and change.unless_known:
        previous = _previous(writer, change)
        held = writer.confirm_known(prepared, covers, change.evidence)
        if held is not None:
            further = _replace_also(writer, change, held)
            return Applied(change=change, fact=held, known=True, previous=previous, also=further)
    if known is None:  # an erased fact is not extracted again from the same text
        known = provenance.erased_before(writer.transaction, writer.namespace, prepared)
    if known is not None:
        return Applied(change=change, fact=known, known=True)
    previous = _previous(writer, change)
    if change.precedence is not None:
        writer.active(change.precedence.fact_id)
    why = change.evidence if change.precedence is None else None
    fact = writer.insert(prepared, why)
    proposal_id = settle(writer, fact, change)
    if fact.id in writer.proposed:
        previous, proposal_id = None, writer.proposed[fact.id]
    if isinstance(change.precedence, YieldsTo):
        fact = writer.known(fact.id)
    also: tuple[Fact, ...] = ()
    if previous is not None:
        also = _replace_also(writer, change, fact, writer.replaces_since(fact))
    return Applied(change=change, fact=fact, previous=previous, also=also, proposal_id=proposal_id)


def _replace_also(
    writer: FactWriter,
    change: AddFact,
    fact: Fact,
    since: datetime | None = None,
) -> tuple[Fact, ...]:
    """Let a fact supersede the further ones, unless they count more than it does."""
    olds = [(writer.active(one.fact_id), one.evidence) for one in change.also]
    return tuple(
        old
        for old, evidence in olds
        if old.id != fact.id
        and writer.retire(old, fact.id, evidence, since=since, episode_id=change.fact.episode_id)
    )


def _previous(writer: FactWriter, change: AddFact) -> Fact | None:
    old_id = change.fact.supersedes
    return None if old_id is None else writer.active(old_id)


def settle(writer: FactWriter, fact: Fact, change: AddFact) -> int | None:
    """Carry out the ``precedence`` of an addition.

    Returns:
        The id of a new proposal, if there is one.
    """
    match change.precedence:
        case None:
            return None
        case YieldsTo(other):
            done = writer.retire(
                fact, other, change.evidence, since=fact.created_at, episode_id=fact.episode_id
            )
            return None if done else writer.proposed[other]
        case MayReplace(other, similarity):
            old_id, new_id = other, fact.id
        case MayYieldTo(other, similarity):
            old_id, new_id = fact.id, other
    return proposal_table.insert(
        writer.changes, old_id, new_id, similarity, change.evidence, fact.episode_id
    )


def _carry_out(
    writer: FactWriter,
    change: SupersedeFact | DeleteFact | KeepFact,
) -> Applied:
    if isinstance(change, SupersedeFact):
        old = writer.active(change.old_id)
        new = writer.active(change.new_id)
        if old.id == change.new_id:
            raise Conflict(f"fact {old.id} cannot supersede itself")
        if not change.any_subject:
            check_alike(old, new)
        writer.retire(old, change.new_id, change.evidence)
        return Applied(change=change, fact=writer.known(old.id), previous=old)
    fact = writer.active(change.fact_id)
    if isinstance(change, DeleteFact) and writer.outranks(fact, change.evidence):
        writer.keep(fact, {**(change.evidence or {}), "outranked": True})
        return Applied(change=change, fact=fact, known=True)
    if isinstance(change, DeleteFact):
        writer.check_acts(fact)
        deleted = writer.delete(fact, change.evidence, change.at)
        return Applied(change=change, fact=deleted, previous=fact)
    episode_id = _saying_it_again(fact, change)
    if episode_id is not None and not rules.confirmed_by(writer.transaction, fact, episode_id):
        # Its words are the fact's, so they need not be erased with the episode.
        why = {name: it for name, it in (change.evidence or {}).items() if name != "said"}
        fact = writer.confirm_by(fact, episode_id, why)
    else:
        writer.keep(fact, change.evidence)
    return Applied(change=change, fact=fact)


def _saying_it_again(fact: Fact, change: KeepFact) -> int | None:
    """Return the episode that says the same as a fact, if the evidence names one."""
    said, episode_id = map((change.evidence or {}).get, ("said", "episode"))
    again = isinstance(said, str) and spaced(said) == spaced(fact.content)
    return episode_id if again and isinstance(episode_id, int) else None
