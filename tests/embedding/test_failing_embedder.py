"""A write succeeds whenever the database is up, whatever the embedding service does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.embedding_server import DIMENSION, MODES, EmbeddingServer, Mode

import memstore
from memstore import OllamaEmbedder, Store

WRITES = 12
SECONDS_FOR_ALL_WRITES = 10.0
"""Far more than they need, and far less than waiting for a slow embedder would take."""

SECONDS_TO_RECOVER = 60.0


@pytest.fixture(autouse=True)
def _no_proxy(no_proxy: None) -> None:
    """Keep every request on this machine."""


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer.running() as running:
        yield running


@pytest.fixture
def store(path: Path, server: EmbeddingServer) -> Iterator[Store]:
    with memstore.open(path, embedder="ollama", base_url=server.url) as opened:
        yield opened


def eventually(holds: Callable[[], bool], seconds: float = SECONDS_TO_RECOVER) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def nothing_waits(store: Store) -> bool:
    status = store.status()
    return (status.episodes_pending, status.pending) == (0, 0)


def known_vectors(store: Store) -> None:
    """Let the file know its model before anything goes wrong."""
    store.episodes.add("the harbour freezes in january", source="test")
    assert store.embed_pending().left == 0


@pytest.mark.parametrize(
    ("mode", "known"),
    [(mode, known) for mode in MODES for known in (False, True) if known or mode != "dimensions"],
)
def test_every_write_succeeds_and_nothing_waits_in_the_end(
    store: Store, server: EmbeddingServer, mode: Mode, known: bool
) -> None:
    if known:
        known_vectors(store)
    server.mode = mode

    started = time.monotonic()
    added = [
        store.episodes.add(f"parcel{n} was left with the neighbour upstairs", source="test")
        for n in range(WRITES)
    ]
    assert time.monotonic() - started < SECONDS_FOR_ALL_WRITES

    # Found by words at once.
    for number, episode in enumerate(added):
        hits = store.episodes.search(f"parcel{number}", mode="words")
        assert [hit.episode.id for hit in hits] == [episode.id]

    # The drain runs while the embedder fails, and goes on when it works again.
    store.embed_in_background(interval_seconds=0.05)
    if mode != "every third fails":  # that one is got the better of as it is
        time.sleep(0.5)
        server.mode = "works"
    assert eventually(lambda: nothing_waits(store))
    status = store.status()
    assert (status.episodes_quarantined, status.quarantined) == (0, 0)
    server.mode = "works"

    # Found by meaning: the words of the query stand in another order and company.
    for number, episode in enumerate(added):
        best = store.episodes.search(
            f"upstairs neighbour the with left was parcel{number}", mode="meaning", limit=3
        )
        assert episode.id in [hit.episode.id for hit in best]
        assert best[0].similarity is not None
        assert best[0].similarity > 0.9
    assert store.examine() == []


def test_vectors_of_a_wrong_dimension_in_a_new_file_are_mended_by_reembedding(
    store: Store, server: EmbeddingServer
) -> None:
    """Nobody can know that the first vectors a file gets are wrong; later ones tell."""
    server.mode = "dimensions"
    first = store.episodes.add("the harbour freezes in january", source="test")
    assert store.embed_pending().left == 0
    server.mode = "works"
    second = store.episodes.add("the harbour thaws in april", source="test")
    hits = store.episodes.search("harbour")
    assert {hit.episode.id for hit in hits} == {first.id, second.id}
    assert hits.words_only is not None
    assert str(2 * DIMENSION) in hits.words_only.reason

    report = store.reembed(OllamaEmbedder(base_url=server.url), again=True)
    assert report.switched
    assert report.generation.dimension == DIMENSION
    hits = store.episodes.search("in april the harbour thaws", mode="meaning")
    assert [hit.episode.id for hit in hits] == [second.id, first.id]
    assert hits.words_only is None
    assert store.examine() == []


@pytest.mark.parametrize("mode", MODES)
def test_facts_are_stored_and_embedded_later(
    store: Store, server: EmbeddingServer, mode: Mode
) -> None:
    known_vectors(store)
    server.mode = mode
    server.slow_seconds = 1.0  # a fact's write may wait for an embedder that answers
    facts = [store.add(f"locker{n} is in the cellar", subject="lockers") for n in range(3)]
    for number, fact in enumerate(facts):
        assert store.search(f"locker{number}")[0].fact.id == fact.id
    server.mode = "works"
    assert eventually(lambda: store.embed_pending().left == 0)
    assert all(store.get(fact.id).embedded for fact in facts)
    hits = store.search("cellar the in is locker1", word_weight=0, vector_weight=1)
    assert hits[0].fact.id == facts[1].id
    assert hits.words_only is None


@pytest.mark.parametrize("mode", ["down", "nan", "dimensions"])
def test_a_search_answers_by_words_and_then_newest_first_while_the_embedder_fails(
    store: Store, server: EmbeddingServer, mode: Mode
) -> None:
    known_vectors(store)
    ids = [store.episodes.add(f"box{n} stands in the attic", source="test").id for n in range(4)]
    assert store.embed_pending().left == 0
    server.mode = mode
    hits = store.episodes.search("box1", limit=4)
    found = [hit.episode.id for hit in hits]
    assert found[0] == ids[1]
    assert found[1:] == [ids[3], ids[2], ids[0]]
    assert hits.words_only


def test_an_embedder_that_never_answers_delays_no_episode(
    store: Store, server: EmbeddingServer
) -> None:
    server.mode = "slow"
    server.slow_seconds = 3600.0
    started = time.monotonic()
    for number in range(200):
        store.episodes.add(f"line {number}", source="test")
    assert time.monotonic() - started < SECONDS_FOR_ALL_WRITES
    assert store.status().episodes_pending == 200
    assert server.asked == 0
