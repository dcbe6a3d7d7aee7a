"""Long writes are split into short transactions."""

from __future__ import annotations

from functools import partial

import pytest
from tests.support.clock import ManualClock

from memstore import Conflict, Store
from memstore.database import short_transactions
from memstore.database.engine import Transaction
from memstore.database.short_transactions import in_groups, in_steps
from memstore.domain import clock


def test_steps_share_a_transaction_until_its_time_limit(
    store: Store, manual_clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(short_transactions, "SECONDS", 0.1)
    seen: list[tuple[int, int]] = []
    transactions: list[Transaction] = []

    def act(number: int, seconds: float, transaction: Transaction) -> None:
        if transaction not in transactions:
            transactions.append(transaction)
        seen.append((number, transactions.index(transaction)))
        manual_clock.advance(seconds)

    pauses = [0.03, 0.03, 0.05, 0.5, 0.01, 0.01]
    acts = (partial(act, *one) for one in enumerate(pauses))
    assert len([*in_steps(store.file.engine, acts)]) == 3
    assert seen == [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2), (5, 2)]
    assert [*in_steps(store.file.engine, [])] == []


def test_a_job_that_pauses_does_so_after_half_a_second_of_work(
    store: Store, manual_clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "wait", lambda _, seconds: manual_clock.advance(seconds))
    engine = store.file.engine
    times: list[float] = []

    def act(_: Transaction) -> None:
        times.append(clock.monotonic())
        manual_clock.advance(0.2)

    for _ in in_steps(engine, [act] * 7, pauses=True):
        pass
    began = times[0]
    assert [round(at - began, 2) for at in times] == [0, 0.2, 0.4, 0.71, 0.91, 1.11, 1.42]
    times.clear()
    for _ in in_steps(engine, [act] * 4):
        pass
    assert round(times[-1] - times[0], 2) == 0.6


def found(store: Store, word: str) -> list[str]:
    # What the index in the file finds, bypassing the index in memory.
    with store.file.engine.read() as transaction:
        rows = transaction.rows(
            "SELECT content FROM memstore_facts_fts WHERE memstore_facts_fts MATCH :word"
            " ORDER BY rowid",
            {"word": word},
        )
        return [str(row[0]) for row in rows]


def test_rows_written_during_a_rebuild_are_in_the_new_index(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(short_transactions, "SECONDS", 0.0)
    monkeypatch.setattr("memstore.database.sqlite.full_text.ROWS", 2)
    facts = [store.add(f"tea {n}", subject="a") for n in range(10)]
    with store.file.engine.write() as transaction:
        rebuilding = transaction.full_text.facts.rebuilding()
    for number, _ in enumerate(in_steps(store.file.engine, rebuilding)):
        store.add(f"tea in step {number}", subject="a")
        if number in (2, 5):
            store.erase(facts[1 if number == 2 else 9].id)  # one that is in it, one that is not
            assert "tea 3" in found(store, "tea")
    assert number == 7
    texts = [f"tea {n}" for n in range(10) if n not in (1, 9)]
    assert found(store, "tea") == texts + [f"tea in step {n}" for n in range(8)]
    assert store.file.doctor() == []


def test_the_next_rebuild_removes_an_interrupted_one(store: Store) -> None:
    for n in range(5):
        store.add(f"tea {n}", subject="a")
    engine = store.file.engine
    with engine.write() as transaction:
        next(iter(transaction.full_text.facts.rebuilding()))(transaction)
    store.add("tea 5", subject="a")
    assert store.file.doctor() == []
    store.file.rebuild()
    assert len(found(store, "tea")) == 6
    with engine.read() as transaction:
        left = "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%fts_new%'"
        assert transaction.scalar(left) == 0


def test_the_later_of_two_rebuilds_wins(store: Store) -> None:
    store.add("tea", subject="a")
    engine = store.file.engine
    with engine.write() as transaction:
        first, second = (iter(transaction.full_text.facts.rebuilding()) for _ in range(2))
        next(first)(transaction)
        next(second)(transaction)
    with pytest.raises(Conflict, match="another rebuild"), engine.write() as transaction:
        next(first)(transaction)
    for _ in in_steps(engine, second):
        pass
    assert found(store, "tea") == ["tea"]
    assert store.file.doctor() == []


def test_groups_keep_order_and_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_transactions, "BYTES_AT_ONCE", 5_000)
    sizes = [0, 9_000, 1_000, 1_000, 1_000, 0, 0, 0, 0, 0, 0]
    groups = [*in_groups(sizes, lambda size: size)]
    assert groups == [[0], [9_000], [1_000, 1_000], [1_000, 0, 0, 0], [0, 0, 0]]
    assert [*map(len, in_groups([0] * 7, int, most=3))] == [3, 3, 1]
    assert [*in_groups([], int)] == []


@pytest.mark.parametrize("limit", [1, 3_000, 10**9])
def test_a_rebuild_of_long_and_short_texts_finds_them_all(
    store: Store, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(short_transactions, "BYTES_AT_ONCE", limit)
    texts = [f"word{n} " + "tea \u8336 " * (n % 5 * 200) for n in range(130)]
    stored = [store.add(text, subject="a") for text in texts]
    store.delete(stored[7].id)
    told = [store.episodes.add(text, source="chat") for text in texts[:20]]
    store.file.rebuild()
    assert store.file.doctor(deep=True) == []
    assert [hit.fact.id for hit in store.search("word128")] == [stored[128].id]
    assert store.episodes.search("word19")[0].episode == told[19]
