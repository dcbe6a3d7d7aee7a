"""Clearing a namespace: every fact and episode of it erased in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database import episode_table, fact_table, journal
from memstore.database.journal import Kind
from memstore.facts import blank

if TYPE_CHECKING:
    from memstore.database.engine import Engine
    from memstore.database.journal import Author


def clear(engine: Engine, author: Author, namespace: str) -> bool:
    """Erase every fact, task and episode of a namespace, and compact the file once.

    Returns:
        Whether the bytes have left the files already; see :meth:`memstore.Store.erase`.
    """
    with engine.write() as transaction:
        for fact in list(fact_table.everything(transaction, [namespace])):
            if fact.status != "erased":
                blank(transaction, author, fact)
        for episode in list(
            episode_table.select(transaction, namespace, None, limit=None, newest_first=False)
        ):
            episode_table.blank(transaction, episode.id)
            journal.forget_episode(transaction, episode.id)
            journal.append(transaction, author, Kind.ERASE_EPISODE, None, episode_id=episode.id)
    return engine.compact()
