"""Journalling facts that other programs inserted, and completing what SQL could not derive.

A trigger fills what it can when such a row is inserted (``schema/v07/facts_foreign.sql``), so it is
found by words and pending at once. The next write of ours does the rest.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from memstore.database.changes import Changes, Line
from memstore.database.journal import Author, Kind
from memstore.database.tables import facts as fact_table
from memstore.errors import StorageError

if TYPE_CHECKING:
    from memstore.database.engine import Engine, Transaction

AT_ONCE: Final = 500
"""Facts adopted in one transaction, so that the write it belongs to need not wait long."""

AUTHOR: Final = Author("memstore", "adoption")
EVIDENCE: Final = {"found": "inserted by another program"}


def adopt_all(engine: Engine) -> int:
    """Adopt all facts of other programs, in short transactions; return how many."""
    adopted = 0
    while True:
        with engine.write() as transaction:
            if not (some := adopt(transaction)):
                return adopted
        adopted += some


def adopt(transaction: Transaction) -> int:
    """Adopt facts of other programs, the oldest first; return how many."""
    adopted = 0
    for fact_id in fact_table.foreign(transaction, AT_ONCE):
        with suppress(StorageError):  # a row that cannot be read; the doctor reports it
            fact = fact_table.get_many(transaction, [fact_id])[fact_id]
            fact_table.refile([fact_id], transaction)
            line = Line(Kind.ADOPT, fact_id, after=fact_table.journalled(fact), evidence=EVIDENCE)
            Changes(transaction, AUTHOR).write(line)
            adopted += 1
    return adopted
