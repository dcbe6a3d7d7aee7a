"""The answers: what agents asked, and what they were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.domain.records import EVERYBODY
from memstore.errors import Explained
from memstore.faces import wording
from memstore.faces.web import owning, paging
from memstore.faces.web.routes import asks, changes, shows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.domain.searches import RecordedSearch
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit

FILTERS: Final = ("client", "run", "fact", "since", "until", "empty", *owning.NAMES)

MAX_FIELD: Final = 1000

EXTREMES: Final = 20
"""How many facts that are given often, or never, are shown."""


def show(visit: Visit) -> Reply:
    kept = {name: one for name, one in visit.kept().items() if name in FILTERS}
    found: Sequence[RecordedSearch] = ()
    problem = ""
    try:
        found = visit.store.of(owning.chosen(kept) or EVERYBODY).searches.list(
            **_wanted(kept), before=visit.number("before"), limit=paging.ROWS + 1
        )
    except (Explained, ValueError) as error:
        problem = wording.in_pages(error)
    rows = found[: paging.ROWS]
    return visit.page(
        "answers.html",
        rows=[(one, _again(visit, one)) for one in rows],
        kept=kept,
        problem=problem,
        links=paging.onward(visit, "before", rows[-1].id if len(found) > paging.ROWS else None),
    )


def _wanted(kept: dict[str, str]) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        name: kept[name] for name in ("client", "run", "since", "until") if name in kept
    }
    if "fact" in kept:
        wanted["fact"] = int(kept["fact"])
    if "empty" in kept:
        wanted["is_empty"] = True
    return wanted


def _again(visit: Visit, search: RecordedSearch) -> int | None:
    """Return the number under which the search is shown as of its moment."""
    if search.query is None:
        return None
    ids = search.scope.ids.items()
    owners = {name.removesuffix("_id"): one for name, one in ids if one is not None}
    return visit.session.keep({**owners, "query": search.query, "as_of": clock.to_text(search.at)})


def narrow(visit: Visit) -> Reply:
    wanted = {name: visit.field(name)[:MAX_FIELD] for name in FILTERS if visit.field(name)}
    if "fact" in wanted:
        number = visit.posted_number("fact")
        wanted["fact"] = str(number or 0)
    if visit.field("reset") or not wanted:
        return visit.to("answers")
    return visit.to(f"answers?q={visit.session.keep(wanted)}")


def extremes(visit: Visit) -> Reply:
    """Show the facts that were given most often, and those that never were."""
    return visit.page(
        "given.html",
        often=visit.store.of(EVERYBODY).searches.most_used(limit=EXTREMES),
        never=visit.store.of(EVERYBODY).searches.never_used(limit=EXTREMES),
    )


def forget(visit: Visit) -> Reply:
    """Remove the record of this namespace."""
    visit.store.of(EVERYBODY).searches.clear()
    return visit.to("answers")


ROUTES: Final = (
    shows("answers", show),
    asks("answers", narrow),
    shows("answers/given", extremes),
    changes("answers/forget", forget),
)
