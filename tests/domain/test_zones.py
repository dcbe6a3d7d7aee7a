"""The user's time zone: days from −11 to +14 hours, and the changes of summer time."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.domain import moments, zones
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.search.lookups import dates

NAMES = (
    "Pacific/Pago_Pago",  # −11
    "America/Los_Angeles",
    "America/St_Johns",
    "America/Sao_Paulo",  # whose summer time began at midnight
    "Atlantic/Azores",
    "UTC",
    "Europe/Berlin",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "Asia/Beirut",
    "Australia/Lord_Howe",  # half an hour of summer time
    "Pacific/Apia",  # which left out 2011-12-30
    "Pacific/Kiritimati",  # +14
)
ZONES = st.sampled_from(NAMES).map(ZoneInfo)
DAYS = st.dates(date(1995, 1, 1), date(2036, 12, 31))
MICROSECOND = timedelta(microseconds=1)


@given(ZONES, DAYS)
def test_days_follow_one_another_and_hold_their_own_moments(zone: ZoneInfo, day: date) -> None:
    with zones.use(zone):
        start, end = zones.start(day), zones.end(day)
        assert end + MICROSECOND == zones.start(day + timedelta(days=1))
        if end < start:
            assert (zone.key, day) == ("Pacific/Apia", date(2011, 12, 30))
            return
        assert {zones.day(start), zones.day(end)} == {str(day)}
        assert zones.day(start - MICROSECOND) != str(day) != zones.day(end + MICROSECOND)


@given(ZONES, st.datetimes(datetime(1995, 1, 1), datetime(2036, 12, 31), timezones=st.just(UTC)))
def test_a_shown_moment_given_back_covers_it(zone: ZoneInfo, at: datetime) -> None:
    with zones.use(zone):
        for shown in (zones.minute(at), zones.stamp(at), zones.day(at), at.isoformat()):
            found = moments.span(shown, "moment")
            assert found is not None
            assert found.first <= at <= found.last, shown


@given(ZONES, st.datetimes(datetime(1996, 1, 1), datetime(2036, 1, 1), timezones=st.just(UTC)))
def test_offsets_are_those_of_the_zone(zone: ZoneInfo, at: datetime) -> None:
    with zones.use(zone):
        known = zones.offsets(at.year, at.year) or [(0, 0)]
    minute = int(at.timestamp()) // 60
    ahead = [ahead for since, ahead in known if since <= minute][-1]
    offset = at.astimezone(zone).utcoffset()
    assert offset is not None
    assert ahead == offset // timedelta(minutes=1)


def span(text: str) -> tuple[str, str]:
    found = moments.span(text, "moment")
    assert found is not None
    return f"{found.first:%d %H:%M:%S}", f"{found.last + MICROSECOND:%d %H:%M:%S}"


@pytest.mark.parametrize(
    ("text", "first", "end"),
    [
        ("2026-03-29", "28 23:00:00", "29 22:00:00"),  # 23 hours
        ("2026-10-25", "24 22:00:00", "25 23:00:00"),  # 25 hours
        ("2026-03-29T02:30", "29 01:00:00", "29 01:01:00"),  # left out: when the clock goes on
        ("2026-10-25 02:30", "25 00:30:00", "25 01:31:00"),  # shown twice: both
        ("2026-10-25 02:30:00+01:00", "25 01:30:00", "25 01:30:01"),
        ("2026-07-01 12:00", "01 10:00:00", "01 10:01:00"),
        ("2026-07-01T12:00Z", "01 12:00:00", "01 12:01:00"),
    ],
)
def test_changes_of_summer_time(text: str, first: str, end: str) -> None:
    with zones.use(ZoneInfo("Europe/Berlin")):
        assert span(text) == (first, end)


def test_what_ends_at_a_time_ends_with_its_day_or_at_once() -> None:
    with zones.use(ZoneInfo("Europe/Berlin")):
        for given, end in (
            ("2026-10-25", datetime(2026, 10, 25, 22, 59, 59, 999_999, UTC)),
            ("2026-10-25T02:30", datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),  # shown twice
            ("2026-10-25T12:00Z", datetime(2026, 10, 25, 12, tzinfo=UTC)),
        ):
            assert moments.until(given, "expired_at") == end


@pytest.mark.parametrize(
    ("given", "after", "before"),
    [
        ("2026-03-31", "30 23:59:59.999999", "01 00:00:00.000000"),
        ("2026-03-31T15:00:00Z", "31 14:59:59.999999", "31 15:00:01.000000"),
        ("2026-03-31 15:00", "31 14:59:59.999999", "31 15:01:00.000000"),
        ("2026-03-31T00:00:00Z", "30 23:59:59.999999", "31 00:00:00.000000"),
        ("2026-03-31T15:00:00.25Z", "31 15:00:00.249999", "31 15:00:00.260000"),
        ("2026-03-31T15:00:00.000000Z", "31 15:00:00.000000", "31 15:00:00.000000"),
        (datetime(2026, 3, 31, 15, tzinfo=UTC), "31 15:00:00.000000", "31 15:00:00.000000"),
    ],
)
def test_a_bound_includes_what_it_names(given: Any, after: str, before: str) -> None:
    with zones.use(UTC):
        bounds = moments.after(given, "x"), moments.before(given, "x")
    assert [f"{one:%d %H:%M:%S.%f}" for one in bounds if one] == [after, before]


def test_a_clock_that_is_set_forward_at_midnight_begins_its_day_then() -> None:
    with zones.use(ZoneInfo("America/Sao_Paulo")):
        assert zones.start(date(2018, 11, 4)) == datetime(2018, 11, 4, 3, tzinfo=UTC)
        assert zones.end(date(2018, 11, 3)) == datetime(2018, 11, 4, 2, 59, 59, 999_999, UTC)


@pytest.mark.parametrize(
    ("name", "hours"), [("UTC", 0), ("z", 0), ("+05:30", 5.5), ("UTC-3", -3), ("+14", 14)]
)
def test_a_zone_may_be_an_offset(name: str, hours: float) -> None:
    zone = zones.checked(name)
    assert datetime(2026, 1, 1, tzinfo=zone).utcoffset() == timedelta(hours=hours)


@pytest.mark.parametrize("name", ["", "Mars/Base", "../../etc/passwd", "+25:00", "x" * 1000, "\0"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match="timezone is no time zone known here"):
        zones.checked(name)
    assert zones.first_known(name) is None


def test_a_zone_of_another_type_is_refused() -> None:
    wrong: Any = 7
    with pytest.raises(InvalidArgumentType, match="must be a time zone or its name"):
        zones.checked(wrong)


def test_the_first_zone_that_is_known_counts() -> None:
    assert zones.first_known("Mars/Base, Europe/Berlin, +03:00") == ZoneInfo("Europe/Berlin")
    assert zones.first_known("Mars/Base, +03:00") == timezone(timedelta(hours=3))


def test_a_variable_names_the_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTORE_TIMEZONE", "Pacific/Kiritimati")
    assert zones.user() == ZoneInfo("Pacific/Kiritimati")
    with zones.use(UTC):
        assert zones.user() is UTC
    monkeypatch.setenv("MEMSTORE_TIMEZONE", "Mars/Base")
    with pytest.raises(InvalidArgument, match="MEMSTORE_TIMEZONE is no time zone"):
        zones.user()


SAME = """
import random, sys
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo
from memstore.domain import zones
zone = ZoneInfo(sys.argv[1])
assert "zoneinfo" in sys.modules
random.seed(7)
for _ in range(2000):
    utc = datetime(1995, 1, 1, tzinfo=UTC) + timedelta(seconds=random.randrange(40 * 365 * 86400))
    ours, theirs = utc.astimezone(zones.MACHINE), utc.astimezone(zone)
    assert (ours.replace(tzinfo=None), ours.fold) == (theirs.replace(tzinfo=None), theirs.fold)
    assert ours.astimezone(UTC) == utc, utc
