"""The last sessions, how they began and ended and what they did, and what others changed since."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from memstore.briefing.budget import ShownLine, clipped, shared
from memstore.database import journal
from memstore.database.journal import Kind
from memstore.database.tables import episodes as episode_table
from memstore.domain import zones
from memstore.episodes.traces import TRACE
from memstore.history import trust
from memstore.text.escaping import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.database.filters import EpisodeFilter, FactFilter
    from memstore.domain.episodes import Episode

SESSION: Final = "session"
"""The tag of the turns that hosts record."""

MAX_SESSIONS: Final = 2

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


def last_sessions(
    transaction: Transaction, wanted: EpisodeFilter, running: str | None, *, traces: bool
) -> list[LastSession]:
    """Return the last sessions, newest first, without the running one."""
    threads: list[str] = []
    for most in EPISODES_LOOKED_AT:
        found = episode_table.newest_threads(transaction, wanted, SESSION, most)
        threads = [thread for thread in dict.fromkeys(found) if thread != running]
        if len(threads) >= MAX_SESSIONS:
            break
    told = (_session(transaction, wanted, thread, traces) for thread in threads[:MAX_SESSIONS])
    return [session for session in told if session is not None]


def _session(
    transaction: Transaction, wanted: EpisodeFilter, thread: str, traces: bool
) -> LastSession | None:
    first = episode_table.ends(transaction, wanted, thread, MAX_TURNS)
    others = trust.foreign_episodes(transaction, [one.id for one in first])
    turns = [one for one in first if one.speaker in ("user", "assistant") and one.id not in others]
    if not turns:
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


def _last_exchange(turns: Sequence[Episode]) -> Iterator[Episode]:
    """Yield the last turn of the user, and the last one after it."""
    places = [place for place, turn in enumerate(turns) if turn.speaker == "user"]
    if places:
        yield turns[places[-1]]
    if turns[-1].speaker == "assistant":
        yield turns[-1]


def lines_of(
    sessions: Sequence[LastSession], room: int, cost: Callable[[str], int]
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
    found = journal.authors_since(transaction, wanted, episode_id, [*VERBS], MAX_CHANGES)
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
