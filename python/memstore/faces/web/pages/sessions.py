"""Sessions: what was said to agents, by the first request; and one of them in reading order."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from memstore.domain import clock
from memstore.domain.episodes import TRACE
from memstore.domain.records import EVERYBODY
from memstore.episodes.traces import LABELS
from memstore.errors import NotFound
from memstore.faces.web import acting, agents, chains, days, filters, templating, words
from memstore.faces.web.routes import changes, shows
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from memstore.domain.episodes import Episode, SessionSummary
    from memstore.domain.records import Fact
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit
    from memstore.history.reverting import Plan
    from memstore.store.store import Store

ROWS: Final = 30

AT_ONCE: Final = 100
READS: Final = 10
"""Sessions that are looked through for those that left a fact, and how often."""

PERIODS: Final = ((None, "All"), (1, "Today"), (7, "This week"))
"""The tabs: days back from now, and what they are called."""

GOING_ON: Final = timedelta(minutes=20)
"""A session whose last turn is not older may go on."""

WHOLE: Final = 50
"""Turns of a session that are shown without a gap."""

ENDS: Final = 20
"""Turns at either end of a longer one."""

MAX_FACTS: Final = 200
"""Facts of a session that are shown beside its turns, and undone at once."""


class Row(NamedTuple):
    """A session in the list."""

    session: SessionSummary
    agent: agents.Agent
    minutes: int
    goes_on: bool


class Drawn(NamedTuple):
    """A fact that was drawn from a turn."""

    fact: Fact
    what: str
    """What became of it, in a word or two."""
    text: tuple[words.Stretch, ...]
    """Its words; of what replaced something, with those that were lost."""


class Turn(NamedTuple):
    """A turn as the page shows it."""

    episode: Episode
    agent: agents.Agent
    is_persons: bool
    text: tuple[words.Stretch, ...]
    """The words that became a fact are marked."""
    drawn: list[Drawn]


def show(visit: Visit) -> Reply:
    """List the sessions, the latest first, below their days."""
    back = visit.number("days")
    is_learnt = visit.number("learnt") is not None
    found = _found(visit, days.since(visit, back), only_learnt=is_learnt)
    rows = [_row(one) for one in found[:ROWS]]
    return visit.page(
        "sessions.html",
        days=days.of(visit, rows, lambda row: row.session.last_at),
        periods=PERIODS,
        back=back,
        is_learnt=is_learnt,
        earlier=rows[-1].session.last_id if len(found) > ROWS else None,
    )


def _found(visit: Visit, since: datetime | None, *, only_learnt: bool) -> list[SessionSummary]:
    """Return the sessions of a page and one more; with ``only_learnt``, those that left a fact."""
    listed = partial(visit.store.of(EVERYBODY).episodes.sessions, since=since)
    before = visit.number("before") or None
    if not only_learnt:
        return listed(before=before, limit=ROWS + 1)
    found: list[SessionSummary] = []
    for _ in range(READS):
        some = listed(before=before, limit=AT_ONCE)
        found += [one for one in some if one.learnt]
        if len(some) < AT_ONCE or len(found) > ROWS:
            break
        before = some[-1].last_id
    return found[: ROWS + 1]


def _row(session: SessionSummary) -> Row:
    minutes = round((session.last_at - session.first_at).total_seconds() / 60)
    goes_on = clock.utc_now() - session.last_at < GOING_ON
    return Row(session, agents.of(session.source), minutes, goes_on)


# -- one of them -----------------------------------------------------------------------------------


def read(visit: Visit) -> Reply:
    """Show the session that an episode is part of, in reading order."""
    one = visit.store.episodes.get(visit.numbers["id"])
    if one.thread is None:
        return visit.to(f"episode/{one.id}")
    visit.session.note_opened(visit.store.namespace, "session", one.id)
    own = visit.store.of(one.scope)
    total = own.episodes.count(thread=one.thread)
    first, between, last = _parts(visit, own, one.thread, total)
    facts = own.list(thread=one.thread, states=filters.EVERY_STATE, limit=MAX_FACTS)
    trace = _trace(own, one.thread)
    turns = [turn for turn in (*first, *last) if turn != trace]
    asked = request_of(own, one.thread)
    return visit.page(
        "session.html",
        number=one.id,
        asked=asked,
        agent=agents.of(asked.source),
        began=asked.valid_at or asked.created_at,
        ended=(turns or [asked])[-1].valid_at or (turns or [asked])[-1].created_at,
        total=total - (trace is not None),
        first=[*_turns(visit, first, facts, trace)],
        between=between,
        gap=first[-1].id if first else None,
        last=[*_turns(visit, last, facts, trace)],
        learnt=len(facts),
        done=_done(trace),
        is_part=visit.number("after") is not None,
    )


def _parts(
    visit: Visit, own: Store, thread: str, total: int
) -> tuple[list[Episode], int, list[Episode]]:
    """Return turns to show, how many are left out after them, and those after the gap.

    On the pages of a long session, whether more follow is known, but not how many.
    """
    turns = own.episodes.list
    after = visit.number("after")
    if after is not None:
        found = turns(thread=thread, after_id=after, limit=WHOLE + 1)
        return found[:WHOLE], len(found) - WHOLE, []
    if total <= WHOLE:
        return turns(thread=thread, limit=WHOLE), 0, []
    last = turns(thread=thread, limit=ENDS, newest_first=True)[::-1]
    return turns(thread=thread, limit=ENDS), total - 2 * ENDS, last


def request_of(own: Store, thread: str) -> Episode:
    """Return the turn that names the session: the first that is not an agent's."""
    begin = own.episodes.list(thread=thread, limit=12)
    if not begin:
        raise NotFound("there is no such session")
    said = [turn for turn in begin if TRACE not in turn.tags] or begin
    return next((turn for turn in said if turn.speaker != "assistant"), said[0])


