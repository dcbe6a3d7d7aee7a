"""Carrying every row of a memory into an empty one, or what changed since into its copy.

The two may have different engines.

Ids, times, salts and hashes stay the same, so the journal has the same chain. What is derived (the
words, the feeds, the counts, the members, the tags) the target's own writes derive anew.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from memstore._kernel.vectors import unpack
from memstore.database import journal
from memstore.database.meta import SYNCED
from memstore.database.writes import BY_ID, Delete, Insert, Update, settings
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memstore.database.engine import Progress, Row, Transaction, Value

LINK: Final = Update("memstore_facts", {"superseded_by": ":newer"}, BY_ID)

DEVICES: Final = "memstore_devices"

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
    Carried("memstore_meta", ("key",), left_out=f"key IN ('schema_family', '{SYNCED}')"),
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
    Carried("memstore_mention_blocks", ("first_id",)),
    Carried("memstore_alike_names", ("name_id",)),
    Carried("memstore_fact_readings", ("fact_id", "reader")),
    Carried("memstore_entity_decisions", counted=True),
    Carried("memstore_distrusted", ("fact_id",)),
    Carried("memstore_distrusted_episodes", ("episode_id",)),
    Carried(DEVICES, counted=True),
    Carried("memstore_taken", ("line",)),
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
    target.run(Delete("memstore_generations"))
    counts: dict[str, int] = {}
    for number, table in enumerate(TABLES):
        if progress is not None:
            progress(number, len(TABLES))
        counts[table.name] = _carry_table(source, target, table)
    return counts


def _carry_table(source: Transaction, target: Transaction, table: Carried) -> int:
    columns = _columns(source, table)
    form = Insert(table.name, tuple(columns))
    link = columns.index("superseded_by") if "superseded_by" in columns else None
    links: list[tuple[int, int]] = []
    count = 0
    for rows in _batches(source, table, columns):
        count += len(rows)
        for row in rows:
            if link is not None and row[link] is not None:  # its successor may come later
                links.append((row[link], row[columns.index("id")]))
                row = (*row[:link], None, *row[link + 1 :])
            target.queue(form, row)
        target.scalar("SELECT 1")  # what is queued runs now, so that little is kept
    for pair in links:
        target.queue(LINK, pair)
    _give_no_id_again(source, target, table)
    return count


def _give_no_id_again(source: Transaction, target: Transaction, table: Carried) -> None:
    if not table.counted:
        if table.key == ("id",):
            target.pass_ids(table.name)
    else:
        behind = source.next_id(table.name) - target.next_id(table.name)
        if behind > 0:
            target.reserve_ids(table.name, behind)


def follow(source: Transaction, target: Transaction, progress: Progress | None) -> int:
    """Make a copy equal to its source again; return how many of its rows changed.

    The copy has an earlier state of the source, and nothing else was written to it.
    """
    _retire_generations(source, target)
    changed = sum(_remove_gone(source, target, table) for table in reversed(TABLES))
    # The journal first: a file lets an episode be blanked only if a line says that it was erased.
    for number, table in enumerate((TABLES[-1], *TABLES[:-1])):
        if progress is not None:
            progress(number, len(TABLES))
        changed += _follow_table(source, target, table)
    return changed


def _retire_generations(source: Transaction, target: Transaction) -> None:
    """Let any generation become the active one: two of them cannot be, not even in between."""
    states = "SELECT id, state FROM memstore_generations ORDER BY id"
    if [*source.rows(states)] != [*target.rows(states)]:
        target.run(Update("memstore_generations", {"state": "'retired'"}, "state <> 'retired'"))


def _remove_gone(source: Transaction, target: Transaction, table: Carried) -> int:
    """Remove the rows of a copy that its source does not have any more."""
    keys = _keys(source, table)
    gone = [key for key in _keys(target, table) if key not in keys]
    where = " AND ".join(f"{name} = :{name}" for name in table.key)
    form = Delete(table.name, where)
    for key in gone:
        target.queue(form, key)
    target.scalar("SELECT 1")  # what is queued runs now
    return len(gone)


def _keys(transaction: Transaction, table: Carried) -> dict[Row, None]:
    test = f"NOT ({table.left_out})" if table.left_out else "TRUE"
    rows = transaction.rows(f"SELECT {', '.join(table.key)} FROM {table.name} WHERE {test}")
    return dict.fromkeys(rows)


def _follow_table(source: Transaction, target: Transaction, table: Carried) -> int:
    """Change and add the rows of a copy that differ from its source, in the order of their keys."""
    columns = _columns(source, table)
    key = [columns.index(name) for name in table.key]
    link = columns.index("superseded_by") if "superseded_by" in columns else None
    links: list[tuple[Value, Value]] = []
    copied = _Copied(target, table, columns, key)
    changed = 0
    for rows in filter(None, _batches(source, table, columns)):
        known = copied.rows_until(rows[-1])
        for row in rows:
            old = known.get(tuple(row[place] for place in key))
            if old == row:
                continue
            changed += 1
            if link is not None and row[link] != (None if old is None else old[link]):
                links.append((row[link], row[key[0]]))  # its successor may come later
                row = (*row[:link], None if old is None else old[link], *row[link + 1 :])
            copied.write(row, old)
        target.scalar("SELECT 1")
    for pair in links:
        target.queue(LINK, pair)
    _give_no_id_again(source, target, table)
    return changed


class _Copied:
    """A table of a copy, read and changed along with its source."""

    def __init__(
        self, target: Transaction, table: Carried, columns: Sequence[str], key: Sequence[int]
    ) -> None:
        self._target = target
        self._table = table
        self._columns = columns
        self._key = key
        self._insertion = Insert(table.name, tuple(columns))
        self._batches = _batches(target, table, columns)
        self._ahead: dict[Row, Row] = {}
        """What was read and not asked for yet, by its key."""
        self._is_read = False

    def rows_until(self, last: Row) -> dict[Row, Row]:
        """Return the rows up to a key, and perhaps some after it, by their keys."""
        until = tuple(last[place] for place in self._key)
        known, self._ahead = self._ahead, {}
        while not self._is_read and not (known and _is_past(next(reversed(known)), until)):
            rows = next(self._batches, None)
            self._is_read = rows is None
            known |= {tuple(row[place] for place in self._key): row for row in rows or ()}
        self._ahead = {key: row for key, row in known.items() if _is_past(key, until)}
        return known

    def write(self, row: Row, old: Row | None) -> None:
        columns = self._columns
        if old is None:
            self._target.queue(self._insertion, row)
            return
        places = [place for place in range(len(columns)) if row[place] != old[place]]
        if not places:
            return
        changed = settings(*(columns[place] for place in places))
        where = " AND ".join(f"{columns[place]} = :{columns[place]}" for place in self._key)
        values = tuple(row[place] for place in (*places, *self._key))
        self._target.queue(Update(self._table.name, changed, where), values)


def _is_past(key: Row, until: Row) -> bool:
    """Whether a key comes after another; keys of several columns are read at once, whole."""
    return len(key) == 1 and isinstance(key[0], int) and key > until


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


def counts(transaction: Transaction) -> dict[str, int]:
    """Return the number of rows of each table."""
    return {
        table.name: transaction.scalar(f"SELECT count(*) FROM {table.name}") for table in TABLES
    }


def vectors(transaction: Transaction) -> int:
    """Return the number of vectors, without the rows that wait for one."""
    return sum(
        transaction.scalar(f"SELECT count(*) FROM {name} WHERE embedding IS NOT NULL")
        for name in ("memstore_fact_vectors", "memstore_piece_vectors")
    )


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
    if "embedding" in columns:
        place = columns.index("embedding")
        for rows in _stored(transaction, table, columns):
            yield [(*row[:place], _whole(row[place]), *row[place + 1 :]) for row in rows]
    else:
        yield from _stored(transaction, table, columns)


def _whole(vector: Value) -> Value:
    """Return a vector as every engine reads it: a file has it packed."""
    return unpack(vector) if isinstance(vector, bytes) else vector


def _stored(
    transaction: Transaction, table: Carried, columns: Sequence[str]
) -> Iterator[list[Row]]:
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
        yield _without_own_id(transaction, columns, rows) if table.name == DEVICES else rows
        after = rows[-1][place]


def _without_own_id(
    transaction: Transaction, columns: Sequence[str], rows: Sequence[Row]
) -> list[Row]:
    """Return devices as a copy has them: it is none of them, and goes on after the last line."""
    head = journal.head(transaction)
    left = {"state": "former", "known": head.line, "hash": head.hash}
    place = columns.index("state")
    return [
        tuple(left.get(name, value) for name, value in zip(columns, row, strict=True))
        if row[place] == "here"
        else row
        for row in rows
    ]
