"""Namespaces and owners: how much each has, and what may be done with it as a whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.records import EVERYBODY, NOBODY
from memstore.domain.status import Contents, Owner
from memstore.errors import NotFound
from memstore.faces.web import filters, owning, paging
from memstore.faces.web.routes import asks, changes, shows
from memstore.store.store import elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memstore.domain.records import Scope
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit


def show(visit: Visit) -> Reply:
    """List the owners of this namespace, and the namespaces of the file."""
    found = visit.store.owners(limit=paging.ROWS + 1, after=_after(visit.kept()))
    rows = found[: paging.ROWS]
    more = _cursor(rows[-1]) if len(found) > paging.ROWS else None
    return visit.page(
        "owners.html",
        owners=[(one, visit.session.keep(owning.fields_of(one.scope))) for one in rows],
        following=None if more is None else visit.session.keep(more),
        is_first=visit.number("q") is None,
        namespaces=_namespaces(visit),
        nobody=NOBODY,
    )


def _namespaces(visit: Visit) -> Mapping[str, Contents]:
    """Return the namespaces that the visitor may choose, the one that is shown first."""
    own, held = visit.store.namespace, visit.store.of(EVERYBODY).counts()
    total = sum(getattr(held, state) for state in filters.EVERY_STATE)
    return {own: Contents(held.active, total, held.episodes)} | elsewhere(
        visit.store, namespaces=own
    )


def choose(visit: Visit) -> Reply:
    """Show the owners, or the memories, of another namespace from now on."""
    name = visit.field("namespace")
    if name not in _namespaces(visit):
        raise NotFound("there is no such namespace")
    visit.session.namespace = name
    return visit.to(visit.back if "back" in visit.fields else "owners")


def _cursor(last: Owner) -> dict[str, str]:
    """Return the place of an owner in the list, as fields that can be kept."""
    sizes = {name: str(getattr(last, name)) for name in ("facts", "total", "episodes")}
    return {**owning.fields_of(last.scope), **sizes}


def _after(kept: Mapping[str, str]) -> Owner | None:
    if "total" not in kept:
        return None
    sizes: dict[str, Any] = {name: int(kept[name]) for name in ("facts", "total", "episodes")}
    return Owner(scope=owning.chosen(kept) or NOBODY, **sizes)


def export(visit: Visit) -> Reply:
    """Download the facts of an owner in any state, and the episodes, a JSON object in each line."""
    owner = owning.chosen(visit.kept("owner")) or NOBODY
    return visit.download("memstore-owner.jsonl", "".join(_lines(visit, owner)))


def export_all(visit: Visit) -> Reply:
    """Download the namespace, to be imported again."""
    return visit.download(
        "memstore-export.jsonl", "".join(f"{line}\n" for line in visit.store.transfer.export())
    )


def _lines(visit: Visit, owner: Scope) -> Iterator[str]:
    facts = visit.store.of(owner).list(states=filters.EVERY_STATE, limit=None)
    episodes = visit.store.of(owner).episodes.list(include_expired=True, limit=None)
    for one in (*facts, *episodes):
        yield f"{json.dumps(one.to_dict(), ensure_ascii=False)}\n"


def empty(visit: Visit, problem: str = "", status: int = 200) -> Reply:
    """Show what emptying the namespace removes."""
    counts = visit.store.of(EVERYBODY).counts()
    return visit.page("empty.html", status, counts=counts, problem=problem)


def clear(visit: Visit) -> Reply:
    """Erase all of the namespace, whose name has to be typed."""
    if visit.field("name") != visit.store.namespace:
        return empty(visit, "That is not the name of the namespace, so nothing was erased.", 400)
    counts = visit.store.of(EVERYBODY).counts()
    is_gone = visit.store.clear()
    visit.see_now()
    return visit.page("emptied.html", counts=counts, is_gone=is_gone)


ROUTES: Final = (
    shows("owners", show),
    asks("owners/namespace", choose),
    shows("owners/{owner}/export", export),
    shows("owners/export", export_all),
    shows("owners/empty", empty),
    changes("owners/empty", clear),
)
