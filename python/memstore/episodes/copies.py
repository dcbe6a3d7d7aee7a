"""Turns of sessions that were recorded more than once: the copies expire.

Earlier versions recorded a turn again for each session that had been forked from its own, and each
first prompt again as Claude Code had sent it to the model. A copy stays, with its id, its text and
what was drawn from it; only it is no longer listed, told or read. A tag says whose copy it is, so
that both are erased together.
"""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Final

from memstore.database import meta as meta_table
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.domain import clock
from memstore.domain.turns import COPY, TurnKey, copy_of
from memstore.episodes import changes
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memstore.database.engine import Engine, Transaction
    from memstore.database.journal import Author
    from memstore.domain.episodes import Episode
    from memstore.domain.standing import Standing

EXAMINED: Final = "turns_examined:"
"""The setting with the last episode that was examined; the name of the namespace follows, and the
owners if only their episodes were."""

AT_ONCE: Final = 100
"""Copies that expire in one transaction."""


class Copy(NamedTuple):
    """An episode, and the turns whose words it repeats; mostly one."""

    copy: Episode
    originals: tuple[Episode, ...]


def fold(engine: Engine, author: Author, standing: Standing) -> int:
    """Let the copies expire that were recorded since the last time; return how many."""
    namespace, owners = standing.namespace, standing.bound
    every_owner = f"{EXAMINED}{namespace}"
    setting = every_owner if owners is None else f"{every_owner} {json.dumps(owners.ids)}"
    with engine.read() as transaction:
        marks = (meta_table.get(transaction, name) for name in (setting, every_owner))
        after = max(int(mark or 0) for mark in marks)
        last = episode_table.newest(transaction, namespace)
        every = _found(transaction, namespace, after) if last > after else ()
        found = [one for one in every if standing.reaches(one.copy)]
    for first in range(0, len(found), AT_ONCE):
        with engine.write() as transaction:
            for one in found[first : first + AT_ONCE]:
                _expire(transaction, author, one)
    if last > after:
        with engine.write() as transaction:
            meta_table.put(transaction, setting, str(last))
    return len(found)


def _expire(transaction: Transaction, author: Author, found: Copy) -> None:
    copy = episode_table.get(transaction, found.copy.id, found.copy.namespace)
    there = episode_table.get_many(transaction, [one.id for one in found.originals]).values()
    if copy is None or not copy.content or not all(one.content for one in there):
        return  # erased in the meantime
    columns = {"tags": [*copy.tags, *map(copy_of, there)], "expired_at": clock.utc_now()}
    changes.change(transaction, author, copy, columns)


def _found(transaction: Transaction, namespace: str, after: int) -> Iterator[Copy]:
    done: set[int] = set()
    for one in _of_forks(transaction, namespace, after):
        done.add(one.copy.id)
        yield one
    for one in _of_requests(transaction, namespace, after):
        if one.copy.id not in done:
            yield one


def _of_forks(transaction: Transaction, namespace: str, after: int) -> Iterator[Copy]:
    """Yield the turns that were recorded under the same id and text for several sessions."""
    rows = episode_table.repeated(transaction, namespace, after)
    for _, same in groupby(rows, key=lambda episode: episode.content_hash):
        turns: dict[TurnKey, list[Episode]] = {}
        for episode in same:
            key = TurnKey.read(episode)
            if key is not None and not _is_copy(episode):
                turns.setdefault(key, []).append(episode)
        for records in turns.values():
            if len(records) > 1:
                yield from _copies(transaction, records)


def _copies(transaction: Transaction, records: Sequence[Episode]) -> Iterator[Copy]:
    """Yield all records of a turn but one: that which a person let expire, or facts refer to."""
    used = fact_table.drawn_from(transaction, [one.id for one in records])
    original = min(records, key=lambda one: (one.expired_at is None, one.id not in used, one.id))
    return (Copy(one, (original,)) for one in records if one is not original)


def _of_requests(transaction: Transaction, namespace: str, after: int) -> Iterator[Copy]:
    """Yield what was recorded of requests to the model: the words of turns beside it.

    They have no id and no time, while the turns have both.
    """
    numbered: dict[str, list[Episode]] = {}
    for episode in episode_table.untimed(transaction, namespace, after):
        key = TurnKey.read(episode)
        if key is not None and key.mark.isdigit() and not _is_copy(episode):
            numbered.setdefault(episode.thread or "", []).append(episode)
    for thread, episodes in numbered.items():
        timed = episode_table.timed(transaction, namespace, thread)
        for episode in episodes:
            beside = [one for one in timed if _is_beside(one, episode)]
            if originals := _covering(episode.content, beside):
                yield Copy(episode, originals)


def _is_beside(turn: Episode, episode: Episode) -> bool:
    same = (turn.source, turn.speaker, turn.scope) == (
        episode.source,
        episode.speaker,
        episode.scope,
    )
    return same and not _is_copy(turn) and TurnKey.read(turn) is not None


def _covering(content: str, turns: Sequence[Episode]) -> tuple[Episode, ...]:
    """Return the turn with this text, or several that together have all its words."""
    rest, found = content, []
    for turn in sorted(turns, key=lambda one: -len(one.content)):
        if turn.content in rest:
            rest = rest.replace(turn.content, "", 1)
            found.append(turn)
        if not rest.strip():
            return tuple(found)
    return ()


def _is_copy(episode: Episode) -> bool:
    return any(tag.startswith(COPY) for tag in episode.tags)
