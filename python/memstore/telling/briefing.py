"""The text that a session begins with: tasks, user, project, last sessions, changes by others.

Each group has a share of the budget of tokens, and what it leaves goes to the others (decision 62).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.database.journal import Kind
from memstore.database.tables import changed_facts
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.domain import clock, zones
from memstore.domain.queries import Page
from memstore.domain.records import Record
from memstore.embedding.vectors import numbers, similarities
from memstore.episodes.traces import TRACE
from memstore.frozen import frozen, replace
from memstore.history import trust
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.providers.local import HAS_MODEL, LocalEmbedder, TokenCounter
from memstore.text.escaping import visible
from memstore.text.folding import folded, subject_key
from memstore.text.lexicon import NEGATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Engine, Transaction
    from memstore.database.tables import newer as newer_table
    from memstore.database.tables import unread
    from memstore.database.tables.facts import Uses
    from memstore.domain import project_names
    from memstore.domain.episodes import Episode
    from memstore.domain.records import AtLeast, Fact, Scope
    from memstore.domain.tasks import Task
    from memstore.text import dated
else:
    dated = lazy_import("memstore.text.dated")
    newer_table = lazy_import("memstore.database.tables.newer")
    unread = lazy_import("memstore.database.tables.unread")
    project_names = lazy_import("memstore.domain.project_names")


@frozen(kw_only=True)
class Briefing(Record):
    """What an agent is told when a session begins; ``str()`` returns the text."""

    text: str
    """Groups of lines, each below its title; empty if there is nothing to tell."""
    tasks: tuple[int, ...] = ()
    """Ids of the tasks in it."""
    facts: tuple[int, ...] = ()
    """Ids of the facts in it."""
    episodes: tuple[int, ...] = ()
    """Ids of the episodes that the lines about the last sessions are taken from."""

    def __str__(self) -> str:
        return self.text


MIN_CHARACTERS: Final = 40
"""The least that is shown of a line."""


class ShownLine(NamedTuple):
    """One line, and the id of what it shows."""

    text: str
    id: int


class LineGroup(NamedTuple):
    """Lines below a title, the most important one first, and the group's share of the budget."""

    title: str
    """Empty for none."""
    lines: Sequence[ShownLine]
    share: int


