"""The current time, timestamps as text, and identifiers that sort by time.

The package reads the time and sleeps only through this module. The exceptions are SQLite, which
waits for other processes by itself, and asyncio, which waits for the network.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event

from memstore.domain.arguments import MAX_NAME, check_length
from memstore.errors import InvalidArgument, InvalidArgumentType

ACCEPTED_FORM = "an RFC 3339 time such as 2026-03-01T09:30:00Z, or a date such as 2026-03-01"
UUID_CHARACTERS = 36
VARIANTS = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))
"""A random hexadecimal digit with its first two bits replaced by the variant of RFC 9562."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
LATEST = datetime.max.replace(tzinfo=UTC)
"""Where text without a time is placed: now, which is after everything stored."""


class Clock:
    """The system clock; a subclass may return another time and skip pauses."""

    def utc_now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def wait(self, event: Event, seconds: float) -> bool:
        return event.wait(seconds)


_clock = Clock()
_written: tuple[datetime | None, str] = (None, "")
"""The moment that ``to_text`` wrote last, and its text."""
_read: tuple[str, datetime] = ("", EPOCH)
"""The text that ``from_text`` read last, and its moment."""
_stamped: tuple[datetime | None, str] = (None, "")
"""The moment of the last UUID, and the digits that it has from it."""


@contextmanager
def use(other: Clock) -> Iterator[None]:
    """Use another clock, in every thread, until the block ends."""
    global _clock
    before, _clock = _clock, other
    try:
        yield
    finally:
        _clock = before


def utc_now() -> datetime:
    return _clock.utc_now()


def monotonic() -> float:
    """Return seconds since some fixed point; never goes backwards."""
    return _clock.monotonic()


def process_seconds() -> float:
    """Return how long ago this process started, or if that is not known, how long it computed."""
    computed = time.process_time()
    try:
        with open("/proc/self/stat", "rb") as file:  # Linux; the name before may have spaces
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        started = ticks / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, AttributeError, ValueError, IndexError):
        return computed
    return max(computed, age)


def sleep(seconds: float) -> None:
    _clock.sleep(seconds)


def wait(event: Event, seconds: float) -> bool:
    """Wait until the event is set or the time has passed; return whether it is set."""
    return _clock.wait(event, seconds)


def to_text(moment: datetime) -> str:
    """Write a moment as RFC 3339 in UTC with microseconds, so that text order is time order."""
    global _written
    last, text = _written
    if moment is not last:  # one change writes the same moment to many rows
        at = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
        text = at.isoformat(timespec="microseconds")[:-6] + "Z"  # Z instead of +00:00
        _written = moment, text
    return text


def from_text(text: str) -> datetime:
    """Parse a timestamp; without an offset it is UTC."""
    global _read
    last, moment = _read
    if text == last:  # the rows of one change have the same moment
        return moment
    try:
        moment = datetime.fromisoformat(text.strip().upper())  # RFC 3339 allows t and z
        if moment.tzinfo is not UTC:
            naive = moment.tzinfo is None
            moment = moment.replace(tzinfo=UTC) if naive else moment.astimezone(UTC)
        _read = text, moment
        return moment
    except (ValueError, OverflowError):  # overflow: near year 1 or 9999, converting to UTC
        raise ValueError(f"{text!r} is not a time: give {ACCEPTED_FORM}") from None


def moment(value: datetime | str | None, name: str) -> datetime | None:
    """Check a caller's time, a ``datetime`` or text, and return it in UTC."""
    if value is None or isinstance(value, datetime):
        if value is not None and value.tzinfo is None:
            raise InvalidArgument(
                "has no time zone: give an aware datetime, e.g. datetime.now(UTC)", argument=name
            )
        if value is None:
            return None
        try:
            at = value.astimezone(UTC)
            return at if type(at) is datetime else from_text(to_text(at))
        except OverflowError:
            raise InvalidArgument(
                f"is outside the years 1 to 9999 in UTC: {value}", argument=name
            ) from None
    if isinstance(value, str):
        check_length(value, name, MAX_NAME)
        try:
            return from_text(value)
        except ValueError:
            raise InvalidArgument(
                f"is not a time: {value!r}; give {ACCEPTED_FORM}", argument=name
            ) from None
    raise InvalidArgumentType(
        f"must be a datetime or text, not {type(value).__name__}", argument=name
    )


def new_uuid(at: datetime) -> str:
    """Return a UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, version, variant, random bits.

    Not a library's, because upgraded rows get a UUID of the time when they were written.
    """
    chance = os.urandom(10).hex()
    return f"{_stamp(at)}{chance[:3]}-{VARIANTS[chance[3]]}{chance[4:7]}-{chance[7:19]}"


def new_uuids(at: datetime, count: int) -> list[str]:
    """Return so many of them."""
    if count == 1:
        return [new_uuid(at)]
    stamp, chance = _stamp(at), os.urandom(10 * count).hex()
    return [
        f"{stamp}{chance[i : i + 3]}-{VARIANTS[chance[i + 3]]}{chance[i + 4 : i + 7]}"
        f"-{chance[i + 7 : i + 19]}"
        for i in range(0, 20 * count, 20)
    ]


def new_run() -> bytes:
    """Return a UUIDv7 of now, as bytes."""
    return bytes.fromhex(new_uuid(utc_now()).replace("-", ""))


def uuid_text(value: bytes) -> str:
    """Return the usual form of a UUID."""
    digits = value.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def uuid_moment(value: bytes) -> datetime:
    """Return the time in a UUIDv7."""
    return EPOCH + int.from_bytes(value[:6]) * MILLISECOND


def named_uuid(at: datetime, digest: bytes) -> str:
    """Return a UUIDv7 with bits of a digest instead of random ones, so that it is reproducible."""
    bits = int.from_bytes(digest[:10]) >> 6
    group, node = 0x8000 | bits >> 48 & 0x3FFF, bits & 0xFFFF_FFFF_FFFF
    return f"{_stamp(at)}{bits >> 62:03x}-{group:04x}-{node:012x}"


def _stamp(at: datetime) -> str:
    """Return the beginning of a UUIDv7: the milliseconds and the version."""
    global _stamped
    last, digits = _stamped
    if at is not last:  # facts that are added together share it
        milliseconds = max(0, (at - EPOCH) // MILLISECOND) & (2**48 - 1)
        digits = f"{milliseconds >> 16:08x}-{milliseconds & 0xFFFF:04x}-7"
        _stamped = at, digits
    return digits
