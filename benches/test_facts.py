"""The harness for large fact counts: writes, searches and the kernel's parts.

    python -m pytest benches --benchmark-only
    python -m pytest benches --benchmark-only --facts 1000000 --benchmark-autosave
    python -m pytest benches --benchmark-only --benchmark-compare

A search is what a user gets: through the library, with flags of newer facts. Where there is a
rival, it is in the same group, and both are given the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

import memstore
from benches.engine import made
from benches.language import facts, questions
from memstore import Store
from memstore._kernel import vectors as kernel
from memstore._kernel.codes import Codes
from memstore._kernel.ranking import classic

ASKED = 50
FEW = 100
"""Rounds of what takes a fraction of a millisecond."""
AT_ONCE = 1_000
VECTORS = 10_000
LOADED = 4_000
BATCH = 1_000
CANDIDATES = 200
NEAREST = 10
DIMENSION = made.MODEL_DIMENSION

SEARCHES: dict[str, dict[str, Any]] = {
    "hybrid": {},
    "classic": {"ranking": "classic"},
    "words": {"word_weight": 1.0, "vector_weight": 0.0},
    "meaning": {"word_weight": 0.0, "vector_weight": 1.0},
    "subject": {"subject": "subject 7"},
    "category": {"category": "project"},
    "metadata": {"filters": {"project": "garden"}},
    "every namespace": {"namespaces": "all"},
    "after a time": {"created_after": "2026-01-01T00:00:00Z"},
    "with superseded": {"active_only": False},
}


def new_facts(seed: int) -> Iterator[dict[str, Any]]:
    """Yield facts that no memory has."""
    for number, fact in enumerate(facts(1_000_000)):
        del fact["created_at"]
        yield fact | {"content": f"{fact['content']} {seed}-{number}"}


# -- writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_add(
    benchmark: BenchmarkFixture, growing: Store, size: int, durability: Any, tmp_path: Path
) -> None:
    """One fact, acknowledged and embedded."""
    benchmark.group = f"add, {size:,} facts"
    new = new_facts(1)
    with memstore.open(growing.path, durability=durability) as store:
        store.file.warm()
        benchmark.pedantic(lambda: store.add(**next(new)), rounds=FEW, warmup_rounds=10)


def test_supersede(benchmark: BenchmarkFixture, growing: Store, size: int) -> None:
    """One fact that replaces another one."""
    benchmark.group = f"add, {size:,} facts"
    new, old = new_facts(2), iter(growing.list(limit=2 * FEW))

    def replace() -> None:
        growing.add(**next(new), supersedes=next(old).id, any_subject=True)

    benchmark.pedantic(replace, rounds=FEW, warmup_rounds=10)


def test_add_many(benchmark: BenchmarkFixture, growing: Store, size: int) -> None:
    """A thousand facts in one call."""
    benchmark.group = f"add many, {size:,} facts"
    new = new_facts(3)
    benchmark.pedantic(growing.add_many, setup=lambda: (([*islice(new, AT_ONCE)],), {}), rounds=3)
    note_rate(benchmark, AT_ONCE)


def test_bulk_load(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """Four thousand facts into a new memory, a thousand at a time."""
    benchmark.group = "bulk load"
    names, rows = count(), [*facts(LOADED)]

    def load() -> None:
        with memstore.open(tmp_path / f"{next(names)}.db") as store:
            for start in range(0, LOADED, BATCH):
                store.add_many(rows[start : start + BATCH])

    benchmark.pedantic(load, rounds=3)
    note_rate(benchmark, LOADED)


def note_rate(benchmark: BenchmarkFixture, number: int) -> None:
    if benchmark.stats is not None:  # measured, and not only run
        benchmark.extra_info["facts_per_second"] = round(number / benchmark.stats.stats.median)


# -- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", SEARCHES)
def test_search(benchmark: BenchmarkFixture, store: Store, size: int, way: str) -> None:
    """A natural question, ten results, the index resident."""
    benchmark.group = f"search, {size:,} facts"
    asked = cycle(questions(ASKED))
    benchmark.pedantic(
        lambda: store.search(next(asked), touch=False, **SEARCHES[way]),
        rounds=ASKED,
        warmup_rounds=5,
    )


def test_first_search(benchmark: BenchmarkFixture, path: Path, size: int) -> None:
    """Opening the file, and the first question."""
    benchmark.group = f"search, {size:,} facts"
    asked = cycle(questions(ASKED))

    def first() -> None:
        with memstore.open(path) as store:
            store.search(next(asked), touch=False)

    benchmark.pedantic(first, rounds=10, warmup_rounds=1)


READS: dict[str, Callable[[Store, str], object]] = {
    "recall": lambda store, asked: store.recall(asked, max_tokens=500, touch=False),
    "list of a subject": lambda store, _: store.list(subject="subject 7"),
    "newest 20": lambda store, _: store.list(limit=20, newest_first=True),
    "counts": lambda store, _: store.counts(),
    "status": lambda store, _: store.status(),
    "briefing": lambda store, _: store.briefing(),
}


@pytest.mark.parametrize("what", READS)
def test_read(benchmark: BenchmarkFixture, store: Store, size: int, what: str) -> None:
    """What a session or a page reads."""
    benchmark.group = f"read, {size:,} facts"
    asked = cycle(questions(ASKED))
    benchmark.pedantic(lambda: READS[what](store, next(asked)), rounds=20, warmup_rounds=2)


# -- the kernel's parts ---------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["memstore", "numpy"])
def test_scan(benchmark: BenchmarkFixture, folder: Path, size: int, by: str) -> None:
    """The nearest vectors of a question: codes and exact cosines, beside a plain product."""
    benchmark.group = f"scan, {size:,} vectors of {DIMENSION}"
    rows = made.matrix(folder, size, DIMENSION)
    asked = cycle(made.asked_vectors(ASKED, DIMENSION))
    if by == "numpy":

        def nearest() -> object:
            cosines = rows @ next(asked)
            few = np.argpartition(-cosines, NEAREST)[:NEAREST]
            return few[np.argsort(-cosines[few])]

    else:
        codes = Codes.open(made.codes_file(folder, rows), made.DATABASE, 0)

        def nearest() -> object:
            question = next(asked)
            [ids] = codes.scan(question, NEAREST)
            blobs = [rows[id_ - 1].tobytes() for id_ in ids]
            cosines = kernel.cosines(question, blobs)
            return sorted(zip(cosines, ids, strict=True), reverse=True)[:NEAREST]

    benchmark.pedantic(nearest, rounds=ASKED, warmup_rounds=5)


@pytest.mark.parametrize("by", ["memstore", "python"])
def test_merge(benchmark: BenchmarkFixture, by: str) -> None:
    """The scores of two hundred candidates by words and as many by meaning, merged and ordered."""
    benchmark.group = "merge"
    chance = np.random.default_rng(5)
    words = [(int(id_), -float(score)) for id_, score in _scored(chance)]
    vectors = [(int(id_), float(score)) for id_, score in _scored(chance)]
    decays = [(id_, 86_400.0 * (id_ % 90), 2_592_000.0) for id_, _ in words]
    merge = classic if by == "memstore" else plain_merge
    benchmark(
        lambda: merge(words, vectors, decays, word_weight=0.6, vector_weight=0.4, limit=NEAREST)
    )


def _scored(chance: np.random.Generator) -> Iterator[tuple[Any, Any]]:
    ids = chance.choice(5 * CANDIDATES, CANDIDATES, replace=False)
    return zip(ids, chance.random(CANDIDATES), strict=True)


def plain_merge(
    words: list[tuple[int, float]],
    vectors: list[tuple[int, float]],
    decays: list[tuple[int, float, float]],
    *,
    word_weight: float,
    vector_weight: float,
    limit: int,
) -> list[tuple[int, float]]:
    """Merge as the docstring of the kernel's ``classic`` says, in plain Python."""
    most = max((-score for _, score in words), default=0.0)
    by_words = {id_: max(-score, 0.0) / most if most > 0 else 0.0 for id_, score in words}
    by_vectors = {id_: min(max(score, 0.0), 1.0) for id_, score in vectors}
    ages = {id_: 0.5 ** (max(age, 0.0) / half) for id_, age, half in decays if half > 0}
    merged = [
        (
            id_,
            (word_weight * by_words.get(id_, 0.0) + vector_weight * by_vectors.get(id_, 0.0))
            * ages.get(id_, 1.0),
        )
        for id_ in {*by_words, *by_vectors}
    ]
    return sorted(merged, key=lambda one: (-one[1], one[0]))[:limit]


