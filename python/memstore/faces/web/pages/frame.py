"""What the frame of every page has: signing out, what was done just now, and a small poll."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.faces.web.routes import asks, shows

if TYPE_CHECKING:
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit


def sign_out(visit: Visit) -> Reply:
    return visit.leave()


def pulse(visit: Visit) -> Reply:
    """Return what the menu counts, and whether anything changed since a line of the journal."""
    return visit.page("parts/pulse.html", since=visit.number("since"))


def dismiss(visit: Visit) -> Reply:
    """Stop offering to undo a change."""
    visit.session.drop_undo(visit.numbers["act"])
    return visit.to(visit.back)


ROUTES: Final = (
    asks("sign-out", sign_out),
    asks("undo/{act}/dismiss", dismiss),
    shows("pulse", pulse),
)
