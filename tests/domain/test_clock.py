"""Times: one written form, the accepted forms of RFC 3339, and identifiers that sort by time."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from memstore import Store
from memstore.domain import clock

offsets = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(
    lambda minutes: timezone(timedelta(minutes=minutes))
)
moments = st.datetimes(timezones=st.just(UTC))
moments_anywhere = st.datetimes(timezones=offsets)


def in_utc(moment: datetime) -> datetime | None:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None


# -- writing and reading ---------------------------------------------------------------------


@given(moment=moments_anywhere)
@example(moment=datetime(1, 1, 1, tzinfo=UTC))
@example(moment=datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
def test_times_round_trip_through_text(moment: datetime) -> None:
    assume(in_utc(moment) is not None)
    text = clock.to_text(moment)
    assert clock.from_text(text) == moment
    assert clock.from_text(text).tzinfo is UTC
    assert clock.to_text(clock.from_text(text)) == text


@given(moment=moments)
def test_a_time_has_one_text_form(moment: datetime) -> None:
    text = clock.to_text(moment)
    assert len(text) == len("2026-03-01T09:30:00.000000Z")
    assert text == f"{moment:%m-%dT%H:%M:%S.%fZ}".join([f"{moment.year:04}-", ""])


@given(one=moments_anywhere, other=moments_anywhere)
def test_text_order_is_time_order(one: datetime, other: datetime) -> None:
    assume(in_utc(one) is not None)
    assume(in_utc(other) is not None)
    assert (clock.to_text(one) < clock.to_text(other)) == (one < other)
    assert (clock.to_text(one) == clock.to_text(other)) == (one == other)


@given(moment=moments_anywhere)
def test_isoformat_with_any_offset_is_read(moment: datetime) -> None:
    assume(in_utc(moment) is not None)
    assert clock.from_text(moment.isoformat()) == moment
    assert clock.moment(moment.isoformat(), "at") == moment
    assert clock.moment(moment, "at") == moment


NINE_THIRTY = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T09:30:00Z", NINE_THIRTY),
        ("2026-03-01T09:30:00+00:00", NINE_THIRTY),
        ("2026-03-01T10:30:00+01:00", NINE_THIRTY),
        ("2026-02-28T23:30:00-10:00", NINE_THIRTY),
        ("2026-03-01 09:30:00Z", NINE_THIRTY),
        ("2026-03-01t09:30:00z", NINE_THIRTY),
        ("2026-03-01T09:30Z", NINE_THIRTY),
        ("2026-03-01T09:30:00.000Z", NINE_THIRTY),
        ("  2026-03-01T09:30:00Z\n", NINE_THIRTY),
        ("2026-03-01T09:30:00", NINE_THIRTY),  # without an offset: UTC
        ("2026-03-01T09:30:00.123456Z", NINE_THIRTY.replace(microsecond=123_456)),
        ("2026-03-01T09:30:00.5Z", NINE_THIRTY.replace(microsecond=500_000)),
        ("2026-03-01T09:30:00.123456789Z", NINE_THIRTY.replace(microsecond=123_456)),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2024-02-29", datetime(2024, 2, 29, tzinfo=UTC)),
    ],
)
def test_accepted_forms_are_read(text: str, expected: datetime) -> None:
    assert clock.from_text(text) == expected


REFUSED = [
    "",
    " ",
    "yesterday",
    "now",
    "1772357400",
    "2026-13-01T00:00:00Z",
    "2026-02-30",
    "2025-02-29",
    "2026-03-01T25:00:00Z",
    "2026-03-01T09:60:00Z",
    "2026-03-01T09:30:00+25:00",
    "2026-03-01T09:30:00 Europe/Paris",
    "01/03/2026",
    "March 1, 2026",
    "0000-01-01",
    "10000-01-01",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "２０２６-03-01",
    "2026-03-01T09:30:00Z; DROP TABLE",
]


@pytest.mark.parametrize("text", REFUSED)
def test_invalid_times_are_refused_and_the_accepted_form_is_shown(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time: give an RFC 3339"):
        clock.from_text(text)
    with pytest.raises(ValueError, match=r"^due is not a time"):
        clock.moment(text, "due")


@given(text=st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        moment = clock.from_text(text)
    except ValueError as error:
        assert "is not a time" in str(error)  # noqa: PT017
    else:
        assert clock.from_text(clock.to_text(moment)) == moment


@pytest.mark.parametrize("value", [datetime(2026, 3, 1), datetime.min, datetime.max])
def test_naive_datetimes_are_refused(value: datetime) -> None:
    with pytest.raises(ValueError, match="valid_at has no time zone"):
        clock.moment(value, "valid_at")


@pytest.mark.parametrize(
    "value",
    [
        datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))),
    ],
    ids=str,
)
def test_datetimes_that_do_not_exist_in_utc_are_refused(value: datetime) -> None:
    with pytest.raises(ValueError, match="valid_at"):
        clock.moment(value, "valid_at")


@pytest.mark.parametrize("value", [5, 1.5, date(2026, 3, 1), b"2026-03-01", True])
def test_values_of_other_types_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="valid_at must be a datetime or text"):
        clock.moment(value, "valid_at")


def test_none_stays_none() -> None:
    assert clock.moment(None, "at") is None


def test_now_is_in_utc() -> None:
    before = datetime.now(UTC)
    now = clock.utc_now()
    assert before <= now <= datetime.now(UTC)
    assert now.tzinfo is UTC


@pytest.mark.parametrize("name", ["created_at", "valid_at", "expired_at"])
def test_a_store_keeps_microseconds_and_refuses_invalid_times(store: Store, name: str) -> None:
    moment = datetime(2031, 5, 6, 7, 8, 9, 123_456, tzinfo=timezone(timedelta(hours=5.5)))
    for given_ in (moment, moment.isoformat()):
        fact = store.add("tea", subject="sue", **{name: given_})  # type: ignore[arg-type]
        assert getattr(store.get(fact.id), name) == moment
    for bad in (datetime(2026, 3, 1), "someday", datetime.max.replace(tzinfo=timezone.min)):
        with pytest.raises(ValueError, match=name):
            store.add("tea", subject="sue", **{name: bad})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=name):
        store.add("tea", subject="sue", **{name: 5})  # type: ignore[arg-type]


# -- identifiers -----------------------------------------------------------------------------

since_1970 = st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC))


@given(moment=moments_anywhere)
def test_identifiers_are_uuids_of_version_7(moment: datetime) -> None:
    text = clock.new_uuid(moment)
    found = uuid.UUID(text)
    assert str(found) == text
    assert (found.version, found.variant) == (7, uuid.RFC_4122)


def milliseconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@given(moment=since_1970)
@example(moment=datetime(2026, 3, 1, 9, 30, 0, 1_000, tzinfo=UTC))
@example(moment=datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
def test_identifiers_contain_their_time_in_milliseconds(moment: datetime) -> None:
    assert uuid.UUID(clock.new_uuid(moment)).int >> 80 == milliseconds(moment)


@given(one=since_1970, other=since_1970)
def test_identifiers_sort_by_time(one: datetime, other: datetime) -> None:
    if milliseconds(one) < milliseconds(other):
        assert clock.new_uuid(one) < clock.new_uuid(other)


def test_identifiers_created_at_the_same_time_differ() -> None:
    now = clock.utc_now()
    assert len({clock.new_uuid(now) for _ in range(10_000)}) == 10_000


def test_identifiers_before_1970_are_valid() -> None:
    found = uuid.UUID(clock.new_uuid(datetime(1906, 4, 28, tzinfo=UTC)))
    assert (found.version, found.int >> 80) == (7, 0)


def test_identifiers_from_a_digest_never_change() -> None:
    # Files hold them, and the same text extracted again must get the same one.
    moment = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    found = clock.named_uuid(moment, bytes(range(200, 232)))
    assert found == "019ca8bb-b5c0-7c8c-a72b-2f33373b3f43"


def test_every_random_digit_of_an_identifier_varies() -> None:
    now = clock.utc_now()
    digits = zip(*(clock.new_uuid(now) for _ in range(1_000)), strict=True)
    held = ["".join(sorted({*found})) for found in digits]
    random = "0123456789abcdef"
    assert held[15:18] + held[20:23] + held[24:] == [random] * 18
    assert held[19] == "89ab"
