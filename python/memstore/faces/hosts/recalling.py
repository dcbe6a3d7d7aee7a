"""Writes what an agent is told at the start of a session and at a prompt, as a text for its host.

The hooks print it, on the machine of the file or, over HTTP, on another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore import settings
from memstore.domain import clock
from memstore.faces.escaping import counted
from memstore.faces.hosts import tags
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from memstore.domain import notes
    from memstore.domain import turns as domain_turns
    from memstore.domain.notes import Note
    from memstore.faces.hosts.sessions import Inherited
    from memstore.store import answers
    from memstore.store import store as stores
    from memstore.store.store import Store
else:
    answers = lazy_import("memstore.store.answers")
    notes = lazy_import("memstore.domain.notes")
    domain_turns = lazy_import("memstore.domain.turns")
    stores = lazy_import("memstore.store.store")

BUDGET_TOKENS: Final = 500
AROUND_TOKENS: Final = 50
"""Tokens for the text around the facts."""

MAX_INHERITED: Final = 1000
"""Turns of another session, the last ones, that are taken to be in a session's context."""

REMINDED: Final = f"{tags.RECALLED} for this prompt (#: facts, e: said in earlier sessions)."


class Recollection(NamedTuple):
    """What is told, and the names of the facts and turns in it."""

    text: str | None
    """``None`` if there is nothing to tell."""
    given: tuple[str, ...] = ()
    """``#12`` for a fact, ``e31`` for a turn."""

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Recollection:
        """Read what a server answered; what has another form is nothing."""
        text, given = answer.get("text"), answer.get("given")
        names = given if isinstance(given, list) else ()
        return cls(text if isinstance(text, str) and text else None, tuple(map(str, names)))


def at_start(
    store: Store,
    host: str,
    session: str | None = None,
    *,
    is_fork: bool = False,
) -> Recollection:
    """Return what a session begins with.

    Args:
        host: the host, which is not told its own changes.
        session: the session, if it goes on; it is not told its own conversation.
        is_fork: another session's conversation is in its context, nobody says whose; so it is told
            of none.
    """
    told = store.briefing(
        max_tokens=BUDGET_TOKENS - AROUND_TOKENS,
        session=session,
        agent=host,
        traces=settings.keeps_traces(),
        last_sessions=0 if is_fork else 5,
    )
    given = tuple(map("#{}".format, told.facts))
    others = () if told.text else answers.of_others(store, "fact", to_model=True)
    lines = told.text or next(map(sentence, others), None)
    return Recollection(None if lines is None else f"{tags.RECALLED}. {tags.DATA}\n{lines}", given)


def sentence(note: Note) -> str | None:
    """Return what a hook says for a note: only why nothing was recalled."""
    if not isinstance(note, notes.OthersHold):
        return None
    return (
        f"There are no facts without an owner; {counted(note.counts['fact'])} with owners were not "
        "recalled. `memstore setup --user NAME` chooses whose facts are."
    )


def at_prompt(
    store: Store,
    prompt: str,
    session: str | None,
    emptied_at: datetime | str | None,
    known: Iterable[str],
    *,
    host: str = "",
    inherited: Inherited | None = None,
    turns: bool = True,
) -> Recollection:
    """Return what the memory has to say about a prompt; nothing if it does not bear on it.

    Args:
        session: the running session, whose turns are in the agent's context.
        emptied_at: except for those before this time.
        known: the names of what the agent was given already.
        host: the host, which gave the turns of other sessions their ids.
        inherited: what the agent has in its context of other sessions.
        turns: tell what was said, too.
    """
    if inherited is not None:
        known = [*known, *inherited_names(store, host, inherited)]
    found = store.remind(
        prompt,
        max_tokens=BUDGET_TOKENS - AROUND_TOKENS,
        thread=session,
        thread_before=emptied_at,
        known=known,
        turns=turns,
    )
    if not found.text:
        return Recollection(None)
    given = (*map("#{}".format, found.facts), *map("e{}".format, found.episodes))
    return Recollection(f"{REMINDED}\n{found.text}\n{tags.DATA}", given)


def inherited_names(store: Store, host: str, inherited: Inherited) -> set[str]:
    """Return the names of the turns that a session has in its context of other sessions."""
    owner = stores.standing_of(store).written
    marks = (one.rpartition(":") for one in inherited.turns)
    keys = {
        str(domain_turns.TurnKey.of(host, "", mark, digest, owner))
        for mark, _, digest in marks
        if mark
    }
    found = [*store.episodes.by_keys([*keys]).values()]
    for session, until in inherited.sessions:
        moment = clock.moment(until, "until")
        found += [
            turn
            for turn in store.episodes.list(thread=session, limit=MAX_INHERITED, newest_first=True)
            if moment is None or (turn.valid_at or turn.created_at) <= moment
        ]
    return {f"e{turn.id}" for turn in found}
