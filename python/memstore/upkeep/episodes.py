"""What the doctor holds the log of episodes to, and how what is derived of it is made anew."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from memstore.database.changes import Changes, Line
from memstore.database.journal import Author, Kind
from memstore.database.sqlite import full_text
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import pieces as piece_table
from memstore.text import chunks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Transaction


def derived(transaction: Transaction) -> Iterator[str]:
    """Yield the episodes that are not found by what they hold: segments, tags, pieces."""
    for episode_id, _ in stale_segments(transaction):
        yield f"{episode_id} (segments)"
    for episode_id in episode_table.misfiled_tags(transaction):
        yield f"{episode_id} (tags)"
    for episode_id, _ in _miscut(transaction):
        yield f"{episode_id} (pieces)"


def rebuild(transaction: Transaction, author: Author) -> list[str]:
    """Make anew what episodes are found by; return what was done, a sentence each."""
    # First the index: changing segments corrects an entry in it, which must be there.
    full_text.EPISODES.rebuild(transaction)
    stale = stale_segments(transaction)
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
    mended = len({*(id_ for id_, _ in stale), *misfiled, *(id_ for id_, _ in miscut)})
    return [f"rebuilt the full-text index of the log ({mended} episodes filed anew)"]


def stale_segments(transaction: Transaction) -> list[tuple[int, str | None]]:
    """Return the episodes whose segments do not fit, each with those that do."""
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
