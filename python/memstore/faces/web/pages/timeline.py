"""The timeline: acts by day and run, two moments compared, undoing runs and sources."""

from __future__ import annotations

from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from memstore.database.journal import Kind
from memstore.domain import zones
from memstore.domain.queries import LineNarrowing
from memstore.domain.records import EVERYBODY
from memstore.errors import Explained, NotFound
from memstore.faces import wording
from memstore.faces.escaping import counted
from memstore.faces.web import (
    acting,
    activity_chart,
    agents,
    days,
    owning,
    paging,
    templating,
    words,
)
from memstore.faces.web.pages import sessions
from memstore.faces.web.routes import asks, changes, shows
from memstore.frozen import asdict
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    from memstore.domain.log import Act, ActChange, DayActivity
    from memstore.domain.records import Fact
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit
    from memstore.history.differences import Differences
    from memstore.history.reverting import Plan

DAYS: Final = 28

SELECTING: Final = ("run", "source", "actor", "since")
"""What narrows the list, and selects what is to be undone."""

NARROWING: Final = (*SELECTING, *owning.NAMES, "until", "kind")
"""What narrows the list. All since a moment can be undone, but not all until one, or of a kind."""

KNOWN: Final = frozenset(Kind)
"""The kinds of lines that acts are found by: not those that the chart tells apart by more."""

KINDS: Final = (("", "any"), *((name, name) for name, _ in activity_chart.GROUPS))

LEARNT: Final = frozenset(dict(activity_chart.GROUPS)["learnt"])

SIGNS: Final = {
    Kind.SUPERSEDE: "replaced",
    Kind.DELETE: "removed",
    Kind.ERASE: "removed",
    Kind.CONFIRM: "yes",
    Kind.PIN: "pin",
    Kind.EPISODE: "sessions",
    Kind.PROPOSE: "inbox",
}
"""The pictures of what was done, beside its word."""

ERASED: Final = (words.Stretch("same", "(erased)"),)

MAX_FIELD: Final = 1000

DIFFERENCES: Final = 50


PERIODS: Final = ((1, "Today"), (7, "This week"), (28, "28 days"), (None, "All"))
"""The tabs: days back from now, today among them, and what they are called."""

SHOWN_FACTS: Final = 5
"""Facts of one change that are told."""


class Run(NamedTuple):
    """Acts in a row of one opening of the file, or of one session of a server.

    Attributes:
        number: stands for the run in addresses; ``None`` for acts without one.
        session: the session that it is about, if one is.
    """

    agent: agents.Agent
    number: int | None
    session: SessionLink | None
    acts: list[ToldAct]

    @property
    def at(self) -> datetime:
        return self.acts[0].act.at


class SessionLink(NamedTuple):
    """A session by its first request, and the number of one of its turns."""

    number: int
    request: str


class ToldAct(NamedTuple):
    """An act as the page tells it.

    Attributes:
        can_undo: whether it changed a fact.
    """

    act: Act
    lead: str
    rows: list[ToldChange]
    can_undo: bool


class ToldChange(NamedTuple):
    """What an act did to one fact, or to others that are not told one by one.

    Attributes:
        kind: as in the journal; the page has a word for each.
        text: the fact; of a replacement, the older one with what it lost, and then what is new.
        fact: its id; ``None`` if this is about several.
    """

    kind: str
    text: tuple[words.Stretch, ...]
    fact: int | None = None


def show(visit: Visit) -> Reply:
    wanted = {name: one for name, one in visit.kept().items() if name in NARROWING}
    problem = ""
    acts: Sequence[Act] = ()
    before, after = visit.number("before"), visit.number("after")
    zone = visit.zone or zones.user()
    back = visit.number("days")
    try:
        acts = visit.store.of(owning.chosen(wanted) or EVERYBODY).ledger.log(
            **asdict(_question(wanted, before, after, days.since(visit, back)))
        )
    except (Explained, ValueError) as error:
        problem = wording.in_pages(error)
    shown = acts[: paging.ROWS]
    activity = visit.store.of(EVERYBODY).ledger.activity(DAYS, zone)
    return visit.page(
        "timeline.html",
        days=[
            (day, "" if wanted else _sum_of(activity, day.rows))
            for day in days.of(visit, [*_runs(visit, shown, zone)], lambda run: run.at)
        ],
        periods=PERIODS,
        back=back,
        links=paging.onward(visit, "before", shown[-1].line if len(acts) > paging.ROWS else None),
        chart=activity_chart.drawn(activity),
        colours=activity_chart.COLOURS,
        kinds=KINDS,
        learnt=LEARNT,
        signs=SIGNS,
        can_undo=all(name not in wanted for name in ("until", "kind"))
        and any(name in wanted for name in SELECTING),
        wanted=wanted,
        asked=visit.number("q"),
        problem=problem,
    )


