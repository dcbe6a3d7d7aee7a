"""Machines share the texts that wait for vectors: none is embedded twice, none is left behind."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from tests.support.embedders import WordEmbedder

import memstore
from memstore import NewFact
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
            store.embed_pending()

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
        assert store.verify() == []


def test_texts_of_a_machine_that_died_are_taken_over(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memstore.open(url, embedder=None) as store:
        store.add("a boat", subject="s")
        store.add("a mast", subject="s")
        dead = leases.ItemLeases(store.file.engine)
        assert dead.take("embed memstore_fact_vectors 1", lambda _: [1]) == [1]
    with memstore.open(url, embedder=WordEmbedder()) as store:
        assert store.embed_pending().left == 1
        later = clock.utc_now() + timedelta(seconds=leases.ITEM_SECONDS + 1)
        monkeypatch.setattr(clock, "utc_now", lambda: later)
        assert store.embed_pending().left == 0
