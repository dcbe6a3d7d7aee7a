"""Acts: what one transaction adds to the journal is one moment in time, and a part of its chain.

Each line's hash covers the line before it (:mod:`memstore._kernel.chain`), so the last hash, the
*head*, stands for the whole journal.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from memstore._kernel.chain import linked
from memstore.database import meta as meta_table
from memstore.database.writes import Insert
from memstore.domain import clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memstore.database.engine import Row, Transaction, Value

TABLE: Final = "memstore_journal"
HASH_BYTES: Final = 32
SALT_BYTES: Final = 16

STRETCH: Final = 256
"""Lines that are counted together: those whose ids are the same when divided by this."""

BEGINNING: Final = bytes(HASH_BYTES)
"""What comes before the first line of a journal."""

TICK: Final = timedelta(microseconds=1)
"""How much later than the act before it an act is at least, whatever the clock says."""

CHAINED: Final = (
    "id, txn, at, said_at, run, actor, source, kind, fact_id, episode_id, before, after, evidence"
)
"""The columns that a line's hash covers; the last three by commitments."""

INSERTION: Final = Insert(TABLE, (*CHAINED.split(", "), "salt", "hash"))

LAST: Final = (
    "SELECT id, at, hash, EXISTS (SELECT 1 FROM memstore_meta WHERE key = :levels)"
    f" FROM {TABLE} ORDER BY id DESC LIMIT 1"
)


class ActLines:
    """The lines that one transaction adds to the journal.

    They have one moment, later than every line before, and the id of the first of them (``txn``).
    """

    __slots__ = ("_last_hash", "_next_id", "at", "has_levels", "moment", "txn")

    def __init__(self, transaction: Transaction) -> None:
        last = transaction.one(LAST, {"levels": meta_table.TRUST})
        last_id, last_at, self._last_hash, has_levels = last or (0, "", BEGINNING, 0)
        self.has_levels = bool(has_levels)
        """Whether the level of a source was ever set in this file, so that facts may be hidden."""
        self.txn: int = last_id + 1
        self._next_id: int = self.txn
        self.moment = clock.utc_now()
        """When all of it happens: of its lines, and of what it creates, deletes or supersedes."""
        self.at = clock.to_text(self.moment)
        if self.at <= last_at:
            self.moment = clock.from_text(last_at) + TICK
            self.at = clock.to_text(self.moment)
        if not isinstance(self._last_hash, bytes) or len(self._last_hash) != HASH_BYTES:
            self._last_hash = BEGINNING  # damaged: writing goes on, and `verify` names the line

    @property
    def last(self) -> int:
        """The id of its last line so far."""
        return self._next_id - 1

    def end(self) -> Row:
        """Return what :data:`LAST` returns once its lines are written."""
        return self._next_id - 1, self.at, self._last_hash, self.has_levels

    @property
    def ends_stretch(self) -> bool:
        """Whether a stretch of lines that are counted together ends among its lines."""
        return self._next_id // STRETCH > self.txn // STRETCH

    def add(self, transaction: Transaction, *columns: str | int | bytes | None) -> None:
        """Queue a line, given its columns from ``said_at`` on."""
        row = (self._next_id, self.txn, self.at, *columns)
        self._next_id += 1
        transaction.queue(INSERTION, row, self._chained)

    def add_all(self, transaction: Transaction, lines: Iterable[Sequence[Value]]) -> None:
        """Queue lines, each given as its columns from ``said_at`` on."""
        begin = self.txn, self.at
        rows = [(id_, *begin, *line) for id_, line in enumerate(lines, self._next_id)]
        self._next_id += len(rows)
        transaction.queue_all(INSERTION, rows, self._chained)

    def _chained(self, rows: Sequence[Row]) -> list[Row]:
        made = linked(self._last_hash, rows, os.urandom(SALT_BYTES * len(rows)))
        self._last_hash = made[-1][-1]
        return made


def of(transaction: Transaction) -> ActLines:
    """Return the act of a transaction, which begins with its first line."""
    act = transaction.act
    if not isinstance(act, ActLines):
        act = transaction.act = ActLines(transaction)
    return act
