"""How often facts were found is written to a server without a search that waits for it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import memstore
from memstore.database.tables import facts as fact_table
from memstore.facts import use_counts

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
