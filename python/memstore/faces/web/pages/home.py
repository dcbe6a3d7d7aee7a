"""Home: what the next session is told, what a prompt adds, what was done, and the projects."""

from __future__ import annotations

from bisect import bisect_right
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from memstore.database.journal import Kind
from memstore.domain import clock, zones
from memstore.domain.records import EVERYBODY, TODO
from memstore.faces.hosts import catalogue, hook, recalling
from memstore.faces.web import agents, days, recalled, templating, words
from memstore.faces.web.activity_chart import GROUPS
from memstore.faces.web.routes import asks, shows
from memstore.named import NamedTuple
from memstore.store.store import latest_turns, open_questions, searches_since

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from memstore.domain.episodes import SessionSummary
    from memstore.domain.log import LogLine
    from memstore.domain.records import Fact
    from memstore.faces.hosts.catalogue import Host
    from memstore.faces.web.reply import Reply
    from memstore.faces.web.visit import Visit

MAX_PROMPT: Final = 20_000

MAX_NEWS: Final = 100
"""Changes since the last visit that are told: each is read with its words."""

MAX_CLAIMS: Final = 2
"""What somebody learnt, or found no longer true, that is quoted."""

MAX_ACTORS: Final = 4
"""Who is told of; the rest is one link."""

REMOVES_OR_RESTORES: Final = (Kind.DELETE, Kind.ERASE, Kind.RESTORE)

OF_TASKS: Final = f"{TODO}: "
"""How the claims of tasks begin, which are no facts that somebody learnt."""

WEEK: Final = 7
DAYS: Final = 28

MAX_PROJECTS: Final = 8
MAX_COMPARED: Final = 50
"""Namespaces, the largest ones, among which those with the latest turns are chosen."""

LEARNT: Final = frozenset(dict(GROUPS)["learnt"])

NEWS: Final = (
    Kind.ADD, Kind.ADOPT, Kind.SUPERSEDE, Kind.CONFIRM, *REMOVES_OR_RESTORES, Kind.PIN,
    Kind.PROPOSE,
)  # fmt: skip
"""The kinds of lines that are told of: recorded turns are not."""


class HostTab(NamedTuple):
    """A host to choose."""

    name: str
    title: str


class News(NamedTuple):
    """What somebody did since the last visit.

    Attributes:
        said: what was done, in words, the most important first.
        claims: the newest of it; of what was replaced, the lost and gained words.
        more: how much more was learnt than is quoted.
        questions: how many it left.
    """

    agent: agents.Agent
    actor: str
    said: list[str]
    claims: list[tuple[words.Stretch, ...]]
    more: int
    questions: int


class Week(NamedTuple):
    """A number of the last week, and that of the week before.

    Attributes:
        about: what is said below it.
    """

    name: str
    number: str
    about: str


class Bar(NamedTuple):
    """A day of a chart, in per cent of it."""

    step: str
    x: float
    y: float
    width: float
    height: float


class Project(NamedTuple):
    name: str
    facts: int
    turns: int
    last: SessionSummary | None
    agent: agents.Agent
    questions: int


def hosts() -> tuple[Host, ...]:
    """Return the hosts whose hooks tell an agent something."""
    none = catalogue.Host._field_defaults["hooks"]
    return tuple(host for host in catalogue.HOSTS if host.hooks is not none)


def show(visit: Visit) -> Reply:
    counts = visit.store.of(EVERYBODY).counts()
    host = _host(visit)
    turns = _days(visit)
    return visit.page(
        "home.html",
        counts=counts,
        hosts=[HostTab(one.name, one.title) for one in hosts()],
        host=HostTab(host.name, host.title),
        place=hosts().index(host),
        start=_at_start(visit, host),
        **_news(visit),
        week=_week(visit, turns),
        bars=_bars(turns),
        projects=_projects(visit),
        **_tried(visit, host),
    )


def _host(visit: Visit) -> Host:
    known, number = hosts(), visit.number("host") or 0
    return known[number if number < len(known) else 0]


# -- what is told ----------------------------------------------------------------------------------


def _at_start(visit: Visit, host: Host) -> recalled.RecalledText | None:
    """Return what the next session of a host begins with, by the function that its hook calls."""
    text = recalling.at_start(visit.store.of(**visit.owners), host.name).text
    return None if text is None else recalled.of(text, recalling.BUDGET_TOKENS, titled=True)


def try_prompt(visit: Visit) -> Reply:
    """Show what the hook adds to a prompt."""
    prompt = visit.fields.get("prompt", "")[:MAX_PROMPT]
    kept = visit.session.keep({"prompt": prompt})
    number = visit.posted_number("host") or 0
    if not visit.swaps:
        return visit.to(f"?host={number}&p={kept}#prompt")
    known = hosts()
    host = known[number if number < len(known) else 0]
    return visit.page("parts/prompt.html", **_added(visit, host, prompt))


