"""Sessions: threads of episodes by their last one, with what a list shows of each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memstore.database.filters import SEEN_INDEX, TAGGED, THREAD_INDEX
from memstore.database.tables.threads import OF_THREAD
from memstore.domain import clock
from memstore.domain.episodes import TRACE, SessionSummary
from memstore.domain.records import Scope
from memstore.frozen import replace
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Row, Transaction
    from memstore.database.filters import EpisodeFilter

BATCH: Final = 16
"""Episodes that are looked at first for each session; then each time four times as many."""

MAX_BATCH: Final = 50_000

FIRST_TURNS: Final = 12
"""Turns at the beginning of a session among which the request is looked for."""

REQUEST_CHARACTERS: Final = 1000

ANSWERING: Final = "assistant"
"""The speaker of an agent's turns, as hosts record them."""

OWNERS: Final = ("user_id", "agent_id", "run_id")
KEY: Final = ", ".join(f"e.{name}" for name in ("thread", *OWNERS))
SAID: Final = "coalesce(e.valid_at, e.created_at)"


class SessionKey(NamedTuple):
    """The thread and its owners."""

    thread: str
    user_id: str | None
    agent_id: str | None
    run_id: str | None

    @property
    def scope(self) -> Scope:
        return Scope(user_id=self.user_id, agent_id=self.agent_id, run_id=self.run_id)


class Place(NamedTuple):
    """The place of an episode in the order in which they were recorded."""

    at: str
    id: int


def latest(
    transaction: Transaction, wanted: EpisodeFilter, before: int | None, limit: int
) -> list[SessionSummary]:
    """Return the sessions of episodes that pass a filter, the one with the latest turn first.

    Args:
        before: the last episode of a session; only those whose last one is earlier are returned.
    """
    begin = None if before is None else _place(transaction, before)
    if before is not None and begin is None:
        return []
    last = _last_ids(transaction, wanted, begin, limit)
    return _summaries(transaction, replace(wanted, created_after=None), last) if last else []


def last_turns(transaction: Transaction, wanted: EpisodeFilter) -> list[str]:
    """Return when each session of the episodes that pass a filter had its last one of them."""
    where, values = wanted.where(transaction.dialect)
    rows = transaction.rows(
        f"SELECT max(e.created_at) FROM memstore_episodes e WHERE e.thread IS NOT NULL AND {where}"
        f" GROUP BY {KEY}",
        values,
    )
    return [str(at) for (at,) in rows]


def latest_turn(transaction: Transaction, namespace: str) -> str | None:
    """Return when the last episode of a namespace was recorded."""
    row = transaction.one(
        "SELECT max(e.created_at) FROM memstore_episodes e"
        " WHERE e.namespace = :namespace AND e.content_hash <> ''",
        {"namespace": namespace},
    )
    return None if row is None or row[0] is None else str(row[0])


def _place(transaction: Transaction, episode_id: int) -> Place | None:
    row = transaction.one(
        "SELECT created_at, id FROM memstore_episodes WHERE id = :id", {"id": episode_id}
    )
    return None if row is None else Place(str(row[0]), int(row[1]))


def _last_ids(
    transaction: Transaction, wanted: EpisodeFilter, begin: Place | None, limit: int
) -> dict[SessionKey, int]:
    """Return the last episodes of so many sessions, the latest first.

    The episodes are read from the latest one back, until enough sessions were met.
    """
    found: dict[SessionKey, int] = {}
    passed: set[SessionKey] = set()
    place, among = begin, BATCH * limit
    while len(found) < limit:
        rows = [*_back(transaction, wanted, place, among)]
        met: dict[SessionKey, int] = {}
        for _, id_, *key in rows:
            if key[0] is not None:
                met.setdefault(SessionKey(*key), int(id_))
        new = {key: id_ for key, id_ in met.items() if key not in found and key not in passed}
        if begin is not None and new:
            passed |= _later(transaction, wanted, [*new], begin)
        found |= {key: id_ for key, id_ in new.items() if key not in passed}
        if len(rows) < among:
            break
        place = Place(str(rows[-1][0]), int(rows[-1][1]))
        among = max(among, min(4 * among, MAX_BATCH))
    return dict([*found.items()][:limit])


def _back(
    transaction: Transaction, wanted: EpisodeFilter, place: Place | None, among: int
) -> Iterator[Row]:
    """Yield time, id, thread and owners of episodes, from a place back."""
    where, values = wanted.where(transaction.dialect)
    earlier = "" if place is None else " AND (e.created_at, e.id) < (:at, :id)"
    from_place = {} if place is None else place._asdict()
    index = transaction.dialect.indexed_by(SEEN_INDEX)
    return iter(
        transaction.rows(
            f"SELECT e.created_at, e.id, {KEY} FROM"
            f" (SELECT e.id FROM memstore_episodes e {index} WHERE {where}{earlier}"
            "   ORDER BY e.created_at DESC, e.id DESC LIMIT :among) AS newest"
            " JOIN memstore_episodes e ON e.id = newest.id"
            " ORDER BY e.created_at DESC, e.id DESC",
            {**values, **from_place, "among": among},
        )
    )


