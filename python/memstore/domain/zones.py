"""The user's time zone, in which days begin and end; stored times are UTC.

It is the one that :func:`use` names in this context (a client's, a store's), else that of a flag
(:func:`prefer`), else ``MEMSTORE_TIMEZONE``, else the machine's, which ``TZ`` may name.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache, lru_cache, wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore import settings
from memstore.domain import clock
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.lazy import lazy_import, lazy_pattern

if TYPE_CHECKING:
    import zoneinfo
    from collections.abc import Callable, Iterator
else:
    zoneinfo = lazy_import("zoneinfo")

MAX_ZONE: Final = 100
DAY: Final = timedelta(days=1)
MINUTE: Final = timedelta(minutes=1)
SECOND: Final = timedelta(seconds=1)
MICROSECOND: Final = timedelta(microseconds=1)
OFFSET: Final = lazy_pattern(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?([0-5]\d))?", re.IGNORECASE)
"""A zone without summer time: ``+05:30``, ``UTC-3``."""
RULE: Final = lazy_pattern(r"(?:<[^>]+>|[A-Za-z]{3,})[+-]?\d")
"""How a zone begins in ``TZ`` that is described there: ``CET-1CEST,M3.5.0,M10.5.0/3``."""
MAX_OFFSET_HOURS: Final = 15
HALF_MONTH: Final = timedelta(days=15)

_chosen: ContextVar[tzinfo | None] = ContextVar("memstore_zone", default=None)
_preferred: tzinfo | None = None


class Machine(tzinfo):
    """The zone of the machine, as the operating system knows it, without a database of zones."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None if moment is None else _at_home(moment.replace(tzinfo=None)).utcoffset()

    def dst(self, _moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        return None if moment is None else _at_home(moment.replace(tzinfo=None)).tzname()

    def fromutc(self, moment: datetime) -> datetime:
        local = _at_home(moment.replace(tzinfo=UTC)).replace(tzinfo=None)
        first = _at_home(local).astimezone(UTC).replace(tzinfo=None)
        # Of an hour that the clock shows twice, it is the second one if it is not the first.
        later = first < moment.replace(tzinfo=None)
        return local.replace(tzinfo=self, fold=1 if later else 0)

    def __repr__(self) -> str:
        return "Machine()"


MACHINE: Final = Machine()


def _at_home(moment: datetime) -> datetime:
    """Return a moment by the machine's clock; in years that it does not know, by that of now."""
    try:
        return moment.astimezone()
    except (OverflowError, OSError, ValueError):
        now = clock.utc_now().astimezone().tzinfo
        if moment.tzinfo is None:
            return moment.replace(tzinfo=now)
        return moment.astimezone(now)


def user() -> tzinfo:
    """Return the zone of the user on whose behalf this is called.

    Raises:
        ValueError: ``MEMSTORE_TIMEZONE`` names a zone that is not known here.
    """
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    if _preferred is not None:
        return _preferred
    name = settings.timezone()
    return MACHINE if name is None else _named(name, "MEMSTORE_TIMEZONE")


def unknown_tz() -> str | None:
    """Return what ``TZ`` says if it is no time zone: then the machine's days are those of UTC."""
    named = settings.tz()
    if not named or named.startswith("/") or RULE.match(named) or _found(named) is not None:
        return None
    return named


def prefer(zone: tzinfo | None) -> None:
    """Let a zone be the user's in this process, unless a client or a store has its own."""
    global _preferred
    _preferred = zone


@contextmanager
def use(zone: tzinfo | None) -> Iterator[None]:
    """Let a zone be the user's within the block; ``None`` changes nothing."""
    if zone is None:
        yield
        return
    token = _chosen.set(zone)
    try:
        yield
    finally:
        _chosen.reset(token)


def checked(zone: object, name: str = "timezone") -> tzinfo:
    """Return a zone, given as one or by its name such as ``Europe/Berlin`` or ``+05:30``.

    Raises:
        ValueError: a name that is not known here.
    """
    if isinstance(zone, tzinfo):
        return zone
    if not isinstance(zone, str):
        raise InvalidArgumentType(
            f"must be a time zone or its name, not {type(zone).__name__}", argument=name
        )
    return _named(zone, name)


def first_known(names: str) -> tzinfo | None:
    """Return the first zone that is known here of those that a client names, with commas."""
    for name in names[: 4 * MAX_ZONE].split(","):
        if (found := _found(name.strip())) is not None:
            return found
    return None


def _named(name: str, argument: str) -> tzinfo:
    found = _found(name.strip())
    if found is None:
        raise InvalidArgument(
            f"is no time zone known here: {name[:MAX_ZONE]!r}; give a name such as Europe/Berlin, "
            "or an offset such as +02:00 (the names need the operating system's database of "
            "zones, or the package tzdata)",
            argument=argument,
        )
    return found


@cache
def _zone_info(name: str) -> tzinfo:
    return zoneinfo.ZoneInfo(name)


def _found(name: str) -> tzinfo | None:
    if not name or len(name) > MAX_ZONE:
        return None
    if name.upper() in ("UTC", "Z", "GMT"):
        return UTC
    if name.lower() == "local":
        return MACHINE
    if offset := OFFSET.fullmatch(name):
        hours, minutes = int(offset[2]), int(offset[3] or 0)
        if hours >= MAX_OFFSET_HOURS:
            return None
        ahead = timedelta(hours=hours, minutes=minutes)
        return timezone(ahead if offset[1] == "+" else -ahead)
    try:
        return _zone_info(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def names_of(zone: tzinfo) -> str:
    """Return what tells a server the zone: its name, if there is one, and its offset of now."""
    offset = clock.utc_now().astimezone(zone).strftime("%z")
    return ", ".join(filter(None, (name_of(zone), f"{offset[:3]}:{offset[3:5]}")))


def name_of(zone: tzinfo) -> str | None:
    """Return the name of a zone, such as ``Europe/Berlin``; ``None`` if it is an offset alone."""
    return settings.machine_zone() if isinstance(zone, Machine) else getattr(zone, "key", None)


# -- days ------------------------------------------------------------------------------------------


def local(moment: datetime) -> datetime:
    """Return a moment by the user's clock."""
    zone = user()
    try:
        return moment.astimezone(zone)
    except OverflowError:  # the first or last day of all years
        return moment


def date_of(moment: datetime) -> date:
    """Return the user's day of a moment."""
    zone = user()
    try:
        return (_at_home(moment) if zone is MACHINE else moment.astimezone(zone)).date()
    except OverflowError:  # the first or last day of all years
        return moment.date()


def today() -> date:
    return date_of(clock.utc_now())


def day(moment: datetime | str) -> str:
    """Return the user's day of a moment, a ``datetime`` or stored text, such as ``2026-11-20``."""
    if not isinstance(moment, str):
        return date_of(moment).isoformat()
    try:
        return date_of(clock.from_text(moment)).isoformat()
    except ValueError:
        return moment[:10]


def stamp(moment: datetime, timespec: str = "seconds") -> str:
    """Return a moment by the user's clock as RFC 3339 has it: ``2026-11-20T20:30:00-08:00``."""
    return local(moment).isoformat(timespec=timespec).replace("+00:00", "Z")


def minute(moment: datetime) -> str:
    """Return a moment to the minute by the user's clock, such as ``2026-11-20 20:30``."""
    return local(moment).isoformat(" ", "minutes")[:16]


def start(of: date) -> datetime:
    """Return when a day begins: at midnight, or when the clock goes on after it."""
    return in_utc(datetime.combine(of, time.min))


def end(of: date) -> datetime:
    """Return the last microsecond of a day."""
    return datetime.max.replace(tzinfo=UTC) if of == date.max else start(of + DAY) - MICROSECOND


def in_utc(local_time: datetime) -> datetime:
    """Return the moment of a time of the user's clock.

    A time that the clock shows twice is the first of the two, unless its ``fold`` is 1; one that it
    leaves out is when it goes on.
    """
    zone = user()
    try:
        at = local_time.replace(tzinfo=zone).astimezone(UTC)
        if at.astimezone(zone).replace(tzinfo=None, fold=0) != local_time.replace(fold=0):
            at = _after_gap(local_time, zone)
    except OverflowError:
        return local_time.replace(tzinfo=UTC)
    return at


def _after_gap(local_time: datetime, zone: tzinfo) -> datetime:
    """Return when the clock goes on that leaves out a time."""
    # The two offsets that hold around the gap give a moment before and one after it.
    sides = [local_time.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    return _change(min(sides), max(sides), zone)


def _change(before: datetime, after: datetime, zone: tzinfo) -> datetime:
    """Return the first moment, to the second, with the offset that holds at the later one."""
    new = after.astimezone(zone).utcoffset()
    while after - before > SECOND:
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if middle <= before:
            break
        if middle.astimezone(zone).utcoffset() == new:
            after = middle
        else:
            before = middle
    return after.replace(microsecond=0)


def offsets(first_year: int, last_year: int) -> list[tuple[int, int]]:
    """Return from which minute since 1970 the user's clock is ahead of UTC by how many minutes.

    It covers these years; before and after them, the nearest offset counts.
    """
    zone = user()
    return [] if zone is UTC else _offsets(zone, max(first_year, 2), min(last_year, 9998))


@lru_cache(maxsize=256)
def _offsets(zone: tzinfo, first_year: int, last_year: int) -> list[tuple[int, int]]:
    at = datetime(first_year, 1, 1, tzinfo=UTC) - HALF_MONTH
    last = datetime(last_year, 12, 31, tzinfo=UTC) + HALF_MONTH
    known = _ahead(at, zone)
    found = [((at - clock.EPOCH) // MINUTE, known)]
    if isinstance(zone, timezone):
        return found
    while at < last:
        later = at + HALF_MONTH
        if (ahead := _ahead(later, zone)) != known:
            since = _change(at, later, zone)
            found.append(((since - clock.EPOCH) // MINUTE, ahead))
            known = ahead
        at = later
    return found


def _ahead(at: datetime, zone: tzinfo) -> int:
    return (at.astimezone(zone).utcoffset() or timedelta()) // MINUTE


# -- what has a zone -------------------------------------------------------------------------------


class Zoned:
    """Something whose methods may have a zone of their own: :func:`memstore.open` was given it."""

    _zone: tzinfo | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, value in [*vars(cls).items()]:
            if not name.startswith("_") and callable(value) and not isinstance(value, type):
                setattr(cls, name, _zoned(value))


Z = TypeVar("Z", bound=Zoned)
R = TypeVar("R")


def bound(owner: Z, zone: tzinfo | None) -> Z:
    """Return an object, its methods bound to a zone."""
    owner._zone = zone
    return owner


class ZonedResult:
    """A result whose texts are by the clock of the user for whom it was made.

    That is the zone of the store or the client that asked, if it has one.
    """

    _zone: tzinfo | None = None

    def __post_init__(self) -> None:
        if (zone := _chosen.get()) is not None:
            self.__dict__["_zone"] = zone


def of_its_zone(method: Callable[..., R]) -> Callable[..., R]:
    """Let a method of a :class:`ZonedResult` result be called in the result's zone."""
    return _zoned(method)


def _zoned(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._zone is None:
            return method(self, *args, **kwargs)
        with use(self._zone):
            return method(self, *args, **kwargs)

    return call
