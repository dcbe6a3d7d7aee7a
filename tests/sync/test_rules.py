"""The rules alone: the state follows from the set of records, whatever order they come in."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from memstore.database.journal import Kind
from memstore.sync import rules
from memstore.sync.rules import EPISODE, FACT, About, Derived, Item, Record

YEAR = 365 * 86_400 * 1_000_000
START = 1_772_000_000_000_000


def about(number: int, kind: str = FACT) -> About:
    return About(kind, "default", f"uuid-{number:04}")


def birth(number: int, **more: Any) -> dict[str, Any]:
    return {
        "uuid": about(number).uuid,
        "content": f"fact {number}",
        "subject": "s",
        "category": "note",
        "metadata": {},
        **more,
    }


class Writer:
    """One device: what it knows, and what it writes after having seen that."""

    def __init__(self, name: str, skew: int) -> None:
        self.name, self.skew = name, skew
        self.items: dict[About, Item] = {}
        self.records: list[Record] = []
        self.last = 0

    def take(self, record: Record) -> None:
        self.items.setdefault(record.about, Item(record.about)).add(record)

    def write(self, now: int, kind: str, fact: About, value: dict[str, Any] | None) -> Record:
        self.last = at = max(self.last + 1, now + self.skew)
        item = self.items.setdefault(fact, Item(fact))
        if value is not None and rules.LINK in value and kind != Kind.ERASE:
            top = item.tops.get(rules.LINK)
            value["replaces"] = None if top is None else [top.rank, top.value[0]]
        line = len(self.records) + 1
        rank = item.rank_of(kind, value, at)
        record = Record(self.name, line, line, at, rank, kind, fact, value)
        self.records.append(record)
        item.add(record)
        return record

    @property
    def facts(self) -> list[About]:
        return sorted(one for one, item in self.items.items() if item.is_known)


def act(rnd: random.Random, device: Writer, now: int, numbers: Iterator[int]) -> None:
    """Write one random record."""
    facts = device.facts
    what = rnd.choice(
        "new new claim key once link link unlink delete restore say unsay set erase".split()
    )
    if what in ("new", "claim", "key", "once") or not facts:
        number = next(numbers)
        more: dict[str, Any] = {}
        if what == "claim":
            more = {"content": rnd.choice(["tea", "rum"])}
        elif what == "key":
            more = {"external_key": rnd.choice("kl")}
        elif what == "once":
            text = rnd.choice(["tea", "rum", "take [redacted key]"])
            more = {"content": text, "idempotency_key": rnd.choice("kl")}
        device.write(now, Kind.ADD, about(number), birth(number, **more))
        return
    one, other = rnd.choice(facts), rnd.choice(facts)
    moment = rules.text_of(now)
    if what == "link" and one != other:
        value = {rules.LINK: other.uuid, "superseded_at": moment}
        device.write(now, Kind.SUPERSEDE, one, value)
    elif what == "unlink" and device.items[one].top(rules.LINK).value:
        device.write(now, Kind.UNSUPERSEDE, one, {rules.LINK: None, "superseded_at": None})
    elif what == "delete":
        device.write(now, Kind.DELETE, one, {rules.DELETION: moment})
    elif what == "restore":
        device.write(now, Kind.RESTORE, one, {rules.DELETION: None})
    elif what == "say":
        device.write(now, Kind.CONFIRM, one, {"at": moment})
    elif what == "unsay" and device.items[one].confirmations:
        said = sorted(device.items[one].confirmations)
        device.write(now, Kind.UNCONFIRM, one, {"at": [rnd.choice(said)]})
    elif what == "set":
        name = rnd.choice([rules.PIN, rules.EXPIRY])
        value = rnd.choice(
            [{name: rnd.choice([moment, None])}, {rules.METADATA: {rnd.choice("ab"): rnd.random()}}]
        )
        device.write(now, Kind.UPDATE, one, value)
    elif what == "erase" and rnd.random() < 0.3:
        device.write(now, Kind.ERASE, one, {})


def history(seed: int) -> list[Record]:
    """Return the records of some devices that heard of each other now and then."""
    rnd = random.Random(seed)
    skews = [rnd.choice([0, 0, 300_000_000, -86_400_000_000, 4 * YEAR]) for _ in range(3)]
    devices = [Writer(f"device{place}", skew) for place, skew in enumerate(skews)]
    heard = [dict.fromkeys(range(3), 0) for _ in devices]
    numbers = iter(range(1000))
    now = START
    for _ in range(rnd.randrange(10, 40)):
        now += rnd.randrange(1, 40_000_000)
        place = rnd.randrange(3)
        act(rnd, devices[place], now, numbers)
        if rnd.random() < 0.3:
            hear(devices, heard, place)
    return [record for device in devices for record in device.records]


def hear(devices: list[Writer], heard: list[dict[int, int]], place: int) -> None:
    """Let a device take what others wrote, if what it names is there."""
    device = devices[place]
    progress = True
    while progress:
        progress = False
        for other, one in enumerate(devices):
            while other != place and heard[place][other] < len(one.records):
                record = one.records[heard[place][other]]
                if not {*named(record)} <= {*device.facts}:
                    break
                device.take(record)
                heard[place][other] += 1
                progress = True


def named(record: Record) -> Iterator[About]:
    if record.kind not in rules.BIRTHS:
        yield record.about
    if record.value and record.value.get(rules.LINK):
        yield About(FACT, "default", record.value[rules.LINK])


def state_of(records: Iterable[Record]) -> tuple[dict[About, Item], Derived]:
    items: dict[About, Item] = {}
    for record in records:
        items.setdefault(record.about, Item(record.about)).add(record)
    return items, rules.derive(items)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "block" in metafunc.fixturenames:
        number = 10_000 if metafunc.config.getoption("--histories") > 60 else 300
        metafunc.parametrize("block", range(number // 100))


def test_the_state_follows_from_the_set_of_records(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        records = history(seed)
        rnd = random.Random(seed)
        _, derived = state_of(records)
        for _ in range(2):
            rnd.shuffle(records)
            again = [one for one in rnd.choices(records, k=5) if one.kind not in rules.BIRTHS]
            renamed = [one._replace(device="restored", line=one.line + 100) for one in again]
            assert state_of([*records, *again, *renamed])[1] == derived, seed


def test_chains_end_and_what_was_seen_never_wins_over_what_replaced_it(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        records = history(seed)
        items, derived = state_of(records)
        for fact, state in derived.states.items():
            seen = {fact.uuid}
            while state.superseded_by is not None:
                assert state.superseded_by not in seen, seed
                seen.add(state.superseded_by)
                state = derived.states[About(FACT, "default", state.superseded_by)]
        for record in records:
            value = record.value or {}
            if record.kind not in rules.ENDS and value.get("replaces"):
                assert record.rank > value["replaces"][0], seed
        assert_keys_are_held_once(items, derived, seed)


def assert_keys_are_held_once(items: dict[About, Item], derived: Derived, seed: int) -> None:
    held: dict[str, list[About]] = {}
    for fact, state in derived.states.items():
        is_current = not (state.is_erased or state.deleted_at or state.superseded_by)
        if is_current and state.external_key and not items[fact].links:
            held.setdefault(state.external_key, []).append(fact)
    assert all(len(facts) == 1 for facts in held.values()), seed
    stored = {key for item in items.values() if item.is_known and (key := rules.once_key_of(item))}
    kept = [one.idempotency_key for one in derived.states.values() if one.idempotency_key]
    assert sorted(kept) == sorted(stored), seed


def two(first: dict[str, Any], second: dict[str, Any]) -> tuple[list[Writer], list[About]]:
    devices = [Writer("a", 0), Writer("b", 0)]
    devices[0].write(START, Kind.ADD, about(1), birth(1, **first))
    devices[1].write(START + 10, Kind.ADD, about(2), birth(2, **second))
    return devices, [about(1), about(2)]


def test_the_same_claim_heard_on_two_devices_is_one_fact() -> None:
    devices, (first, second) = two({"content": "tea"}, {"content": "Tea."})
    _, derived = state_of([*devices[0].records, *devices[1].records])
    assert derived.states[second].superseded_by == first.uuid
    assert derived.states[first].superseded_by is None


@pytest.mark.parametrize(
    "differing",
    [{"user_id": "ana"}, {"metadata": {"n": 1}}, {"external_key": "k"}, {"category": "event"}],
)
def test_claims_that_differ_both_stand(differing: dict[str, Any]) -> None:
    devices, facts = two({"content": "tea"}, {"content": "tea", **differing})
    _, derived = state_of([*devices[0].records, *devices[1].records])
    assert [derived.states[one].superseded_by for one in facts] == [None, None]


def test_of_two_current_facts_of_one_key_the_one_born_later_has_it() -> None:
    devices, (first, second) = two({"external_key": "k"}, {"external_key": "k"})
    _, derived = state_of([*devices[0].records, *devices[1].records])
    assert derived.states[first].superseded_by == second.uuid


def test_a_clock_years_ahead_loses_to_who_has_seen_its_change() -> None:
    ahead, right = Writer("ahead", 4 * YEAR), Writer("right", 0)
    for record in (
        ahead.write(START, Kind.ADD, about(1), birth(1)),
        ahead.write(START + 1, Kind.PIN, about(1), {rules.PIN: rules.text_of(START)}),
    ):
        right.take(record)
    right.write(START + 2, Kind.UNPIN, about(1), {rules.PIN: None})
    _, derived = state_of([*ahead.records, *right.records])
    assert derived.states[about(1)].pinned_at is None


def test_an_episode_under_one_key_and_with_one_text_expires_where_it_came_later() -> None:
    said = {"content": "hello", "idempotency_key": "turn-1", "created_at": rules.text_of(START)}
    one, other = about(1, EPISODE), about(2, EPISODE)
    _, derived = state_of(
        [
            Record("a", 1, 1, START, START, Kind.EPISODE, one, said),
            Record("b", 1, 1, START + 5, START + 5, Kind.EPISODE, other, said),
        ]
    )
    assert derived.states[one].expired_at is None
    assert derived.states[other].expired_at is not None


def set_by_arrival(item: Item, name: str, rank: int, value: Any) -> None:
    item.tops[name] = rules.Top(rank, value)


def by_the_clock(item: Item, kind: str, value: dict[str, Any] | None, at: int) -> int:
    return at


def heard_by_device(item: Item, record: Record) -> None:
    if record.kind == Kind.CONFIRM and record.value is not None:
        record = record._replace(value={"at": f"{record.value['at']} {record.device}"})
    ADDING(item, record)


ADDING = Item.add


@pytest.mark.parametrize(
    ("owner", "name", "without"),
    [
        (rules, "_open_circles", lambda links: None),
        (rules, "_share_keys", lambda links, born: None),
        (rules, "_keys_kept", lambda items: {*items}),
        (Item, "_set", set_by_arrival),
        (Item, "rank_of", by_the_clock),
        (Item, "add", heard_by_device),
    ],
    ids=["circles", "keys", "idempotency", "arrival", "clock", "confirmations"],
)
def test_a_rule_that_is_missing_is_noticed(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, without: Any
) -> None:
    monkeypatch.setattr(owner, name, without)
    with pytest.raises(AssertionError):
        check_some_histories()


def check_some_histories() -> None:
    for block in range(10):
        test_the_state_follows_from_the_set_of_records(block)
        test_chains_end_and_what_was_seen_never_wins_over_what_replaced_it(block)
