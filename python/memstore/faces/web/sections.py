"""The table of the pages: the menu, from the top down, and the routes of each entry.

A page is a module in :mod:`memstore.faces.web.pages` with ``ROUTES``, and its templates. It is
added here, in one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.faces.web.menu import Entry
from memstore.faces.web.pages import (
    answers,
    erase,
    fact,
    inbox,
    log,
    owners,
    search,
    session,
    state,
    subjects,
    tasks,
    timeline,
    undo,
)
from memstore.faces.web.routes import Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.faces.web.routes import Route

SECTIONS: Final = (
    Section(Entry("Search", ""), search.ROUTES),
    Section(Entry("Subjects", "subjects"), subjects.ROUTES),
    Section(Entry("Inbox", "inbox"), inbox.ROUTES),
    Section(Entry("Timeline", "timeline"), timeline.ROUTES),
    Section(Entry("Log", "log"), log.ROUTES),
    Section(Entry("Answers", "answers"), answers.ROUTES),
    Section(Entry("Tasks", "tasks"), tasks.ROUTES),
    Section(Entry("Owners", "owners"), owners.ROUTES),
    Section(Entry("State", "state"), state.ROUTES),
    Section(Entry("Fact", "fact", is_listed=False), fact.ROUTES),
    Section(Entry("Erase", "erase", is_listed=False), erase.ROUTES),
    Section(Entry("Undo", "undo", is_listed=False), undo.ROUTES),
    Section(Entry("Session", "session", is_listed=False), session.ROUTES),
)

MENU: Final = tuple(section.entry for section in SECTIONS)


def find(method: str, path: str) -> tuple[Section, Route, Mapping[str, int]] | None:
    """Return the section and route of an address, and the numbers in it."""
    for section in SECTIONS:
        for route in section.routes:
            numbers = route.match(method, path)
            if numbers is not None:
                return section, route, numbers
    return None
