"""Machines share the texts that wait for vectors: none is embedded twice, none is left behind."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from tests.support.embedders import WordEmbedder
from tests.support.programs import LETTERS, Letters

import memstore
from memstore import NewFact
from memstore.database.tables import vectors
from memstore.domain import clock
from memstore.embedding import leases

pytestmark = pytest.mark.process


class Meeting(WordEmbedder):
    """Waits in its first batch until both machines have one."""

    def __init__(self, barrier: threading.Barrier) -> None:
        super().__init__()
        self._barrier: threading.Barrier | None = barrier
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str], **options: Any) -> Any:
        if self._barrier is not None:
            barrier, self._barrier = self._barrier, None
            barrier.wait(30)
        self.seen += texts
        return super().embed(texts, **options)


def test_two_machines_embed_each_text_once(url: str) -> None:
    with memstore.open(url, embedder=None) as store:
        store.add_many([NewFact(content=f"boat {n}", subject="s") for n in range(200)])
        store.episodes.add("said at the quay", source="chat")
    barrier = threading.Barrier(2)
    embedders = [Meeting(barrier), Meeting(barrier)]

    def embed(embedder: Meeting) -> None:
        with memstore.open(url, embedder=embedder) as store:
            store.file.embed_pending()

    threads = [threading.Thread(target=embed, args=(one,)) for one in embedders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    first, second = (one.seen for one in embedders)
    assert first
    assert second
    assert len(first + second) == len({*first, *second}) == 201
    with memstore.open(url, embedder=None) as store:
        assert store.status().pending == 0
        with store.file.engine.read() as transaction:
            assert transaction.scalar("SELECT count(*) FROM memstore_leases") == 0
        assert store.ledger.verify() == []


def test_texts_of_a_machine_that_died_are_taken_over(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memstore.open(url, embedder=None) as store:
        store.add("a boat", subject="s")
        store.add("a mast", subject="s")
        dead = leases.ItemLeases(store.file.engine)
        assert dead.take("embed memstore_fact_vectors 1", lambda _: [1]) == [1]
    with memstore.open(url, embedder=WordEmbedder()) as store:
        assert store.file.embed_pending().left == 1
        later = clock.utc_now() + timedelta(seconds=leases.ITEM_SECONDS + 1)
        monkeypatch.setattr(clock, "utc_now", lambda: later)
        assert store.file.embed_pending().left == 0


def test_machines_claim_different_texts_and_no_writer_waits(url: str) -> None:
    with (
        memstore.open(url, embedder=None) as store,
        memstore.open(url, embedder=None) as other,
    ):
        store.add_many([NewFact(content=f"boat {n}", subject="s") for n in range(3)])
        engine, its_engine = store.file.engine, other.file.engine
        with engine.read() as transaction:
            before = transaction.last_write
        with engine.claim() as first, its_engine.claim() as second:
            assert vectors.unclaimed(first, vectors.FACTS, 1, [1, 2]) == [1, 2]
            assert vectors.unclaimed(second, vectors.FACTS, 1, [1, 2, 3]) == [3]
            with engine.read() as transaction:
                assert transaction.last_write == before  # what others remember still holds
            store.add("a mast", subject="s")
        with engine.write():  # as during a large import
            taken = leases.ItemLeases(its_engine).take("embed", lambda _: [1, 2])
        assert taken == [1, 2]


# Ends in the middle of its first batch, never in its embedder's own time.
DYING = (
    LETTERS
    + """
import sys, time
import memstore

class Stuck(Letters):
    def embed(self, texts, **options):
        print("embedding", len(texts), flush=True)
        time.sleep(600)

memstore.open(sys.argv[1], embedder=Stuck()).file.embed_pending()
"""
)


def test_texts_of_a_machine_that_is_killed_are_taken_over(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memstore.open(url, embedder=None) as store:
        store.add_many([NewFact(content=f"boat {n}", subject="s") for n in range(300)])
    dying = subprocess.Popen([sys.executable, "-c", DYING, url], stdout=subprocess.PIPE, text=True)
    assert dying.stdout is not None
    taken = int(dying.stdout.readline().split()[1])
    dying.kill()
    dying.communicate()
    assert 0 < taken < 300
    with memstore.open(url, embedder=Letters()) as store:
        assert store.file.embed_pending().embedded == 300 - taken
        assert store.status().pending == taken
        later = clock.utc_now() + timedelta(seconds=leases.ITEM_SECONDS + 1)
        monkeypatch.setattr(clock, "utc_now", lambda: later)
        assert store.file.embed_pending().embedded == taken
        assert_each_has_one_vector(store, 300)


def test_a_machine_that_was_suspended_overwrites_nothing(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its texts were taken over meanwhile; what it brings late is not stored a second time."""

    class Suspended(Letters):
        def embed(self, texts: Sequence[str], **options: Any) -> Any:
            later = clock.utc_now() + timedelta(seconds=leases.ITEM_SECONDS + 1)
            monkeypatch.setattr(clock, "utc_now", lambda: later)
            with memstore.open(url, embedder=Letters()) as other:
                assert other.file.embed_pending().embedded == 2
            return super().embed(texts, **options)

    with memstore.open(url, embedder=None) as store:
        store.add_many([NewFact(content=f"boat {n}", subject="s") for n in range(2)])
    with memstore.open(url, embedder=Suspended()) as store:
        assert store.file.embed_pending().embedded == 0
        assert_each_has_one_vector(store, 2)


def assert_each_has_one_vector(store: memstore.Store, number: int) -> None:
    with store.file.engine.read() as transaction:
        assert transaction.scalar("SELECT count(*) FROM memstore_leases") == 0
        filled = "SELECT count(embedding) FROM memstore_fact_vectors"
        assert transaction.scalar(filled) == number
    assert store.status().pending == 0
    assert store.ledger.verify() == []
    assert store.file.doctor(deep=True) == []
