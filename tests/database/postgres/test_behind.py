"""What searches leave is written to a server without a search that waits for it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import memstore
from memstore.database.tables import facts as fact_table
from memstore.database.tables import searches as search_table
from memstore.facts import use_counts
from memstore.search import record

pytestmark = pytest.mark.process


def test_no_search_waits_until_uses_are_written(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    may_write = threading.Event()
    touch = fact_table.touch
    threads = []

    def waiting(*given: Any) -> int:
        threads.append(threading.current_thread())
        assert may_write.wait(30)
        return touch(*given)

    monkeypatch.setattr(use_counts, "MAX_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(fact_table, "touch", waiting)
    with memstore.open(url) as store:
        fact_id = store.add("the boat is red", subject="boat").id
        for _ in range(3):
            assert store.search("red boat")
        may_write.set()
    assert threads[0] is not threading.main_thread()
    with memstore.open(url) as store:
        assert store.get(fact_id).use_count == 3  # those that were gathered meanwhile, too


def test_no_search_waits_until_it_is_recorded(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    may_write = threading.Event()
    insert = search_table.insert
    threads = []

    def waiting(*given: Any) -> None:
        threads.append(threading.current_thread())
        assert may_write.wait(30)
        insert(*given)

    monkeypatch.setattr(record, "MAX_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(search_table, "insert", waiting)
    with memstore.open(url) as store:
        for number in range(3):
            store.searches.record(f"boat {number}")
        may_write.set()
        assert [one.query for one in store.searches.list()] == ["boat 2", "boat 1", "boat 0"]
    assert threads[0] is not threading.main_thread()


def test_to_a_file_it_is_written_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(record, "MAX_WAIT_SECONDS", 0.0)
    with memstore.open(tmp_path / "memory.db") as store:
        store.searches.record("boat")
        names = {thread.name for thread in threading.enumerate()}
        assert "memstore-search-record" not in names
        with memstore.open(tmp_path / "memory.db") as other:
            assert [one.query for one in other.searches.list()] == ["boat"]
