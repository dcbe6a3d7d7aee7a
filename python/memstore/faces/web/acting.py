"""Acting on facts: only if they are as the page showed them, and so that it can be undone."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final

from memstore.database.journal import UNCHANGED, Kind
from memstore.domain.plans import UNDO
from memstore.errors import Conflict
from memstore.faces.web.problems import ChangedSince
from memstore.faces.web.sessions import Undo

if TYPE_CHECKING:
    from collections.abc import Callable

    from memstore.domain.plans import Reverted
    from memstore.domain.records import JournalLine
    from memstore.faces.web.visit import Visit
    from memstore.history.reverting import Plan


EMBEDDED: Final = frozenset({Kind.EMBED, Kind.QUARANTINE})
"""Kinds of lines of an embedding, which nobody undoes."""


def lines_since(visit: Visit, fact_id: int, line: int) -> list[JournalLine]:
    """Return what changed a fact's chain after a line of the journal."""
    lines = visit.store.journal(fact_id)
    return [one for one in lines if one.id > line and one.kind not in UNCHANGED]


def check_unchanged(visit: Visit, *fact_ids: int) -> None:
    """Check that facts are as they were on the page that the form was sent from.

    Raises:
        ChangedSince: one of them was changed, or the form does not say when it was made.
    """
    seen = visit.posted_number("seen")
    for fact_id in fact_ids:
        lines = lines_since(visit, fact_id, -1 if seen is None else seen)
        if lines:
            raise ChangedSince(fact_id, lines)


def act(visit: Visit, fact_id: int, text: str, work: Callable[[], object]) -> Undo | None:
    """Change a fact at once, and offer to undo it.

    Args:
        fact_id: the fact, which has to be as the page showed it.
        text: what is done, without any stored text, such as "Deleted #12".
        work: does it.

    Returns:
        What undoes it; ``None`` if nothing was changed.

    Raises:
        ChangedSince: the fact was changed in the meantime; nothing was done.
    """
    check_unchanged(visit, fact_id)
    before = visit.seen
    work()
    visit.see_now()
    run = str(uuid.UUID(bytes=visit.session.run))
    lines = visit.store.journal(fact_id)
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
    decided = {int(one) for one in visit.many.get("undo", ()) if one.isdecimal()} & chosen
    try:
        done = plan.apply(decide=dict.fromkeys(decided, UNDO))
    except Conflict:
        return None
    visit.see_now()
    return done