def _trace(own: Store, thread: str) -> Episode | None:
    found = own.episodes.list(thread=thread, tags=[TRACE], limit=1, newest_first=True)
    return found[0] if found else None


def _done(trace: Episode | None) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return what was done in a session: a title, and texts with how often, for each kind."""
    lists = {} if trace is None else trace.metadata
    return [
        (label, [*Counter(map(str, lists[name])).items()])
        for name, label in LABELS.items()
        if isinstance(lists.get(name), list) and lists[name]
    ]


def _turns(
    visit: Visit, episodes: Sequence[Episode], facts: Sequence[Fact], trace: Episode | None
) -> Iterator[Turn]:
    """Yield turns, each with what was drawn from it."""
    drawn: dict[int, list[chains.Row]] = {}
    for row in chains.rows(visit.store, facts):
        if row.fact.episode_id is not None:
            drawn.setdefault(row.fact.episode_id, []).append(row)
    for one in episodes:
        if trace is not None and one.id == trace.id:
            continue
        own = drawn.get(one.id, [])
        is_persons = one.speaker != "assistant"
        agent = agents.of(one.source)
        if is_persons:
            name = "You" if one.speaker in (None, "user") else str(one.speaker)
            agent = agents.Agent(name, name[:1].upper(), "person")
        yield Turn(
            one,
            agent,
            is_persons,
            words.marked(
                templating.beginning(one.content), _spans(visit, one, [row.fact for row in own])
            ),
            [Drawn(row.fact, _became(row.fact), _words_of(row)) for row in own],
        )


def _spans(visit: Visit, turn: Episode, facts: Sequence[Fact]) -> list[tuple[int, int]]:
    """Return where the words of a turn stand that became facts."""
    supports = (one for fact in facts for one in visit.store.ledger.support(fact.id))
    return [
        (one.start, one.stop)
        for one in supports
        if one.episode_id == turn.id and one.start is not None and one.stop is not None
    ]


def _words_of(row: chains.Row) -> tuple[words.Stretch, ...]:
    content = templating.title_of(row.fact.content)
    before = templating.title_of(row.older[-1].content) if row.older else ""
    return words.replaced(before, content) if before else words.marked(content, ())


def _became(fact: Fact) -> str:
    """Return what became of a fact that was learnt."""
    if fact.status == "active":
        return "Learnt, and pinned" if fact.pinned_at else "Learnt"
    if fact.status == "superseded":
        return "Learnt; no longer true"
    return f"Learnt; {fact.status}"


# -- undoing what it learnt ------------------------------------------------------------------------


def plan(visit: Visit) -> Reply:
    """Show what undoing all that was learnt in a session would do."""
    return _planned(visit, _plan(visit))


def apply(visit: Visit) -> Reply:
    """Do exactly what the plan said that the form shows."""
    return acting.applied(visit, _plan, _planned)


def _plan(visit: Visit) -> Plan:
    one = visit.store.episodes.get(visit.numbers["id"])
    if one.thread is None:
        raise NotFound("there is no such session")
    facts = visit.store.of(one.scope).list(
        thread=one.thread, states=filters.EVERY_STATE, limit=MAX_FACTS
    )
    lines = {line for fact in facts for line in _lines(visit, fact)}
    if not lines:
        raise NotFound("nothing was learnt in this session")
    return visit.store.of(EVERYBODY).ledger.revert(lines=sorted(lines))


def _lines(visit: Visit, fact: Fact) -> list[int]:
    """Return the lines of the act that stored a fact, as far as they are about its chain."""
    journal = visit.store.ledger.journal(fact.id)
    act = next((line.txn for line in journal if line.fact_id == fact.id), None)
    return [line.id for line in journal if line.txn == act]


def _planned(visit: Visit, plan: Plan, *, changed: bool = False) -> Reply:
    return visit.page(
        "undo_session.html",
        409 if changed else 200,
        plan=plan,
        changed=changed,
        number=visit.numbers["id"],
    )


ROUTES: Final = (
    shows("sessions", show),
    shows("session/{id}", read),
    shows("session/{id}/undo", plan),
    changes("session/{id}/undo", apply),
)