def _later(
    transaction: Transaction, wanted: EpisodeFilter, keys: Sequence[SessionKey], begin: Place
) -> set[SessionKey]:
    """Return which sessions have an episode at a place or after it: earlier pages had them."""
    rows = _in_threads(
        transaction,
        wanted,
        keys,
        f"SELECT DISTINCT {KEY}",
        "",
        " AND (e.created_at, e.id) >= (:at, :id)",
        **begin._asdict(),
    )
    return {SessionKey(*row) for row in rows}


def _in_threads(
    transaction: Transaction,
    wanted: EpisodeFilter,
    keys: Sequence[SessionKey],
    select: str,
    joined: str,
    more: str,
    **values: Any,
) -> Sequence[Row]:
    """Return what a query reads from the episodes of some threads."""
    where, its = wanted.where(transaction.dialect, by_id=True)
    among = transaction.dialect.listed("threads")
    return [
        *transaction.rows(
            f"{select} FROM memstore_episodes e {transaction.dialect.indexed_by(THREAD_INDEX)}"
            f" {joined} WHERE e.thread IN {among} AND {where}{more}",
            {**its, **values, "threads": [*{key.thread for key in keys}]},
        )
    ]


def _summaries(
    transaction: Transaction, wanted: EpisodeFilter, last: dict[SessionKey, int]
) -> list[SessionSummary]:
    keys = [*last]
    learnt = _learnt(transaction, wanted, keys)
    found = {}
    traces = {}
    for *key, number, first_at, last_at, trace in _sizes(transaction, wanted, keys):
        one = SessionKey(*key)
        found[one] = SessionSummary(
            thread=one.thread,
            scope=one.scope,
            last_id=last.get(one, 0),
            turns=int(number) - (trace is not None),
            learnt=learnt.get(one, 0),
            first_at=clock.from_text(str(first_at)),
            last_at=clock.from_text(str(last_at)),
        )
        if trace is not None:
            traces[one] = int(trace)
    changed = _changed(transaction, [*traces.values()])
    return [
        _with_request(
            transaction, wanted, replace(found[key], changed=changed.get(traces.get(key, 0), ()))
        )
        for key in keys
        if key in found
    ]


def _sizes(
    transaction: Transaction, wanted: EpisodeFilter, keys: Sequence[SessionKey]
) -> Sequence[Row]:
    """Return how many episodes each session has, since and until when, and its trace."""
    return _in_threads(
        transaction,
        wanted,
        keys,
        f"SELECT {KEY}, count(*), min({SAID}), max({SAID}), max(t.episode_id)",
        "LEFT JOIN memstore_episode_tags t ON t.tag = :trace AND t.episode_id = e.id",
        f" GROUP BY {KEY}",
        trace=TRACE,
    )


def _learnt(
    transaction: Transaction, wanted: EpisodeFilter, keys: Sequence[SessionKey]
) -> dict[SessionKey, int]:
    """Return how many facts were drawn from each session, and not erased since."""
    rows = _in_threads(
        transaction,
        wanted,
        keys,
        f"SELECT {KEY}, count(*)",
        "JOIN memstore_facts f ON f.episode_id = e.id",
        f" AND f.content <> '' GROUP BY {KEY}",
    )
    return {SessionKey(*key): int(number) for *key, number in rows}


def _changed(transaction: Transaction, ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Return the files that traces name, by the id of the trace."""
    if not ids:
        return {}
    rows = transaction.rows(
        "SELECT id, metadata FROM memstore_episodes"
        f" WHERE id IN {transaction.dialect.listed('ids')}",
        {"ids": ids},
    )
    found = {}
    for id_, metadata in rows:
        files = (json.loads(str(metadata)) if metadata else {}).get("changed")
        found[int(id_)] = tuple(map(str, files)) if isinstance(files, list) else ()
    return found


def _with_request(
    transaction: Transaction, wanted: EpisodeFilter, session: SessionSummary
) -> SessionSummary:
    """Return a session with its source and its first request."""
    where, values = wanted.where(transaction.dialect, by_id=True)
    place = {**session.scope.ids, "namespace": (wanted.namespaces or ("",))[0]}
    rows = [
        *transaction.rows(
            f"SELECT e.source, e.speaker, substr(e.content, 1, {REQUEST_CHARACTERS})"
            f" FROM memstore_episodes e {transaction.dialect.indexed_by(THREAD_INDEX)}"
            f" WHERE {OF_THREAD} AND {where} AND NOT {TAGGED.format('trace')}"
            " ORDER BY e.seq, e.id LIMIT :limit",
            {
                **values,
                **place,
                "thread": session.thread,
                "trace": TRACE,
                "limit": FIRST_TURNS,
            },
        )
    ]
    if not rows:
        return session
    asked = next((row for row in rows if row[1] != ANSWERING), rows[0])
    source = asked[0]
    return replace(session, source=None if source is None else str(source), request=str(asked[2]))
