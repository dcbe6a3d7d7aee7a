"""The table of generations: the models whose vectors the file holds, and which one is active."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from memstore.database.engine import Statement, Write
from memstore.database.tables.rows import read_moments
from memstore.database.writes import BY_ID, Delete, Insert, Update, settings
from memstore.domain import clock
from memstore.domain.generations import Generation
from memstore.errors import Remedy, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memstore.database.changes import Changes, Lines
    from memstore.database.engine import Row, Transaction

COLUMNS = Generation._fields
SELECT = f"SELECT {', '.join(COLUMNS)} FROM memstore_generations"

ACTIVE = Statement(f"{SELECT} WHERE state = 'active'")


def active(transaction: Transaction) -> Generation:
    row = transaction.one(*ACTIVE)
    if row is None:
        raise StorageError(
            "the file has no active generation of vectors", remedy=Remedy.RESTORE_BACKUP
        )
    return _decode(row)


def staged(transaction: Transaction) -> Generation | None:
    row = transaction.one(f"{SELECT} WHERE state = 'staged'")
    return None if row is None else _decode(row)


def every(transaction: Transaction) -> list[Generation]:
    return [_decode(row) for row in transaction.rows(f"{SELECT} ORDER BY id")]


def get(transaction: Transaction, generation_id: int) -> Generation | None:
    row = transaction.one(f"{SELECT} WHERE id = :id", {"id": generation_id})
    return None if row is None else _decode(row)


def stage(changes: Changes, model: str, lines: Callable[[Generation], Lines]) -> Generation:
    """Insert a staged generation of a model; there must be no other staged one."""
    new = Generation(
        id=changes.transaction.next_id("memstore_generations"),
        model=model,
        dimension=None,
        state="staged",
        created_at=clock.utc_now(),
    )
    form = Insert("memstore_generations", ("id", "model", "state", "created_at"))
    row = (new.id, model, new.state, clock.to_text(new.created_at))
    changes.insert(Write(form, row), lines(new))
    return new


def staging_again(generation_id: int) -> Write:
    """Return a write that stages a retired generation; there must be no other staged one."""
    form = Update("memstore_generations", {"state": "'staged'"}, "id = :id AND state = 'retired'")
    return Write(form, {"id": generation_id})


def switching(generation_id: int) -> list[Write]:
    """Return the writes that make a generation active and retire the previous one."""
    return [
        Write(Update("memstore_generations", {"state": "'retired'"}, "state = 'active'")),
        Write(
            Update("memstore_generations", {"state": "'active'", "switched_at": ":at"}, BY_ID),
            {"at": clock.to_text(clock.utc_now()), "id": generation_id},
        ),
    ]


def removing(generation_id: int) -> Write:
    """Return a write that removes a generation, whose vectors must already be removed."""
    return Write(Delete("memstore_generations", BY_ID), {"id": generation_id})


def record_model(
    transaction: Transaction, generation_id: int, model: str, dimension: int | None
) -> None:
    transaction.run(
        Update("memstore_generations", settings("model", "dimension"), BY_ID),
        {"model": model, "dimension": dimension, "id": generation_id},
    )


@lru_cache(maxsize=16)  # every search reads the active one
def _decode(row: Row) -> Generation:
    values = dict(zip(COLUMNS, row, strict=True))
    read_moments("generation", values, ("created_at", "switched_at"))
    return Generation(**values)
