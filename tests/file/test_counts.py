"""The counts that triggers keep agree with the rows, whoever wrote them."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.raw import sql

import memstore
from memstore import NewFact, Scope, Store
from memstore.domain import clock, zones
from memstore.domain.status import DAYS, MAX_NAMES
from memstore.store.store import others_of

OWNERS = (Scope(), Scope(user_id="ana"), Scope(user_id="ana", run_id="r1"), Scope(agent_id="bot"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def change_something(store: Store, chance: random.Random, known: list[int]) -> None:
    owner = chance.choice(OWNERS)
    subject = chance.choice(("Köln", "köln", "api", "Zoë"))
    what = chance.randrange(8)
    if what < 3 or not known:
        expires = chance.choice((None, "2020-01-01", "2999-01-01"))
        category = chance.choice(("note", "event", "Event"))
        fact = store.add(
            str(chance.random()),
            subject=subject,
            category=category,
            expired_at=expires,
            **owner.ids,
        )
        known.append(fact.id)
    elif what == 3:
        store.of(owner).episodes.add(str(chance.random()), source="test")
    elif what == 4:
        store.delete(chance.choice(known))
    elif what == 5:
        fact_id = known.pop(chance.randrange(len(known)))
        store.erase(fact_id)
    elif what == 6 and store.get(one := chance.choice(known)).status == "deleted":
        store.restore(one)
    elif what == 7 and store.get(one := chance.choice(known)).status == "active":
        old = store.get(one)
        new = store.add("new", subject=old.subject, supersedes=one, **old.scope.ids)
        known.append(new.id)


def counted(store: Store, scope: Scope | None, **narrowing: str) -> int:
    return len(store.of("all" if scope is None else scope).list(**narrowing))  # type: ignore[arg-type]


def test_counts_agree_with_the_rows_after_every_kind_of_change(path: Path) -> None:
    chance, known = random.Random(58), list[int]()
    with memstore.open(path, embedder="none") as store:
        for _ in range(120):
            change_something(store, chance, known)
        assert store.file.doctor() == []
        for scope in (*OWNERS, None):
            given: Any = "all" if scope is None else scope
            for narrowing in ({}, {"subject": "KÖLN"}, {"category": "EVENT"}):
                told = store.of(given).count(**narrowing)  # type: ignore[arg-type]
                assert told == counted(store, scope, **narrowing)
            status = store.of(given).status()
            everything = store.of(given).list(include_deleted=True, active_only=False)
            states = Counter(fact.status for fact in everything)
            assert status.active == states["active"] == sum(status.categories.values())
            assert len(status.categories) <= 2  # two spellings of a category are one
            assert (status.superseded, status.expired) == (states["superseded"], states["expired"])
            assert status.active == sum(status.subjects.values())
            assert status.episodes == len(store.of(given).episodes.list())


def test_rows_of_other_programs_count(path: Path) -> None:
    with memstore.open(path, embedder="none") as store:
        store.add("a", subject="api")
        columns = "content, subject, subject_key, category, created_at, namespace, uuid"
        sql(
            path,
            f"INSERT OR REPLACE INTO memstore_facts ({columns})"
            " VALUES ('b', 'Api', 'api', 'note', '2026-01-01T00:00:00Z', 'default', 'u')",
        )
        moved = "user_id = 'ana', category = 'event', category_key = 'event'"
        sql(path, f"UPDATE memstore_facts SET {moved} WHERE id = 1")
        assert (store.count(), store.of(user_id="ana").count()) == (1, 1)
        assert store.of("all").status().categories == {"event": 1, "note": 1}
        assert "counts" not in {finding.check for finding in store.file.doctor()}


def test_a_wrong_count_is_found_and_rebuilt(path: Path) -> None:
    with memstore.open(path, embedder="none") as store:
        store.add("a", subject="api")
        sql(path, "UPDATE memstore_counts SET number = 7 WHERE kind = 'subject'")
        [finding] = store.file.doctor()
        assert "default subject api" in finding.message
        assert finding.repairable
        store.file.rebuild()
        assert store.file.doctor() == []
        assert store.status().subjects == {"api": 1}


def test_an_erased_fact_leaves_no_name_in_the_counts(path: Path) -> None:
    with memstore.open(path, embedder="none") as store:
        store.erase(store.add("a", subject="Secret Name", user_id="hidden").id)
    assert b"hidden" not in path.read_bytes()
    assert b"secret name" not in path.read_bytes()


def test_a_status_names_the_most_frequent_subjects_and_counts_all(path: Path) -> None:
    with memstore.open(path, embedder="none") as store:
        store.add_many(
            memstore.NewFact(content=f"{n}", subject=f"s{n}") for n in range(MAX_NAMES + 20)
        )
        store.add("again", subject="S7")
        status = store.status()
    assert (len(status.subjects), status.subject_count) == (MAX_NAMES, MAX_NAMES + 20)
    assert next(iter(status.subjects.items())) == ("S7", 2)


ZONES = ("UTC", "-11:00", "America/Los_Angeles", "Asia/Kathmandu", "+05:30", "Pacific/Kiritimati")


def test_a_status_counts_the_last_weeks_by_the_users_days(path: Path) -> None:
    chance, now = random.Random(12), clock.utc_now()
    moments = [now - timedelta(minutes=chance.randrange(35 * 24 * 60)) for _ in range(200)]
    with memstore.open(path, embedder="none") as store:
        store.add("old", subject="api", created_at="2020-01-01")
        new = [NewFact(content=f"{at}", subject="api", created_at=at) for at in moments]
        store.add_many(new)
        store.episodes.add("said", source="test")
        said = store.episodes.list()[0].created_at
    for name in ZONES:
        zone = zones.checked(name)
        with memstore.open(path, embedder="none", timezone=name) as store:
            status = store.of("all").status()
        today = clock.utc_now().astimezone(zone).date()
        days = Counter(at.astimezone(zone).date() for at in moments)
        first = today - timedelta(days=DAYS - 1)
        right = {day.isoformat(): days[day] for day in sorted(days) if day >= first}
        assert status.facts_by_day == right
        assert status.episodes_by_day == {said.astimezone(zone).date().isoformat(): 1}


def test_others_are_counted_but_not_those_of_other_namespaces(path: Path) -> None:
    with memstore.open(path, embedder="none") as store:
        store.add("a", subject="api", user_id="ana")
        store.of(user_id="ben").episodes.add("said", source="test")
        store.within("elsewhere").add("b", subject="api", user_id="zoe")
        others = others_of(store)
        assert (others.facts, others.episodes) == (1, 1)
        assert {*others.first} == {Scope(user_id="ana"), Scope(user_id="ben")}
        assert others_of(store.of("all")) == memstore.Others()
        assert others_of(store.of(user_id="ana")).facts == 0
        confined = store.within("elsewhere", confined=True)
        assert (others_of(confined).facts, others_of(confined).episodes) == (1, 0)
        with pytest.raises(memstore.AccessDenied):
            others_of(confined, namespaces="all")


def test_a_count_of_pinned_facts_counts_only_them(path: Path) -> None:
    with memstore.open(path, embedder="none") as store:
        store.pin(store.add("a", subject="api").id)
        store.add("b", subject="api")
        assert (store.count(pinned=True), store.count()) == (1, 2)