def _tried(visit: Visit, host: Host) -> dict[str, Any]:
    """Return what the page says of the prompt that was tried, if one was."""
    if visit.number("p") is None:
        return _shown("", None)
    return _added(visit, host, visit.kept("p").get("prompt", ""))


def _added(visit: Visit, host: Host, prompt: str) -> dict[str, Any]:
    """Return what the hook adds to a prompt, by the function that it calls."""
    asked = hook.prompt_of({"prompt": prompt})
    text = None
    if hook.is_asking(asked):
        store = visit.store.of(**visit.owners)
        text = recalling.at_prompt(store, asked, None, None, (), host=host.name).text
    added = None if text is None else recalled.of(text, recalling.BUDGET_TOKENS, titled=False)
    return _shown(prompt, added)


def _shown(prompt: str, added: recalled.RecalledText | None) -> dict[str, Any]:
    return {
        "prompt": prompt,
        "added": added,
        "is_tried": bool(prompt.strip()),
        "budget": recalling.BUDGET_TOKENS,
    }


# -- what was done ---------------------------------------------------------------------------------


def _news(visit: Visit) -> dict[str, Any]:
    """Return what was done since the last visit, or if that is nothing, in the last week."""
    ledger = visit.store.of(EVERYBODY).ledger
    since = visit.since
    lines = [] if since is None else ledger.changes(after=since, kinds=NEWS, limit=MAX_NEWS)
    news, is_full = _by_actor(visit, lines), len(lines) == MAX_NEWS
    if news:
        return _shown_news(news, is_since_visit=True, is_full=is_full)
    since_then = clock.utc_now() - timedelta(days=WEEK)
    week = ledger.changes(since=since_then, kinds=NEWS, limit=MAX_NEWS)
    return _shown_news(_by_actor(visit, week), is_since_visit=False, is_full=len(week) == MAX_NEWS)


def _shown_news(news: Sequence[News], *, is_since_visit: bool, is_full: bool) -> dict[str, Any]:
    return {
        "news": news[:MAX_ACTORS],
        "others": max(0, len(news) - MAX_ACTORS),
        "is_since_visit": is_since_visit,
        "most": MAX_NEWS if is_full else 0,
    }


def _by_actor(visit: Visit, lines: Sequence[LogLine]) -> list[News]:
    """Return what was done by who did it, the latest first."""
    found: dict[tuple[str, str, str | None], list[LogLine]] = {}
    for line in lines:
        found.setdefault((line.actor, line.source, line.device), []).append(line)
    removed = _removed(lines)
    quoted = {fact for some in found.values() for line in _quoted(some) for fact in line.facts}
    facts = {fact.id: fact for fact in visit.store.get_many(sorted(quoted))}
    news = (_of_actor(*by, some, facts, removed) for by, some in found.items())
    return [one for one in news if one.said]


def _removed(lines: Sequence[LogLine]) -> set[int]:
    """Return the lines, newest first, that removed what was not brought back after them."""
    found: set[int] = set()
    decided: set[int] = set()
    for line in lines:
        if line.kind in REMOVES_OR_RESTORES and not decided & {*line.facts}:
            decided.update(line.facts)
            if line.kind != Kind.RESTORE:
                found.add(line.line)
    return found


def _is_task(line: LogLine) -> bool:
    return any(claim.startswith(OF_TASKS) for claim in line.claims)


def _quoted(lines: Sequence[LogLine]) -> list[LogLine]:
    """Return the lines whose words are told: what replaced something is told with that."""
    replaced = [line for line in lines if line.kind == Kind.SUPERSEDE and not _is_task(line)]
    newer = {fact for line in replaced for fact in line.facts[1:]}
    learnt = [
        line
        for line in lines
        if line.kind in LEARNT and not _is_task(line) and not newer & {*line.facts}
    ]
    return [*replaced[:1], *learnt][:MAX_CLAIMS]


def _claim(line: LogLine, facts: Mapping[int, Fact]) -> tuple[words.Stretch, ...]:
    known = [templating.title_of(facts[one].content) for one in line.facts if one in facts]
    if line.kind == Kind.SUPERSEDE and len(known) > 1 and all(known):
        return words.replaced(known[0], known[1])
    return words.marked(known[-1], ()) if known and known[-1] else ()


