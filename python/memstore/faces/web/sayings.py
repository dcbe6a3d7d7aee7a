"""Shows the episodes that facts rest on, with their words marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.errors import NotFound
from memstore.faces.web.words import Stretch, marked
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from memstore.domain.episodes import Episode
    from memstore.domain.support import Support
    from memstore.store.store import Store

AROUND: Final = 400
"""Characters that are shown before and after the words that a fact rests on."""

MAX_SAYINGS: Final = 5
"""Episodes that are quoted; a fact may rest on hundreds."""


class Saying(NamedTuple):
    """An episode, cut to what is around the words that a fact rests on."""

    support: Support
    episode: Episode
    text: tuple[Stretch, ...]
    is_cut: bool


def of(store: Store, supports: list[Support]) -> list[Saying]:
    """Return what a fact rests on, the newest first; what was erased is left out."""
    newest = {support.episode_id: support for support in supports if support.episode_id is not None}
    found = []
    for support in [*newest.values()][: -MAX_SAYINGS - 1 : -1]:
        assert support.episode_id is not None
        try:
            episode = store.episodes.get(support.episode_id)
        except NotFound:
            continue
        if episode.content:
            found.append(_cut(support, episode))
    return found


def _cut(support: Support, episode: Episode) -> Saying:
    content = episode.content
    start, stop = support.start or 0, support.stop or 0
    first, last = max(0, start - AROUND), min(len(content), max(stop, start) + AROUND)
    text = marked(content[first:last], [(start - first, stop - first)] if stop else ())
    return Saying(support, episode, text, is_cut=first > 0 or last < len(content))