def shared(needs: Sequence[int], shares: Sequence[int], room: int) -> list[int]:
    """Return the room for each of several parts, in the order of their importance.

    Each gets what it needs up to its part of the room; what one leaves is divided among those that
    need more, in the same proportion.
    """
    given = [0] * len(needs)
    wanting = [place for place, need in enumerate(needs) if need > 0]
    while wanting and room > 0:
        total = sum(shares[place] for place in wanting)
        parts = {place: max(1, room * shares[place] // total) for place in wanting}
        for place in wanting:
            part = min(parts[place], needs[place] - given[place], room)
            given[place] += part
            room -= part
        wanting = [place for place in wanting if given[place] < needs[place]]
    return given


def fitting(
    groups: Sequence[LineGroup], room: int, cost: Callable[[str], int]
) -> list[tuple[LineGroup, list[ShownLine]]]:
    """Return the lines of each group that fit; groups without any are left out."""
    held = [group for group in groups if group.lines]
    titles = [cost(group.title) if group.title else 0 for group in held]
    needs = [_need(group, cost) for group in held]
    rooms = shared(needs, [group.share for group in held], room)
    told, spare = [], 0
    for group, title, part in zip(held, titles, rooms, strict=True):
        spare += part
        if lines := [*_within(group.lines, spare - title, cost)]:
            told.append((group, lines))
            spare -= title + sum(cost(line.text) for line in lines)
    return told


def _need(group: LineGroup, cost: Callable[[str], int]) -> int:
    """Return how many tokens all lines of a group take, with its title."""
    if not group.lines:
        return 0
    return (cost(group.title) if group.title else 0) + sum(cost(one.text) for one in group.lines)


def _within(
    lines: Iterable[ShownLine], room: int, cost: Callable[[str], int]
) -> Iterable[ShownLine]:
    """Yield lines until one does not fit; the first is shortened if it is too long."""
    for place, line in enumerate(lines):
        text = line.text if place else clipped(line.text, room, cost)
        room -= cost(text)
        if room < 0 or not text:
            return
        yield line._replace(text=text)


def clipped(text: str, room: int, cost: Callable[[str], int]) -> str:
    """Return the longest beginning of a text that fits, cut between words; empty if too short."""
    if cost(text) <= room:
        return text
    # The most characters that fit; all of them do not.
    fit = bisect_left(range(1, len(text)), True, key=lambda most: cost(f"{text[:most]}…") > room)
    if fit < min(MIN_CHARACTERS, len(text) // 2):
        return ""
    words = text[:fit] if text[fit : fit + 1] == " " else text[:fit].rsplit(" ", 1)[0]
    return f"{(words if len(words) * 3 > fit * 2 else text[:fit]).rstrip()}…"


SESSION: Final = "session"
"""The tag of the turns that hosts record."""

MAX_SESSIONS: Final = 5

MAX_SESSIONS_LOOKED_AT: Final = 30
"""Where they are of several projects."""

EPISODES_LOOKED_AT: Final = (250, 3000)
"""The newest episodes of a namespace in which sessions are looked for, at first and at most."""

MAX_TURN_CHARACTERS: Final = 1000
"""More than fits of one turn."""

MAX_TURNS: Final = 12
"""Turns at either end of a session among which its first and last ones are looked for."""

SHARES: Final = {"asked": 5, "user": 3, "assistant": 5, "changed": 4, "committed": 4, "failed": 2}
"""How a session's tokens are divided."""

VERBS: Final = {
    Kind.ADD: "added",
    Kind.ADOPT: "imported",
    Kind.SUPERSEDE: "retired",
    Kind.DELETE: "retired",
    Kind.RESTORE: "restored",
    Kind.UNSUPERSEDE: "restored",
    Kind.CONFIRM: "confirmed",
    Kind.METADATA: "changed",
    Kind.UPDATE: "changed",
    Kind.PIN: "changed",
    Kind.UNPIN: "changed",
}
"""What each kind of change is called, in the order in which they are told."""

MAX_CHANGES: Final = 20_000
"""Of a longer journal since then, the newest lines are counted."""

MAX_AUTHORS: Final = 4


class LastSession(NamedTuple):
    """One recorded session; the turns are in its own words."""

    agent: str
    ended: datetime
    request: Episode | None
    """The first turn of the user."""
    last: tuple[Episode, ...]
    """The last turn of the user, unless it is the first, and the answer to it."""
    trace: Episode | None
    last_id: int
    """The id of its newest episode."""


def sessions_before(
    transaction: Transaction,
    wanted: EpisodeFilter,
    running: str | None,
    *,
    traces: bool,
    project: str | None = None,
) -> Iterator[LastSession]:
    """Yield the last sessions, newest first, without the running one and those of others.

    Args:
        project: the caller's, where the namespace holds several.
    """
    threads: list[str] = []
    enough = MAX_SESSIONS if project is None else MAX_SESSIONS_LOOKED_AT
    for most in EPISODES_LOOKED_AT:
        found = episode_table.newest_threads(transaction, wanted, SESSION, most)
        threads = [thread for thread in dict.fromkeys(found) if thread != running]
        if len(threads) >= enough:
            break
    told = (_session(transaction, wanted, one, traces, project) for one in threads[:enough])
    return islice((session for session in told if session is not None), MAX_SESSIONS)


def _session(
    transaction: Transaction,
    wanted: EpisodeFilter,
    thread: str,
    traces: bool,
    project: str | None,
) -> LastSession | None:
    first = episode_table.ends(transaction, wanted, thread, MAX_TURNS)
    others = trust.foreign_episodes(transaction, [one.id for one in first])
    turns = [one for one in first if one.speaker in ("user", "assistant") and one.id not in others]
    if not turns or _is_of_another(project, turns[0].metadata):
        return None
    trace = None
    if traces:
        kept = episode_table.tagged_in_thread(transaction, wanted, thread, TRACE)
        trace = max(kept, key=lambda one: one.id, default=None)
        if trace is not None and trust.foreign_episodes(transaction, [trace.id]):
            trace = None
    request = next((turn for turn in turns if turn.speaker == "user"), None)
    return LastSession(
        agent=turns[-1].source or "unknown",
        ended=max(turn.valid_at or turn.created_at for turn in turns),
        request=request,
        last=tuple(turn for turn in _last_exchange(turns) if turn is not request),
        trace=trace,
        last_id=max(turn.id for turn in first),
    )


def _is_of_another(
    project: str | None, metadata: Mapping[str, Any], category: str | None = None
) -> bool:
    """Whether a record is known to come from another project than the caller's."""
    if project is None:
        return False
    return bool(project_names.other_than(project, project_names.of(metadata, category)))


def _last_exchange(turns: Sequence[Episode]) -> Iterator[Episode]:
    """Yield the last turn of the user, and the last one after it."""
    places = [place for place, turn in enumerate(turns) if turn.speaker == "user"]
    if places:
        yield turns[places[-1]]
    if turns[-1].speaker == "assistant":
        yield turns[-1]


def lines_of(
    sessions: Iterable[LastSession], room: int, cost: Callable[[str], int]
) -> tuple[list[ShownLine], set[int]]:
    """Return the lines of the last sessions that fit, and the ids of their episodes."""
    lines: list[ShownLine] = []
    ids: set[int] = set()
    for session in sessions:  # the last one gets all that it needs
        told = _lines_of(session, room, cost, is_last=not lines)
        if not told:
            break
        room -= sum(cost(line) for line in told)
        lines += [ShownLine(line, session.last_id) for line in told]
        ids |= {turn.id for turn in (session.request, *session.last, session.trace) if turn}
    return lines, ids


def _lines_of(
    session: LastSession, room: int, cost: Callable[[str], int], *, is_last: bool
) -> list[str]:
    """Return the lines of a session; of one before the last, the request if not all fit."""
    head = f"- {zones.minute(session.ended)} {visible(session.agent)}"
    parts = dict(_parts(session))
    room -= cost(head)
    if room < 0:
        return []
    needs = {name: cost(f"  {name}: {text}") for name, text in parts.items()}
    if not is_last and sum(needs.values()) > room:
        parts = {name: text for name, text in parts.items() if name == "asked"}
    rooms = shared([needs[name] for name in parts], [SHARES[name] for name in parts], room)
    told = (
        clipped(f"  {name}: {text}", part, cost)
        for (name, text), part in zip(parts.items(), rooms, strict=True)
    )
    shown = [*filter(None, told)]
    return [head, *shown] if shown else []


def _parts(session: LastSession) -> Iterator[tuple[str, str]]:
    """Yield what is told of a session, with its name."""
    if session.request is not None:
        yield "asked", _words(session.request.content)
    for turn in session.last:
        yield turn.speaker or "", _words(turn.content)
    if session.trace is not None:
        done = session.trace.metadata
        for name in ("changed", "committed", "failed"):
            texts = done.get(name)
            if isinstance(texts, list) and texts:
                # Newest first, because the end is cut off.
                yield name, ", ".join(_words(str(text)) for text in islice(reversed(texts), 20))


def _words(text: str) -> str:
    """Return a text on one line, without what cannot be seen."""
    return visible(" ".join(text[:MAX_TURN_CHARACTERS].split()))


def changed_by_others(
    transaction: Transaction, wanted: FactFilter, episode_id: int, agent: str | None
) -> str:
    """Return who changed how many facts after an episode was recorded; empty if nobody did.

    Changes by the agent itself are left out.
    """
    found = changed_facts.authors_since(transaction, wanted, episode_id, [*VERBS], MAX_CHANGES)
    by_author: dict[str, Counter[str]] = {}
    for actor, source, kind, number in found:
        author = source if actor == "agent" else actor
        if author != agent:
            by_author.setdefault(author, Counter())[VERBS[Kind(kind)]] += number
    told = []
    for author, counts in sorted(by_author.items(), key=lambda one: -one[1].total()):
        ordered = {verb: counts[verb] for verb in VERBS.values() if counts[verb]}
        done = ", ".join(f"{verb} {number:,}" for verb, number in ordered.items())
        told.append(f"{visible(author[:40])} {done}")
    return "; ".join(told[:MAX_AUTHORS])


MAX_CONSIDERED: Final = 25
"""Facts of one kind that are considered; more than fit."""

MAX_USED: Final = 100
"""Used facts of a project that are considered; the age of the last use orders them."""

HALF_LIFE_DAYS: Final = 60.0
"""After so long without use, a fact of a project counts as used half as often. Facts about the user
keep their place, because a person changes less than a project."""

MAX_COMPARED_CHARACTERS: Final = 400
"""Characters of a fact that are compared with others."""

NUMBER: Final = re.compile(r"\d+(?:[.:,]\d+)*")

SECONDS_PER_DAY: Final = 86_400

SAME: Final = 0.91
"""From this cosine of the built-in model on, two claims about one subject say the same, unless they
differ in a number or only one is a denial. Restated claims have 0.92 and more; claims that differ
in one value, such as a name, less than 0.91."""


class Chosen(NamedTuple):
    """Facts in order, the most important one first."""

    user: list[Fact]
    project: list[Fact]
    newest: list[Fact]
    """Facts of the project that are neither pinned nor used."""


def chosen_facts(
    transaction: Transaction, wanted: FactFilter, own: str, caller: str | None = None
) -> Chosen:
    """Return the facts for a session, none of them twice and no two that say the same.

    Those about the user, and pinned ones, come from every namespace; the others from the ``own``,
    without those of other projects than the caller's.
    """
    homes = [replace(wanted, namespaces=(name,)) for name in wanted.namespaces or ()]
    project = replace(wanted, namespaces=(own,))
    pinned = [fact for home in homes for fact in _newest(transaction, replace(home, pinned=True))]
    of_user = [fact for fact in pinned if project_names.is_about_the_user(fact.category)]
    others = [fact for fact in pinned if not project_names.is_about_the_user(fact.category)]
    told = Shown()
    most = MAX_CONSIDERED if caller is None else MAX_USED
    newest = fact_table.newest_without(transaction, project, project_names.ABOUT_THE_USER, most)
    return Chosen(
        [*told.new((*of_user, *_about_the_user(transaction, homes)))],
        [
            *told.new(_own_facts(others, caller)),
            *told.new(
                islice(_own_facts(_used(transaction, project, most), caller), MAX_CONSIDERED)
            ),
        ],
        [*told.new(islice(_own_facts(newest, caller), MAX_CONSIDERED))],
    )


def _own_facts(facts: Iterable[Fact], caller: str | None) -> Iterator[Fact]:
    """Yield the facts that are not known to be of other projects than the caller's."""
    for fact in facts:
        if not _is_of_another(caller, fact.metadata, fact.category):
            yield fact


def _about_the_user(transaction: Transaction, homes: Iterable[FactFilter]) -> Iterator[Fact]:
    """Yield the facts used most; among equals who the user is, then the newest."""
    found = [
        fact
        for home in homes
        for some in (
            fact_table.most_used(transaction, home, project_names.ABOUT_THE_USER, MAX_CONSIDERED),
            *(
                _newest(transaction, replace(home, category=one))
                for one in project_names.ABOUT_THE_USER
            ),
        )
        for fact in some
    ]
    yield from sorted(
        found,
        key=lambda fact: (
            -_uses(fact),
            project_names.ABOUT_THE_USER.index(subject_key(fact.category)),
            -fact.created_at.timestamp(),
        ),
    )


def _newest(transaction: Transaction, wanted: FactFilter) -> Iterator[Fact]:
    return fact_table.select(transaction, wanted, Page(limit=MAX_CONSIDERED, newest_first=True))


def _used(transaction: Transaction, wanted: FactFilter, most: int) -> list[Fact]:
    """Return the facts that are used most, ordered by how often and how lately."""
    used = fact_table.uses(transaction, wanted, project_names.ABOUT_THE_USER, MAX_USED)
    best = sorted(used, key=lambda one: -_weight(one, wanted.now))[:most]
    facts = fact_table.get_many(transaction, [one.id for one in best])
    return [facts[one.id] for one in best]


def _uses(fact: Fact) -> int:
    return fact.confirmed_count + fact.use_count


def _weight(one: Uses, now: datetime) -> float:
    days = max(0.0, (now - one.last).total_seconds() / SECONDS_PER_DAY)
    return float(one.number * 0.5 ** (days / HALF_LIFE_DAYS))


class ComparedClaim(NamedTuple):
    """What a fact claims, in the form in which claims are compared."""

    subject: str
    numbers: tuple[str, ...]
    denied: bool
    text: str


class Shown:
    """The facts told so far, to leave out those that say the same again."""

    def __init__(self) -> None:
        self._ids: set[int] = set()
        self._claims: dict[tuple[str, tuple[str, ...], bool], list[ComparedClaim]] = {}
        self._vectors: dict[str, bytes] = {}
        """Of the texts that were compared: most claims have no other like them."""

    def new(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """Yield the facts that no earlier one repeats."""
        fresh = {fact.id: fact for fact in facts if fact.id not in self._ids}
        for fact in fresh.values():
            claim = _claim(fact)
            self._ids.add(fact.id)
            known = self._claims.setdefault(claim[:3], [])
            if not self._is_known(claim, known):
                known.append(claim)
                yield fact

    def _is_known(self, claim: ComparedClaim, known: Sequence[ComparedClaim]) -> bool:
        if any(claim.text == one.text for one in known):
            return True
        if not known or not HAS_MODEL:  # without a model only equal texts say the same
            return False
        own, *others = self._vectors_of([claim.text, *(one.text for one in known)])
        return any(near >= SAME for near in similarities(numbers(own), others))

    def _vectors_of(self, texts: Sequence[str]) -> list[bytes]:
        if new := [text for text in texts if text not in self._vectors]:
            self._vectors |= zip(new, LocalEmbedder().embed_bytes(new), strict=True)
        return [self._vectors[text] for text in texts]


def _claim(fact: Fact) -> ComparedClaim:
    text = folded(fact.content[:MAX_COMPARED_CHARACTERS])
    told = tuple(sorted({*NUMBER.findall(text)}))
    return ComparedClaim(subject_key(fact.subject), told, _denies(text), text)


def _denies(text: str) -> bool:
    words = text.replace("’", "'").replace("n't", " not").split()
    return not NEGATIONS.isdisjoint(words)


TOKENS: Final = 500

TASKS, USER, PROJECT, NEWEST, SESSIONS, OTHERS = 90, 100, 110, 50, 120, 20
"""The share of each group in the budget."""

LAST: Final = "Last sessions:"

DISTILLING_DAY: Final = 0
"""The day of the week, Monday, on which a session is told that others wait to be distilled."""

UNREAD: Final = f"None of the last {MAX_SESSIONS} sessions was read for facts: memstore distil."

MAX_TASKS: Final = 20
SOON: Final = timedelta(days=2)
"""A task that is due by then comes before those of a higher priority."""

MAX_TEXT_CHARACTERS: Final = 240
"""Characters of a fact or task that are shown."""


def briefing(
    engine: Engine,
    namespaces: Sequence[str],
    tasks: Iterable[Task],
    owners: Scope | AtLeast | None,
    tokens: int = TOKENS,
    *,
    session: str | None = None,
    agent: str | None = None,
    traces: bool = True,
    last_sessions: int = MAX_SESSIONS,
    counter: Callable[[str], int] | None = None,
    project: str | None = None,
) -> Briefing:
    """Return the text that a session begins with; see :meth:`memstore.Store.briefing`."""
    count = counter or TokenCounter()

    def cost(line: str) -> int:
        return count(line) + 1  # the end of the line

    own, now = namespaces[0], clock.utc_now()
    wanted = FactFilter(tuple(namespaces), now, scope=owners, tasks=False)
    said = EpisodeFilter((own,), now, scope=owners)
    place = visible(own if project is None else project)
    with engine.read() as transaction:
        chosen = chosen_facts(transaction, wanted, own, project)
        others = _Others(transaction)
        newer = _newer(transaction, others, chosen)
        known = tuple(
            LineGroup(title, [*_beginning(_facts(facts, newer, others), tokens, cost)], share)
            for title, facts, share in (
                ("About the user:", chosen.user, USER),
                (f"Of {place}:", chosen.project, PROJECT),
                (f"Newest of {place}:", chosen.newest, NEWEST),
            )
        )
        tasks = _own_tasks(transaction, [*tasks])
        last = _Read(sessions_before(transaction, said, session, traces=traces, project=project))
        since = _since(last, agent)
        here = replace(wanted, namespaces=(own,))
        changes = "" if since is None else changed_by_others(transaction, here, since, agent)
        todo = LineGroup(
            "Open tasks:", [_task(task, project) for task in _urgent(tasks, project)], TASKS
        )
        told = [ShownLine(f"Since then: {changes}", 0)] if changes else []
        if zones.today().weekday() == DISTILLING_DAY and _wait_unread(transaction, last):
            told.append(ShownLine(UNREAD, 0))
        since_then = LineGroup("", told, OTHERS)
        needed = sum(_need(group, cost) for group in (todo, *known, since_then))
        room = max(SESSIONS * tokens // TOKENS, tokens - needed) - cost(LAST)
        recent, ids = lines_of(islice(last, last_sessions), min(tokens, room), cost)
    past = LineGroup(LAST, recent, SESSIONS)
    shown = fitting((todo, *known, past, since_then), tokens, cost)
    return Briefing(
        text="\n".join(_lines(shown)),
        tasks=tuple(line.id for group, lines in shown if group is todo for line in lines),
        facts=tuple(line.id for group, lines in shown if group in known for line in lines),
        episodes=tuple(sorted(ids)) if any(group is past for group, _ in shown) else (),
    )


def _wait_unread(transaction: Transaction, last: Iterable[LastSession]) -> bool:
    """Whether the last ``MAX_SESSIONS`` sessions all end with a turn that no model has read."""
    ends = [(*session.last, session.request) for session in islice(last, MAX_SESSIONS)]
    ids = [turn.id for turns in ends for turn in turns[:1] if turn is not None]
    return len(ids) == MAX_SESSIONS and unread.are_unread(transaction, ids)


class _Others:
    """Finds the facts that are the text of others, such as web pages; they are not told."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._known: dict[int, bool] = {}

    def among(self, ids: Iterable[int]) -> set[int]:
        asked = [*ids]
        if unknown := [id_ for id_ in asked if id_ not in self._known]:
            found = trust.foreign_facts(self._transaction, unknown)
            self._known |= {id_: id_ in found for id_ in unknown}
        return {id_ for id_ in asked if self._known[id_]}

    def left_out(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """Yield the facts without those of others, some at a time."""
        waiting = iter(facts)
        while some := [*islice(waiting, TOGETHER)]:
            others = self.among(fact.id for fact in some)
            yield from (fact for fact in some if fact.id not in others)


TOGETHER: Final = 20
"""Facts that are looked up together; as many as are told of a group."""


class _Read:
    """Sessions that are read when they are asked for, and once."""

    def __init__(self, sessions: Iterator[LastSession]) -> None:
        self._sessions = sessions
        self._read: list[LastSession] = []

    def __iter__(self) -> Iterator[LastSession]:
        yield from self._read
        for session in self._sessions:
            self._read.append(session)
            yield session


def _own_tasks(transaction: Transaction, tasks: Sequence[Task]) -> list[Task]:
    others = trust.foreign_facts(transaction, [task.id for task in tasks])
    return [task for task in tasks if task.id not in others]


def _since(last: Iterable[LastSession], agent: str | None) -> int | None:
    """Return the newest episode of the agent's own last session, or else of the last one."""
    own = (session for session in last if session.agent == agent) if agent else iter(())
    found = next(own, None) or next(iter(last), None)
    return None if found is None else found.last_id


def _urgent(tasks: Iterable[Task], project: str | None) -> list[Task]:
    """Return tasks with those that are due first; the others stay in their order.

    Of those that are not due, the ones of other projects come last.
    """
    soon = clock.utc_now() + SOON

    def place(task: Task) -> int:
        if task.due_at is not None and task.due_at <= soon:
            return 0
        return 2 if _other_project(task, project) else 1

    return sorted(tasks, key=place)[:MAX_TASKS]


def _task(task: Task, project: str | None) -> ShownLine:
    marks = [visible(task.priority)]
    marks += [f"due {visible(task.due_text)}"] if task.due_text else []
    if other := _other_project(task, project):
        marks.append(visible(dated.project_mark(other)))
    return ShownLine(f"- #{task.id} {_short(task.content)} ({', '.join(marks)})", task.id)


def _other_project(task: Task, project: str | None) -> str | None:
    return None if project is None else project_names.other_than(project, task.project)


def _newer(transaction: Transaction, others: _Others, chosen: Chosen) -> dict[int, int]:
    """Return by id the chosen fact that may replace another one, as far as they were compared."""
    ids = {fact.id for some in chosen for fact in some}
    if len(ids) < 2:
        return {}
    known = newer_table.known(transaction, sorted(ids))
    later = {id_: [one for one in found.newer if one in ids] for id_, found in known.items()}
    foreign = others.among({id_ for old, some in later.items() if some for id_ in (old, *some)})
    own = {id_: [one for one in some if one not in foreign] for id_, some in later.items()}
    return {id_: max(some) for id_, some in own.items() if some}


def _facts(facts: Iterable[Fact], newer: Mapping[int, int], others: _Others) -> Iterator[ShownLine]:
    """Yield the lines of facts; those that another one may replace come last."""
    ordered = sorted(facts, key=lambda fact: fact.id in newer)
    return (_fact(fact, newer.get(fact.id)) for fact in others.left_out(ordered))


def _beginning(
    lines: Iterable[ShownLine], tokens: int, cost: Callable[[str], int]
) -> Iterator[ShownLine]:
    """Yield the first lines, up to the one with which they are longer than the whole text."""
    for line in lines:
        yield line
        tokens -= cost(line.text)
        if tokens < 0:
            return


def _fact(fact: Fact, newer: int | None) -> ShownLine:
    marks = ["pinned"] if fact.pinned_at is not None else []
    marks += [dated.newer_mark(f"#{newer}")] if newer is not None else []
    told = f" ({', '.join(marks)})" if marks else ""
    about = f"{zones.day(fact.created_at)} #{fact.id} {visible(fact.subject)}"
    return ShownLine(f"- {about}: {_short(fact.content)}{told}", fact.id)


def _short(text: str) -> str:
    return visible(text if len(text) <= MAX_TEXT_CHARACTERS else text[:MAX_TEXT_CHARACTERS] + "…")


def _lines(groups: Iterable[tuple[LineGroup, Sequence[ShownLine]]]) -> Iterator[str]:
    for group, lines in groups:
        if group.title:
            yield group.title
        yield from (line.text for line in lines)
