"""The table of access tokens for the HTTP server. It holds hashes, never secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.engine import Write
from memstore.database.tables.rows import read_moments
from memstore.database.writes import BY_ID, Insert, Update, settings
from memstore.domain import clock
from memstore.domain.records import json_value, set_fields
from memstore.domain.tokens import AccessToken
from memstore.frozen import fields

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from memstore.database.changes import Changes, Line
    from memstore.database.engine import Row, Transaction

COLUMNS = tuple(field.name for field in fields(AccessToken))
MOMENTS = ("created_at", "expires_at", "revoked_at", "last_used_at")
SELECT = f"SELECT {', '.join(COLUMNS)} FROM memstore_tokens"


def new_id(transaction: Transaction) -> int:
    return transaction.next_id("memstore_tokens")


def insert(changes: Changes, token: AccessToken, secret_hash: str, line: Line) -> None:
    """Insert a token that has a new id."""
    columns = ("id", "name", "hash", "namespace", "access", "created_at", "expires_at")
    write = Write(
        Insert("memstore_tokens", columns),
        set_fields(token) | {"expires_at": json_value(token.expires_at), "hash": secret_hash},
    )
    changes.insert(write, line)


def by_hash(transaction: Transaction, secret_hash: str) -> AccessToken | None:
    """Return the token of a hash, in any state."""
    row = transaction.one(f"{SELECT} WHERE hash = :hash", {"hash": secret_hash})
    return None if row is None else _decode(row)


def unrevoked(transaction: Transaction, name: str) -> AccessToken | None:
    row = transaction.one(f"{SELECT} WHERE name = :name AND revoked_at IS NULL", {"name": name})
    return None if row is None else _decode(row)


def select(transaction: Transaction) -> list[AccessToken]:
    """Return all tokens, including revoked and expired ones, oldest first."""
    return [_decode(row) for row in transaction.rows(f"{SELECT} ORDER BY id")]


def exist(transaction: Transaction) -> bool:
    return transaction.one("SELECT 1 FROM memstore_tokens LIMIT 1") is not None


def revoking(token_id: int, at: datetime) -> Write:
    return Write(
        Update("memstore_tokens", {"revoked_at": ":at"}, BY_ID),
        {"at": clock.to_text(at), "id": token_id},
    )


def hashes(transaction: Transaction) -> dict[int, str]:
    """Return the hash of each token's secret, by the token's id."""
    rows = transaction.rows("SELECT id, hash FROM memstore_tokens")
    return {int(id_): str(held) for id_, held in rows}


RESTORED: Final = ("name", "namespace", "access", "created_at", "expires_at", "revoked_at")
"""The columns that the journal holds."""


def put_back(transaction: Transaction, token_id: int, values: Mapping[str, str | None]) -> None:
    """Give columns of a token the values that the journal holds."""
    columns = [name for name in RESTORED if name in values]
    form = Update("memstore_tokens", settings(*columns), BY_ID)
    transaction.run(form, {**values, "id": token_id})


def note_use(transaction: Transaction, token_id: int, at: datetime) -> None:
    transaction.run(
        Update("memstore_tokens", {"last_used_at": ":at"}, BY_ID),
        {"at": clock.to_text(at), "id": token_id},
    )


def _decode(row: Row) -> AccessToken:
    values = dict(zip(COLUMNS, row, strict=True))
    read_moments("token", values, MOMENTS)
    return AccessToken(**values)
