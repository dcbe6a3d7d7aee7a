"""The timeline: acts by run, changes by day, two moments compared, undoing runs and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memstore.database.journal import Kind
from memstore.domain import zones
from memstore.domain.queries import LineNarrowing
from memstore.domain.records import EVERYBODY
from memstore.errors import Explained
from memstore.faces import wording
from memstore.faces.web import acting, activity_chart, owning, paging
from memstore.faces.web.routes import asks, changes, shows
from memstore.frozen import asdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memstore.domain.log import Act
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

MAX_FIELD: Final = 1000

DIFFERENCES: Final = 50


class Run(NamedTuple):
    """Acts in a row of one opening of the file, or of one session of a server.

    Attributes:
        number: stands for the run in addresses; ``None`` for acts without one.
    """

    actor: str
    source: str
    number: int | None
    acts: list[Act]


def show(visit: Visit) -> Reply:
    wanted = {name: one for name, one in visit.kept().items() if name in NARROWING}
    problem = ""
    acts: Sequence[Act] = ()
    before, after = visit.number("before"), visit.number("after")
    try:
        acts = visit.store.of(owning.chosen(wanted) or EVERYBODY).ledger.log(
            **asdict(_question(wanted, before, after))
        )
    except (Explained, ValueError) as error:
        problem = wording.in_pages(error)
    shown = acts[: paging.ROWS]
    zone = visit.zone or zones.user()
    activity = visit.store.of(EVERYBODY).ledger.activity(DAYS, zone)
    return visit.page(
        "timeline.html",
        runs=[*_runs(visit, shown)],
        links=paging.onward(visit, "before", shown[-1].line if len(acts) > paging.ROWS else None),
        chart=activity_chart.drawn(activity),
        colours=activity_chart.COLOURS,
        kinds=KINDS,
        can_undo=all(name not in wanted for name in ("until", "kind"))
        and any(name in wanted for name in SELECTING),
        wanted=wanted,
        asked=visit.number("q"),
        problem=problem,
    )


def _question(wanted: Mapping[str, str], before: int | None, after: int | None) -> LineNarrowing:
    """Return which acts to ask for."""
    given: dict[str, Any] = {name: wanted[name] for name in (*SELECTING, "until") if name in wanted}
    if "kind" in wanted:
        group = dict(activity_chart.GROUPS).get(wanted["kind"], ())
        given["kinds"] = [kind for kind in group if kind in KNOWN]
    return LineNarrowing(**given, before=before, after=after, limit=paging.ROWS + 1)


def _runs(visit: Visit, acts: Sequence[Act]) -> Iterator[Run]:
    """Yield the acts, those of one run that stand together as one."""
    current: Run | None = None
    for act in acts:
        same = current is not None and current.acts[-1].run == act.run
        if current is None or not same or act.run is None:
            if current is not None:
                yield current
            number = None if act.run is None else visit.session.keep({"run": act.run})
            current = Run(act.actor, act.source, number, [])
        current.acts.append(act)
    if current is not None:
        yield current


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
