"""How much was done on each day, as the clocks of a time zone have it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING

from memstore.database import journal, selected
from memstore.database.log import Wanted
from memstore.domain import clock
from memstore.domain.arguments import checked_number, checked_text
from memstore.domain.log import DayActivity, log_filter
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import zoneinfo
    from collections.abc import Sequence

    from memstore.database.engine import Engine
    from memstore.domain.records import Scope
else:
    zoneinfo = lazy_import("zoneinfo")

MAX_DAYS = 3_660


def activity(
    engine: Engine,
    days: int,
    zone: tzinfo,
    until: date | None,
    namespaces: Sequence[str] | None,
    scope: Scope | None,
    *,
    whole_file: bool,
) -> list[DayActivity]:
    """Count the lines of each day, oldest first; a day's first line is found by halving."""
    checked_number(days, "days", 1, MAX_DAYS)
    if until is not None and not isinstance(until, date):
        raise InvalidArgumentType(f"must be a date, not {type(until).__name__}", argument="until")
    last = clock.utc_now().astimezone(zone).date() if until is None else until
    every = [last - timedelta(days=ago) for ago in range(days - 1, -1, -1)]
    with engine.read() as transaction:
        wanted = Wanted(transaction, EVERY_LINE, namespaces, scope, whole_file=whole_file)
        bounds = [selected.first_since(transaction, _midnight(every[0], zone))]
        for day in every:
            following = _midnight(day + timedelta(days=1), zone)
            bounds.append(selected.first_since(transaction, following, bounds[-1]))
        return [
            DayActivity(
                day=day,
                first=first,
                last=end - 1,
                kinds=wanted.by_kind(first, end - 1) if first < end else {},
            )
            for day, first, end in zip(every, bounds, bounds[1:], strict=False)
        ]


EVERY_LINE = log_filter(
    since=None,
    until=None,
    run=None,
    source=None,
    actor=None,
    fact=None,
    kinds=None,
    known=[*journal.Kind],
    limit=None,
    before=None,
    after=None,
)


def checked_zone(zone: object) -> tzinfo:
    """Return a time zone, given as one or by its name such as ``Europe/Berlin``."""
    if isinstance(zone, tzinfo):
        return zone
    if not isinstance(zone, str):
        raise InvalidArgumentType(
            f"must be a time zone or its name, not {type(zone).__name__}", argument="zone"
        )
    name = checked_text(zone, "zone", 100)
    if name.upper() in ("UTC", "Z"):
        return UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidArgument(f"is no time zone known here: {zone!r}", argument="zone") from None


def _midnight(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time.min, zone).astimezone(UTC)
