"""Carrying every row of a memory into an empty one, whichever engines the two have.

Ids, times, salts and hashes stay the same, so the journal has the same chain. What is derived (the
words, the feeds, the counts, the members, the tags) the target's own writes derive anew.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memstore.database.engine import Progress, Row, Transaction

BATCH: Final = 2000
"""Rows that are read and written together."""


class Carried(NamedTuple):
    """A table, and the columns that order its rows."""

    name: str
    key: tuple[str, ...] = ("id",)
    left_out: str = ""
    """A condition on rows that each memory has of its own."""
    counted: bool = False
    """Whether its ids are given by the memory, and never given again."""


TABLES: Final = (
    Carried("memstore_meta", ("key",), left_out="key = 'schema_family'"),
    Carried("memstore_generations", counted=True),
    Carried("memstore_episodes", counted=True),
    Carried("memstore_facts", counted=True),
    Carried("memstore_pieces", counted=True),
    Carried("memstore_fact_vectors"),
    Carried("memstore_piece_vectors"),
    Carried("memstore_proposals", counted=True),
    Carried("memstore_readings"),
    Carried("memstore_replies"),
    Carried("memstore_tokens", counted=True),
    Carried("memstore_graphs"),
    Carried("memstore_entity_names"),
    Carried("memstore_mentions", ("name_id", "fact_id")),
    Carried("memstore_relations", ("source_id", "target_id", "fact_id", "label")),
    Carried("memstore_fact_readings", ("fact_id", "reader")),
    Carried("memstore_entity_decisions", counted=True),
    Carried("memstore_distrusted", ("fact_id",)),
    Carried("memstore_distrusted_episodes", ("episode_id",)),
    Carried("memstore_journal", counted=True),
)
"""In an order in which each row's links lead to rows that are there."""


def is_empty(transaction: Transaction) -> bool:
    """Return whether nothing was ever stored in a memory."""
    return not transaction.scalar(
        "SELECT count(*) FROM (SELECT id FROM memstore_journal UNION ALL SELECT id FROM"
        " memstore_facts UNION ALL SELECT id FROM memstore_episodes) AS stored"
    )


def carry(source: Transaction, target: Transaction, progress: Progress | None) -> dict[str, int]:
    """Write every row of a memory into an empty one; return how many, by table."""
    target.run("DELETE FROM memstore_generations")
    counts: dict[str, int] = {}
    for number, table in enumerate(TABLES):
        if progress is not None:
            progress(number, len(TABLES))
        counts[table.name] = _carry_table(source, target, table)
    return counts


def _carry_table(source: Transaction, target: Transaction, table: Carried) -> int:
    columns = _columns(source, table)
    listed, given = ", ".join(columns), ", ".join(f":{name}" for name in columns)
    link = columns.index("superseded_by") if "superseded_by" in columns else None
    links: list[tuple[int, int]] = []
    count = 0
    for rows in _batches(source, table, columns):
        count += len(rows)
        for row in rows:
            if link is not None and row[link] is not None:  # its successor may come later
                links.append((row[link], row[columns.index("id")]))
                row = (*row[:link], None, *row[link + 1 :])
            target.queue(f"INSERT INTO {table.name} ({listed}) VALUES ({given})", row)
        target.scalar("SELECT 1")  # what is queued runs now, so that little is kept
    for pair in links:
        target.queue("UPDATE memstore_facts SET superseded_by = :newer WHERE id = :id", pair)
    if table.counted:
        behind = source.next_id(table.name) - target.next_id(table.name)
        if behind > 0:
            target.reserve_ids(table.name, behind)
    return count


def digest(transaction: Transaction, columns: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return a hash of all rows of each table, over the columns that both memories have."""
    made: dict[str, str] = {}
    for table in TABLES:
        hashed = hashlib.sha256()
        for rows in _batches(transaction, table, columns[table.name]):
            for row in rows:
                hashed.update(repr(row).encode("utf-8", "surrogatepass"))
        made[table.name] = hashed.hexdigest()
    return made


def columns_of(transaction: Transaction) -> dict[str, list[str]]:
    """Return the columns of each table that is carried."""
    return {table.name: _columns(transaction, table) for table in TABLES}


def _columns(transaction: Transaction, table: Carried) -> list[str]:
    rows = transaction.rows(transaction.dialect.columns, {"table": table.name})
    return [str(name) for (name,) in rows]


def _batches(
    transaction: Transaction, table: Carried, columns: Sequence[str]
) -> Iterator[list[Row]]:
    """Yield the rows in order, some at a time."""
    listed, order = ", ".join(columns), ", ".join(table.key)
    test = f"NOT ({table.left_out})" if table.left_out else "TRUE"
    if len(table.key) > 1 or table.key[0] == "key":  # few rows, or small ones
        yield list(
            transaction.rows(f"SELECT {listed} FROM {table.name} WHERE {test} ORDER BY {order}")
        )
        return
    key = table.key[0]
    place = columns.index(key)
    after = -(2**63)
    while rows := list(
        transaction.rows(
            f"SELECT {listed} FROM {table.name} WHERE {key} > :after ORDER BY {key} LIMIT :limit",
            {"after": after, "limit": BATCH},
        )
    ):
        yield rows
        after = rows[-1][place]
