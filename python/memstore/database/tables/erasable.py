"""Counts what is stored about facts and episodes that are about to be erased."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.journal import TEXTS
from memstore.database.tables import distrusted, support
from memstore.domain.erasures import ErasureCounts

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memstore.database.engine import Transaction

WITH_TEXT: Final = f"coalesce({', '.join(TEXTS)}) IS NOT NULL"
"""The condition that a line of the journal has a text."""


def of_facts(transaction: Transaction, fact_ids: Sequence[int]) -> ErasureCounts:
    """Count what goes with facts, except for entries of the graph."""
    listed = transaction.dialect.listed("ids")

    def count(source: str) -> int:
        return transaction.scalar(f"SELECT count(*) FROM {source}", {"ids": fact_ids})

    return ErasureCounts(
        facts=count(f"memstore_facts WHERE id IN {listed}"),
        legs=len(support.speaking(support.of_facts(transaction, fact_ids))),
        lines=count(f"memstore_journal WHERE fact_id IN {listed} AND {WITH_TEXT}"),
        vectors=count(
            "memstore_generations g CROSS JOIN memstore_fact_vectors v"
            f" WHERE v.generation_id = g.id AND v.fact_id IN {listed} AND v.embedding IS NOT NULL"
        ),
        proposals=count(
            f"memstore_proposals WHERE (old_id IN {listed} OR new_id IN {listed})"
            " AND (evidence IS NOT NULL OR content <> '')"
        ),
    )


def of_episodes(
    transaction: Transaction, episode_ids: Sequence[int], going: Collection[int] = ()
) -> ErasureCounts:
    """Count what goes with episodes, without the facts drawn from them.

    Args:
        transaction: the state to read.
        episode_ids: the episodes.
        going: facts that go too, whose legs were counted with them.
    """
    listed = transaction.dialect.listed("ids")

    def count(source: str) -> int:
        return transaction.scalar(f"SELECT count(*) FROM {source}", {"ids": episode_ids})

    heard = [one for one in distrusted.of_episodes(transaction, episode_ids) if one not in going]
    legs, erased = support.speaking(support.of_facts(transaction, heard)), {*episode_ids}
    return ErasureCounts(
        legs=sum(leg.episode_id in erased for leg in legs),
        episodes=count(f"memstore_episodes WHERE id IN {listed}"),
        lines=count(
            f"memstore_journal WHERE episode_id IN {listed} AND fact_id IS NULL AND {WITH_TEXT}"
        ),
        pieces=count(f"memstore_pieces WHERE episode_id IN {listed} AND stop > start"),
        vectors=count(
            "memstore_pieces p CROSS JOIN memstore_generations g"
            " CROSS JOIN memstore_piece_vectors v"
            f" WHERE p.episode_id IN {listed} AND v.generation_id = g.id AND v.piece_id = p.id"
            " AND v.embedding IS NOT NULL"
        ),
        replies=count_replies(transaction, episode_ids),
    )


def count_replies(transaction: Transaction, episode_ids: Sequence[int]) -> int:
    return transaction.scalar(
        "SELECT count(*) FROM memstore_replies WHERE episode_id IN"
        f" {transaction.dialect.listed('ids')}",
        {"ids": episode_ids},
    )


def count_entries(transaction: Transaction, fact_ids: set[int]) -> int:
    """Count the entries of the graph about these facts; reads all of it."""
    return sum(
        fact_id in fact_ids
        for table in ("memstore_mentions", "memstore_relations")
        for (fact_id,) in transaction.rows(f"SELECT fact_id FROM {table}")
    )
