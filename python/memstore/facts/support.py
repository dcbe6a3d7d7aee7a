"""The supports of facts, with the places of their words in the episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.engine import NO_LIMIT
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import support as support_table
from memstore.domain import clock
from memstore.domain.support import Support

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction
    from memstore.database.tables.support import SupportRow
    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact


def of_facts(
    transaction: Transaction, fact_ids: Sequence[int], until: int = NO_LIMIT
) -> dict[int, list[Support]]:
    """Return the supports of facts by id, oldest first; the caller has checked who may see them.

    With ``until``, a line of the journal, they are those of then.
    """
    rows = support_table.of_facts(transaction, fact_ids, until)
    facts = fact_table.get_many(transaction, fact_ids)
    said_in = {row.episode_id for row in rows if row.episode_id is not None}
    episodes = episode_table.get_many(transaction, [*said_in])
    found: dict[int, list[Support]] = {fact_id: [] for fact_id in fact_ids}
    for row in rows:
        episode = episodes.get(row.episode_id or 0)
        found[row.fact_id].append(_support(row, facts[row.fact_id], episode))
    return found


def _support(row: SupportRow, fact: Fact, episode: Episode | None) -> Support:
    start, stop = _place(fact.content, episode)
    return Support(
        line=row.line,
        fact_id=row.fact_id,
        kind=row.kind,
        at=clock.from_text(row.at),
        actor=row.actor,
        through=row.through,
        source=row.cited if episode is None else episode.source or row.cited,
        episode_id=row.episode_id,
        start=start,
        stop=stop,
    )


def _place(words: str, episode: Episode | None) -> tuple[int, int] | tuple[None, None]:
    """Return where an episode says something, if it does so in these words."""
    start = -1 if episode is None else episode.content.find(words)
    return (None, None) if start < 0 else (start, start + len(words))
