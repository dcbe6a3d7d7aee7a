"""Exporting one state of the database, line by line: the same state gives the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database import journal
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import generations as generation_table
from memstore.domain import clock
from memstore.transfer import attachments, lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Engine, Progress, Transaction

PROGRESS_EVERY: Final = 500


def export(
    engine: Engine, namespaces: tuple[str, ...] | None, progress: Progress | None = None
) -> Iterator[str]:
    """Yield the lines of an export, without line ends, all from one state of the database."""
    with engine.read(apart=True) as transaction:
        episodes = episode_table.count_all(transaction, namespaces)
        facts = fact_table.count_all(transaction, namespaces)
        yield _header(transaction, namespaces, facts, episodes)
        total, done = facts + episodes, 0
        for text, is_one in _records(transaction, namespaces):
            yield text
            done += is_one
            if progress is not None and is_one and (done % PROGRESS_EVERY == 0 or done == total):
                progress(done, total)
        yield from attachments.written(transaction, namespaces)


def _header(
    transaction: Transaction, namespaces: tuple[str, ...] | None, facts: int, episodes: int
) -> str:
    """Write the first line, without a word on when or where the export was made."""
    active = generation_table.active(transaction)
    changed_at = journal.last_change(transaction, namespaces)
    return lines.line(
        memstore="export",
        format=lines.FORMAT,
        changed_at=clock.to_text(changed_at) if changed_at is not None else None,
        facts=facts,
        operations=journal.count(transaction, namespaces),
        episodes=episodes,
        **attachments.counted(transaction, namespaces),
        model=active.model,
        dimension=active.dimension,
    )


def _records(
    transaction: Transaction, namespaces: tuple[str, ...] | None
) -> Iterator[tuple[str, bool]]:
    for episode in episode_table.everything(transaction, namespaces):
        yield lines.episode_out(episode), True
        for operation in journal.of_episode(transaction, episode.id):
            yield lines.operation_out(operation), False
    for fact in fact_table.everything(transaction, namespaces):
        yield lines.fact_out(fact), True
        for operation in journal.of_fact(transaction, fact.id):
            yield lines.operation_out(operation), False