"""


@pytest.mark.process
@pytest.mark.parametrize("name", ["America/Los_Angeles", "Pacific/Kiritimati", "Europe/Berlin"])
def test_the_machine_knows_its_zone_without_a_database_of_zones(name: str) -> None:
    subprocess.run([sys.executable, "-c", SAME, name], check=True, env={"TZ": name})


@pytest.mark.parametrize("zone", [UTC, ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Midway")])
def test_a_date_in_a_query_is_the_users_day(zone: tzinfo) -> None:
    now = datetime(2026, 11, 28, 12, tzinfo=UTC)
    with zones.use(zone):
        for text in ("on November 20?", "on 2026-11-20?"):
            [period] = dates.read(text, now).periods
            assert period.after + MICROSECOND == zones.start(date(2026, 11, 20))
            assert period.before == zones.start(date(2026, 11, 21))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("What did I do yesterday?", [27]),
        ("What did I do the day before yesterday?", [26]),
        ("Was habe ich gestern gemacht?", [27]),
        ("Wer ist hier?", []),
        ("Qu'est-ce que j'ai fait hier ?", [27]),
        ("¿Qué hice ayer?", [27]),
        ("¿Qué hice hace 3 días?", [25]),
        ("Was war vor zwei Tagen?", [26]),
        ("Cosa ho fatto 4 giorni fa?", [24]),
        ("wat deed ik 2 dagen geleden?", [26]),
        ("昨日は何をしましたか", [27]),
        ("3天前我做了什么", [25]),
        ("어제 뭐 했어?", [27]),
        ("What happened 3 days ago?", [25]),
        ("today and yesterday", [28, 27]),
        ("What did we decide last Friday?", [27]),
        ("last Saturday", [21]),
        ("Where does Ana work?", []),
        ("on November 20, yesterday", []),
    ],
)
def test_a_day_relative_to_today_is_read(text: str, days: list[int]) -> None:
    saturday = datetime(2026, 11, 28, 12, tzinfo=UTC)
    with zones.use(UTC):
        found = dates.read(text, saturday).calendar.days
    assert [(first[2], last[2]) for first, last in found] == [(day, day) for day in days]
