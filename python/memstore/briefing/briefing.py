"""What a session begins with: tasks, the user, the project, the last sessions, changes by others.

Each group has a share of the budget, and what it leaves goes to the others (decision 62).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from memstore.briefing import facts, sessions
from memstore.briefing.budget import Group, ShownLine, fitting
from memstore.briefing.facts import Chosen
from memstore.briefing.sessions import MAX_SESSIONS as MAX_SESSIONS
from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.domain import clock, zones
from memstore.domain.briefing import Briefing
from memstore.frozen import replace
from memstore.history import trust
from memstore.providers.local import token_counter
from memstore.text.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memstore.briefing.sessions import LastSession
    from memstore.database.engine import Engine, Transaction
    from memstore.domain.records import AtLeast, Fact, Scope
    from memstore.domain.tasks import Task

TOKENS: Final = 500

TASKS, USER, PROJECT, NEWEST, SESSIONS, OTHERS = 90, 100, 110, 50, 120, 20
"""The share of each group in the budget. Sessions never get more than theirs."""

LAST: Final = "Last sessions:"

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
) -> Briefing:
    """Return the text that a session begins with; see :meth:`memstore.Store.briefing`."""
    count = counter or token_counter()

    def cost(line: str) -> int:
        return count(line) + 1  # the end of the line

    own, now = namespaces[0], clock.utc_now()
    wanted = FactFilter(tuple(namespaces), now, scope=owners, tasks=False)
    said = EpisodeFilter((own,), now, scope=owners)
    with engine.read() as transaction:
        chosen = _own(transaction, facts.chosen(transaction, wanted, own))
        tasks = _own_tasks(transaction, [*tasks])
        last = sessions.last_sessions(transaction, said, session, traces=traces)
        since = _since(last, agent)
        here = replace(wanted, namespaces=(own,))
        changes = (
            "" if since is None else sessions.changed_by_others(transaction, here, since, agent)
        )
    room = min(tokens, SESSIONS * tokens // TOKENS) - cost(LAST)
    recent, ids = sessions.lines_of(last[:last_sessions], room, cost)
    todo = Group("Open tasks:", [_task(task) for task in _urgent(tasks)], TASKS)
    known = (
        Group("About the user:", [_fact(fact) for fact in chosen.user], USER),
        Group(f"Of {visible(own)}:", [_fact(fact) for fact in chosen.project], PROJECT),
        Group(f"Newest of {visible(own)}:", [_fact(fact) for fact in chosen.newest], NEWEST),
    )
    past = Group(LAST, recent, SESSIONS)
    since_then = Group("", [ShownLine(f"Since then: {changes}", 0)] if changes else [], OTHERS)
    told = fitting((todo, *known, past, since_then), tokens, cost)
    return Briefing(
        text="\n".join(_lines(told)),
        tasks=tuple(line.id for group, lines in told if group is todo for line in lines),
        facts=tuple(line.id for group, lines in told if group in known for line in lines),
        episodes=tuple(sorted(ids)) if any(group is past for group, _ in told) else (),
    )


def _own(transaction: Transaction, chosen: Chosen) -> Chosen:
    """Leave out the text of others, such as web pages."""
    others = trust.foreign_facts(transaction, [fact.id for some in chosen for fact in some])
    return Chosen._make([fact for fact in some if fact.id not in others] for some in chosen)


def _own_tasks(transaction: Transaction, tasks: Sequence[Task]) -> list[Task]:
    others = trust.foreign_facts(transaction, [task.id for task in tasks])
    return [task for task in tasks if task.id not in others]


def _since(last: Sequence[LastSession], agent: str | None) -> int | None:
    """Return the newest episode of the agent's own last session, or else of the last one."""
    own = (session for session in last if session.agent == agent)
    found = next(own, last[0] if last else None)
    return None if found is None else found.last_id


def _urgent(tasks: Iterable[Task]) -> list[Task]:
    """Return tasks with those that are due first; the others stay in their order."""
    soon = clock.utc_now() + SOON
    return sorted(tasks, key=lambda task: task.due_at is None or task.due_at > soon)[:MAX_TASKS]


def _task(task: Task) -> ShownLine:
    due = f", due {visible(task.due_text)}" if task.due_text else ""
    return ShownLine(
        f"- #{task.id} {_short(task.content)} ({visible(task.priority)}{due})", task.id
    )


def _fact(fact: Fact) -> ShownLine:
    pinned = " (pinned)" if fact.pinned_at is not None else ""
    about = f"{zones.day(fact.created_at)} #{fact.id} {visible(fact.subject)}"
    return ShownLine(f"- {about}: {_short(fact.content)}{pinned}", fact.id)


def _short(text: str) -> str:
    return visible(text if len(text) <= MAX_TEXT_CHARACTERS else text[:MAX_TEXT_CHARACTERS] + "…")


def _lines(groups: Iterable[tuple[Group, Sequence[ShownLine]]]) -> Iterator[str]:
    for group, lines in groups:
        if group.title:
            yield group.title
        yield from (line.text for line in lines)
