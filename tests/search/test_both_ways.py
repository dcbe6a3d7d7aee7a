"""The classic ranking gives one order, whether the index answers or the database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.clock import ManualClock
from tests.support.embedders import WordEmbedder
from tests.support.examples import examples
from tests.support.raw import raw

import memstore
from memstore import NewEpisode, NewFact, Store
from memstore.domain import clock

WORDS = ["tea", "rain", "harbour", "violin", "東京", "running"]
QUERIES = ["tea rain", "rain tea tea", "東京", "violin", "run to the harbour"]
MORE_THAN_CANDIDATES = 60
"""Rows that are equal: each pass keeps 50, and both have to keep the same ones."""

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
"""Of so few words that many have the same ones in another order: their vectors are equal but for
the rounding of sums."""
rows = st.lists(
    st.tuples(
        texts,
        st.sampled_from([1, 1, 1, 2, MORE_THAN_CANDIDATES]),
        st.sampled_from(["note", "event"]),
        st.sampled_from([0, 0, 1, 86_400, 40 * 86_400]),
    ),
    min_size=1,
    max_size=8,
)


class StoppedClock(ManualClock):
    """Both ways search at the same moment: a later one has other decays."""

    def utc_now(self) -> datetime:
        return self._began


def fill(store: Store, rows: list[tuple[str, int, str, int]]) -> None:
    now = clock.utc_now()
    for text, copies, category, age in rows:
        at = now - timedelta(seconds=age)
        fact = NewFact(content=text, subject="s", category=category, created_at=at)
        store.add_many([fact] * copies)
        long = text + "\n\n" + "lorem ipsum dolor. " * 90 + "\n\n" + text
        store.episodes.add_many(
            [NewEpisode(content=text if copies > 1 else long, source="s")] * copies
        )
    store.file.embed_pending()


def make_pieces_anew(store: Store, share: int) -> None:
    """Give some of the older episodes the newest pieces, as a repair does."""
    with raw(store.path) as file:
        some = f"SELECT id FROM memstore_pieces WHERE episode_id % 7 < {share}"
        file.execute(f"DELETE FROM memstore_piece_vectors WHERE piece_id IN ({some})")
        file.execute(f"DELETE FROM memstore_pieces WHERE id IN ({some})")
        file.commit()
    store.file.rebuild()
    store.file.embed_pending()


def orders(store: Store, limit: int) -> dict[Any, list[tuple[int, float]]]:
    """Return the ids and scores of what each query finds."""
    found: dict[Any, list[tuple[int, float]]] = {}
    for query in QUERIES:
        hits = store.search(query, limit=limit, ranking="classic", touch=False)
        found["fact", query] = [(hit.fact.id, hit.score) for hit in hits]
        for mode in ("hybrid", "words", "meaning"):
            said = store.episodes.search(query, limit=limit, mode=mode, ranking="classic")
            found[mode, query] = [(hit.episode.id, hit.score) for hit in said]
    return found


def without_index(store: Store, search: Callable[[Store, int], Any], limit: int) -> Any:
    store.file.save_index()  # no more background work
    indexes = [store.file.searches.facts.index, store.file.searches.episodes.index]
    held = [(index._current, index._unfit) for index in indexes]
    for index in indexes:
        index._current, index._unfit = None, True
    try:
        return search(store, limit)
    finally:
        for index, (contents, unfit) in zip(indexes, held, strict=True):
            index._current, index._unfit = contents, unfit


@pytest.mark.parametrize(
    "embedder", [WordEmbedder(), pytest.param("local", marks=pytest.mark.model)]
)
@settings(deadline=None, max_examples=examples(20), suppress_health_check=[HealthCheck.too_slow,
          HealthCheck.function_scoped_fixture])  # fmt: skip
@given(rows=rows, limit=st.sampled_from([1, 3, 10, 60]), share=st.sampled_from([0, 0, 3]))
def test_classic_has_the_same_order_with_an_index_and_without(
    embedder: Any,
    rows: list[tuple[str, int, str, int]],
    limit: int,
    share: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("ways") / "memory.db"
    with (
        clock.use(StoppedClock()),
        memstore.open(path, embedder=embedder, durability="normal") as store,
    ):
        fill(store, rows)
        if share:
            make_pieces_anew(store, share)
        assert orders(store, limit) == without_index(store, orders, limit)


@pytest.mark.parametrize("share", [0, 3])
def test_the_newest_of_many_equal_episodes_are_found(store: Store, share: int) -> None:
    said = store.episodes.add_many([NewEpisode(content="tea", source="s")] * 120)
    store.file.embed_pending()
    if share:
        make_pieces_anew(store, share)
    newest = [episode.id for episode in said[:-6:-1]]

    def found(store: Store, limit: int) -> list[int]:
        hits = store.episodes.search("tea", limit=limit, mode="meaning", ranking="classic")
        return [hit.episode.id for hit in hits]

    assert found(store, 5) == newest
    assert without_index(store, found, 5) == newest
