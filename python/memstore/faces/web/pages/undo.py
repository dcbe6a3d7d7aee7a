"""Undo: what was done just now, or any act of the log, is taken back by a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.domain.records import EVERYBODY
from memstore.faces.web import acting, chains
from memstore.faces.web.routes import changes, shows

if TYPE_CHECKING:
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit
    from memstore.history.reverting import Plan


def show(visit: Visit) -> Reply:
    """Show what undoing an act would do, before it is done."""
    return _planned(visit, _plan(visit))


def undo(visit: Visit) -> Reply:
    """Undo an act at once; one with conflicts shows them, and does nothing."""
    plan = _plan(visit)
    act = visit.numbers["act"]
    if plan.conflicts:
        return visit.to(f"undo/{act}") if visit.swaps else _planned(visit, plan)
    plan.apply()
    return _undone(visit, act)


def apply(visit: Visit) -> Reply:
    """Do exactly what the plan said that the form shows."""
    if acting.apply(visit, _plan(visit)) is None:
        return _planned(visit, _plan(visit), changed=True)
    return _undone(visit, visit.numbers["act"])


def _plan(visit: Visit) -> Plan:
    return visit.store.of(EVERYBODY).ledger.revert(acts=[visit.numbers["act"]])


def _planned(visit: Visit, plan: Plan, *, changed: bool = False) -> Reply:
    act = visit.numbers["act"]
    return visit.page("undo.html", 409 if changed else 200, plan=plan, act=act, changed=changed)


def _undone(visit: Visit, act: int) -> Reply:
    visit.session.drop_undo(act)
    visit.see_now()
    if not visit.swaps:
        return visit.to(visit.back)
    fact_id = visit.posted_number("fact")
    facts = [] if fact_id is None else visit.store.get_many([fact_id])
    return visit.page("parts/undone.html", rows=chains.rows(visit.store, facts))


ROUTES: Final = (
    shows("undo/{act}", show),
    changes("undo/{act}", undo),
    changes("undo/{act}/apply", apply),
)