def _of_actor(
    actor: str,
    source: str,
    device: str | None,
    lines: Sequence[LogLine],
    facts: Mapping[int, Fact],
    removed: Collection[int],
) -> News:
    learnt = [line for line in lines if line.kind in LEARNT and not _is_task(line)]
    tasks = sum(line.kind in LEARNT and _is_task(line) for line in lines)
    replaced = _number(lines, (Kind.SUPERSEDE,))
    questions = _number(lines, (Kind.PROPOSE,))
    said = [
        _counted(len(learnt), "learnt {}", "thing"),
        _counted(tasks, "added {}", "task"),
        _counted(replaced, "found that {} no longer true", "thing", verb=True),
        _counted(_number(lines, (Kind.CONFIRM,)), "confirmed {}", "thing"),
        _counted(sum(line.line in removed for line in lines), "removed {}", "thing"),
        _counted(_number(lines, (Kind.PIN,)), "pinned {}", "thing"),
    ]
    claims = [claim for line in _quoted(lines) if (claim := _claim(line, facts))]
    return News(
        agents.acting(actor, source, device),
        actor,
        [one for one in said if one],
        claims,
        max(0, len(learnt) - len(claims)),
        questions,
    )


def _number(lines: Iterable[LogLine], kinds: Sequence[str]) -> int:
    return sum(line.kind in kinds for line in lines)


def _counted(number: int, text: str, noun: str, *, verb: bool = False) -> str:
    """Return a text with a number of things in it; empty for none."""
    if not number:
        return ""
    things = f"one {noun}" if number == 1 else f"{number:,} {noun}s"
    return text.format(f"{things} {'is' if number == 1 else 'are'}" if verb else things)


def _days(visit: Visit) -> list[int]:
    """Return how many sessions had their last turn on each of the last days, oldest first."""
    begins = days.begins(visit, DAYS)
    numbers = [0] * DAYS
    for at in visit.store.of(EVERYBODY).episodes.last_turns(begins[0]):
        place = bisect_right(begins, at)  # compared, not converted: there may be thousands
        if place:
            numbers[place - 1] += 1
    return numbers


def _week(visit: Visit, turns: Sequence[int]) -> list[Week]:
    zone = visit.zone or zones.user()
    activity = visit.store.of(EVERYBODY).ledger.activity(2 * WEEK, zone)

    def sums_of(kinds: Iterable[str]) -> tuple[int, int]:
        wanted = [*kinds]
        sums = [sum(day.kinds.get(kind, 0) for kind in wanted) for day in activity]
        return sum(sums[WEEK:]), sum(sums[:WEEK])

    since = clock.utc_now() - timedelta(days=WEEK)
    given = searches_since(visit.store, since)
    pairs = (
        ("Sessions this week", (sum(turns[-WEEK:]), sum(turns[-2 * WEEK : -WEEK]))),
        ("Learnt", sums_of(LEARNT)),
        ("No longer true", sums_of((Kind.SUPERSEDE,))),
    )
    each = f", {round(given.tokens / given.answers):,} tokens each" if given.answers else ""
    of_prompts = f", {given.prompts:,} to prompts" if given.prompts else ""
    number = f"{given.searches:,}"
    return [
        *(Week(name, f"{now:,}", f"{before:,} the week before") for name, (now, before) in pairs),
        Week("Given to agents", number, f"answers{of_prompts}{each}"),
    ]


def _bars(numbers: Sequence[int]) -> list[Bar]:
    """Return a bar for each day, those of this week in another step."""
    highest, step = max([*numbers, 1]), 100 / len(numbers)
    bars = []
    for place, number in enumerate(numbers):
        height = max(5.0, 100 * number / highest)
        last = place >= len(numbers) - WEEK
        colour = ("d1" if last else "d3") if number else "d4"
        x = round(place * step, 2)
        bars.append(Bar(colour, x, round(100 - height, 2), round(step * 0.72, 2), round(height, 2)))
    return bars


# -- projects --------------------------------------------------------------------------------------


def _projects(visit: Visit) -> list[Project]:
    """Return the projects with the latest turns, the one that is shown first."""
    own, everybody = visit.store.namespace, visit.store.of(EVERYBODY)
    others = dict(visit.elsewhere[:MAX_COMPARED])
    latest = latest_turns(visit.store, others)
    names = sorted(others, key=lambda name: _age(latest.get(name)), reverse=True)
    counts = everybody.counts()
    held = {name: (one.facts, one.episodes) for name, one in others.items()}
    held[own] = (counts.active, counts.episodes)
    questions = {own: visit.waiting} | open_questions(visit.store, others)
    found = []
    for name in (own, *names[: MAX_PROJECTS - 1]):
        there = everybody if name == own else visit.store.within(name).of(EVERYBODY)
        last = next(iter(there.episodes.sessions(limit=1)), None)
        agent = agents.of(None if last is None else last.source)
        found.append(Project(name, *held[name], last, agent, questions.get(name, 0)))
    return found


def _age(at: datetime | None) -> float:
    return 0.0 if at is None else at.timestamp()


ROUTES: Final = (
    shows("", show),
    asks("prompt", try_prompt),
)
