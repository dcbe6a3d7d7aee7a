"""When a task is due, read from text in ten languages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore.facts.due import due_moment
from memstore.text import relative_days

MONDAY = datetime(2026, 11, 23, 21, 30, tzinfo=UTC)


def day(text: str) -> str | None:
    found = due_moment(text, MONDAY)
    return None if found is None else f"{found:%Y-%m-%d}"


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("2026-11-30", "2026-11-30"),
        ("by 2026-11-30", "2026-11-30"),
        ("before 2026-11-30, or 2026-12-02 at the latest", "2026-11-30"),
        ("2026-99-99, else 2026-12-01", "2026-12-01"),
        ("by 30 November 2026", "2026-11-30"),
        ("November 30", "2026-11-30"),
        ("3 March", "2027-03-03"),
        ("23 November", "2026-11-23"),
        ("29 February", "2028-02-29"),
        ("31 June 2027", "2027-06-30"),
        ("bis 3. Dezember", "2026-12-03"),
        ("am 3.12.2026", "2026-12-03"),
        ("3 de diciembre", "2026-12-03"),
        ("12月3日までに", "2026-12-03"),
        ("12월 3일까지", "2026-12-03"),
        ("between March 3 and April 5", "2027-03-03"),
        ("8/5/2027", "2027-05-08"),
        ("in May 2027", "2027-05-31"),
        ("by March", "2027-03-31"),
        ("in November", "2026-11-30"),
        ("in December", "2026-12-31"),
        ("some time in 2027", "2027-12-31"),
        ("today", "2026-11-23"),
        ("Tomorrow!", "2026-11-24"),
        ("the day after tomorrow", "2026-11-25"),
        ("heute Morgen", "2026-11-23"),
        ("bis übermorgen", "2026-11-25"),
        ("Morgen früh", "2026-11-24"),
        ("mañana", "2026-11-24"),
        ("pasado mañana", "2026-11-25"),
        ("aujourd’hui", "2026-11-23"),
        ("après-demain", "2026-11-25"),
        ("entro dopodomani", "2026-11-25"),
        ("overmorgen", "2026-11-25"),
        ("depois de amanhã", "2026-11-25"),
        ("明後日", "2026-11-25"),
        ("明日まで", "2026-11-24"),
        ("내일까지", "2026-11-24"),
        ("大后天之前", "2026-11-26"),
        ("明天", "2026-11-24"),
        ("next week", "2026-11-30"),
        ("nächste Woche", "2026-11-30"),
        ("来週", "2026-11-30"),
        ("by Friday", "2026-11-27"),
        ("on Monday", "2026-11-30"),
        ("bis Sonntag", "2026-11-29"),
        ("el miércoles", "2026-11-25"),
        ("na terça-feira", "2026-11-24"),
        ("金曜日までに", "2026-11-27"),
        ("금요일", "2026-11-27"),
        ("星期五", "2026-11-27"),
        ("in 3 days", "2026-11-26"),
        ("in two weeks", "2026-12-07"),
        ("within a month", "2026-12-23"),
        ("in einer Woche", "2026-11-30"),
        ("dentro de 3 días", "2026-11-26"),
        ("dans deux semaines", "2026-12-07"),
        ("tra 3 giorni", "2026-11-26"),
        ("over 3 dagen", "2026-11-26"),
        ("em duas semanas", "2026-12-07"),
        ("3日後", "2026-11-26"),
        ("3일 후", "2026-11-26"),
        ("3天内", "2026-11-26"),
        ("soon", None),
        ("when Maria is back", None),
        ("after version 1.2.24", None),
        ("", None),
    ],
)
def test_day_in_a_text_is_read(text: str, due: str | None) -> None:
    assert day(text) == due


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("tomorrow at 17:30", "2026-11-24T17:30:00+00:00"),
        ("2026-11-30T09:00+02:00", "2026-11-30T07:00:00+00:00"),
        ("by 2026-11-30T09:00Z, please", "2026-11-30T09:00:00+00:00"),
        ("30 November, 9:15", "2026-11-30T09:15:00+00:00"),
        ("today", "2026-11-23T00:00:00+00:00"),
    ],
)
def test_time_in_a_text_is_read(text: str, due: str) -> None:
    found = due_moment(text, MONDAY)
    assert found is not None
    assert found.isoformat() == due


@pytest.mark.parametrize("ahead", relative_days.DAYS_AHEAD)
def test_every_phrase_is_read_alone_and_within_a_text(ahead: int) -> None:
    for phrase in relative_days.DAYS_AHEAD[ahead]:
        for text in (phrase, phrase.upper(), f"({phrase}), x"):
            found = due_moment(text, MONDAY)
            assert found is not None
            assert (found.date() - MONDAY.date()).days == ahead, text


def test_every_weekday_is_the_next_one() -> None:
    for weekday, names in enumerate(relative_days.WEEKDAYS):
        for name in names.split():
            found = due_moment(name, MONDAY)
            assert found is not None, name
            assert found.weekday() == weekday
            assert 1 <= (found.date() - MONDAY.date()).days <= 7


PARTS = st.sampled_from([
    "by", "in", "9999", "3", "days", "tomorrow", "31 June", "29 February", "9999-12-31", "25:61",
    "2026-11-30T23:59:59+14:00", "0001-01-01T00:00+23:59", "weeks", "May", "5/8/2027", "後", "日",
])  # fmt: skip
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))


@given(st.text() | st.lists(PARTS, max_size=5).map(" ".join), MOMENTS)
def test_any_text_at_any_time_is_a_moment_or_none(text: str, created_at: datetime) -> None:
    found = due_moment(text, created_at)
    assert found is None or found.tzinfo is not None
