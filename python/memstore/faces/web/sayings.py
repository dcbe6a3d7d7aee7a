"""Shows the episodes that facts rest on, with their words marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.errors import NotFound
from memstore.faces.web.words import Stretch, marked

if TYPE_CHECKING:
    from memstore.domain.episodes import Episode
    from memstore.domain.support import Leg
    from memstore.store.store import Store

AROUND: Final = 400
"""Characters that are shown before and after the words that a fact rests on."""

MAX_SAYINGS: Final = 5
"""Episodes that are quoted; a fact may rest on hundreds."""


class Saying(NamedTuple):
    """An episode, cut to what is around the words that a fact rests on."""

    leg: Leg
    episode: Episode
    text: tuple[Stretch, ...]
    is_cut: bool


def of(store: Store, legs: list[Leg]) -> list[Saying]:
    """Return what a fact rests on, the newest first; what was erased is left out."""
    newest = {leg.episode_id: leg for leg in legs if leg.episode_id is not None}
    found = []
    for leg in [*newest.values()][: -MAX_SAYINGS - 1 : -1]:
        assert leg.episode_id is not None
        try:
            episode = store.episodes.get(leg.episode_id)
        except NotFound:
            continue
        if episode.content:
            found.append(_cut(leg, episode))
    return found


def _cut(leg: Leg, episode: Episode) -> Saying:
    content = episode.content
    start, stop = leg.start or 0, leg.stop or 0
    first, last = max(0, start - AROUND), min(len(content), max(stop, start) + AROUND)
    text = marked(content[first:last], [(start - first, stop - first)] if stop else ())
    return Saying(leg, episode, text, is_cut=first > 0 or last < len(content))
