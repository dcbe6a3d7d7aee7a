"""Days are the user's: what is read, shown, searched or due, in zones on both sides of UTC."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import pytest
from tests.support.clock import ManualClock

import memstore
from memstore import Store
from memstore.domain import clock, zones

ZONES = ("Pacific/Pago_Pago", "America/Los_Angeles", "UTC", "Asia/Kathmandu", "Pacific/Kiritimati")
DAY = date(2026, 11, 20)
OpenStore = Callable[..., Store]


@pytest.fixture(params=ZONES)
def zone(request: pytest.FixtureRequest) -> ZoneInfo:
    return ZoneInfo(request.param)


@pytest.mark.model
@pytest.mark.parametrize("time", ["00:10", "12:00", "23:50"])
def test_a_turn_is_found_and_shown_under_the_users_day(
    open_store: OpenStore, zone: ZoneInfo, time: str
) -> None:
    said = datetime.fromisoformat(f"{DAY} {time}").replace(tzinfo=zone)
    store = open_store(timezone=zone)
    for days in range(-3, 4):
        other = said + timedelta(days=days)
        store.episodes.add(f"{abs(days)} boats left", source="chat", valid_at=other, thread="t")
        store.add(f"{abs(days)} boats left", subject=f"day{days}", valid_at=other)
    text = store.recall("What was said on November 20?", max_tokens=60).text
    assert text.splitlines()[0] == "2026-11-20"
    first = store.search("how many boats left on November 20?", limit=1)[0]
    assert first.fact.subject == "day0"
    for bounds in ({"valid_on": str(DAY)}, {"valid_after": str(DAY), "valid_before": str(DAY)}):
        found = [fact.subject for fact in store.list(**bounds)]  # type: ignore[arg-type]
        assert "day0" in found
        assert "day1" not in found
    turns = store.episodes.list(valid_after=str(DAY), valid_before=str(DAY))
    assert [one.content for one in turns] == ["0 boats left"]


def test_a_date_is_kept_as_its_day(open_store: OpenStore, zone: ZoneInfo) -> None:
    store = open_store(timezone=zone, embedder=None)
    fact = store.add("held", subject="s", valid_at="2026-03-01", expired_at="2026-03-31")
    with zones.use(zone):
        assert fact.valid_at == zones.start(date(2026, 3, 1))
        assert fact.holds_until == zones.end(date(2026, 3, 31))
    for day, held in (("02-28", 0), ("03-01", 1), ("03-31", 1), ("04-01", 0)):
        number = store.count(valid_on=f"2026-{day}", active_only=False)
        assert number == held, day


def test_what_the_log_shows_can_be_given_back(open_store: OpenStore, zone: ZoneInfo) -> None:
    store = open_store(timezone=zone, embedder=None)
    store.add("one", subject="s")
    store.episodes.add("two", source="chat")
    store.add("three", subject="s", supersedes=1)
    for act in store.ledger.log():
        with zones.use(zone):
            shown = [zones.stamp(act.at), zones.minute(act.at), zones.day(act.at), "today"]
        for moment in shown:
            assert store.as_of(moment).line >= act.line
            for bounds in ({"since": moment}, {"until": moment}):
                assert act.line in [one.line for one in store.ledger.log(**bounds)]  # type: ignore[arg-type]
    assert len([*store.ledger.diff("yesterday", "today")]) == 1


def test_an_act_has_one_time(open_store: OpenStore) -> None:
    store = open_store(embedder=None)
    facts = store.add_many([{"content": text, "subject": "s"} for text in ("one", "two")])
    turn = store.episodes.record("said", source="chat")
    store.add("three", subject="s", supersedes=1)
    store.pin(2)
    store.confirm(2)
    store.delete(2)
    at = {line.kind: line.at for n in (1, 2) for line in store.ledger.journal(n)}
    every = {one.id: one for one in store.list(active_only=False, include_deleted=True)}
    assert {fact.created_at for fact in facts} == {at["add"]}
    assert every[1].superseded_at == at["supersede"] == every[3].created_at
    assert every[2].deleted_at == at["delete"]
    assert every[2].pinned_at == at["pin"]
    assert every[2].last_confirmed_at == at["confirm"]
    [act] = store.ledger.log(kinds=["episode"])
    assert act.at == turn.created_at


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("tomorrow", "2026-11-21"),
        ("today", "2026-11-20"),
        ("tonight", "2026-11-20"),
        ("Friday", "2026-11-27"),
        ("next week", "2026-11-27"),
        ("in 3 days", "2026-11-23"),
        ("end of month", "2026-11-30"),
        ("by the end of next month", "2026-12-31"),
        ("EOM", "2026-11-30"),
        ("end of week", "2026-11-22"),
        ("end of year", "2026-12-31"),
        ("end of quarter", "2026-12-31"),
        ("EOD", "2026-11-20"),
        ("Ende des Monats", "2026-11-30"),
        ("fin de mes", "2026-11-30"),
        ("fin du mois", "2026-11-30"),
        ("月末", "2026-11-30"),
        ("2026-12-24", "2026-12-24"),
        ("asap", None),
        ("when Ana is back", None),
    ],
)
def test_words_for_a_day_become_that_day(
    open_store: OpenStore, zone: ZoneInfo, said: str, meant: str | None
) -> None:
    store = open_store(timezone=zone, embedder=None)
    evening = ManualClock(datetime(2026, 11, 20, 23, 30, tzinfo=zone).astimezone(UTC))
    with clock.use(evening):
        made = store.tasks.create("Call the notary", due=said)
        evening.advance(3 * 86400)
        [task] = store.tasks.list()
        assert (task.due, task.due_on, made.due_on) == (said, meant, meant)
        assert store.get(task.id).metadata.get("due_on") == meant
        shown = said if meant is None else meant if said == meant else f"{meant} ({said})"
        assert task.due_text == shown
        assert not task.is_overdue(datetime(2026, 11, 20, 23, tzinfo=zone))
        assert task.content == "Call the notary"


def test_an_older_task_is_counted_from_its_creation(open_store: OpenStore) -> None:
    store = open_store(timezone="Pacific/Kiritimati", embedder=None)
    told = {"kind": "task", "due": "tomorrow"}
    earlier = datetime(2026, 11, 20, 11, tzinfo=UTC)  # the 21st there
    store.add("Call", subject="todo", metadata=told, created_at=earlier)
    [task] = store.tasks.list()
    assert (task.due_on, task.due_text) == ("2026-11-22", "2026-11-22 (tomorrow)")


def test_what_is_due_at_once_comes_first(open_store: OpenStore) -> None:
    store = open_store(embedder=None)
    for due in (None, "tomorrow", "as soon as possible", "today"):
        store.tasks.create(str(due), due=due)
    order = [task.content for task in store.tasks.list()]
    assert order == ["as soon as possible", "today", "tomorrow", "None"]


def test_a_due_day_is_over_when_the_users_day_is(open_store: OpenStore, zone: ZoneInfo) -> None:
    store = open_store(timezone=zone, embedder=None)
    task = store.tasks.create("Call", due="2026-11-20")
    late, later = (datetime(2026, 11, day, hour, tzinfo=zone) for day, hour in ((20, 23), (21, 1)))
    assert (task.is_overdue(late), task.is_overdue(later)) == (False, True)


def test_what_was_made_for_a_user_reads_by_that_users_clock(
    open_store: OpenStore, zone: ZoneInfo
) -> None:
    store = open_store(timezone=zone, embedder=None)
    evening = datetime(2026, 11, 20, 23, 30, tzinfo=zone)
    with clock.use(ManualClock(evening.astimezone(UTC))):
        store.add("x", subject="s")
        task = store.tasks.create("Call", due="tomorrow 10:00")
        act, differences = store.ledger.log()[0], store.ledger.diff("yesterday")
    with zones.use(ZoneInfo("Asia/Tokyo")):  # another one's
        assert task.due_text == "2026-11-21 10:00 (tomorrow 10:00)"
        for text in (act, differences, differences[0], differences[:1]):
            assert "2026-11-20" in str(text)
        assert "T23:30:00" in str(act)


def test_a_store_has_the_zone_that_it_is_opened_with(path: Path) -> None:
    with memstore.open(path, embedder=None, timezone="Asia/Tokyo") as store:
        fact = store.within("other").add("x", subject="s", valid_at="2026-03-31")
        assert store.timezone == ZoneInfo("Asia/Tokyo")
        assert fact.valid_at == datetime(2026, 3, 30, 15, tzinfo=UTC)
    with pytest.raises(memstore.InvalidArgument, match="timezone is no time zone known here"):
        memstore.open(path, timezone="Mars/Base")


CHANGES = (
    ("America/Los_Angeles", "2026-03-08"),  # on, and off
    ("America/Los_Angeles", "2026-11-01"),
    ("Europe/Berlin", "2026-03-29"),
    ("Europe/Berlin", "2026-10-25"),
    ("Australia/Lord_Howe", "2026-04-05"),  # half an hour
    ("America/Havana", "2026-03-08"),  # at midnight
    ("Africa/Cairo", "2026-04-24"),
)
EVERY_ZONE = ("-11:00", "America/St_Johns", "Asia/Kolkata", "Pacific/Chatham", "+13:30", "+14:00")
COMBINATIONS = 12


def test_random_days_in_random_zones_are_those_of_a_calendar() -> None:
    chance = Random(42)
    for _ in range(COMBINATIONS):
        name, around = chance.choice([*CHANGES, *((one, "2026-07-14") for one in EVERY_ZONE)])
        _check_days(name, date.fromisoformat(around), chance)


def _check_days(name: str, around: date, chance: Random) -> None:
    zone = zones.checked(name)
    middle = datetime.combine(around, time(12), zone).astimezone(UTC)
    moments = sorted(middle + timedelta(minutes=chance.randrange(-3600, 3600)) for _ in range(8))
    days = [at.astimezone(zone).date() for at in moments]
    ticking = ManualClock(moments[0])
    with clock.use(ticking), memstore.open(":memory:", embedder=None, timezone=name) as store:
        for at in moments:
            ticking.advance((at - ticking.utc_now()).total_seconds())
            store.add(f"said at {at}", subject=f"s{at}", valid_at=at)
        told = {fact.id: day for fact, day in zip(store.list(), days, strict=True)}
        for ago in range(-2, 3):
            day = around + timedelta(days=ago)
            on = [id_ for id_, its in told.items() if its == day]
            until = [id_ for id_, its in told.items() if its <= day]
            since = [id_ for id_, its in told.items() if its >= day]
            case = (name, str(day), str(moments))

            def ids(**bounds: str) -> list[int]:
                return [fact.id for fact in store.list(**bounds)]  # type: ignore[arg-type]

            assert ids(created_after=f"{day}", created_before=f"{day}") == on, case
            assert ids(valid_after=f"{day}", valid_before=f"{day}") == on, case
            assert ids(valid_on=f"{day}") == until, case
            assert [act.line for act in store.ledger.log(since=f"{day}")][::-1] == since, case
            assert [act.line for act in store.ledger.log(until=f"{day}")][::-1] == until, case
            if day > days[-1]:
                continue  # what was then is not known yet
            assert [fact.id for fact in store.as_of(f"{day}").list()] == until, case
            before = day - timedelta(days=1)
            assert sorted(one.fact_id for one in store.ledger.diff(f"{before}", f"{day}")) == on, (
                case
            )
        for ago in range(-2, 3):
            day = around + timedelta(days=ago)
            ticking.advance(60 * chance.randrange(90))
            case = (name, str(day), str(ticking.utc_now()))
            today = ticking.utc_now().astimezone(zone).date()
            task = store.tasks.create(f"call {day}", due=f"{day}")
            assert task.is_overdue(ticking.utc_now()) == (day < today), case
            task = store.tasks.create(f"meet {day}", due="tomorrow 2:30")
            due = datetime.combine(today + timedelta(days=1), time(2, 30), zone).astimezone(UTC)
            if due.astimezone(zone).time() == time(2, 30):  # else the clock leaves it out
                assert task.due_at == due, case
            assert str(task.due_day)[:10] == str(today + timedelta(days=1)), case
        assert {*store.status().facts_by_day} == {
            *(str(day) for day in days),
            *(store.get(n).created_at.astimezone(zone).date().isoformat() for n in range(9, 19)),
        }
