"""The table of leases: which process does a job that one at a time may do."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from memstore.domain import clock

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.database.engine import Transaction


def take(transaction: Transaction, job: str, holder: str, now: datetime, seconds: float) -> bool:
    """Take or renew a lease; false while somebody else holds it.

    One that ends later than any lease taken now would was written before the clock was set back,
    and counts for nothing: whoever holds it will notice.
    """
    expires_at = clock.to_text(now + timedelta(seconds=seconds))
    row = transaction.one(
        "INSERT INTO memstore_leases (job, holder, expires_at) VALUES (?1, ?2, ?3)"
        " ON CONFLICT (job) DO UPDATE SET holder = excluded.holder, expires_at = ?3"
        " WHERE holder = ?2 OR expires_at <= ?4 OR expires_at > ?3 RETURNING holder",
        (job, holder, expires_at, clock.to_text(now)),
    )
    return row is not None


def is_held(transaction: Transaction, job: str, holder: str, now: datetime, seconds: float) -> bool:
    """Whether somebody else than this holder has a lease that :func:`take` would respect."""
    row = transaction.one(
        "SELECT 1 FROM memstore_leases"
        " WHERE job = ? AND holder <> ? AND expires_at > ? AND expires_at <= ?",
        (job, holder, clock.to_text(now), clock.to_text(now + timedelta(seconds=seconds))),
    )
    return row is not None


def release(transaction: Transaction, job: str, holder: str) -> None:
    """Give a lease back, if it is still this holder's."""
    transaction.run("DELETE FROM memstore_leases WHERE job = ? AND holder = ?", (job, holder))
