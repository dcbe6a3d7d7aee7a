"""Checking and rebuilding the data that searches use: full-text indexes, segments, tags, pieces."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

from memstore.database.changes import Changes, Line
from memstore.database.engine import NO_LIMIT
from memstore.database.journal import Kind
from memstore.database.short_transactions import in_groups
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import pieces as piece_table
from memstore.file import journal_check
from memstore.text import chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from memstore.database.engine import Transaction
    from memstore.database.journal import Author

ROWS: Final = 100
"""Rows repaired in one act."""


def foreign(transaction: Transaction) -> list[int]:
    """Return the facts of other programs that are not journalled and completed yet."""
    return fact_table.foreign(transaction, NO_LIMIT)


def facts(transaction: Transaction) -> list[int]:
    others = {*foreign(transaction)}
    return [
        fact_id
        for fact_id, held, right in fact_table.all_found_by(transaction)
        if fact_id not in others
        and (
            right[:2] != held[:2]
            # If the content was changed the claim differs too, but the journal check reports that.
            or (right != held and not journal_check.differs(transaction, fact_id))
        )
    ]


def episodes(transaction: Transaction) -> Iterator[str]:
    """Yield the ids of episodes with wrong segments, tags or pieces, and which are wrong."""
    for episode_id in _wrong_segments(transaction):
        yield f"{episode_id} (segments)"
    for episode_id in episode_table.misfiled_tags(transaction):
        yield f"{episode_id} (tags)"
    for episode_id in _miscut(transaction):
        yield f"{episode_id} (pieces)"


def full_texts(transaction: Transaction) -> Iterator[tuple[str, bool]]:
    """Yield the differences between full-text indexes and rows; the check counts as a write."""
    for name, index in transaction.full_text._asdict().items():
        if trouble := index.check(transaction):
            yield f"the full-text index of the {name} differs: {trouble}", True


def mending_facts(copy: Transaction, mended: set[int]) -> Iterator[Callable[[Transaction], None]]:
    """Yield acts that rebuild the index of facts; add the facts they repair to ``mended``."""
    stale = [fact_id for fact_id, held, right in fact_table.all_found_by(copy) if right != held]
    wrong = sorted({*stale, *fact_table.misfiled_members(copy)})
    # The index first: changing segments updates an entry in it, which must exist.
    yield from copy.full_text.facts.rebuilding()
    for ids in _parts(wrong, fact_table.lengths(copy, wrong)):
        mended.update(ids)
        yield partial(fact_table.refile, ids)


def mending_episodes(
    copy: Transaction, author: Author, mended: set[int]
) -> Iterator[Callable[[Transaction], None]]:
    """Yield acts that rebuild the index of episodes; add the ones they repair to ``mended``."""
    miscut = {*_miscut(copy)}
    wrong = sorted({*miscut, *_wrong_segments(copy), *episode_table.misfiled_tags(copy)})
    yield from copy.full_text.episodes.rebuilding()
    for ids in _parts(wrong, episode_table.lengths(copy, wrong)):
        mended.update(ids)
        yield partial(episode_table.refile, ids)
        yield partial(_cut_again, author, [id_ for id_ in ids if id_ in miscut])


def _cut_again(author: Author, ids: Sequence[int], transaction: Transaction) -> None:
    for episode_id, episode in episode_table.get_many(transaction, ids).items():
        line = Line(Kind.EMBED, episode_id=episode_id, after={"embedding": None})
        Changes(transaction, author).write(line, *piece_table.removing(episode_id))
        piece_table.place(transaction, episode_id, piece_table.cut(episode.content))


def _parts(ids: Sequence[int], lengths: Mapping[int, int]) -> Iterator[Sequence[int]]:
    """Yield ids, as many together as one transaction may write, given the bytes of their texts."""
    return in_groups(ids, lambda id_: lengths.get(id_) or 0, ROWS)


def _wrong_segments(transaction: Transaction) -> list[int]:
    return [
        episode_id
        for episode_id, held, right in episode_table.all_segments(transaction)
        if held != right
    ]


def _miscut(transaction: Transaction) -> Iterator[int]:
    """Yield the ids of episodes with wrong pieces."""
    cuts = groupby(piece_table.everything(transaction), key=lambda piece: piece.episode_id)
    cut_id, pieces = next(cuts, (None, iter(())))
    for episode in episode_table.everything(transaction):
        held: list[tuple[int, int]] = []
        if cut_id == episode.id:
            held = [(piece.start, piece.stop) for piece in pieces if piece.stop > piece.start]
            cut_id, pieces = next(cuts, (None, iter(())))
        if held != chunks.of_episode(episode.content):
            yield episode.id
