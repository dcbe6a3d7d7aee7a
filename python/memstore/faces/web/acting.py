"""Acting on facts: only if they are as the page showed them, and so that it can be undone."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final, TypeVar

from memstore.database.journal import UNCHANGED, Kind
from memstore.domain.plans import UNDO
from memstore.domain.records import Fact
from memstore.errors import Conflict, FactChanged
from memstore.faces.web.problems import ChangedSince
from memstore.faces.web.sessions import Undo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memstore.domain.plans import Reverted
    from memstore.domain.records import JournalLine
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit
    from memstore.history.reverting import Plan
    from memstore.store.store import Store

T = TypeVar("T")

EMBEDDED: Final = frozenset({Kind.EMBED, Kind.QUARANTINE})
"""Kinds of lines of an embedding, which nobody undoes."""


def lines_since(visit: Visit, fact_id: int, line: int) -> list[JournalLine]:
    """Return what changed a fact's chain after a line of the journal."""
    lines = visit.store.ledger.journal(fact_id)
    return [one for one in lines if one.id > line and one.kind not in UNCHANGED]


def change(visit: Visit, fact_ids: Sequence[int], work: Callable[[Store], T]) -> T:
    """Change facts in one transaction that begins by looking whether they are as they were.

    Args:
        fact_ids: the facts that have to be as the page showed them that the form was sent from.
        work: makes the change through the store that it is given.

    Raises:
        ChangedSince: one of them was changed, or the form does not say when it was made.
    """
    seen = visit.posted_number("seen")
    since = -1 if seen is None else seen
    try:
        return work(visit.store.unless_changed(fact_ids, since))
    except FactChanged as error:
        lines = lines_since(visit, error.fact_id, since)
        raise ChangedSince(error.fact_id, lines) from error


def act(
    visit: Visit, fact_ids: Sequence[int], text: str, work: Callable[[Store], object]
) -> Undo | None:
    """Change facts at once, and offer to undo it.

    Args:
        fact_ids: the facts that have to be as the page showed them; the first one is changed.
        text: what is done, without any stored text, such as "Deleted #12".
        work: does it through the store that it is given.

    Returns:
        What undoes it; ``None`` if nothing was changed.

    Raises:
        ChangedSince: a fact was changed in the meantime; nothing was done.
    """
    before = visit.seen
    done = change(visit, fact_ids, work)
    undo = offered(visit, fact_ids[0], text, before)
    if undo is None and isinstance(done, Fact):  # a new fact, not in the old one's chain
        undo = offered(visit, done.id, text, before)
    return undo


def offered(visit: Visit, fact_id: int, text: str, before: int) -> Undo | None:
    """Offer to undo what this session did to a fact after a line of the journal."""
    visit.see_now()
    run = str(uuid.UUID(bytes=visit.session.run))
    lines = visit.store.ledger.journal(fact_id)
    own = [one for one in lines if one.id > before and one.run == run and one.kind not in EMBEDDED]
    if not own:
        return None
    undo = Undo(own[-1].txn, text, fact_id)
    if not visit.swaps:  # there it stands in the place of the fact
        visit.session.offer_undo(undo)
    return undo


def apply(visit: Visit, plan: Plan) -> Reverted | None:
    """Do what the plan says that the form shows, with the conflicts that were ticked in it.

    Returns:
        What was done; ``None`` if the plan has changed since, so that nothing was.
    """
    if plan.digest != visit.field("digest"):
        return None
    chosen = {conflict.fact_id for conflict in plan.conflicts}
    ticked = {*visit.many.get("undo", ())}
    decided = {one for one in chosen if str(one) in ticked}
    try:
        done = plan.apply(decide=dict.fromkeys(decided, UNDO))
    except Conflict:
        return None
    visit.see_now()
    return done


def applied(visit: Visit, plan: Callable[[Visit], Plan], planned: Callable[..., Reply]) -> Reply:
    """Do what the plan says that the form shows, and return what was undone.

    Args:
        plan: makes the plan as it is now.
        planned: returns its page; ``changed`` says that it is not the one that the form shows.
    """
    done = apply(visit, plan(visit))
    if done is None:
        return planned(visit, plan(visit), changed=True)
    return visit.page("undone.html", lines=done.lines)
