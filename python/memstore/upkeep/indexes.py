"""Checking and rebuilding what searches rest on: full-text indexes, segments, tags and pieces."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from memstore.database.changes import Changes, Line
from memstore.database.journal import Kind
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import pieces as piece_table
from memstore.text import chunks
from memstore.upkeep import journal_check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Transaction
    from memstore.database.journal import Author


def facts(transaction: Transaction) -> list[int]:
    return [
        fact_id
        for fact_id, held, right in fact_table.all_found_by(transaction)
        if right[:2] != held[:2]
        # A claim also differs where the content was changed, which the journal shows.
        or (right != held and not journal_check.differs(transaction, fact_id))
    ]


def episodes(transaction: Transaction) -> Iterator[str]:
    """Yield the ids of episodes whose segments, tags or pieces are wrong, with which."""
    for episode_id, _ in _episodes(transaction):
        yield f"{episode_id} (segments)"
    for episode_id in episode_table.misfiled_tags(transaction):
        yield f"{episode_id} (tags)"
    for episode_id, _ in _miscut(transaction):
        yield f"{episode_id} (pieces)"


def full_texts(transaction: Transaction) -> Iterator[tuple[str, bool]]:
    """Yield how full-text indexes differ from the rows; comparing them counts as a write."""
    for name, index in transaction.full_text._asdict().items():
        if trouble := index.check(transaction):
            yield f"the full-text index of the {name} differs: {trouble}", True


def rebuild_facts(transaction: Transaction) -> str:
    """Rebuild the full-text index and what facts are found by, and return what was done."""
    # The index first: changing segments corrects an entry in it, which must exist.
    transaction.full_text.facts.rebuild(transaction)
    found = fact_table.all_found_by(transaction)
    stale = [(fact_id, right) for fact_id, held, right in found if right != held]
    for fact_id, right in stale:
        fact_table.set_found_by(transaction, fact_id, right)
    misfiled = fact_table.misfiled_members(transaction)
    if misfiled:
        fact_table.refile_members(transaction)
    mended = {*(fact_id for fact_id, _ in stale), *misfiled}
    return f"rebuilt the full-text index and what {len(mended)} facts are found by"


def rebuild_episodes(transaction: Transaction, author: Author) -> str:
    """Rebuild the full-text index and wrong segments, tags and pieces; return what was done."""
    transaction.full_text.episodes.rebuild(transaction)
    stale = _episodes(transaction)
    for episode_id, right in stale:
        episode_table.set_segments(transaction, episode_id, right)
    misfiled = episode_table.misfiled_tags(transaction)
    for episode_id in misfiled:
        episode_table.refile_tags(transaction, episode_id)
    miscut = list(_miscut(transaction))
    for episode_id, content in miscut:
        line = Line(Kind.EMBED, episode_id=episode_id, after={"embedding": None})
        Changes(transaction, author).write(line, *piece_table.removing(episode_id))
        piece_table.cut(transaction, episode_id, content)
    mended = {*(id_ for id_, _ in stale), *misfiled, *(id_ for id_, _ in miscut)}
    return f"rebuilt the full-text index of the log and what {len(mended)} episodes are found by"


def _episodes(transaction: Transaction) -> list[tuple[int, str | None]]:
    return [
        (episode_id, right)
        for episode_id, held, right in episode_table.all_segments(transaction)
        if held != right
    ]


def _miscut(transaction: Transaction) -> Iterator[tuple[int, str]]:
    """Yield the episodes whose pieces do not cover them, with their content."""
    cuts = groupby(piece_table.everything(transaction), key=lambda piece: piece.episode_id)
    cut_id, pieces = next(cuts, (None, iter(())))
    for episode in episode_table.everything(transaction):
        held: list[tuple[int, int]] = []
        if cut_id == episode.id:
            held = [(piece.start, piece.stop) for piece in pieces if piece.stop > piece.start]
            cut_id, pieces = next(cuts, (None, iter(())))
        if held != chunks.of_episode(episode.content):
            yield episode.id, episode.content
