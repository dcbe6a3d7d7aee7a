"""Pinned facts: journalled, undone, passed on to a newer fact, exported, and in older files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.raw import raw

import memstore
from memstore import Conflict, NotFound, SchemaError, Store
from memstore.domain import clock
from memstore.domain.standing import Standing


def kinds(store: Store, fact_id: int) -> list[str]:
    return [line.kind for line in store.ledger.journal(fact_id) if line.fact_id == fact_id]


def test_a_pin_is_journalled_and_undone(store: Store) -> None:
    fact = store.add("deploys go through staging", subject="api")
    pinned = store.pin(fact.id)
    assert pinned.pinned_at is not None
    assert store.pin(fact.id) == pinned  # again: nothing changes
    assert [one.id for one in store.list(pinned=True)] == [fact.id]
    assert store.count(pinned=True) == 1
    assert pinned.to_dict()["pinned_at"] == clock.to_text(pinned.pinned_at)
    assert store.unpin(fact.id) == fact
    assert store.unpin(fact.id) == fact
    assert kinds(store, fact.id) == ["add", "pin", "unpin"]
    assert store.list(pinned=True) == []
    assert store.file.doctor() == []


def test_a_fact_that_supersedes_a_pinned_one_is_pinned(store: Store) -> None:
    store.pin(store.add("the port is 80", subject="api").id)
    at_once = store.add("the port is 81", subject="api", supersedes=1)
    assert at_once.pinned_at == store.get(1).pinned_at is not None
    later = store.add("the port is 82", subject="api")
    store.supersede(at_once.id, later.id)
    assert [one.id for one in store.list(pinned=True)] == [later.id]
    lines = {line.fact_id: line for line in store.ledger.journal(later.id) if line.kind == "pin"}
    assert lines.keys() == {1, later.id}
    assert lines[later.id].evidence == {"supersedes": at_once.id}
    back = store.restore(1)
    assert [one.content for one in store.list(pinned=True)] == ["the port is 80"]
    store.unpin(back.id)
    assert store.restore(at_once.id).pinned_at is None  # the newest of the chain had no pin
    assert store.file.doctor() == []


def test_a_pinned_fact_that_is_reinstated_is_pinned(store: Store) -> None:
    store.pin(store.add("tests run in CI", subject="api").id)
    store.add("tests run at night", subject="api", supersedes=1)
    assert store.reinstate(1).pinned_at is not None
    assert store.count(pinned=True) == 2


def test_a_restated_pinned_fact_stays_one_fact(store: Store) -> None:
    store.pin(store.add("make builds it", subject="api").id)
    again = store.add("make  builds it.", subject="api", unless_known=True)
    assert (again.id, again.confirmed_count, again.pinned_at is not None) == (1, 1, True)


def test_only_facts_that_hold_are_pinned(store: Store) -> None:
    store.add("one", subject="x")
    store.add("two", subject="x", supersedes=1)
    store.delete(2)
    for change in (store.pin, store.unpin):
        with pytest.raises(Conflict, match="superseded by fact 2"):
            change(1)
        with pytest.raises(Conflict, match="deleted"):
            change(2)
        with pytest.raises(NotFound):
            change(3)


def test_an_erased_fact_has_no_pin(store: Store, path: Path) -> None:
    store.pin(store.add("secret", subject="x").id)
    store.erase(1)
    with raw(path) as file:
        assert file.execute("SELECT pinned_at FROM memstore_facts").fetchall() == [(None,)]
    assert store.file.doctor() == []


def test_a_pin_is_exported_and_imported(store: Store, open_store: Callable[..., Store]) -> None:
    pinned = store.pin(store.add("make builds it", subject="api").id)
    other = open_store(":memory:")
    other.transfer.import_(store.transfer.export())
    [there] = other.list(pinned=True)
    assert there.pinned_at == pinned.pinned_at
    assert kinds(other, there.id) == ["add", "pin", "adopt"]
    assert other.file.doctor() == []


def test_pins_of_a_project_and_of_the_shared_namespace(path: Path) -> None:
    with memstore.open(path, embedder=None) as shared:
        shared.add("Ana prefers tea", subject="ana", category="preference")
    with memstore.open(path, embedder=None) as store:
        store.within("~/api").add("make builds it", subject="api")
        beside = memstore.Store(store.file, Standing("~/api", shared="default"))
        for fact_id in (1, 2):
            assert beside.pin(fact_id).pinned_at is not None
        assert {one.namespace for one in beside.list(pinned=True)} == {"~/api", "default"}
        assert [beside.unpin(fact_id).pinned_at for fact_id in (1, 2)] == [None, None]


WITHOUT_PINS = """
DROP INDEX idx_memstore_pinned;
DROP INDEX idx_memstore_used;
DROP INDEX idx_memstore_most_used;
ALTER TABLE memstore_facts DROP COLUMN pinned_at;
"""
"""Makes a file as development builds of version 7 wrote it before there were pins."""


def schema(path: Path) -> list[tuple[str, str]]:
    with raw(path) as file:
        columns = file.execute("SELECT name, type FROM pragma_table_info('memstore_facts')")
        objects = file.execute(
            "SELECT name, sql FROM sqlite_schema WHERE name <> 'memstore_facts'"
        ).fetchall()
        return sorted([*columns.fetchall(), *objects], key=str)


def test_a_file_of_version_7_without_pins_opens(
    path: Path, open_store: Callable[..., Store]
) -> None:
    store = open_store()
    store.add("make builds it", subject="api")
    store.confirm(1)
    store.close()
    before = schema(path)
    with raw(path) as file:
        file.executescript(WITHOUT_PINS)
    with pytest.raises(SchemaError, match="has an early form of schema version 7"):
        memstore.open(path, embedder=None, read_only=True)
    store = open_store()
    assert store.get(1).confirmed_count == 1
    assert store.pin(1).pinned_at is not None
    assert store.file.doctor() == []
    store.close()
    assert schema(path) == before
    with memstore.open(path, embedder=None, read_only=True) as reader:
        assert reader.count(pinned=True) == 1
