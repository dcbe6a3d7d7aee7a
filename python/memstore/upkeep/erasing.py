"""Clearing a namespace: every fact and episode of it erased in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.sqlite import episode_words, fact_words
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.episodes import changes
from memstore.facts.facts import blank_row
from memstore.graph import decisions

if TYPE_CHECKING:
    from memstore.database.engine import Engine
    from memstore.database.journal import Author


def clear(engine: Engine, author: Author, namespace: str) -> bool:
    """Erase every fact, task and episode of a namespace, and compact the file once.

    Returns:
        Whether the bytes have left the files already; see :meth:`memstore.Store.erase`.
    """
    with engine.write() as transaction:
        # First: what is decided nowhere need not be looked for in the facts that are left.
        decisions.clear(transaction, author, namespace)
        for fact in list(fact_table.everything(transaction, [namespace])):
            if fact.status != "erased":
                blank_row(transaction, author, fact)
        for episode in list(episode_table.everything(transaction, [namespace])):
            if episode.content:
                changes.blank(transaction, author, episode)
        fact_words.INDEX.forget_deleted(transaction)
        episode_words.INDEX.forget_deleted(transaction)
    return engine.compact()
