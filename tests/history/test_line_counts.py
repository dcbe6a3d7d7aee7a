"""Counting and telling long stretches of the journal gives what reading every line does."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.clock import ManualClock
from tests.support.raw import sql

import memstore
from memstore import NewEpisode, NewFact, Scope, Store
from memstore.database import journal
from memstore.database.acts import STRETCH
from memstore.database.filters import FactFilter
from memstore.database.journal import Kind
from memstore.database.tables import changed_facts, compared_facts, journal_lines, line_counts
from memstore.domain import clock
from memstore.domain.records import NOBODY
from memstore.history import moments
from memstore.telling import briefing

OWNERS = (Scope(), Scope(user_id="ana"), Scope(agent_id="bot"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def new_facts(number: int, **given: Any) -> list[NewFact]:
    return [
        NewFact(content=f"fact {n}", subject=f"s{n % 7}", **given, **OWNERS[n % 3].ids)
        for n in range(number)
    ]


def changed(store: Store) -> Store:
    """Change a memory in acts of any size, over some stretches."""
    chance = random.Random(3)
    for place in range(5):
        home = store if place % 2 == 0 else store.within("other")
        facts = home.add_many(new_facts(chance.randrange(100, 300), category=f"c{place}"))
        home.episodes.add_many(NewEpisode(content=f"turn {n}", source="test") for n in range(40))
        for one in facts[:6:2]:
            home.of(one.scope).delete(one.id)
        home.supersede(facts[9].id, facts[12].id, any_subject=True)
        home.add_many(
            {"content": f"{one.content}!", "subject": one.subject, "supersedes": one.id}
            for one in facts[15:30:3]  # of no owner
        )
    store.sources.trust("web:example.org", "external")
    return store


def read_one_by_one(store: Store) -> dict[str, int]:
    return Counter(one.kind for one in store.ledger.changes(limit=None))


def check(store: Store) -> None:
    for home in (store, store.within("other"), store.within("other", confined=True)):
        for owners in ("all", *OWNERS):
            if isinstance(owners, Scope) and home is not store:
                continue
            one = home.of(owners)
            (today,) = one.ledger.activity(1, until=None)
            assert today.kinds == read_one_by_one(one), owners


def test_activity_counts_what_reading_every_line_does(open_store: Any) -> None:
    store = changed(open_store())
    check(store)
    with store.file.engine.read() as transaction:
        kept = line_counts.between(transaction, 1, 10_000)
        assert len(kept) >= 3
        assert line_counts.misfits(transaction) == []


def test_what_loses_its_owner_is_counted_anew(open_store: Any) -> None:
    store = changed(open_store())
    hers = store.of(user_id="ana").list(limit=2)
    for fact in hers:
        store.of(user_id="ana").erase(fact.id)
    store.within("other").clear()
    check(store)


def test_acts_are_told_alike_however_long_they_are(
    open_store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = changed(open_store())
    monkeypatch.setattr(journal_lines, "MAX_LISTED", 10_000)
    asked: list[dict[str, Any]] = [{}, {"kinds": ["add", "delete"]}, {"since": "1h"}]
    told = {}
    for few in (10_000, 1):
        monkeypatch.setattr(journal_lines, "FEW_LINES", few)
        told[few] = [
            [act.to_dict() for act in one.ledger.log(limit=None, **narrowed)]
            for one in (store, store.of("all"), store.of(user_id="ana"), store.within("other"))
            for narrowed in asked
        ]
    assert told[1] == told[10_000]


@pytest.mark.parametrize("replacing", [0, 3])
def test_the_first_lines_of_an_owner_are_found_by_ids(
    open_store: Any, monkeypatch: pytest.MonkeyPatch, replacing: int
) -> None:
    store = open_store()
    hers = store.of(user_id="ana")
    old = [hers.add(f"old {n}", subject="s1").id for n in range(replacing)]
    news = new_facts(5 * STRETCH + 70)
    for place, superseded in zip((4, 700, 1300), old, strict=False):  # lines that add nothing
        news[place] = NewFact(
            content=f"new {place}", subject="s1", user_id="ana", supersedes=superseded
        )
    store.add_many(news)
    found = []
    for between in (line_counts.between, lambda *_: {}):
        monkeypatch.setattr(line_counts, "between", between)
        found.append(hers.ledger.log(limit=1)[0].to_dict())
    assert found[0] == found[1]
    [added] = [one for one in found[0]["changes"] if one["kind"] == "add"]
    lines = {one.facts[0]: one.line for one in hers.ledger.changes(limit=None, kinds=["add"])}
    assert len(added["facts"]) >= 97
    assert added["lines"] == [lines[fact] for fact in added["facts"]]


def test_of_a_run_of_stretches_that_add_the_first_and_last_line_are_looked_up() -> None:
    places = [3, 300, 400, 500, 600, 800, 1100, 1200, 1300]
    assert journal_lines._looked_up(places, [1, 2, 4]) == [3, 300, 600, 800, 1100, 1200, 1300]
    assert journal_lines._looked_up(places, []) == places
    assert journal_lines._looked_up([400], [1]) == [400]


@pytest.mark.parametrize("actor", [None, "user"])
def test_part_of_a_stretch_is_counted_by_the_rest_of_it(
    open_store: Any, monkeypatch: pytest.MonkeyPatch, actor: str | None
) -> None:
    store = open_store()
    store.add_many(new_facts(40))
    store.within("other").add_many(new_facts(20))
    store.add_many(new_facts(4 * STRETCH))
    store.within("other").delete(store.within("other").add("cup", subject="s").id)
    store.add_many(new_facts(STRETCH))
    views = [
        one.of(owners) for one in (store, store.within("other")) for owners in ("all", Scope())
    ]
    read: list[tuple[int, int]] = []
    counted = journal_lines.LineConditions._counted

    def reading(self: Any, first: int, last: int, test: str = "") -> dict[str, int]:
        read.append((first, last))
        return counted(self, first, last, test)

    monkeypatch.setattr(journal_lines.LineConditions, "_counted", reading)
    found = []
    for half in (journal_lines.HALF, STRETCH):  # of no stretch the rest is read
        monkeypatch.setattr(journal_lines, "HALF", half)
        found.append([one.ledger.log(limit=None, actor=actor) for one in views])
        read.append((0, 0))
    assert found[0] == found[1]
    by_rest, whole = read[: read.index((0, 0))], read[read.index((0, 0)) :]
    assert sum(b - a for a, b in by_rest) < sum(b - a for a, b in whole)


def test_of_a_large_act_the_first_facts_are_listed(open_store: Any) -> None:
    store = open_store()
    old = store.add("the first", subject="s0")
    news = [NewFact(content=f"fact {n}", subject="s0") for n in range(3 * STRETCH)]
    added = store.add_many([*news, NewFact(content="the second", subject="s0", supersedes=old.id)])
    replacing, adding = sorted(store.ledger.log(limit=1)[0].changes, key=lambda one: one.number)
    assert (replacing.text, replacing.number) == (f"replaced fact 1 by {added[-1].id}", 2)
    assert adding.text == f"added {3 * STRETCH:,} facts"
    assert adding.number == 3 * STRETCH
    assert adding.facts == tuple(fact.id for fact in added[:100])
    assert str(adding).endswith(f"; and {3 * STRETCH - 3:,} more")


def test_the_doctor_finds_wrong_numbers_and_counts_again(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        changed(store)
    sql(path, "UPDATE memstore_line_counts SET counts = '[]' WHERE stretch = 1")
    sql(path, "DELETE FROM memstore_line_counts WHERE stretch = 0")
    with memstore.open(path, embedder=None) as store:
        (found,) = [one for one in store.file.doctor() if one.check == "lines"]
        assert found.message.endswith(": 1")
        store.file.rebuild()
        check(store)
        assert [one for one in store.file.doctor() if one.check == "lines"] == []


def test_stretches_that_were_never_counted_are_made_up_for(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        changed(store)
        sql(path, "DELETE FROM memstore_line_counts")
        check(store)
        store.add_many(new_facts(2 * STRETCH))
        with store.file.engine.read() as transaction:
            assert line_counts.misfits(transaction) == []


@pytest.mark.parametrize("gap", [None, "DELETE", "UPDATE"])
def test_lines_of_few_stretches_are_those_of_all(
    path: Path, monkeypatch: pytest.MonkeyPatch, gap: str | None
) -> None:
    with memstore.open(path, embedder=None) as store:
        small = store.within("small")
        for place in range(4):
            store.add_many(new_facts(STRETCH))
            if place != 1:
                small.delete(small.add(f"kettle {place}", subject="kettle").id)
        store.sources.trust("web:example.org", "external")
        store.add_many(new_facts(STRETCH))
        if gap == "DELETE":
            sql(path, "DELETE FROM memstore_line_counts WHERE stretch = 1")
        elif gap == "UPDATE":
            sql(path, "UPDATE memstore_line_counts SET counts = '' WHERE stretch = 1")
        asked: list[dict[str, Any]] = [
            narrowed | page
            for narrowed in ({}, {"kinds": ["delete"]}, {"kinds": ["delete", "embed"]})
            for page in ({"limit": None}, {"limit": 2}, {"limit": 3, "after": 300}, {"before": 700})
        ]
        views = (small, small.of("all"), store.within("small", confined=True), store)
        views += (store.of(user_id="ana"), small.of(user_id="ana"))
        monkeypatch.setattr(line_counts, "MAX_AT_ONCE", 2)
        told = {}
        for near in (100_000, 0):
            monkeypatch.setattr(journal_lines, "NEAR", near)
            told[near] = [
                (
                    one.ledger.log(**narrowed),
                    one.ledger.changes(**narrowed),
                    one.ledger.changes(**narrowed, newest_first=False),
                )
                for one in views
                for narrowed in asked
            ]
        assert told[0] == told[100_000]
        assert [len(one) for one in told[0][0]] == [7, 7, 7]


def test_other_stretches_are_not_read(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        store.within("small").add("a kettle", subject="kettle")
        store.add_many(new_facts(4 * STRETCH))
        with store.file.engine.read() as transaction:
            spans = partial(line_counts.spans, transaction, 1, 5 * STRETCH, newest_first=True)
            rest = (4 * STRETCH, 6 * STRETCH - 1)
            assert [*spans(line_counts.Wanted([[line_counts.word("small")]]))] == [
                rest,
                (0, STRETCH - 1),
            ]
            assert [*spans(line_counts.Wanted([[line_counts.word("none")]]))] == [rest]
            assert [*spans(line_counts.Wanted([[]]))] == [rest]


SOURCES = ("cli", "mcp:host", "web:example.org/page", 'a"b')
RUNS = [clock.new_run() for _ in range(5)]


def by_several(open_store: Any) -> Store:
    """Make a memory in which several people and programs added, confirmed and changed."""
    store = open_store()
    chance = random.Random(5)
    for place in range(24):
        actor = "nobody" if place == 9 else f"actor {place % 3}"
        run = None if place == 3 else RUNS[place % 5]
        author = store._author._replace(actor=actor, source=SOURCES[place % 4], run=run)
        home = store._same(author, None)
        few = chance.randrange(1, 40)
        facts = home.add_many(new_facts(few if place % 3 else STRETCH + few))
        home.add(f"from a page {place}", subject="s1", source="web:example.org/other")
        turn = home.episodes.add(f"turn {place}", source=SOURCES[(place + 1) % 4])
        home.add(f"drawn {place}", subject="s2", episode_id=turn.id)
        home.confirm(facts[0].id)
    return store


@pytest.mark.parametrize("owners", ["all", *OWNERS])
def test_lines_by_somebody_are_those_that_reading_every_line_finds(
    open_store: Any, monkeypatch: pytest.MonkeyPatch, owners: Any
) -> None:
    store = by_several(open_store).of(owners)
    asked = [{"actor": f"actor {n}"} for n in range(3)]
    asked += [{"actor": "nobody"}, {"actor": "no such one"}, {"actor": "actor 1", "source": "cli"}]
    asked += [{"source": one} for one in (*SOURCES, "web:example.org/other", "none")]
    asked += [{"run": clock.uuid_text(one)} for one in (*RUNS[:2], clock.new_run())]
    asked += [{"run": clock.uuid_text(RUNS[3]), "actor": "actor 1"}]
    told: list[Any] = []
    monkeypatch.setattr(journal_lines, "MAX_LISTED", 10_000)
    # Reading every line, by the stretches, and by the stretches within acts of any size.
    for near, few in ((10**9, 10**9), (0, journal_lines.FEW_LINES), (0, 1)):
        monkeypatch.setattr(journal_lines, "NEAR", near)
        monkeypatch.setattr(journal_lines, "FEW_LINES", few)
        told.append(
            [
                [one.to_dict() for one in store.ledger.changes(limit=limit, **each)]
                for each in asked
                for limit in (None, 7)
            ]
            + [[one.to_dict() for one in store.ledger.log(limit=5, **each)] for each in asked]
        )
    assert told[0] == told[1] == told[2]
    assert any(told[0])


def test_what_was_drawn_is_looked_up_where_others_wrote(
    open_store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    cli = store._same(store._author._replace(source="cli"), None)
    for home, number in ((store, 3), (cli, 2)):
        home.add_many(
            NewFact(content=f"fact {n} of {number}", subject="s") for n in range(number * STRETCH)
        )
    cli.add("a kettle", subject="kettle", source="web:example.org")
    monkeypatch.setattr(journal_lines, "NEAR", 0)
    looked_up: list[str] = []
    drawn_from = journal_lines._drawn_from

    def looking(transaction: Any, source: str, **given: Any) -> Any:
        looked_up.append(source)
        return drawn_from(transaction, source, **given)

    monkeypatch.setattr(journal_lines, "_drawn_from", looking)
    newest = store.ledger.changes(source="cli", after=4 * STRETCH, limit=None)
    assert len(newest) >= STRETCH - 1
    assert looked_up == []
    assert len(store.ledger.changes(source="cli", limit=None)) == 2 * STRETCH + 1
    assert [one.facts for one in store.ledger.changes(source="web:example.org", limit=None)] == [
        (store.list(subject="kettle")[0].id,)
    ]
    assert looked_up == ["cli", "web:example.org"]


@pytest.mark.parametrize("owners", ["all", *OWNERS])
def test_changes_since_a_session_are_counted_as_reading_every_line_does(
    open_store: Any, monkeypatch: pytest.MonkeyPatch, owners: Any
) -> None:
    store = by_several(open_store).of(owners)
    wanted = FactFilter((store.namespace,), clock.utc_now(), scope=store._standing.selected)
    kinds = [str(one) for one in briefing.VERBS]
    found = []
    for between in (line_counts.between, lambda *_: {}):
        monkeypatch.setattr(line_counts, "between", between)
        with store.file.engine.read() as transaction:
            found.append(
                [
                    changed_facts.authors_since(transaction, wanted, episode, kinds, most)
                    for episode in (1, 2, 5, 12)
                    for most in (300, 20_000)
                ]
            )
    assert found[0] == found[1]
    assert len({actor for actor, *_ in found[0][1]}) >= 3 if owners != OWNERS[2] else found[0]


def test_rows_of_a_build_that_named_no_authors_are_right(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        changed(store)
        named = store.ledger.changes(limit=None, actor="user")
        assert named
        assert not store.ledger.changes(limit=None, actor="nobody")
        with store.file.engine.write() as transaction:
            for stretch, one in line_counts.between(transaction, 0, 10_000).items():
                older = json.dumps(one.numbers, separators=(",", ":"))
                transaction.run(line_counts.SAVING, {"stretch": stretch, "counts": older})
    with memstore.open(path, embedder=None) as store:
        with store.file.engine.read() as transaction:
            kept = line_counts.between(transaction, 1, 10_000)
            assert kept
            assert all(one.authors is None for one in kept.values())
        assert [one for one in store.file.doctor() if one.check == "lines"] == []
        check(store)
        assert store.ledger.changes(limit=None, actor="user") == named
        assert not store.ledger.changes(limit=None, actor="nobody")


def test_what_is_erased_from_evidence_is_among_no_authors(open_store: Any) -> None:
    store = open_store()
    turn = store.episodes.add("the page says so", source="web:secret.org")
    fact = store.add("a fact", subject="s")
    store.add("a fact", subject="s", source="web:secret.org", episode_id=turn.id)
    store.add_many(new_facts(STRETCH))
    with store.file.engine.read() as transaction:
        before = line_counts.between(transaction, 0, STRETCH - 1)
    store.erase(fact.id)
    with store.file.engine.read() as transaction:
        assert before
        assert 0 not in line_counts.between(transaction, 0, STRETCH - 1)


def eventful(open_store: Any, clock_: ManualClock) -> tuple[Store, list[str]]:
    """Change facts in every way, over some stretches; return moments in between, too."""
    store = open_store()
    chance = random.Random(11)
    times = []
    for place in range(8):
        home = store if place != 5 else store.within("other")
        facts = home.add_many(new_facts(chance.randrange(150, 400), category=f"c{place}"))
        soon = clock_.utc_now() + timedelta(minutes=chance.randrange(1, 90))
        home.add_many(new_facts(5, category=f"soon{place}", expired_at=soon))
        home.add_many(
            new_facts(3, category=f"late{place}", expired_at=clock_.utc_now() + timedelta(days=99))
        )
        if place == 7:
            before = clock.from_text(times[3])
            home.add_many(new_facts(4, category="expired before", expired_at=before))
        times.append(clock.to_text(clock_.utc_now()))
        clock_.sleep(600)
        some = chance.sample([one for one in facts if one.user_id is None], 24)
        own = {one.id: home.of(one.scope) for one in some}
        for one in some[:3]:
            own[one.id].delete(one.id)
        own[some[0].id].restore(some[0].id)
        home.pin(some[4].id)
        home.confirm(some[5].id)
        if place % 2:
            home.pin(some[0].id)
        home.update_metadata(some[6].id, {"n": place})
        home.supersede(some[7].id, some[8].id, any_subject=True)
        home.add(f"instead {place}", subject=some[9].subject, supersedes=some[9].id)
        if place % 3 == 1:
            home.erase(some[10].id)
        for one in home.list(category=f"c{place - 2}", limit=4) if place > 2 else ():
            own_home = home.of(one.scope)
            own_home.delete(one.id)
        if place in (2, 6):
            hers = home.of(user_id="ana").list(category=f"c{place}", limit=4)
            home.of(user_id="ana").delete(hers[0].id)
            home.of(user_id="ana").confirm(hers[1].id)
        times.append(clock.to_text(clock_.utc_now()))
        clock_.sleep(1500)
    return store, times


@pytest.mark.parametrize("owners", ["all", *OWNERS])
def test_differences_are_those_that_reading_every_line_finds(
    open_store: Any, manual_clock: ManualClock, monkeypatch: pytest.MonkeyPatch, owners: Any
) -> None:
    everything, times = eventful(open_store, manual_clock)
    pairs = [(a, b) for place, a in enumerate(times[:-1:2]) for b in (times[-1], "now")]
    pairs += [(times[0], times[5]), (times[3], times[9]), (times[0], times[1])]
    stores = [everything.of(owners), everything.within("other").of(owners)]
    found: list[Any] = []
    between, most = line_counts.between, compared_facts.MAX_BY_IDS
    for known, told in ((between, most), (lambda *_: {}, most), (between, 0)):
        monkeypatch.setattr(line_counts, "between", known)
        monkeypatch.setattr(compared_facts, "MAX_BY_IDS", told)
        each = [one.ledger.diff(a, b) for one in stores for a, b in pairs]
        found.append([([*one], one.total, one.passed) for one in each])
    assert found[0] == found[1] == found[2]
    monkeypatch.setattr(line_counts, "between", between)
    monkeypatch.setattr(compared_facts, "MAX_BY_IDS", most)
    for store in stores[:1]:
        whole = store.ledger.diff(times[0])
        assert len(whole) == whole.total
        for offset in (0, 7, whole.total - 3):
            page = store.ledger.diff(times[0], limit=5, offset=offset)
            assert [*page] == [*whole][offset : offset + 5]
            assert (page.total, page.passed) == (whole.total, whole.passed)


def test_what_changed_is_told_by_ids_where_all_of_it_may_be_seen(open_store: Any) -> None:
    store = open_store()
    begun = store.add_many(new_facts(STRETCH // 2))
    head = f"op:{store.ledger.changes(limit=1)[0].line}"
    added = store.add_many(NewFact(content=f"plain {n}", subject="p") for n in range(3 * STRETCH))
    for one in added[:40]:
        store.delete(one.id)
    store.add_many(NewFact(content=f"later {n}", subject="p") for n in range(STRETCH))
    hers = store.of(user_id="ana")
    kept = hers.add_many(new_facts(STRETCH)[1::3])
    hers.delete(kept[0].id)
    hers.add_many(NewFact(content=f"hers {n}", subject="p", user_id="ana") for n in range(STRETCH))
    read = {}
    for one in (store, store.of("all"), hers):
        selected = compared_facts.DifferenceFilter(("default",), one._standing.selected)
        with store.file.engine.read() as transaction:
            a = moments.resolve(transaction, head, one._standing)
            b = moments.resolve(transaction, "now", one._standing)
            found = compared_facts.spans(transaction, a, b, selected)
        read[one._standing.selected] = found
        assert begun[-1].id == a.last_fact
    assert len(read[NOBODY].by_ids) == len(read[None].by_ids) == 1
    assert not read[Scope(user_id="ana")].by_ids
    assert sum(end - begin + 1 for begin, end in read[NOBODY].others) < 2 * STRETCH
    ((begin, end),) = read[Scope(user_id="ana")].changing
    assert end - begin + 1 == STRETCH  # those of what has no owner are not read for her
    assert (hers.ledger.diff(head).total, hers.ledger.diff(head).passed) == (
        len(kept) + STRETCH - 1,
        1,
    )
    assert store.ledger.diff(head, limit=1).passed == 40


def test_nothing_is_told_of_facts_that_a_foreign_program_gave_to_others(
    open_store: Any, path: Path
) -> None:
    """Numbers of stretches that do not know it make counts wrong, and show no words."""
    store = open_store()
    store.add("first", subject="s")
    facts = store.add_many(NewFact(content=f"fact {n}", subject="s") for n in range(600))
    added = f"op:{store.ledger.changes(limit=1)[0].line}"
    for one in facts[:300]:
        store.update_metadata(one.id, {"n": 1})
    for one in facts[300:]:
        store.delete(one.id)
    for one in facts[450:]:
        store.restore(one.id)
    store.add_many(NewFact(content=f"later {n}", subject="s") for n in range(300))
    shown = {"op:1": {205, 500}, added: {205, 305}}
    theirs = {*range(210, 241), *range(310, 321), *range(510, 541)}
    for one in shown:
        assert theirs & {each.fact_id for each in store.ledger.diff(one)}
    listed = ", ".join(map(str, sorted(theirs)))
    sql(path, f"UPDATE memstore_facts SET user_id = 'bo' WHERE id IN ({listed}) AND id % 2")
    sql(
        path,
        f"UPDATE memstore_facts SET namespace = 'hidden' WHERE id IN ({listed}) AND id % 2 = 0",
    )
    for one, still in shown.items():
        told = {each.fact_id for each in store.ledger.diff(one)}
        assert not told & theirs
        assert still <= told


def test_lines_about_what_has_no_owner_are_not_looked_up_for_an_owner(open_store: Any) -> None:
    store = open_store()
    added = store.add_many(NewFact(content=f"plain {n}", subject="p") for n in range(STRETCH))
    store.delete(added[0].id)
    store.add_many(NewFact(content=f"later {n}", subject="p") for n in range(2 * STRETCH))
    hers = store.of(user_id="ana")
    hers.delete(hers.add("hers", subject="p").id)
    store.add_many(NewFact(content=f"last {n}", subject="p") for n in range(2 * STRETCH))
    wanted = line_counts.Wanted([[line_counts.word(Kind.DELETE)]])
    with store.file.engine.read() as transaction:
        last = journal.last_id(transaction)
        found = [
            [*line_counts.spans(transaction, 1, last, asked, newest_first=False)]
            for asked in (wanted, wanted._replace(owned=[Kind.DELETE]))
        ]
    assert [len(one) for one in found] == [3, 2]  # the last one is not counted yet
    assert found[0][1:] == found[1]


def test_a_day_that_is_over_is_counted_again_when_something_was_erased(
    open_store: Any, manual_clock: ManualClock
) -> None:
    store = changed(open_store())
    manual_clock.advance(2 * 86_400)
    store.add("a new day", subject="s0")
    hers = store.of(user_id="ana")
    before = hers.ledger.activity(3)[0].kinds
    assert hers.ledger.activity(3)[0].kinds == before
    hers.erase(hers.list(limit=1)[0].id)
    after = hers.ledger.activity(3)[0].kinds
    assert after["add"] == before["add"] - 1


def test_embedded_by_somebody_is_found_whole(
    open_store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(embedder=None)
    store.add_many(new_facts(2 * STRETCH))
    store.close()
    store = open_store()
    store.file.embed_pending()
    store.add_many(new_facts(2 * STRETCH))
    monkeypatch.setattr(journal_lines, "NEAR", 0)
    every = store.ledger.changes(kinds=["embed"], limit=None)
    assert every
    by = {"actor": every[0].actor, "source": every[0].source, "run": every[0].run}
    for name, value in by.items():
        found = store.ledger.changes(kinds=["embed"], limit=None, **{name: value})
        assert found == [one for one in every if getattr(one, name) == value]
