"""The log of readings: how each episode was read and the model's replies, to repeat it later."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memstore.database.filters import EpisodeFilter
from memstore.database.tables import counts
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import readings as reading_table
from memstore.database.tables import replies as reply_table
from memstore.database.tables.readings import (
    EXTRACT,
    MEMORY,
    NO_OPTIONS,
    NOT_LEARNED,
    ReadingRow,
)
from memstore.domain import clock, metadata
from memstore.errors import StorageError
from memstore.frozen import frozen
from memstore.lazy import lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Engine
    from memstore.domain.episodes import Episode
    from memstore.domain.records import AtLeast, Scope
    from memstore.domain.unread import UnreadThread
    from memstore.embedding import leases
else:
    leases = lazy_import("memstore.embedding.leases")


@frozen(kw_only=True)
class ReadingOptions:
    """The caller's options for a text; its prompts depend on these and the text alone."""

    hint: str | None = None
    at: datetime | None = None
    metadata: Mapping[str, Any] | None = None
    max_characters: int

    def to_text(self) -> str:
        values = {
            "hint": self.hint,
            "at": None if self.at is None else clock.to_text(self.at),
            "metadata": None if self.metadata is None else dict(self.metadata),
            "max_characters": self.max_characters,
        }
        return json.dumps(values, ensure_ascii=True, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> ReadingOptions:
        try:
            values = json.loads(text)
            at = values["at"]
            metadata.encode(values["metadata"])
            return cls(
                hint=values["hint"],
                at=None if at is None else clock.from_text(at),
                metadata=values["metadata"],
                max_characters=int(values["max_characters"]),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise StorageError(f"a reading in the log is damaged: {error}") from error


READ_AT_ONCE: Final = 50
"""Turns that are read from the file together; a portion rarely has more."""


class Unread(NamedTuple):
    """The first unread turns, by id, and how many follow."""

    turns: list[Episode]
    left: int


class Readings:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, episode_id: int, options: ReadingOptions, *, counted: bool = False) -> None:
        """Record that facts are about to be extracted from an episode with these options.

        Args:
            counted: count the episode as not read by a model until :meth:`end_learning`.
        """
        kinds = (EXTRACT, NOT_LEARNED) if counted else (EXTRACT,)
        self._place([ReadingRow(episode_id, kind, options.to_text()) for kind in kinds])

    def begin_learning(self, episode_id: int) -> None:
        """Record a new conversation as one that nothing was learned from yet."""
        self._place([ReadingRow(episode_id, kind, NO_OPTIONS) for kind in (MEMORY, NOT_LEARNED)])

    def _place(self, rows: Sequence[ReadingRow]) -> None:
        """Record readings of one episode, unless the first of them is recorded already."""
        if rows[0] not in self.of(rows[0].episode_id):
            with self._engine.write() as transaction:
                for row in rows:
                    reading_table.place(transaction, row)

    def end_learning(self, episode_id: int) -> None:
        """Record that a model has read an episode: what :meth:`begin` and its like recorded."""
        if any(row.kind == NOT_LEARNED for row in self.of(episode_id)):
            with self._engine.write() as transaction:
                reading_table.forget_not_learned(transaction, episode_id)

    def lease(self, namespace: str) -> leases.Lease:
        """Return the lease of the process that learns from a namespace's unread turns."""
        return leases.Lease(self._engine, f"learn {namespace}")

    def not_learned(self, namespace: str, owners: Scope | AtLeast | None) -> list[int]:
        """Return the ids of conversations that nothing was learned from, oldest first."""
        with self._engine.read() as transaction:
            return reading_table.not_learned(transaction, _of(namespace, owners))

    def not_extracted(
        self, namespace: str, owners: Scope | AtLeast | None
    ) -> list[tuple[int, ReadingOptions]]:
        """Return the texts that no facts were extracted from yet, and how they were to be read."""
        with self._engine.read() as transaction:
            rows = reading_table.not_extracted(transaction, _of(namespace, owners))
        return [(row.episode_id, ReadingOptions.from_text(row.asked)) for row in rows]

    def unread_threads(self, namespace: str, scope: Scope) -> list[UnreadThread]:
        """Return the conversations of these owners with turns that no model has read."""
        with self._engine.read() as transaction:
            return [*episode_table.unread_threads(transaction, _of(namespace, scope))]

    def untried_scopes(self, namespace: str) -> list[Scope]:
        """Return the owners of turns that were kept while no model was to read them."""
        with self._engine.read() as transaction:
            return episode_table.untried_scopes(transaction, _of(namespace, None))

    def are_waiting(self, namespace: str) -> bool:
        """Whether conversations of a namespace wait for a model: they failed, or were only kept."""
        return bool(self.not_learned(namespace, None) or self.untried_scopes(namespace))

    def namespaces(self) -> list[str]:
        """Return the namespaces that have episodes."""
        with self._engine.read() as transaction:
            return counts.logs(transaction)

    def unread(
        self,
        namespace: str,
        scope: Scope,
        characters: int,
        after: int = 0,
        *,
        untried: bool = False,
    ) -> Unread:
        """Return the first unread turns of these owners, and how many follow.

        Args:
            characters: the most characters of their contents; one turn is returned in any case.
            after: only turns with higher ids.
            untried: only turns that no model was to read.
        """
        turns: list[Episode] = []
        with self._engine.read() as transaction:
            wanted = _of(namespace, scope)
            waiting = episode_table.unread_ids(transaction, wanted, after, untried=untried)
            for start in range(0, len(waiting), READ_AT_ONCE):
                some = waiting[start : start + READ_AT_ONCE]
                found = episode_table.get_many(transaction, some)
                for turn in map(found.__getitem__, some):
                    characters -= len(turn.content)
                    if turns and characters < 0:
                        return Unread(turns, len(waiting) - len(turns))
                    turns.append(turn)
        return Unread(turns, 0)

    def mark_read(self, namespace: str, scope: Scope, episode_id: int) -> int:
        """Count the unread turns up to this id as read; return how many these are.

        Ids grow in the order in which turns are recorded, so no turn that was recorded after this
        one is marked.
        """
        wanted = _of(namespace, scope)
        with self._engine.write() as transaction:
            marked = episode_table.unread_ids(transaction, wanted, last=episode_id)
            reading_table.mark_read(transaction, marked)
        return len(marked)

    def mark_turns(self, episode_ids: Sequence[int]) -> None:
        """Count these turns as read."""
        with self._engine.write() as transaction:
            reading_table.mark_read(transaction, episode_ids)

    def of(self, episode_id: int) -> list[ReadingRow]:
        with self._engine.read() as transaction:
            return reading_table.of_episode(transaction, episode_id)

    def reply(self, episode_id: int, key: str) -> str | None:
        with self._engine.read() as transaction:
            return reply_table.get(transaction, episode_id, key)

    def keep_reply(self, episode_id: int, key: str, model: str, reply: Any) -> None:
        """Store a reply, unless the episode was erased or closed by an erasure."""
        with self._engine.write() as transaction:
            reply_table.insert(transaction, episode_id, key, model, reply)


def _of(namespace: str, owners: Scope | AtLeast | None) -> EpisodeFilter:
    """Return a filter for the episodes of these owners; ``None`` for any."""
    return EpisodeFilter((namespace,), clock.utc_now(), scope=owners)
