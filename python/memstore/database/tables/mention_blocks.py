"""The mentions of a graph in blocks: which facts mention each name, as few rows.

Whoever knows which facts may be seen counts the mentions of all names in one pass over the blocks;
the rows of mentions would be looked up one by one. Blocks are derived from these rows, by the build
that writes them. A graph of an earlier program has none, nor has one whose facts have ids that the
kernel does not take; then the rows are read, as they are where a block is damaged. A block begins
with a name and ends before the next one; the first begins with the first id of its graph, so that
together they are about all names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore._kernel.mentions import MentionCounts, pack, without
from memstore.database.writes import Insert, Update

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memstore._kernel.ids import Ids
    from memstore.database.engine import Transaction

SHIFT: Final = 32
"""The number of low bits of an id of a name that hold its place in its graph."""

PLACE: Final = (1 << SHIFT) - 1
"""These bits."""

MENTIONS_IN_A_BLOCK: Final = 30_000
"""A block ends with the name that has the last of them: some 90 KB."""

ENTITY_INDEX: Final = "idx_memstore_entity_name"
"""Has the names of an entity, and all that is read of them."""


def write_next(transaction: Transaction, graph_id: int, first: int) -> int | None:
    """Write the block that begins with a name; return the first name of the next one, if any.

    Raises:
        ValueError: a fact has an id that no block can hold.
    """
    end = (graph_id + 1) << SHIFT
    row = transaction.one(
        "SELECT name_id FROM memstore_mentions WHERE name_id >= :first AND name_id < :end"
        " ORDER BY name_id, fact_id LIMIT 1 OFFSET :most",
        {"first": first, "end": end, "most": MENTIONS_IN_A_BLOCK},
    )
    after = None if row is None else max(int(row[0]), first + 1)
    transaction.run(
        Insert("memstore_mention_blocks", ("first_id", "facts"), (":first", ":facts")),
        {"first": first, "facts": _packed(transaction, first, end if after is None else after)},
    )
    return after


def _packed(transaction: Transaction, first: int, end: int) -> bytes:
    rows = transaction.rows(
        "SELECT name_id, fact_id FROM memstore_mentions WHERE name_id >= :first AND name_id < :end"
        " ORDER BY name_id, fact_id",
        {"first": first, "end": end},
    )
    return pack(first & PLACE, [(name_id & PLACE, fact_id) for name_id, fact_id in rows])


def forget_fact(transaction: Transaction, name_ids: Iterable[int], fact_id: int) -> None:
    """Remove a fact from the blocks of the names that it mentions.

    Raises:
        ValueError: one of them is damaged; others may have been changed.
    """
    for first, block in _blocks_of(transaction, name_ids):
        transaction.run(
            Update("memstore_mention_blocks", {"facts": ":facts"}, "first_id = :first"),
            {"facts": without(block, fact_id), "first": first},
        )


def counted(transaction: Transaction, graph_id: int, seen: Ids) -> MentionCounts | None:
    """Count the mentions of all names by facts that are seen; ``None`` if there are no blocks or
    one is damaged.

    Names and entities are known by their places in the graph.
    """
    ends = {"first": graph_id << SHIFT, "last": ((graph_id + 1) << SHIFT) - 1}
    blocks = [
        (first & PLACE, bytes(block))
        for first, block in transaction.rows(
            "SELECT first_id, facts FROM memstore_mention_blocks"
            " WHERE first_id BETWEEN :first AND :last ORDER BY first_id",
            ends,
        )
    ]
    if not blocks:
        return None
    merged = transaction.rows(
        "SELECT id, entity_id FROM memstore_entity_names"
        f" {transaction.dialect.indexed_by(ENTITY_INDEX)}"
        " WHERE entity_id BETWEEN :first AND :last AND id <> entity_id",
        ends,
    )
    others = [(name & PLACE, entity & PLACE) for name, entity in merged]
    return _counts(blocks, seen, others)


def facts_of(transaction: Transaction, name_ids: Sequence[int], seen: Ids) -> int | None:
    """Count the facts that are seen and mention one of an entity's names; ``None`` if no block is
    about these, or one that is damaged."""
    blocks = [(first & PLACE, block) for first, block in _blocks_of(transaction, name_ids)]
    if not blocks:
        return None
    places = sorted(name_id & PLACE for name_id in name_ids)
    merged = [(place, places[0]) for place in places[1:]]
    counts = _counts(blocks, seen, merged)
    return None if counts is None else counts.facts(places[:1])[0]


def _counts(
    blocks: Sequence[tuple[int, bytes]], seen: Ids, merged: Sequence[tuple[int, int]]
) -> MentionCounts | None:
    """Count the mentions in blocks; ``None`` if one is damaged."""
    try:
        return MentionCounts(blocks, seen, merged)
    except ValueError:
        return None


def _blocks_of(transaction: Transaction, name_ids: Iterable[int]) -> list[tuple[int, bytes]]:
    """Return the blocks that are about some names, each with its first name, in order."""
    firsts = set()
    for name_id in name_ids:
        row = transaction.one(
            "SELECT max(first_id) FROM memstore_mention_blocks"
            " WHERE first_id BETWEEN :first AND :name",
            {"first": name_id >> SHIFT << SHIFT, "name": name_id},
        )
        if row is not None and row[0] is not None:
            firsts.add(int(row[0]))
    found = (
        transaction.one(
            "SELECT first_id, facts FROM memstore_mention_blocks WHERE first_id = :first",
            {"first": first},
        )
        for first in sorted(firsts)
    )
    return [(int(row[0]), bytes(row[1])) for row in found if row is not None]


def misfits(transaction: Transaction, graph_id: int) -> int:
    """Count the blocks of a graph that differ from the rows of mentions."""
    stop = (graph_id + 1) << SHIFT
    blocks = [
        *transaction.rows(
            "SELECT first_id, facts FROM memstore_mention_blocks"
            " WHERE first_id >= :first AND first_id < :stop ORDER BY first_id",
            {"first": graph_id << SHIFT, "stop": stop},
        )
    ]
    if not blocks:
        return 0
    ends = [first for first, _ in blocks[1:]] + [stop]
    wrong = sum(
        not _says(bytes(block), _packed(transaction, first, end))
        for (first, block), end in zip(blocks, ends, strict=True)
    )
    return wrong + int(blocks[0][0] != graph_id << SHIFT)


def _says(block: bytes, packed: bytes) -> bool:
    """Return whether a block says what it should; names at its end may have lost their facts."""
    return block.rstrip(b"\0") == packed.rstrip(b"\0")
