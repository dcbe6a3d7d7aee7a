"""The subjects, and all that is known about one of them."""

from __future__ import annotations

import json
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

from memstore.domain.clock import from_text, to_text
from memstore.domain.queries import FactCount, Periods
from memstore.domain.records import EVERYBODY, TODO
from memstore.domain.status import Subject, SubjectOrder
from memstore.errors import NotFound
from memstore.faces.web import chains, filters, paging
from memstore.faces.web.routes import asks, shows
from memstore.frozen import asdict, replace
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from memstore.domain.entities import Neighbour
    from memstore.domain.records import Fact, OwnersSelection
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit

ORDERS: Final = (
    (SubjectOrder.CHANGED, "last change first"),
    (SubjectOrder.NAME, "by name"),
    (SubjectOrder.SIZE, "largest first"),
)

MAX_RELATIONS: Final = 20

OF_SUBJECTS: Final = ("user", "agent", "run", "from")
"""Not until a day: which subjects changed no more since then is asked of each of them."""

FILTERS: Final = ("category", "source", "state", "user", "agent", "run", "from", "until", "as_of")

FILTERS_OF_REMOVED: Final = FILTERS[:-1]
"""As of a moment, nothing was removed that is not there now."""


def list_subjects(visit: Visit) -> Reply:
    kept = visit.kept()
    chosen = filters.Filters(kept, visit.zone, "Last change")
    period = chosen.question(Periods)
    # Which changed last when is read from the journal, so in that order alone.
    order = kept.get("order", ORDERS[0][0]) if period == Periods() else SubjectOrder.CHANGED
    found = visit.store.of(chosen.owners).subjects(
        kept.get("prefix", ""),
        order=order,
        changed_after=period.created_after,
        changed_before=period.created_before,
        after=_after(kept),
        limit=paging.ROWS + 1,
    )
    rows = found[: paging.ROWS]
    following = {**kept, **_cursor(rows[-1])} if len(found) > paging.ROWS else None
    return visit.page(
        "subjects.html",
        subjects=_rows(visit, rows),
        following=None if following is None else visit.session.keep(following),
        kept=kept,
        chosen=chosen,
        order=order,
        orders=ORDERS,
        names=OF_SUBJECTS,
    )


def _rows(visit: Visit, subjects: Sequence[Subject]) -> list[tuple[Subject, Fact | None]]:
    """Return subjects with the newest fact about each; tasks have a page of their own."""
    own = [one for one in subjects if subject_key(one.name) != TODO]
    newest = {fact.id: fact for fact in visit.store.get_many([one.newest for one in own])}
    return [(one, newest.get(one.newest)) for one in own]


def choose(visit: Visit) -> Reply:
    if visit.field("reset"):
        return visit.to("subjects")
    names = ("prefix", "order", *OF_SUBJECTS)
    chosen = {name: visit.field(name)[: filters.MAX_FIELD] for name in names if visit.field(name)}
    if chosen.get("order", ORDERS[0][0]) not in dict(ORDERS):
        del chosen["order"]
    return visit.to(f"subjects?q={visit.session.keep(chosen)}")


def _cursor(last: Subject) -> dict[str, str]:
    """Return the place of a subject as fields that can be kept."""
    return {
        "after": last.name,
        "after_facts": str(last.facts),
        "after_newest": str(last.newest),
        "after_line": str(last.line),
        "after_at": "" if last.changed_at is None else to_text(last.changed_at),
    }


def _after(kept: Mapping[str, str]) -> Subject | None:
    if "after" not in kept:
        return None
    at = kept["after_at"]
    return Subject(
        name=kept["after"],
        facts=int(kept["after_facts"]),
        newest=int(kept["after_newest"]),
        line=int(kept["after_line"]),
        changed_at=from_text(at) if at else None,
    )


# -- one subject -----------------------------------------------------------------------------------