def numpy_encode(matrix: NDArray[np.float32], _dimension: int) -> list[bytes]:
    if not np.isfinite(matrix).all():
        raise ValueError
    return [row.tobytes() for row in matrix]


def numpy_decode(blobs: list[bytes], dimension: int) -> NDArray[np.float32]:
    joined = np.frombuffer(b"".join(blobs), dtype="<f4")
    return joined.reshape(len(blobs), dimension).copy()


CODECS: dict[str, dict[str, Callable[[Any, int], object]]] = {
    "encode": {
        "memstore": lambda matrix, _dimension: kernel.encode_many(matrix),
        "numpy": numpy_encode,
    },
    "decode": {"memstore": kernel.decode_many, "numpy": numpy_decode},
}


@pytest.mark.parametrize("by", ["memstore", "numpy"])
@pytest.mark.parametrize("dimension", [DIMENSION, 768])
@pytest.mark.parametrize("way", CODECS)
def test_codec(benchmark: BenchmarkFixture, way: str, dimension: int, by: str) -> None:
    """Ten thousand vectors as little-endian float32, checked for NaN when they are written."""
    benchmark.group = f"{way} {VECTORS:,} vectors of {dimension}"
    matrix = np.random.default_rng(0).standard_normal((VECTORS, dimension), dtype=np.float32)
    given = matrix if way == "encode" else kernel.encode_many(matrix)
    benchmark.pedantic(CODECS[way][by], (given, dimension), rounds=10, warmup_rounds=1)
