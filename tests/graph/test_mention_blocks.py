"""Mentions in blocks: what is read from them equals what is read from the rows of mentions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.support.clock import ManualClock
from tests.support.raw import sql

from memstore import AtLeast, Scope, Store
from memstore.database.tables import mention_blocks
from memstore.graph import alike
from memstore.store.store import file_of

NAMES = (
    *("Alice", "Alice Smith", "A. Smith", "Bob", "Bob Jones", "NYC", "New York City", "GitHub"),
    *("Git Hub", "Redis", "Postgres", "Kafka", "Dr. Smith", "San Francisco", "U.S.", "Globex"),
)
OWNERS = (Scope(), Scope(user_id="ana"), Scope(user_id="bo"), Scope(user_id="ana", agent_id="x"))


def standings(store: Store) -> list[Store]:
    owned = [store.of(one) for one in OWNERS]
    return [*owned, store.of("all"), store.of(AtLeast(user_id="ana")), store.within("other")]


def open_index(store: Store) -> None:
    store.search("Alice", touch=False)
    assert file_of(store).searches.facts.index.is_open


def read(store: Store) -> list[Any]:
    """Return what each standing sees of the graph, and of subjects and sizes."""
    found: list[Any] = []
    for one in standings(store):
        entities = one.graph.entities(limit=50)
        found += [
            one.graph.status(),
            entities,
            one.graph.entities(limit=2, offset=1),
            one.graph.likely_same(limit=50),
            [one.graph.get(entity.name) for entity in entities],
            [one.graph.neighbours(entity.name, depth=2) for entity in entities],
        ]
    return found


@pytest.mark.parametrize("seed", range(6))
def test_reads_of_blocks_equal_those_of_rows(
    open_store: Callable[..., Store],
    manual_clock: ManualClock,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    """Over memories with owners, merged names, and facts that went since the build."""
    monkeypatch.setattr(mention_blocks, "MENTIONS_IN_A_BLOCK", 7)
    store, chance = open_store(embedder=None), Random(seed)
    for place in range(60):
        some = chance.sample(NAMES, chance.randint(1, 3))
        owner = chance.choice(OWNERS)
        where = store.within("other") if place % 9 == 0 else store
        where.of(owner).add(f"{' met '.join(some)} {place}", subject=some[0])
    for left, right in (("Alice", "Alice Smith"), ("Alice", "A. Smith"), ("NYC", "New York City")):
        store.graph.merge(left, right)
    store.graph.keep_apart("Bob", "Bob Jones")
    store.graph.build()
    store.within("other").graph.build()
    before = read(store)  # without an index, rows are read
    open_index(store)
    assert read(store) == before

    ids = [fact.id for fact in store.of("all").list(tasks=True)]
    chance.shuffle(ids)
    everybody = store.of("all")
    for erased in ids[:12]:
        everybody.erase(erased)
    for gone in ids[12:18]:
        everybody.delete(gone)
    everybody.restore(ids[12])
    fresh = open_store(embedder=None)
    without_index = read(fresh)
    assert read(store) == without_index
    assert without_index != before
    open_index(fresh)
    assert read(fresh) == without_index
    assert store.file.doctor() == []


def test_an_erased_fact_is_in_no_block(store: Store, path: Path) -> None:
    kept = store.add("Alice works at GitHub", subject="alice").id
    erased = store.add("Alice likes Redis", subject="alice").id
    store.graph.build()
    (whole,) = sql(path, "SELECT facts FROM memstore_mention_blocks")
    store.erase(erased)
    (left,) = sql(path, "SELECT facts FROM memstore_mention_blocks")
    assert bytes([erased]) not in left[0]
    assert bytes([kept]) in left[0]
    assert len(left[0]) < len(whole[0])


def test_a_graph_without_blocks_is_read_by_its_rows(store: Store, path: Path) -> None:
    store.add("Alice works at GitHub", subject="alice")
    store.add("Alice Smith lives in Bonn", subject="Alice Smith")
    store.graph.build()
    open_index(store)
    there = store.graph.status(), store.graph.entities(), store.graph.likely_same()
    sql(path, "DELETE FROM memstore_mention_blocks")
    sql(path, "DELETE FROM memstore_alike_names")
    assert (store.graph.status(), store.graph.entities(), store.graph.likely_same()) == there
    assert store.file.doctor() == []


@pytest.mark.parametrize("block", ["x'ff'", "x'03'"])
@pytest.mark.parametrize("way", ["call", "plan", "owner"])
def test_a_damaged_block_keeps_no_fact_from_being_erased(
    store: Store, path: Path, way: str, block: str
) -> None:
    hers = store.of(user_id="ana")
    hers.add("Alice works at GitHub", subject="alice")
    erased = hers.add("Alice likes Redis", subject="alice").id
    hers.graph.build()
    open_index(store)
    before = read(store)
    sql(path, f"UPDATE memstore_mention_blocks SET facts = {block}")
    assert read(store) == before
    if way == "call":
        hers.erase(erased)
    elif way == "plan":
        hers.ledger.erasure(facts=[erased]).apply()
    else:
        store.of("all").ledger.erasure(owner="ana").apply()
    texts = sql(path, "SELECT content FROM memstore_facts WHERE id = ?", erased)
    assert [text for (text,) in texts if text] == []
    assert sql(path, "SELECT * FROM memstore_mention_blocks") == []
    names = {entity.name for entity in hers.graph.entities()}
    assert names == (set() if way == "owner" else {"Alice", "GitHub"})
    assert store.file.doctor() == []


DAMAGE = {
    "blocks of mentions differ": "UPDATE memstore_mention_blocks SET facts = x'0101'",
    "alike names that are missing": "UPDATE memstore_alike_names SET name_id = name_id + 50"
    " WHERE name_id = (SELECT min(name_id) FROM memstore_alike_names)",
    "not listed as alike": "DELETE FROM memstore_alike_names",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_the_doctor_finds_what_differs_from_the_mentions(
    store: Store, path: Path, what: str
) -> None:
    store.add("Alice works at GitHub", subject="alice")
    store.add("Alice Smith lives in Bonn", subject="Alice Smith")
    store.graph.build()
    assert store.file.doctor() == []
    sql(path, DAMAGE[what])
    findings = store.file.doctor()
    assert any(what in one.message and one.repairable for one in findings)
    store.file.rebuild()
    assert store.file.doctor() == []


@pytest.mark.parametrize("seed", range(20))
def test_some_names_have_the_pairs_that_they_have_among_those_alike(seed: int) -> None:
    chance = Random(seed)
    words = ("alice", "a.", "a", "smith", "bob", "of", "nyc", "new", "york", "city", "u.s.", "us")
    keys = {" ".join(chance.choices(words, k=chance.randint(1, 4))) for _ in range(40)}
    among = alike.alike_keys(keys)
    assert among <= keys
    for _ in range(10):
        shown = {key for key in keys if chance.random() < chance.random()}
        assert alike.likely_pairs(shown & among) == alike.likely_pairs(shown)


def test_ids_that_no_block_can_hold_leave_a_graph_without(store: Store, path: Path) -> None:
    store.add("Alice works at GitHub", subject="alice")
    sql(path, "UPDATE sqlite_sequence SET seq = 5000000000 WHERE name = 'memstore_facts'")
    store.add("Alice likes Redis", subject="alice")
    store.graph.build()
    assert sql(path, "SELECT * FROM memstore_mention_blocks") == []
    assert store.graph.entities()[0].facts == 2
    assert store.file.doctor() == []
