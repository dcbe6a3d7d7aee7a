"""The table of leases: which process does a job that only one may do at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from memstore.domain import clock

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.database.engine import Parameters, Transaction


def take(transaction: Transaction, job: str, holder: str, now: datetime, seconds: float) -> bool:
    """Take or renew a lease; return false while another process holds it.

    A lease that ends later than a new one would must be from before the clock was set back. It is
    ignored, and its holder notices the loss.
    """
    row = transaction.one(
        "INSERT INTO memstore_leases AS held (job, holder, expires_at)"
        " VALUES (:job, :holder, :expires_at) ON CONFLICT (job)"
        " DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at"
        " WHERE held.holder = excluded.holder OR held.expires_at <= :now"
        " OR held.expires_at > excluded.expires_at RETURNING holder",
        _lease_values(job, holder, now, seconds),
    )
    return row is not None


def is_held(transaction: Transaction, job: str, holder: str, now: datetime, seconds: float) -> bool:
    """Return whether another holder has a lease that :func:`take` would respect."""
    row = transaction.one(
        "SELECT 1 FROM memstore_leases WHERE job = :job AND holder <> :holder"
        " AND expires_at > :now AND expires_at <= :expires_at",
        _lease_values(job, holder, now, seconds),
    )
    return row is not None


def release(transaction: Transaction, job: str, holder: str) -> None:
    """Give a lease back, if it is still this holder's."""
    transaction.run(
        "DELETE FROM memstore_leases WHERE job = :job AND holder = :holder",
        {"job": job, "holder": holder},
    )


def _lease_values(job: str, holder: str, now: datetime, seconds: float) -> Parameters:
    return {
        "job": job,
        "holder": holder,
        "now": clock.to_text(now),
        "expires_at": clock.to_text(now + timedelta(seconds=seconds)),
    }
