"""The store at 1,000, 10,000 and 100,000 facts: storing, searching, opening to the first answer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import memstore
from memstore import Store

from .corpus import facts, questions

SIZES = (1_000, 10_000, 100_000)
MODES = {
    "hybrid": {},
    "words": {"vector_weight": 0.0},
    "vectors": {"word_weight": 0.0},
    "subject": {"subject": "alice"},
    "metadata": {"filters": [("n", "<", 500)]},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """One file of each size, filled once."""
    folder = tmp_path_factory.mktemp("stores")
    paths = {}
    for size in SIZES:
        paths[size] = folder / f"{size}.db"
        with memstore.open(paths[size]) as store:
            store.add_many(facts(size))
    return paths


@pytest.fixture
def store(files: dict[int, Path], size: int) -> Iterator[Store]:
    with memstore.open(files[size]) as opened:
        opened.warm()
        yield opened


@pytest.mark.parametrize("size", SIZES)
def test_add_one(benchmark: BenchmarkFixture, store: Store) -> None:
    """One fact, embedded, committed."""
    new = facts(100_000, seed=1)
    benchmark.pedantic(lambda: store.add(**next(new)), rounds=200, warmup_rounds=5)


def test_add_many(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """A thousand facts, embedded, in one transaction."""
    new = list(facts(1_000))
    with memstore.open(tmp_path / "many.db") as store:
        store.add_many(new[:1])
        benchmark.pedantic(lambda: store.add_many(new), rounds=5, warmup_rounds=1)
    benchmark.extra_info["facts_per_second"] = round(1_000 / benchmark.stats.stats.median)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", SIZES)
def test_search(benchmark: BenchmarkFixture, store: Store, mode: str) -> None:
    """One natural question, ten results, vectors resident."""
    asked = cycle(questions(40))
    benchmark.pedantic(
        lambda: store.search(next(asked), touch=False, **MODES[mode]),
        rounds=40,
        warmup_rounds=5,
    )


@pytest.mark.parametrize("size", SIZES)
def test_search_batch(benchmark: BenchmarkFixture, store: Store) -> None:
    """Forty questions with one call to the embedder and one scan."""
    asked = questions(40)
    benchmark.pedantic(lambda: store.search_batch(asked, touch=False), rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("size", SIZES)
def test_open_to_first_answer(
    benchmark: BenchmarkFixture, files: dict[int, Path], size: int
) -> None:
    """A new process: import, open, load model and vectors, search, leave."""
    code = (
        f"import memstore\nwith memstore.open({str(files[size])!r}) as store:\n"
        f"    assert store.search({questions(1)[0]!r}, touch=False)"
    )
    benchmark.pedantic(
        lambda: subprocess.run([sys.executable, "-c", code], check=True),
        rounds=5,
        warmup_rounds=1,
    )
