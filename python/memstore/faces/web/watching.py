"""Stores that remember what their searches found, and count no use: a person only looks on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from memstore.domain.episodes import EpisodeHits
from memstore.domain.records import SearchHits
from memstore.frozen import replace
from memstore.store.store import Store
from memstore.store.view import View

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from memstore.domain.queries import FactSearch

S = TypeVar("S", Store, View)


class WatchedHits:
    """What the searches of a watched store found: facts, and what was said."""

    def __init__(self) -> None:
        self.hits = SearchHits()
        self.turns = EpisodeHits()

    def keep(self, found: Sequence[SearchHits], asked: FactSearch) -> None:
        """Remember the last hits unless they are tasks, which are shown apart."""
        if found and not asked.tasks:
            self.hits = found[-1]


class WatchedView(View):
    """A view of an earlier moment that remembers the hits of its search."""

    found: WatchedHits

    def turns_for(self, *given: Any, **narrowed: Any) -> EpisodeHits:
        self.found.turns = super().turns_for(*given, **narrowed)
        return self.found.turns

    def _search(
        self, queries: Sequence[str], asked: FactSearch, ids: Collection[int] | None = None
    ) -> list[SearchHits]:
        found = super()._search(queries, replace(asked, matched=True), ids)
        self.found.keep(found, asked)
        return found


class WatchedStore(Store):
    """A store that remembers the hits of its search, and counts no use."""

    found: WatchedHits

    def turns_for(self, *given: Any, **narrowed: Any) -> EpisodeHits:
        self.found.turns = super().turns_for(*given, **narrowed)
        return self.found.turns

    def _search(
        self, queries: Sequence[str], asked: FactSearch, ids: Collection[int] | None = None
    ) -> list[SearchHits]:
        found = super()._search(queries, replace(asked, matched=True, touch=False), ids)
        self.found.keep(found, asked)
        return found

    def of(self, *owners: Any, **ids: Any) -> WatchedStore:
        store: WatchedStore = _watched(super().of(*owners, **ids), WatchedStore, self.found)
        return store

    def as_of(self, moment: datetime | str) -> View:
        view: WatchedView = _watched(super().as_of(moment), WatchedView, self.found)
        return view


def watched(store: Store) -> WatchedStore:
    """Return the same store, watched."""
    same: WatchedStore = _watched(store, WatchedStore, WatchedHits())
    return same


def _watched(seen: S, kind: type[Any], found: WatchedHits) -> Any:
    same = object.__new__(kind)
    vars(same).update(vars(seen))
    vars(same).update(found=found, _of={})
    return same
