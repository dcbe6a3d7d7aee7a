"""Categories are compared as subjects are: without regard to letter case and Unicode form."""

from __future__ import annotations

import unicodedata
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.raw import columns, raw

import memstore
from memstore import Store
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Callable

SPELLINGS = ("Préférence", "préférence", "PRÉFÉRENCE", unicodedata.normalize("NFD", "préférence"))


@pytest.fixture
def store(open_store: Callable[..., Store]) -> Store:
    opened = open_store()
    for place, category in enumerate((*SPELLINGS, "note"), 1):
        opened.add(f"tea number {place}", subject="alice", category=category)
    return opened


@pytest.mark.parametrize("asked", [*SPELLINGS, f"  {SPELLINGS[0]} "])
def test_every_spelling_finds_all(store: Store, asked: str) -> None:
    everything = [1, 2, 3, 4]
    assert [fact.id for fact in store.list(category=asked)] == everything
    assert store.count(category=asked) == 4
    assert store.count(category=asked, subject="Alice") == 4
    assert sorted(hit.fact.id for hit in store.search("tea", category=asked)) == everything
    assert store.why_not("tea", 1, category=asked).stage == "found"
    moment = store.get(3).created_at
    then = store.as_of(moment)
    assert [fact.id for fact in then.list(category=asked)] == [1, 2, 3]
    assert {hit.fact.id for hit in then.search("tea", category=asked)} == {1, 2, 3}
    assert len(store.ledger.diff("yesterday", category=asked)) == 4


def test_one_category_is_shown_as_in_its_newest_fact(store: Store) -> None:
    assert store.status().categories == {SPELLINGS[3]: 4, "note": 1}
    store.delete(4)
    assert store.status().categories == {SPELLINGS[2]: 3, "note": 1}
    assert store.status().category_count == 2


def test_a_fact_is_the_same_in_either_spelling(store: Store) -> None:
    known = store.add("tea number 1", subject="alice", category=SPELLINGS[2], unless_known=True)
    assert (known.id, known.category, known.confirmed_count) == (1, SPELLINGS[0], 1)
    newer = store.add("tea number 7", subject="alice", supersedes=1)
    assert newer.category == SPELLINGS[0]
    assert store.count(category=SPELLINGS[1]) == 4


def test_half_lives_are_by_category_in_any_spelling(open_store: Callable[..., Store]) -> None:
    store = open_store()
    store.add("tea is old", subject="a", category="Note", created_at="2020-01-01")
    store.add("tea is old", subject="b", category="note", created_at="2020-01-01")
    for lives in (None, {"NOTE": 86_400.0}, {"note": 86_400.0}):
        hits = store.search("tea", ranking="classic", half_lives_seconds=lives)
        assert len({round(hit.decay, 9) for hit in hits}) == 1
        assert hits[0].decay < 0.01
    assert all(
        hit.decay == 1 for hit in store.search("tea", ranking="classic", half_lives_seconds={})
    )


def test_what_is_about_the_user_is_so_in_any_spelling(open_store: Callable[..., Store]) -> None:
    store = open_store()
    store.add("She drinks tea", subject="alice", category="Preference")
    assert "About the user" in store.briefing().text


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["Straße", "STRASSE", "straße", "İx", "i̇x", "ǅ", "ǆ", "A", "a"])))
def test_counts_are_those_of_the_folded_names(names: list[str]) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        for place, name in enumerate(names):
            store.add(f"fact {place}", subject="s", category=name)
        held: dict[str, int] = {}
        for name in names:
            held[subject_key(name)] = held.get(subject_key(name), 0) + 1
        told = store.status().categories
        assert {subject_key(name): number for name, number in told.items()} == held
        for name in names:
            assert store.count(category=name) == held[subject_key(name)]


