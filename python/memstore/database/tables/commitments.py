"""Commitments to what the journal must not hold: it keeps a hash, and the file a random salt.

A line of the journal that is about a secret or a name has a commitment to it, so that a change of
the row shows. The salt is a setting of the file, which is removed with the row: after that, nobody
can check a guess against the line.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Final

from memstore.database import meta as meta_table
from memstore.database.engine import Write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction, Value

SALT_BYTES: Final = 16

PREFIX: Final = "salt:"

MEMBER: Final = "commitment"
"""The member of a line that holds one."""


def make(transaction: Transaction, about: str, values: Sequence[Value]) -> str:
    """Return a commitment to the values of a new row, and keep its salt.

    Args:
        transaction: the write that inserts the row.
        about: the kind of row and its id, such as ``"token 3"``.
        values: what must not change.
    """
    salt = os.urandom(SALT_BYTES).hex()
    meta_table.put(transaction, PREFIX + about, salt)
    return _of(salt, values)


def holds(
    transaction: Transaction, about: str, values: Sequence[Value], commitment: object
) -> bool:
    """Return whether a row is as it was committed to."""
    salt = meta_table.get(transaction, PREFIX + about)
    return salt is not None and _of(salt, values) == commitment


def forgetting(about: str) -> Write:
    """Return the write that removes a salt, so that the commitment confirms no guess."""
    return Write(meta_table.REMOVAL, {"key": PREFIX + about})


def _of(salt: str, values: Sequence[Value]) -> str:
    return hashlib.sha256(json.dumps([salt, *values]).encode("utf-8", "surrogatepass")).hexdigest()
