"""Clearing a namespace: every fact and episode of it erased in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.sqlite import full_text
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.episodes import changes
from memstore.facts.facts import blank_row

if TYPE_CHECKING:
    from memstore.database.engine import Engine
    from memstore.database.journal import Author
    from memstore.database.satellite import Satellite


def clear(engine: Engine, author: Author, namespace: str, satellite: Satellite) -> bool:
    """Erase every fact, task and episode of a namespace, and compact the file once.

    Returns:
        Whether the bytes have left the files already; see :meth:`memstore.Store.erase`.
    """
    with engine.write() as transaction:
        satellite.forget_namespace(transaction, author, namespace)
        for fact in list(fact_table.everything(transaction, [namespace])):
            if fact.status != "erased":
                blank_row(transaction, author, fact, satellite)
        for episode in list(episode_table.everything(transaction, [namespace])):
            if episode.content:
                changes.blank(transaction, author, episode)
        full_text.FACTS.forget_deleted(transaction)
        full_text.EPISODES.forget_deleted(transaction)
    return engine.compact()
