"""Subjects are compared without regard to case and normal form, and shown as written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.clock import ManualClock
from tests.support.raw import raw

import memstore
from memstore import AtLeast, NewFact, NotFound, Scope, Store
from memstore.database.tables import changed_facts
from memstore.domain import clock
from memstore.domain.status import Subject
from memstore.text.folding import claim_hash, subject_key

COMPOSED, SPLIT = "Zo\u00eb", "ZOE\u0308"


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("alice", "ALICE"),
        ("ALICE", " alice "),
        (COMPOSED, SPLIT),
        (SPLIT, COMPOSED.lower()),
        ("Straße", "STRASSE"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("東京", "東京"),
    ],
)
def test_subjects_are_matched_in_any_spelling(store: Store, written: str, asked: str) -> None:
    old = store.add("likes tea", subject=written)
    new = store.add("likes coffee", subject=asked, supersedes=old.id)
    assert [fact.subject for fact in store.history(old.id)] == [written, asked.strip()]
    assert [fact.id for fact in store.history(subject=asked)] == [old.id, new.id]
    assert store.list(subject=written) == store.list(subject=asked) == [new]
    assert [hit.fact for hit in store.search("coffee", subject=written, touch=False)] == [new]
    assert store.exists("likes coffee", subject=written)
    assert not store.exists("likes Coffee", subject=written)
    assert store.count(subject=written, active_only=False) == 2


@given(st.text(max_size=12))
def test_subject_key_is_idempotent(subject: str) -> None:
    assert subject_key(subject_key(subject)) == subject_key(subject)


@pytest.mark.parametrize("other", ["alicia", "aIice", "al ice", "\u0430lice"])
def test_different_subjects_stay_distinct(store: Store, other: str) -> None:
    store.add("likes tea", subject="alice")
    assert store.list(subject=other) == []
    assert claim_hash("alice", "tea") != claim_hash(other, "tea")


def test_spellings_are_counted_together_and_shown_as_last_written(store: Store) -> None:
    for subject in ("alice", "Bob", "ALICE", "Alice"):
        store.add(f"fact about {subject}", subject=subject)
    assert store.status().subjects == {"Alice": 3, "Bob": 1}


def test_same_text_about_one_subject_is_known(store: Store) -> None:
    first = store.add("likes tea", subject="Alice")
    new = memstore.NewFact(content="likes tea", subject="alice")
    [done] = store.ledger.apply([memstore.AddFact(fact=new, unless_known=True)])
    assert (done.known, done.fact.id) == (True, first.id)
    store.add("tea", subject="s", idempotency_key="k")
    assert store.add("tea", subject="S", idempotency_key="k").id == 2


def test_facts_of_one_subject_are_consolidated(store: Store) -> None:
    ids = [store.add(f"likes {what}", subject=name).id for what, name in (("a", "X"), ("b", "x"))]
    assert store.of().proposals.put_forward(ids, "likes a and b", {}).sources


def test_a_task_is_recognised_in_any_spelling_of_its_subject(store: Store) -> None:
    fact = store.add("brew tea", subject="Todo", metadata={"kind": "task", "status": "pending"})
    assert [task.id for task in store.tasks.list()] == [fact.id]
    assert store.tasks.update(fact.id, "completed").status == "completed"
    with pytest.raises(memstore.Conflict, match="is a task"):
        store.update_metadata(fact.id, {"status": "pending"})
    with pytest.raises(NotFound, match="is a task"):
        memstore.Memory(store).delete(fact.id)


def test_an_erased_fact_leaves_no_trace_of_its_text(store: Store, path: Path) -> None:
    store.erase(store.add("likes tea", subject="Alice").id)
    with raw(path) as file:
        row = file.execute("SELECT subject_key, claim_hash FROM memstore_facts").fetchone()
    assert row == ("", None)


def test_imported_facts_are_found_by_subject(
    store: Store, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    store.add("likes tea", subject="Alice")
    other = open_store(tmp_path / "other.db")
    other.transfer.import_(store.transfer.export())
    assert other.list(subject="ALICE")[0].subject == "Alice"
    assert other.exists("likes tea", subject="aLICE")


def test_imported_owners_and_namespaces_are_normalized(
    store: Store, open_store: Callable[..., Store], tmp_path: Path
) -> None:
    split, composed = "Zoe\u0308", "Zo\u00eb"
    store.add("likes tea", subject="s", user_id="Zoe")
    store.of(user_id="Zoe").episodes.add("words", source="s")
    lines = [
        line.replace("default", "Zoe").replace("Zoe", split) for line in store.transfer.export()
    ]
    other = open_store(tmp_path / "other.db", namespace=composed)
    other.file.import_(lines, unverified=True)
    asked = Scope(user_id=split)
    assert [fact.user_id for fact in other.of(asked).list()] == [composed]
    assert [one.namespace for one in other.of(asked).episodes.list()] == [composed]
    old = tmp_path / "mem0.json"
    old.write_text(json.dumps([{"id": "1", "memory": "likes cake", "user_id": split}]), "utf-8")
    other.transfer.import_from("mem0", old)
    assert other.of(asked).list()[-1].content == "likes cake"


def test_subjects_are_found_by_prefix(store: Store) -> None:
    for subject in ("Tea", "apple", "tea", "Türkei", "teapot", "zebra"):
        store.add(f"a fact about {subject}", subject=subject)
    store.delete(store.add("gone", subject="team").id)
    store.add("Ana's own", subject="tears", user_id="ana")
    store.within("other").add("of another namespace", subject="teal")

    def found(beginning: str, scope: Scope | None = None, limit: int = 9) -> list[str]:
        return [one.name for one in store.of(scope).subjects(beginning, limit=limit)]

    assert found("te") == found(" TE ") == ["tea", "teapot"]  # as last written
    assert found("tu\u0308") == ["Türkei"]
    assert found("te", Scope(user_id="ana")) == ["tears"]
    assert found("") == ["apple", "tea", "teapot", "Türkei", "zebra"]
    assert found("", limit=2) == ["apple", "tea"]
    assert found("teapots") == []


@pytest.mark.parametrize("many", [1, 3_000], ids=["stretches are looked up", "facts are read"])
@pytest.mark.parametrize("changed_when", ["never", "among other facts", "at last"])
def test_last_line_of_a_subject_with_many_facts(
    store: Store, monkeypatch: pytest.MonkeyPatch, changed_when: str, many: int
) -> None:
    monkeypatch.setattr(changed_facts, "FEW", 1)
    monkeypatch.setattr(changed_facts, "MANY", many)
    large = store.add_many(
        NewFact(content=f"tea {number}", subject="alice") for number in range(300)
    )
    place = large[-1].id
    line = store.ledger.changes(fact=place)[0].line
    for batch in range(3):
        store.add_many(NewFact(content=f"{batch} and {n}", subject=f"s{n}") for n in range(400))
        if (changed_when, batch) in (("among other facts", 1), ("at last", 2)):
            store.confirm(large[0].id)
            line = store.ledger.changes(fact=large[0].id)[0].line
    [first] = store.subjects(order="size", limit=1)
    assert (first.name, first.facts, first.line) == ("alice", 300, line)


@pytest.mark.parametrize("seed", range(6))
def test_subjects_are_counted_and_ordered_as_their_facts_say(
    store: Store, manual_clock: ManualClock, seed: int
) -> None:
    chance = Random(seed)
    names = [f"{beginning}{number}" for beginning in ("tea", "te", "é") for number in range(4)]
    owners = (Scope(), Scope(user_id="ana"), Scope(user_id="ana", run_id="r"), Scope(user_id="bo"))
    soon = clock.utc_now() + timedelta(hours=1)
    for number in range(120):
        owned = chance.choice(owners)
        one = store.of("all").add(
            f"{number} says so",
            subject=chance.choice(names),
            category=chance.choice(["note", "world"]),
            source=chance.choice([None, "web:bad"]),
            expired_at=chance.choice([None, None, soon]),
            user_id=owned.user_id,
            run_id=owned.run_id,
        )
        if chance.random() < 0.2:
            store.of("all").delete(one.id)
    store.sources.distrust("web:bad")
    manual_clock.advance(7_200)
    for standing in (
        store,
        store.of("all"),
        store.of(user_id="ana"),
        store.of(AtLeast(user_id="ana")),
    ):
        facts = standing.list(limit=1000)
        right = Counter(fact.subject for fact in facts)
        for beginning in ("", "te", "tea", "é", "x"):
            meant = {name: number for name, number in right.items() if name.startswith(beginning)}
            by_name = sorted(meant.items())
            by_size = sorted(meant.items(), key=lambda one: (-one[1], one[0]))
            for order, expected in (("name", by_name), ("size", by_size)):
                assert _pages(standing, beginning, order, chance.randint(1, 5)) == expected
        changed = {one.name: one.facts for one in standing.subjects(order="changed", limit=99)}
        assert changed == right
        shown = standing.status()
        assert (shown.subjects, shown.subject_count) == (right, len(right))
        assert shown.categories == Counter(fact.category for fact in facts)


def _pages(store: Store, beginning: str, order: str, limit: int) -> list[tuple[str, int]]:
    """Return all subjects and their numbers, read in pages."""
    found: list[Subject] = []
    while page := store.subjects(
        beginning, order=order, after=found[-1] if found else None, limit=limit
    ):
        found += page
    return [(one.name, one.facts) for one in found]
