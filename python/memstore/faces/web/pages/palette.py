"""The palette: what a few words may mean here, to be opened, done or gone to.

It is a page with a form, and the list of a dialog that a script opens over any page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memstore.domain import zones
from memstore.domain.records import EVERYBODY
from memstore.errors import NotFound
from memstore.faces.web import agents, templating, words
from memstore.faces.web.pages import sessions
from memstore.faces.web.routes import asks, shows
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memstore.domain.episodes import Episode
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit

PATH: Final = "go"

MAX_TEXT: Final = 1000

FACTS: Final = 5
SESSIONS: Final = 4
SUBJECTS: Final = 3
PROJECTS: Final = 3
"""How many of each are listed."""

TURNS: Final = 12
"""Turns that are found, whose sessions are listed."""

WORD: Final = re.compile(r"\w+")


class Choice(NamedTuple):
    """Something to open or to do.

    Attributes:
        text: its words, those that begin as the typed ones do marked.
        about: what is said beside it, such as the subject of a fact.
        path: where it leads, or what it is posted to.
        fields: what is posted; ``None`` if it only leads somewhere.
        key: the keys that do the same.
    """

    icon: str
    text: tuple[words.Stretch, ...]
    path: str
    about: str = ""
    fields: Mapping[str, str] | None = None
    key: str = ""


class Group(NamedTuple):
    name: str
    choices: list[Choice]


def show(visit: Visit) -> Reply:
    """Show the form, and what its words may mean."""
    return _listed(visit, "palette.html", visit.kept().get("query", ""))


def ask(visit: Visit) -> Reply:
    """Return the list for the dialog; without a script, lead to the page that has it."""
    text = visit.field("query")[:MAX_TEXT]
    if visit.swaps:
        return _listed(visit, "parts/palette.html", text)
    return visit.to(f"{PATH}?q={visit.session.keep({'query': text})}" if text else PATH)


def _listed(visit: Visit, template: str, text: str) -> Reply:
    groups = [Group(name, [*some]) for name, some in _groups(visit, text)]
    shown = [group for group in groups if group.choices]
    return visit.page(template, text=text, groups=shown)


def _groups(visit: Visit, text: str) -> Iterator[tuple[str, Iterable[Choice]]]:
    if not text:
        yield "Opened last", _opened(visit)
        yield "Go to", _pages(visit, "")
        return
    yield "Facts", _facts(visit, text)
    yield "Sessions", _sessions(visit, text)
    yield "Subjects", _subjects(visit, text)
    yield "Projects", _projects(visit, text)
    yield "Do", _acts(visit, text)
    yield "Go to", _pages(visit, text)


def _facts(visit: Visit, text: str) -> Iterator[Choice]:
    found = visit.store.of(EVERYBODY).search(text, limit=FACTS, touch=False)
    for hit in found:
        fact = hit.fact
        yield Choice("subjects", _marked(fact.content, text), f"fact/{fact.id}", fact.subject)


def _sessions(visit: Visit, text: str) -> Iterator[Choice]:
    """Yield the sessions in which something like the words was said."""
    known: set[str | None] = {None}
    for hit in visit.store.of(EVERYBODY).episodes.search(text, limit=TURNS):
        turn = hit.episode
        if turn.thread in known or len(known) > SESSIONS:
            continue
        known.add(turn.thread)
        yield _session(visit, turn, text)


def _session(visit: Visit, turn: Episode, text: str = "") -> Choice:
    said_at = (turn.valid_at or turn.created_at).astimezone(visit.zone or zones.user())
    about = f"{agents.of(turn.source).name}, {said_at.day} {said_at:%b %Y}"
    request = sessions.request_of(visit.store.of(turn.scope), turn.thread or "")
    return Choice("sessions", _marked(request.content, text), f"session/{turn.id}", about)


def _subjects(visit: Visit, text: str) -> Iterator[Choice]:
    for one in visit.store.of(EVERYBODY).subjects(text, limit=SUBJECTS):
        about = f"{one.facts:,} believed"
        yield Choice("subjects", _marked(one.name, text), f"subject/{one.newest}", about)


def _projects(visit: Visit, text: str) -> Iterator[Choice]:
    names = [name for name, _ in visit.elsewhere if text.casefold() in name.casefold()]
    for name in names[:PROJECTS]:
        fields = {"namespace": name, "back": ""}
        yield Choice("folder", _marked(name, text), "owners/namespace", "", fields)


def _acts(visit: Visit, text: str) -> Iterator[Choice]:
    search = _marked("Search for it as an agent would")
    yield Choice("search", search, "search", "", {"query": text}, "/")
    yield Choice("home", _marked("What would this prompt add?"), "prompt", "", {"prompt": text})
    for undo in visit.session.undos[:1] if visit.may_write else ():
        fields = {"back": visit.back}
        yield Choice("undo", _marked(f"Undo: {undo.text}"), f"undo/{undo.act}", "", fields, "u")


def _pages(visit: Visit, text: str) -> Iterator[Choice]:
    for entry in visit.menu:
        if entry.is_listed and entry.name.casefold().startswith(text.casefold()):
            key = f"g {entry.key}" if entry.key else ""
            icon = entry.name.lower()
            yield Choice(icon, _marked(entry.name, text), entry.path, "", None, key)


def _opened(visit: Visit) -> Iterator[Choice]:
    """Yield what was opened last, as far as it is still there."""
    for kind, number in visit.session.opened(visit.store.namespace):
        try:
            if kind == "fact":
                fact = visit.store.get(number)
                yield Choice("subjects", _marked(fact.content), f"fact/{number}", fact.subject)
            else:
                yield _session(visit, visit.store.episodes.get(number))
        except NotFound:
            continue


def _marked(said: str, text: str = "") -> tuple[words.Stretch, ...]:
    """Return the beginning of a text, with the words marked that begin as the typed ones do."""
    title = templating.title_of(said)
    begins = tuple(word.casefold() for word in WORD.findall(text))
    spans = []
    for found in WORD.finditer(title):
        same = [one for one in begins if found[0].casefold().startswith(one)]
        if same:
            spans.append((found.start(), found.start() + max(map(len, same))))
    return words.marked(title, spans)


ROUTES: Final = (
    shows(PATH, show),
    asks(PATH, ask),
)