def test_a_fact_of_an_earlier_build_has_its_key(path: Path, open_store: Callable[..., Any]) -> None:
    """It knows no such column, and completes its rows in every other respect."""
    store = open_store()
    store.add("tea", subject="alice", category="Preference")
    with raw(path) as file:
        kept = [name for name in columns(file, "memstore_facts") if name not in NEW_IN_A_COPY]
        names = ", ".join(kept)
        file.execute(
            f"INSERT INTO memstore_facts (uuid, {names}) SELECT ?, {names} FROM memstore_facts",
            [uuid.uuid4().bytes],
        )
        file.commit()
    assert [fact.id for fact in store.list(category="PREFERENCE")] == [1, 2]
    assert store.count(category="preference") == 2
    assert store.status().categories == {"Preference": 2}
    assert not [one for one in store.file.doctor() if one.check in ("counts", "words", "schema")]


NEW_IN_A_COPY = ("id", "uuid", "category_key", "idempotency_key")

BY_SPELLING = """
DROP INDEX idx_memstore_category;
DROP INDEX idx_memstore_used;
DROP INDEX idx_memstore_most_used;
DROP INDEX idx_memstore_expiring;
DROP TRIGGER memstore_facts_changed;
DROP TRIGGER memstore_facts_foreign_ai;
DROP VIEW memstore_foreign_facts;
DROP TRIGGER memstore_facts_unkeyed_ai;
DROP VIEW memstore_unkeyed_facts;
DROP TRIGGER memstore_facts_counted_added;
DROP TRIGGER memstore_facts_counted_bd;
DROP TRIGGER memstore_facts_counted_bu;
DROP TRIGGER memstore_facts_counted_au;
DROP VIEW memstore_counts_read;
DROP VIEW memstore_facts_counted;
ALTER TABLE memstore_facts DROP COLUMN category_key;
CREATE INDEX idx_memstore_category ON memstore_facts (namespace, category);
CREATE INDEX idx_memstore_used ON memstore_facts (category);
CREATE INDEX idx_memstore_expiring ON memstore_facts (category);
CREATE TRIGGER memstore_facts_changed AFTER UPDATE OF category ON memstore_facts BEGIN
    SELECT 1;
END;
CREATE TRIGGER memstore_facts_foreign_ai AFTER INSERT ON memstore_facts BEGIN SELECT 1; END;
CREATE VIEW memstore_foreign_facts (id) AS SELECT id FROM memstore_facts;
CREATE TRIGGER memstore_facts_counted_ai AFTER INSERT ON memstore_facts BEGIN SELECT 1; END;
CREATE TRIGGER memstore_facts_counted_bd BEFORE DELETE ON memstore_facts BEGIN SELECT 1; END;
CREATE TRIGGER memstore_facts_counted_bu BEFORE UPDATE OF category ON memstore_facts BEGIN
    SELECT 1;
END;
CREATE TRIGGER memstore_facts_counted_au AFTER UPDATE OF category ON memstore_facts BEGIN
    SELECT 1;
END;
CREATE VIEW memstore_facts_counted (namespace) AS SELECT namespace FROM memstore_facts;
CREATE VIEW memstore_counts_read (namespace) AS SELECT namespace FROM memstore_facts_counted;
DELETE FROM memstore_counts;
"""
"""Makes a file in which categories are compared as they are written."""


def test_a_file_that_compares_spellings_is_completed(
    path: Path, open_store: Callable[..., Any]
) -> None:
    store = open_store()
    for category in SPELLINGS:
        store.add(f"tea in {category}", subject="alice", category=category)
    store.close()
    before = _objects(path)
    with raw(path) as file:
        file.executescript(BY_SPELLING)
    store = open_store()
    assert store.count(category=SPELLINGS[2]) == 4
    assert len(store.search("tea", category=SPELLINGS[1])) == 4
    assert store.file.doctor() == []
    store.close()
    assert _objects(path) == before


def _objects(path: Path) -> list[tuple[Any, ...]]:
    with raw(path) as file:
        columns = file.execute("SELECT name, type FROM pragma_table_info('memstore_facts')")
        objects = "SELECT name, sql FROM sqlite_schema WHERE name <> 'memstore_facts'"
        return sorted([*columns.fetchall(), *file.execute(objects).fetchall()], key=str)