def _question(
    wanted: Mapping[str, str], before: int | None, after: int | None, since: datetime | None
) -> LineNarrowing:
    """Return which acts to ask for."""
    given: dict[str, Any] = {} if since is None else {"since": since}
    given |= {name: wanted[name] for name in (*SELECTING, "until") if name in wanted}
    if "kind" in wanted:
        group = dict(activity_chart.GROUPS).get(wanted["kind"], ())
        given["kinds"] = [kind for kind in group if kind in KNOWN]
    return LineNarrowing(**given, before=before, after=after, limit=paging.ROWS + 1)


def _runs(visit: Visit, acts: Sequence[Act], zone: tzinfo) -> Iterator[Run]:
    """Yield the acts, those of one run and day that stand together as one."""
    every = {fact for act in acts for change in act.changes for fact in _told_facts(change)}
    facts = {fact.id: fact for fact in visit.store.get_many(sorted(every))}

    def run_of(act: Act) -> tuple[object, ...]:
        day = act.at.astimezone(zone).date()
        return act.run or act.line, act.actor, act.source, act.device, day

    for _, some in groupby(acts, run_of):
        own = [*some]
        first = own[0]
        agent = agents.acting(first.actor, first.source, first.device)
        number = None if first.run is None else visit.session.keep({"run": first.run})
        session = _session(visit, own, facts)
        yield Run(agent, number, session, [_told_act(act, facts) for act in own])


def _told_facts(change: ActChange) -> tuple[int, ...]:
    """Return the facts of a change that are told: of a replacement, both."""
    most = 2 * SHOWN_FACTS if change.kind == Kind.SUPERSEDE else SHOWN_FACTS
    return change.facts[:most]


def _session(visit: Visit, acts: Iterable[Act], facts: Mapping[int, Fact]) -> SessionLink | None:
    """Return the session that acts are about: of a turn that they recorded or drew from."""
    kinds = (Kind.EPISODE, Kind.SUPERSEDE, *LEARNT)
    changes = [change for act in acts for change in act.changes if change.kind in kinds]
    turns = [turn for change in changes for turn in change.episodes[:1]]
    drawn = (facts[fact] for change in changes for fact in change.facts if fact in facts)
    turns += [fact.episode_id for fact in drawn if fact.episode_id is not None][:1]
    for number in turns[:1]:
        with suppress(NotFound):
            turn = visit.store.episodes.get(number)
            if turn.thread is not None:
                request = sessions.request_of(visit.store.of(turn.scope), turn.thread)
                return SessionLink(turn.id, request.content)
    return None


def _told_act(act: Act, facts: Mapping[int, Fact]) -> ToldAct:
    lead, changes = act.parts
    replacing = {new for one in changes if one.kind == Kind.SUPERSEDE for new in one.facts[1::2]}
    rows = [row for change in changes for row in _rows(change, facts, replacing)]
    return ToldAct(act, lead, rows, any(change.facts for change in changes))


def _rows(
    change: ActChange, facts: Mapping[int, Fact], replacing: Collection[int]
) -> Iterator[ToldChange]:
    """Yield what a change did; what replaced something is told once, with that."""
    told = _told_facts(change)
    if change.kind == Kind.SUPERSEDE:
        for old, new in zip(told[::2], told[1::2], strict=False):
            yield ToldChange(change.kind, _replaced(facts.get(old), facts.get(new)), new)
    elif change.kind == Kind.PROPOSE and told:
        question = words.marked("Is this still true? ", ()) + _said(facts.get(told[0]))
        yield ToldChange(change.kind, question, told[0])
        return
    elif not told:
        text = change.text if change.kind != Kind.EPISODE else counted(change.number, "turn")
        yield ToldChange(change.kind, words.marked(text, ()))
    else:
        for fact in told:
            if fact not in replacing or change.kind not in LEARNT:
                yield ToldChange(change.kind, _said(facts.get(fact)), fact)
    if len(change.facts) > len(told):
        left = change.number - len(told)
        yield ToldChange(change.kind, words.marked(f"… and {left:,} more", ()))


