"""Home: what was done since the last visit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.domain.records import EVERYBODY
from memstore.faces.web.routes import shows

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.domain.log import LogLine
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit

LATELY: Final = 5
"""The last acts, which are shown whenever the last visit was."""

MAX_NEWS: Final = 1000
"""Changes since the last visit that are counted."""


class News(NamedTuple):
    """What somebody did since the last visit.

    Attributes:
        is_more: whether more was done than is counted.
    """

    actor: str
    source: str
    changes: int
    last: datetime
    is_more: bool


def show(visit: Visit) -> Reply:
    return visit.page(
        "home.html",
        counts=visit.store.of(EVERYBODY).counts(),
        news=_news(visit),
        lately=visit.store.of(EVERYBODY).ledger.log(limit=LATELY),
    )


def _news(visit: Visit) -> list[News]:
    """Return what was done since the last visit, by who did it."""
    if visit.since is None:
        return []
    lines = visit.store.of(EVERYBODY).ledger.changes(after=visit.since, limit=MAX_NEWS + 1)
    found: dict[tuple[str, str], list[LogLine]] = {}
    for line in lines[:MAX_NEWS]:
        found.setdefault((line.actor, line.source), []).append(line)
    return [
        News(actor, source, len(some), some[0].at, is_more=len(lines) > MAX_NEWS)
        for (actor, source), some in found.items()
    ]


ROUTES: Final = (shows("", show),)