def show(visit: Visit) -> Reply:
    """Show a subject, which a fact about it stands for."""
    fact = visit.store.get(visit.numbers["id"])
    chosen = filters.of(visit)
    asked = replace(chosen.question(FactCount), subject=fact.subject)
    seen = chosen.seen(visit.store)
    is_now = "as_of" not in chosen.used
    if not is_now:  # a view has neither states nor sources
        asked = replace(asked, states=None, source=None)
    page = paging.newest_first(visit, partial(seen.list, **asdict(asked)))
    rows = chains.rows(visit.store, page.rows) if is_now else [chains.Row(f) for f in page.rows]
    groups = [[*some] for _, some in groupby(sorted(rows, key=_category), _category)]
    return visit.page(
        "subject.html",
        fact=fact,
        chosen=chosen,
        names=FILTERS,
        groups=[(some[0].fact.category, some) for some in groups],
        links=page.links,
        counts=_counts(visit, fact.subject, chosen.owners),
        first=_first_at(visit, fact.subject, chosen.owners),
        relations=_relations(visit, fact.subject) if is_now and not chosen else (),
        at=None if is_now else seen.at,
    )


def _category(row: chains.Row) -> str:
    return subject_key(row.fact.category)


def _counts(visit: Visit, subject: str, owners: OwnersSelection) -> dict[str, int]:
    count = partial(visit.store.of(owners).count, subject=subject)
    return {
        "active": count(),
        "removed": count(states=filters.REMOVED),
    }


def _first_at(visit: Visit, subject: str, owners: OwnersSelection) -> datetime | None:
    """Return when the first fact about a subject was learned, in whatever state it is."""
    listed = visit.store.of(owners).list
    found = listed(subject=subject, states=filters.EVERY_STATE, limit=1)
    return found[0].created_at if found else None


def _relations(visit: Visit, subject: str) -> Sequence[Neighbour]:
    """Return what a subject is related to, if a graph was built that knows it."""
    graph = visit.store.of(EVERYBODY).graph
    if graph.status().built_at is None:
        return ()
    try:
        return graph.neighbours(subject, limit=MAX_RELATIONS)
    except NotFound:
        return ()


def filter_subject(visit: Visit) -> Reply:
    return visit.to(filters.keep(visit, f"subject/{visit.numbers['id']}"))


def removed(visit: Visit) -> Reply:
    """Show what was replaced, deleted or hidden."""
    fact = visit.store.get(visit.numbers["id"])
    chosen = filters.Filters(visit.kept(), visit.zone, states=filters.REMOVED_STATES)
    asked = chosen.question(FactCount)
    asked = replace(asked, subject=fact.subject, states=asked.states or filters.REMOVED)
    listed = partial(visit.store.of(chosen.owners).list, **asdict(asked))
    page = paging.newest_first(visit, listed)
    return visit.page(
        "removed.html",
        fact=fact,
        chosen=chosen,
        names=FILTERS_OF_REMOVED,
        rows=chains.rows(visit.store, page.rows),
        links=page.links,
    )


def filter_removed(visit: Visit) -> Reply:
    return visit.to(filters.keep(visit, f"subject/{visit.numbers['id']}/removed"))


def export(visit: Visit) -> Reply:
    """Download all facts about a subject, in any state, a JSON object in each line."""
    fact = visit.store.get(visit.numbers["id"])
    every = visit.store.of(EVERYBODY).list(
        subject=fact.subject, states=filters.EVERY_STATE, limit=None
    )
    lines = (json.dumps(one.to_dict(), ensure_ascii=False) for one in every)
    return visit.download("memstore-subject.jsonl", "".join(f"{line}\n" for line in lines))


ROUTES: Final = (
    shows("subjects", list_subjects),
    asks("subjects", choose),
    shows("subject/{id}", show),
    asks("subject/{id}", filter_subject),
    shows("subject/{id}/removed", removed),
    asks("subject/{id}/removed", filter_removed),
    shows("subject/{id}/export", export),
)