def _said(fact: Fact | None) -> tuple[words.Stretch, ...]:
    content = "" if fact is None else fact.content
    return words.marked(templating.beginning(content), ()) if content else ERASED


def _replaced(old: Fact | None, new: Fact | None) -> tuple[words.Stretch, ...]:
    """Return a newer text with the words that it gained, behind those that are lost."""
    if old is None or new is None or not old.content or not new.content:
        return _said(new)
    return words.replaced(templating.beginning(old.content), templating.beginning(new.content))


def _sum_of(activity: Sequence[DayActivity], runs: Sequence[object]) -> str:
    """Return what was done on the day of some runs, in words."""
    first = runs[0]
    day = first.at.astimezone(zones.user()).date() if isinstance(first, Run) else None
    found = next((one for one in activity if one.day == day), None)
    if found is None:
        return ""
    groups = activity_chart.GROUPS[: len(activity_chart.COLOURS)]
    sums = [(name, sum(found.kinds.get(kind, 0) for kind in some)) for name, some in groups]
    devices = [(f"on {name}", sum(kinds.values())) for name, kinds in found.devices.items()]
    return ", ".join(f"{number:,} {name}" for name, number in (*sums, *devices) if number)


def narrow(visit: Visit) -> Reply:
    wanted = {name: visit.field(name)[:MAX_FIELD] for name in NARROWING if visit.field(name)}
    if visit.field("reset") or not wanted:
        return visit.to("timeline")
    return visit.to(f"timeline?q={visit.session.keep(wanted)}")


# -- two moments -----------------------------------------------------------------------------------


def compare(visit: Visit) -> Reply:
    """Keep two moments, and show what differs between them."""
    asked = {name: visit.field(name)[:MAX_FIELD] for name in ("a", "b")}
    return visit.to(f"timeline/difference/{visit.session.keep(asked)}")


def difference(visit: Visit) -> Reply:
    kept = visit.kept("number")
    offset = visit.number("from") or 0
    found: Differences | None = None
    problem = ""
    try:
        found = visit.store.of(EVERYBODY).ledger.diff(
            kept.get("a") or "yesterday",
            kept.get("b") or "now",
            limit=DIFFERENCES + 1,
            offset=offset,
        )
    except (Explained, ValueError) as error:
        problem = wording.in_pages(error)
    return visit.page(
        "difference.html",
        400 if problem else 200,
        asked=kept,
        number=visit.numbers["number"],
        found=() if found is None else found[:DIFFERENCES],
        passed=0 if found is None else found.passed,
        following=offset + DIFFERENCES if found and len(found) > DIFFERENCES else None,
        previous=offset - DIFFERENCES if offset >= DIFFERENCES else None,
        problem=problem,
    )


# -- undoing a run, a source, an author, or all since a moment -------------------------------------


def plan(visit: Visit) -> Reply:
    """Show what undoing the selection with this number would do."""
    return _planned(visit, _plan(visit))


def apply(visit: Visit) -> Reply:
    """Do exactly what the plan said that the form shows."""
    return acting.applied(visit, _plan, _planned)


def _plan(visit: Visit) -> Plan:
    wanted: Mapping[str, Any] = visit.kept("selected")
    return visit.store.of(owning.chosen(wanted) or EVERYBODY).ledger.revert(
        **{name: wanted[name] for name in SELECTING if name in wanted},
    )


def _planned(visit: Visit, plan: Plan, *, changed: bool = False) -> Reply:
    return visit.page(
        "undo_selected.html",
        409 if changed else 200,
        plan=plan,
        selected=visit.numbers["selected"],
        wanted=visit.kept("selected"),
        changed=changed,
    )


ROUTES: Final = (
    shows("timeline", show),
    asks("timeline", narrow),
    asks("timeline/difference", compare),
    shows("timeline/difference/{number}", difference),
    shows("timeline/undo/{selected}", plan),
    changes("timeline/undo/{selected}", apply),
)
