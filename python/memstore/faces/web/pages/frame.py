"""What the frame of every page has: signing out, what was done just now, and a small poll."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final

from memstore.domain.records import EVERYBODY
from memstore.faces.web import agents
from memstore.faces.web.routes import asks, shows

if TYPE_CHECKING:
    from memstore.domain.log import Act
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit

MAX_NEW: Final = 20
"""New acts that are counted."""

MAX_NAMES: Final = 3


def sign_out(visit: Visit) -> Reply:
    return visit.leave()


def pulse(visit: Visit) -> Reply:
    """Return what others did since a line of the journal, and what the menu counts."""
    since = visit.number("since")
    acts: list[Act] = []
    if since is not None and visit.seen > since:
        own = str(uuid.UUID(bytes=visit.session.run))
        found = visit.store.of(EVERYBODY).ledger.log(after=since, limit=MAX_NEW + 1)
        acts = [act for act in found if act.run != own]
    names = dict.fromkeys(agents.of(act.source).name for act in acts)
    shown, is_more = acts[:MAX_NEW], len(acts) > MAX_NEW
    return visit.page("parts/pulse.html", acts=shown, is_more=is_more, names=[*names][:MAX_NAMES])


def dismiss(visit: Visit) -> Reply:
    """Stop offering to undo a change."""
    visit.session.drop_undo(visit.numbers["act"])
    return visit.to(visit.back)


ROUTES: Final = (
    asks("sign-out", sign_out),
    asks("undo/{act}/dismiss", dismiss),
    shows("pulse", pulse),
)
