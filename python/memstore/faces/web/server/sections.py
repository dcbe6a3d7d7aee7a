"""The table of the pages: the menu, from the top down, and the routes of each entry.

A page is a module in :mod:`memstore.faces.web.pages` with ``ROUTES``, and its templates. It is
added here, in one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.faces.web.menu import MenuItem
from memstore.faces.web.pages import (
    answers,
    erase,
    fact,
    frame,
    home,
    inbox,
    log,
    owners,
    palette,
    search,
    sessions,
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
    Section(MenuItem("Home", "", key="h"), home.ROUTES),
    Section(MenuItem("Sessions", "sessions", key="s"), (*sessions.ROUTES, *log.ROUTES)),
    Section(MenuItem("Inbox", "inbox", key="i"), inbox.ROUTES),
    Section(MenuItem("Timeline", "timeline", key="t"), timeline.ROUTES),
    Section(MenuItem("Subjects", "subjects", key="b"), subjects.ROUTES),
    Section(MenuItem("Answers", "answers", is_rare=True), answers.ROUTES),
    Section(MenuItem("Tasks", "tasks", is_rare=True), tasks.ROUTES),
    Section(MenuItem("Owners", "owners", is_rare=True), owners.ROUTES),
    Section(MenuItem("State", "state", is_rare=True), state.ROUTES),
    Section(MenuItem("Search", "search", is_listed=False), search.ROUTES),
    Section(MenuItem("Palette", "go", is_listed=False), palette.ROUTES),
    Section(MenuItem("Fact", "fact", is_listed=False), fact.ROUTES),
    Section(MenuItem("Erase", "erase", is_listed=False), erase.ROUTES),
    Section(MenuItem("Undo", "undo", is_listed=False), undo.ROUTES),
    Section(MenuItem("Frame", "frame", is_listed=False), frame.ROUTES),
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
