"""Unfinished imports, recorded in the meta table until they end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memstore.database import meta as meta_table
from memstore.database.writes import Delete

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.database.engine import Parameters, Transaction

PREFIX = "import:"
NUMBERS = "ids of import:"

INTO = "substr(key, 1, 7) = :prefix AND value IN (:namespace, '')"


def begin(transaction: Transaction, mark: str, namespace: str | None) -> None:
    """Record that an import has begun; ``None`` means into several namespaces."""
    meta_table.put(transaction, PREFIX + mark, namespace or "")


def end(mark: str, transaction: Transaction) -> None:
    meta_table.remove(transaction, PREFIX + mark)
    meta_table.remove(transaction, NUMBERS + mark)


def numbers(transaction: Transaction, mark: str) -> dict[str, tuple[int, int]]:
    """Return the ids reserved for an unfinished import: by table, the first id and the number.

    An import that was given up keeps them, because it can still be completed.
    """
    noted: dict[str, tuple[int, int]]
    noted = json.loads(meta_table.get(transaction, NUMBERS + mark) or "{}")
    return noted


def note_numbers(transaction: Transaction, mark: str, noted: Mapping[str, tuple[int, int]]) -> None:
    meta_table.put(transaction, NUMBERS + mark, json.dumps(noted))


def count(transaction: Transaction, namespace: str) -> int:
    """Return the number of incomplete imports into a namespace."""
    return transaction.scalar(f"SELECT count(*) FROM memstore_meta WHERE {INTO}", _into(namespace))


def give_up(transaction: Transaction, namespace: str) -> int:
    """Forget the incomplete imports into a namespace; return how many there were."""
    return transaction.run(Delete("memstore_meta", INTO), _into(namespace))


def _into(namespace: str) -> Parameters:
    return {"prefix": PREFIX, "namespace": namespace}
