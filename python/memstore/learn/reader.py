"""Reading an episode: what a model finds in it, and the facts that makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.tables.readings import EXTRACT
from memstore.domain.records import NewFact
from memstore.learn.items import read_items
from memstore.prompting.answers import Replies
from memstore.prompting.reading_log import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from memstore.domain.protocols import Generator
    from memstore.domain.records import Episode
    from memstore.learn.items import Item
    from memstore.store.store import Store


class Reader:
    """Reads the episodes of a store with one model; how and what it answered goes on record.

    Args:
        store: where the episodes are.
        generator: the model.
        max_characters: longer texts are cut, and the model is asked about each piece.
    """

    def __init__(self, store: Store, generator: Generator, max_characters: int) -> None:
        self._store = store
        self._generator = generator
        self.max_characters = max_characters

    def usual(self, episode: Episode) -> ReadingOptions:
        """Return how an episode is read of which nobody said anything else."""
        return ReadingOptions(
            at=episode.valid_at,
            metadata=episode.metadata or None,
            max_characters=self.max_characters,
        )

    def begin(
        self, episode: Episode, options: ReadingOptions, *, only_kept: bool = False
    ) -> Replies:
        """Record how an episode is read, and return what puts the questions to the model.

        Args:
            episode: what is read.
            options: how.
            only_kept: take the answers that were given before, and fail where there is none.
        """
        self._store.readings.begin(episode.id, EXTRACT, options)
        return Replies(self._generator, self._store.readings, episode.id, only_kept=only_kept)

    def read(self, episode: Episode, options: ReadingOptions, replies: Replies) -> list[Item]:
        """Return what the model finds in an episode, asked for or stored; nothing is stored."""
        return read_items(
            episode.content,
            replies,
            options.hint,
            # A text that is read again counts from when it was first recorded.
            at=options.at or episode.valid_at or episode.created_at,
            max_characters=options.max_characters,
        )


def said_at(episode: Episode, options: ReadingOptions) -> datetime:
    """Return when a text on record was written."""
    return options.at or episode.valid_at or episode.created_at


def facts_in(episode: Episode, options: ReadingOptions, items: Iterable[Item]) -> list[NewFact]:
    """Return the items that can be stored, as facts of their episode and its owners."""
    return [
        NewFact(
            content=item.content,
            subject=item.subject,
            category=item.category,
            metadata=options.metadata,
            valid_at=options.at,
            source=episode.source,
            episode_id=episode.id,
            derivation=EXTRACT,
            user_id=episode.user_id,
            agent_id=episode.agent_id,
            run_id=episode.run_id,
        )
        for item in items
        if item.refused is None
    ]
