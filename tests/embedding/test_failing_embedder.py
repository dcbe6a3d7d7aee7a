"""A write succeeds whenever the database works, whatever the embedding service does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.support.clock import ManualClock, wait_until
from tests.support.embedding_server import DIMENSION, MODES, EmbeddingServer, Mode

from memstore import OllamaEmbedder, Store

WRITES = 12


@pytest.fixture(autouse=True)
def _no_proxy(no_proxy: None) -> None:
    """Keep every request on this machine."""


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer.running() as running:
        yield running


@pytest.fixture
def store(server: EmbeddingServer, open_store: Callable[..., Store]) -> Store:
    return open_store(embedder="ollama", model="words", base_url=server.url)


def nothing_is_pending(store: Store) -> bool:
    status = store.status()
    return (status.episodes_pending, status.pending) == (0, 0)


def known_vectors(store: Store) -> None:
    """Record the file's model before anything fails."""
    store.episodes.add("the harbour freezes in january", source="test")
    assert store.file.embed_pending().left == 0


@pytest.mark.parametrize(
    ("mode", "known"),
    [(mode, known) for mode in MODES for known in (False, True) if known or mode != "dimensions"],
)
def test_every_write_succeeds_and_nothing_stays_pending(
    store: Store, server: EmbeddingServer, mode: Mode, known: bool, manual_clock: ManualClock
) -> None:
    if known:
        known_vectors(store)
    server.mode = mode

    asked = server.asked
    added = [
        store.episodes.add(f"parcel{n} was left with the neighbour upstairs", source="test")
        for n in range(WRITES)
    ]
    assert server.asked == asked, "the log waits for no embedder"

    # Found by words at once.
    for number, episode in enumerate(added):
        hits = store.episodes.search(f"parcel{number}", mode="words")
        assert [hit.episode.id for hit in hits] == [episode.id]

    # Background embedding runs while the embedder fails, and succeeds when it works again.
    store.file.embed_in_background(interval_seconds=5)
    if mode != "every third fails":  # that server is stopped anyway
        assert wait_until(lambda: manual_clock.advance(5) or server.asked > asked)
        server.mode = "works"
    assert wait_until(lambda: manual_clock.advance(5) or nothing_is_pending(store))
    status = store.status()
    assert (status.episodes_quarantined, status.quarantined) == (0, 0)
    server.mode = "works"

    # Found by meaning: the query has its words in another order.
    for number, episode in enumerate(added):
        best = store.episodes.search(
            f"upstairs neighbour the with left was parcel{number}", mode="meaning", limit=3
        )
        assert episode.id in [hit.episode.id for hit in best]
        assert best[0].similarity is not None
        assert best[0].similarity > 0.9
    assert store.file.doctor() == []


def test_reembedding_fixes_vectors_of_a_wrong_dimension_in_a_new_file(
    store: Store, server: EmbeddingServer
) -> None:
    """Wrong first vectors are noticed only when later ones differ."""
    server.mode = "dimensions"
    first = store.episodes.add("the harbour freezes in january", source="test")
    assert store.file.embed_pending().left == 0
    server.mode = "works"
    second = store.episodes.add("the harbour thaws in april", source="test")
    hits = store.episodes.search("harbour")
    assert {hit.episode.id for hit in hits} == {first.id, second.id}
    assert hits.words_only is not None
    assert str(2 * DIMENSION) in hits.words_only.reason

    report = store.file.reembed(OllamaEmbedder("words", base_url=server.url), again=True)
    assert report.switched
    assert report.generation.dimension == DIMENSION
    hits = store.episodes.search("in april the harbour thaws", mode="meaning")
    assert [hit.episode.id for hit in hits] == [second.id, first.id]
    assert hits.words_only is None
    assert store.file.doctor() == []


@pytest.mark.parametrize("mode", MODES)
def test_facts_are_stored_and_embedded_later(
    store: Store, server: EmbeddingServer, mode: Mode, manual_clock: ManualClock
) -> None:
    known_vectors(store)
    server.mode = mode
    server.slow_seconds = 0.1  # a fact's write may wait for an embedder that answers
    facts = [store.add(f"locker{n} is in the cellar", subject="lockers") for n in range(3)]
    for number, fact in enumerate(facts):
        assert store.search(f"locker{number}")[0].fact.id == fact.id
    server.mode = "works"
    assert wait_until(lambda: store.file.embed_pending().left == 0)
    assert all(store.get(fact.id).embedded for fact in facts)
    hits = store.search("cellar the in is locker1", word_weight=0, vector_weight=1)
    assert hits[0].fact.id == facts[1].id
    assert hits.words_only is None


@pytest.mark.parametrize("mode", ["down", "nan", "dimensions"])
def test_search_falls_back_to_words_then_newest_first_while_the_embedder_fails(
    store: Store, server: EmbeddingServer, mode: Mode
) -> None:
    known_vectors(store)
    ids = [store.episodes.add(f"box{n} stands in the attic", source="test").id for n in range(4)]
    assert store.file.embed_pending().left == 0
    server.mode = mode
    hits = store.episodes.search("box1", limit=4)
    found = [hit.episode.id for hit in hits]
    assert found[0] == ids[1]
    assert found[1:] == [ids[3], ids[2], ids[0]]
    assert hits.words_only


def test_an_embedder_that_never_answers_does_not_delay_episodes(
    store: Store, server: EmbeddingServer
) -> None:
    server.mode = "slow"
    server.slow_seconds = 3600.0
    for number in range(200):
        store.episodes.add(f"line {number}", source="test")
    assert store.status().episodes_pending == 200
    assert server.asked == 0
