"""Erasing: what cannot be undone has a page of its own, with the plan and a number to type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import EVERYBODY
from memstore.errors import Conflict
from memstore.faces.web import owning
from memstore.faces.web.routes import asks, changes, shows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit
    from memstore.history.erasure import ErasurePlan

SELECTIONS: Final = ("facts", "subject", "episode", "source", "run", *owning.NAMES)
"""What selects what goes, by the names of the fields."""

SHOWN: Final = 100
"""Steps of a plan that a page tells; all are counted."""

MAX_WORDS: Final = 20
"""Words that are looked for at once."""


def fact(visit: Visit) -> Reply:
    return _planned(visit, {"facts": visit.numbers["id"]})


def subject(visit: Visit) -> Reply:
    """Plan to erase all about the subject of a fact."""
    name = visit.store.get(visit.numbers["id"]).subject
    return _planned(visit, {"subject": name})


def episode(visit: Visit) -> Reply:
    return _planned(visit, {"episode": visit.numbers["id"]})


def chosen(visit: Visit) -> Reply:
    """Plan to erase what was chosen on another page, such as an owner."""
    return _planned(visit, visit.kept())


def select(visit: Visit) -> Reply:
    """Keep a selection, and lead to its plan."""
    wanted = {name: visit.field(name) for name in SELECTIONS if visit.field(name)}
    return visit.to(f"erase?q={visit.session.keep(wanted)}" if wanted else "erase")


def _planned(
    visit: Visit, wanted: Mapping[str, Any], problem: str = "", status: int = 200
) -> Reply:
    if not wanted:
        return visit.page("erase_what.html", names=owning.NAMES)
    plan = _plan(visit, wanted)
    return visit.page(
        "erase.html",
        status,
        plan=plan,
        wanted={name: wanted.get(name) for name in SELECTIONS},
        counts=[(name, number) for name, number in plan.counts.to_dict().items() if number],
        shown=SHOWN,
        asked=visit.session.keep({name: str(one) for name, one in wanted.items()}),
        problem=problem,
    )


def _plan(visit: Visit, wanted: Mapping[str, Any]) -> ErasurePlan:
    selection: dict[str, Any] = {
        name: wanted[name] for name in ("subject", "source", "run") if name in wanted
    }
    if "facts" in wanted:
        selection["facts"] = [int(wanted["facts"])]
    if "episode" in wanted:
        selection["episode"] = int(wanted["episode"])
    owner = owning.chosen(wanted)
    if owner is not None:
        selection["owner"] = owner
    return visit.store.of(EVERYBODY).ledger.erasure(**selection)


def apply(visit: Visit) -> Reply:
    """Erase exactly what the plan on the page said."""
    wanted = visit.kept("plan")
    plan = _plan(visit, wanted)
    if plan.digest != visit.field("digest"):
        text = "What would go has changed since this page was made. Read it again."
        return _planned(visit, wanted, text, 409)
    if visit.posted_number("count") != _total(plan):
        return _planned(visit, wanted, f"To erase it, type {_total(plan)}.", 400)
    try:
        done = plan.apply()
    except Conflict:
        text = "Somebody changed what would go. Read it again."
        return _planned(visit, wanted, text, 409)
    visit.see_now()
    counts = [(name, number) for name, number in done.counts.to_dict().items() if number]
    return visit.page("erased.html", done=done, counts=counts, copies=plan.copies)


def _total(plan: ErasurePlan) -> int:
    """Return how many facts and episodes go: the number to type."""
    return len(plan.fact_ids) + len(plan.episode_ids)


def prove(visit: Visit) -> Reply:
    """Search every byte of the file for words.

    Raises:
        AccessDenied: the visitor is confined to a namespace.
    """
    lines = visit.fields.get("words", "").splitlines()
    words = [line.strip() for line in lines if line.strip()]
    if not 0 < len(words) <= MAX_WORDS:
        problem = f"Give 1 to {MAX_WORDS} words, one in each line."
        return visit.page("proof.html", 400, words=words, found=(), problem=problem)
    found = visit.store.file.remains(words)
    return visit.page("proof.html", words=words, found=found, problem="")


ROUTES: Final = (
    shows("erase", chosen),
    asks("erase", select),
    shows("erase/fact/{id}", fact),
    shows("erase/subject/{id}", subject),
    shows("erase/episode/{id}", episode),
    changes("erase/plan/{plan}", apply),
    asks("erase/proof", prove),
)
