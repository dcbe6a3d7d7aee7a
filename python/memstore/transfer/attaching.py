"""Bringing in what hangs on facts and episodes; what was decided here stays decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore.database.changes import Changes
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import readings as reading_table
from memstore.database.tables import replies as reply_table
from memstore.database.tables.readings import CLOSED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.database.engine import Transaction
    from memstore.database.journal import Author
    from memstore.database.satellite import Satellite
    from memstore.domain.records import Episode, Fact
    from memstore.transfer.attachments import Attached


def attach(
    transaction: Transaction,
    author: Author,
    attached: Attached,
    facts: Mapping[int, Fact],
    episodes: Mapping[int, Episode],
    namespace: str | None,
    satellite: Satellite,
) -> dict[str, int]:
    """Bring everything in that is not known here, and return how much of each kind was new.

    Args:
        transaction: the one in which facts and episodes came in.
        author: who imports.
        attached: what hangs on them.
        facts: what stands here, by the ids of where they come from.
        episodes: the same of episodes.
        namespace: where decisions on entities go; ``None`` for each to its own.
        satellite: what keeps these decisions.
    """
    done = dict.fromkeys(attached.counts(), 0)
    for proposal in attached.proposals:
        here = proposal._replace(
            old_id=facts[proposal.old_id].id,
            new_id=None if proposal.new_id is None else facts[proposal.new_id].id,
            sources=tuple(facts[fact_id].id for fact_id in proposal.sources),
        )
        done["proposals"] += proposal_table.place(Changes(transaction, author), here)
    for reading in attached.readings:
        row = reading._replace(episode_id=episodes[reading.episode_id].id)
        placed = reading_table.place(transaction, row)
        if placed and row.kind == CLOSED:
            # A fact of it was erased there: what is kept here of its text goes as well.
            reply_table.forget_episode(transaction, row.episode_id)
            reading_table.place(transaction, row)
        done["readings"] += placed
    for reply in attached.replies:
        one = reply._replace(episode_id=episodes[reply.episode_id].id)
        done["replies"] += reply_table.place(transaction, one)
    for home, decision in attached.decisions:
        done["decisions"] += satellite.bring_decision(
            transaction, author, namespace or home, decision
        )
    return done
