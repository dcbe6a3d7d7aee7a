"""What one write leaves for the next, which then need not read it, is what it would have read."""

from __future__ import annotations

import random
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.support.embedders import WordEmbedder
from tests.support.random_calls import call
from tests.support.raw import raw

import memstore
from memstore import Store
from memstore.database import acts, meta
from memstore.database.sqlite.transaction import SqliteTransaction
from memstore.database.tables import generations

COPY = "new.content, 'copied', 'note', new.created_at"
INSERT = "INSERT INTO memstore_facts (content, subject, category, created_at) VALUES (?, ?, ?, ?)"


class Compared:
    """How many writes began with what was left, which is compared with the file."""

    count = 0


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Compared:
    seen, begin = Compared(), SqliteTransaction.__init__

    def begun(self: SqliteTransaction, *args: Any, left: Any = None, **given: Any) -> None:
        begin(self, *args, left=left, **given)
        if left is None:
            return
        seen.count += 1
        fresh = SqliteTransaction(self.connection)
        assert fresh.one(acts.LAST, {"levels": meta.TRUST}) == left.line

    monkeypatch.setattr(SqliteTransaction, "__init__", begun)
    return seen


def test_facts_that_are_added_one_by_one_rely_on_the_one_before(
    compared: Compared, path: Path
) -> None:
    with memstore.open(path, embedder=WordEmbedder()) as store:
        ids = [store.add(f"fact {n}", subject="ana").id for n in range(5)]
        assert ids == [1, 2, 3, 4, 5]
        assert compared.count == 4 - 1  # the first vector names the file's model
        store.delete(3)
        before = compared.count
        store.add("more", subject="ana")
        assert compared.count == before
        store.add("still more", subject="ana")
        assert compared.count == before + 1
        assert store.ledger.verify() == []


def test_the_next_write_of_a_failed_one_reads_again(compared: Compared, path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        store.add("one", subject="ana")
        with suppress(ZeroDivisionError), store._facts.writing() as transaction:
            assert transaction.next_id("memstore_facts") == 2
            raise ZeroDivisionError
        before = compared.count
        assert store.add("two", subject="ana").id == 2
        assert compared.count == before


def test_another_model_is_noticed_after_the_vectors_were_exchanged(path: Path) -> None:
    with ExitStack() as stack:
        ours, other = (
            stack.enter_context(memstore.open(path, embedder=WordEmbedder())) for _ in range(2)
        )
        assert ours.add("one", subject="ana").embedded
        assert ours.add("two", subject="ana").embedded
        with other.file.engine.write() as transaction:
            generations.record_model(transaction, generations.active(transaction).id, "other", 3)
        assert not ours.add("three", subject="ana").embedded


def test_facts_that_a_trigger_inserts_are_no_obstacle(path: Path) -> None:
    with memstore.open(path, embedder=None) as store:
        store.add("one", subject="ana")
        with raw(path) as file:
            file.execute(
                "CREATE TRIGGER planted AFTER INSERT ON memstore_facts WHEN new.subject = 'ana'"
                f" BEGIN {INSERT.replace('?, ?, ?, ?', COPY)}; END"
            )
            file.commit()
        for n in range(4):
            store.add(f"fact {n}", subject="ana")
        assert len(store.list(subject="copied")) == 4


def others_change(path: Path, rnd: random.Random) -> None:
    """Insert a fact as another program does."""
    with raw(path) as file:
        file.execute(INSERT, (f"foreign {rnd.random()}", "ben", "note", "2026-01-01T00:00:00Z"))
        file.commit()


def random_life(path: Path, seed: int) -> None:
    """Let two stores and another program write to one file, in turn."""
    rnd = random.Random(seed)
    with ExitStack() as stack:
        stores: list[Store] = [
            stack.enter_context(memstore.open(path, embedder=None)) for _ in range(2)
        ]
        for _ in range(40):
            store = rnd.choice(stores)
            chance = rnd.random()
            if chance < 0.6:
                for _ in range(rnd.randint(1, 3)):
                    store.add(f"fact {rnd.random()}", subject=rnd.choice(("ana", "ben")))
            elif chance < 0.65:
                others_change(path, rnd)
            elif chance < 0.7:
                with suppress(ZeroDivisionError), store._facts.writing():
                    raise ZeroDivisionError
            else:
                call(rnd, store)
        stores[0].add("what others inserted is adopted", subject="ana")
        assert stores[0].ledger.verify() == []


def test_random_calls_leave_what_is_there(compared: Compared, tmp_path: Path) -> None:
    for seed in range(4):
        random_life(tmp_path / f"{seed}.db", seed)
    assert compared.count > 10
