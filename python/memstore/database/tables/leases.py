"""The table of leases: which process does a job that only one may do at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from memstore.database.writes import Delete, Insert
from memstore.domain import clock

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction, Value


ITEMS: Final = "job >= :job || ' ' AND job < :job || '!'"
"""The leases on items of a job, whose names end with a blank and the item's id."""


def take(transaction: Transaction, job: str, holder: str, now: datetime, seconds: float) -> bool:
    """Take or renew a lease; return false while another process holds it.

    A lease that ends later than a new one would must be from before the clock was set back. It is
    ignored, and its holder notices the loss.
    """
    return bool(transaction.returned(_taking(), _lease_values(job, holder, now, seconds)))


def _taking(values: tuple[str, ...] = (), source: str = "") -> Insert:
    """Return the form that takes leases, or renews them, unless others hold them."""
    return Insert(
        "memstore_leases",
        ("job", "holder", "expires_at"),
        values,
        source,
        unique=("job",),
        instead="holder = excluded.holder, expires_at = excluded.expires_at"
        " WHERE held.holder = excluded.holder OR held.expires_at <= :now"
        " OR held.expires_at > excluded.expires_at",
        alias="held",
        returning="job",
    )


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
        Delete("memstore_leases", "job = :job AND holder = :holder"),
        {"job": job, "holder": holder},
    )


def take_items(
    transaction: Transaction,
    job: str,
    ids: Sequence[int],
    holder: str,
    now: datetime,
    seconds: float,
) -> list[int]:
    """Take a lease on each item of a job that nobody holds; return the ids of those taken."""
    listed = transaction.dialect.listed("ids")
    item = ":job || ' ' || CAST(wanted.value AS text)"
    # Without a condition, SQLite would take ON for that of a join.
    form = _taking((item, ":holder", ":expires_at"), f"{listed} AS wanted WHERE TRUE")
    taken = transaction.returned(form, _lease_values(job, holder, now, seconds) | {"ids": ids})
    return sorted(int(str(item).rpartition(" ")[2]) for (item,) in taken)


def held_items(transaction: Transaction, job: str, now: datetime, seconds: float) -> set[int]:
    """Return the items of a job that somebody has a lease on."""
    rows = transaction.rows(
        f"SELECT job FROM memstore_leases WHERE {ITEMS}"
        " AND expires_at > :now AND expires_at <= :expires_at",
        _lease_values(job, "", now, seconds),
    )
    return {int(str(item).rpartition(" ")[2]) for (item,) in rows}


def release_items(transaction: Transaction, job: str, ids: Sequence[int], holder: str) -> None:
    """Give leases on items back that are still this holder's."""
    listed = transaction.dialect.listed("ids")
    transaction.run(
        Delete(
            "memstore_leases",
            "holder = :holder AND job IN"
            f" (SELECT :job || ' ' || CAST(wanted.value AS text) FROM {listed} AS wanted)",
        ),
        {"job": job, "holder": holder, "ids": ids},
    )


def forget_ended(transaction: Transaction, job: str, now: datetime) -> None:
    """Remove the leases on items that have ended: their holders died, or the items are gone."""
    transaction.run(
        Delete(
            "memstore_leases",
            "job IN (SELECT l.job FROM memstore_leases l"
            f" WHERE {ITEMS} AND expires_at <= :now {transaction.dialect.unclaimed('l')})",
        ),
        {"job": job, "now": clock.to_text(now)},
    )


def _lease_values(job: str, holder: str, now: datetime, seconds: float) -> dict[str, Value]:
    return {
        "job": job,
        "holder": holder,
        "now": clock.to_text(now),
        "expires_at": clock.to_text(now + timedelta(seconds=seconds)),
    }
