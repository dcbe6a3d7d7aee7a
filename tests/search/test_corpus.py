"""Both lookups of both corpora, against cosines of every vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from tests.support.embedders import WordEmbedder

from memstore import NewEpisode, NewFact, Store
from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.domain import clock
from memstore.search.corpus import Corpus, EpisodeCorpus, FactCorpus
from memstore.search.index.index import Index
from memstore.search.lookups.base import Lookup
from memstore.text import chunks

TEXTS = ["tea in the morning", "tea and rain", "rain at the harbour", "a violin", "rain rain tea"]
LONG = "lorem ipsum dolor sit amet. " * 120 + "a violin for sale"


BOTH = pytest.mark.parametrize("indexed", [True, False], ids=["index", "database"])


@contextmanager
def opened(
    store: Store, kind: type[Corpus[Any, Any]], *, indexed: bool = True
) -> Iterator[Lookup[Any]]:
    with Index(store.file.engine, kind.kind).reading() as (transaction, contents):
        assert contents is not None
        yield kind(transaction, contents if indexed else None).lookup


def cosine(left: str, right: str) -> float:
    a, b = WordEmbedder().embed([left, right]).astype(np.float64)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def vectors(*texts: str) -> Any:
    return WordEmbedder().embed(texts)


def add_facts(store: Store) -> list[int]:
    # The subject is part of the text, so that the text alone is what is embedded.
    facts = store.add_many(NewFact(content=text, subject=text.split()[0]) for text in TEXTS)
    assert store.file.embed_pending().left == 0
    return [fact.id for fact in facts]


def add_episodes(store: Store) -> list[int]:
    told = store.episodes.add_many(NewEpisode(content=text, source="t") for text in TEXTS)
    assert store.file.embed_pending().left == 0
    return [episode.id for episode in told]


def every_fact(store: Store) -> FactFilter:
    return FactFilter((store.namespace,), clock.utc_now())


def every_episode(store: Store) -> EpisodeFilter:
    return EpisodeFilter(namespaces=(store.namespace,), now=clock.utc_now())


Add = Callable[[Store], list[int]]
CORPORA = pytest.mark.parametrize(
    ("kind", "add", "every"),
    [(FactCorpus, add_facts, every_fact), (EpisodeCorpus, add_episodes, every_episode)],
    ids=["facts", "episodes"],
)


@BOTH
@CORPORA
def test_near_scans_for_several_queries_at_once(
    store: Store,
    kind: type[Corpus[Any, Any]],
    add: Add,
    every: Callable[[Store], Any],
    indexed: bool,
) -> None:
    ids = add(store)
    with opened(store, kind, indexed=indexed) as lookup:
        together = lookup.near(vectors("tea rain", "violin"), every(store), 9)
        alone = [
            lookup.near(vectors(query), every(store), 9)[0] for query in ("tea rain", "violin")
        ]
    assert together == alone
    for query, near in zip(("tea rain", "violin"), together, strict=True):
        true = {id_: cosine(query, text) for id_, text in zip(ids, TEXTS, strict=True)}
        assert near == pytest.approx({id_: c for id_, c in true.items() if c > 0}, abs=1e-6)
        assert [*near.values()] == sorted(near.values(), reverse=True)


@BOTH
@CORPORA
def test_parts_are_word_scores_and_the_exact_cosine(
    store: Store,
    kind: type[Corpus[Any, Any]],
    add: Add,
    every: Callable[[Store], Any],
    indexed: bool,
) -> None:
    ids = add(store)
    [query] = vectors("rain tea")
    with opened(store, kind, indexed=indexed) as lookup:
        parts, cosines = lookup.word_parts("rain tea", ids), lookup.cosines(query, ids)
        words = lookup.words("rain tea", every(store), 9)
    for id_, text in zip(ids, TEXTS, strict=True):
        assert cosines[id_] == pytest.approx(cosine("rain tea", text), abs=1e-6)
        of_row = parts.get(id_, {})
        assert of_row.keys() == {"rain", "tea"} & {*text.split()}
        assert sum(of_row.values()) == pytest.approx(words.get(id_, 0.0))


@CORPORA
def test_pending_row_has_no_cosine(
    store: Store, embedder: WordEmbedder, kind: type[Corpus[Any, Any]], add: Add, every: object
) -> None:
    first, *_ = add(store)
    embedder.failure = ConnectionError("asleep")
    pending = {
        FactCorpus: lambda: store.add("tea", subject="tea").id,
        EpisodeCorpus: lambda: store.episodes.add("tea", source="t").id,
    }[kind]()
    [query] = vectors("nothing alike")
    with opened(store, kind) as lookup:
        assert lookup.cosines(query, [first, pending]) == {first: pytest.approx(0, abs=1e-6)}


def test_an_episode_has_the_similarity_of_its_nearest_chunk(store: Store) -> None:
    episode = store.episodes.add(LONG, source="t")
    assert store.file.embed_pending().left == 0
    pieces = [LONG[start:stop] for start, stop in chunks.of_episode(LONG)]
    assert len(pieces) > 1
    nearest = max(cosine("violin sale", piece) for piece in pieces)
    [query] = vectors("violin sale")
    with opened(store, EpisodeCorpus) as lookup:
        cosines = lookup.cosines(query, [episode.id])
        [near] = lookup.near(query[np.newaxis], every_episode(store), 9)
    assert cosines == {episode.id: pytest.approx(nearest, abs=1e-6)}
    assert near == {episode.id: pytest.approx(nearest, abs=1e-6)}
