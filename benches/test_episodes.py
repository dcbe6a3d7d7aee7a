"""The log of episodes: acknowledged writes, embedder down and up; bulk; filtered search."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import memstore
from benches.engine import made
from memstore import Store

from .corpus import facts, questions
from .side_by_side import measure, table

SOURCES = ("claude-code", "cursor", "mail", "meeting")
TAGS = ("work", "home", "travel", "money", "health", "code", "people", "plans")

LOADED = 4_000

SEARCHES: dict[str, dict[str, Any]] = {
    "hybrid": {},
    "words": {"mode": "words"},
    "meaning": {"mode": "meaning"},
    "tags": {"tags": ["work", "code"]},
    "source": {"source": "mail"},
    "time": {"valid_after": "2020-01-01T00:00:00Z", "valid_before": "2021-01-01T00:00:00Z"},
    "everything": {
        "tags": ["work"],
        "source": "mail",
        "valid_after": "2016-01-01T00:00:00Z",
        "min_similarity": 0.1,
    },
    "newest first": {},
}


def episodes(count: int, seed: int = 5) -> Iterator[dict[str, Any]]:
    """Yield arguments of ``episodes.add``: one to nine sentences, tagged, over ten years."""
    chance = random.Random(seed)
    sentences = cycle(fact["content"] for fact in facts(20_000, seed))
    for _ in range(count):
        year, day = chance.randint(2015, 2025), chance.randint(1, 28)
        yield {
            "content": ". ".join(islice(sentences, chance.randint(1, 9))),
            "source": chance.choice(SOURCES),
            "tags": chance.sample(TAGS, chance.randint(0, 3)),
            "valid_at": f"{year}-{chance.randint(1, 12):02}-{day:02}T12:00:00Z",
        }


@pytest.fixture
def log(folder: Path, size: int) -> Iterator[Store]:
    """A memory of so many episodes, made and embedded once."""

    def fill(part: Path) -> None:
        with memstore.open(part) as store:
            store.episodes.add_many(episodes(size))
            assert store.file.embed_pending().left == 0

    with memstore.open(made.once(folder / f"episodes-{size}.db", fill)) as store:
        yield store


@pytest.mark.parametrize("mode", SEARCHES)
def test_search(benchmark: BenchmarkFixture, log: Store, size: int, mode: str) -> None:
    """One natural question, ten results, vectors resident."""
    benchmark.group = f"search, {size:,} episodes"
    asked = cycle([None] if mode == "newest first" else questions(40))
    log.episodes.search("warm", **SEARCHES[mode])
    benchmark.pedantic(
        lambda: log.episodes.search(next(asked), **SEARCHES[mode]), rounds=40, warmup_rounds=5
    )


def test_writes_with_the_embedder_down_and_up(tmp_path: Path) -> None:
    """A hundred episodes, each acknowledged separately; the ways take turns.

    The embedder is down (nobody listens), hangs (connections are taken and never answered), works,
    or is none. What differs is all that it costs a write.
    """
    with socket.socket() as deaf, socket.socket() as hanging:
        deaf.bind(("127.0.0.1", 0))
        hanging.bind(("127.0.0.1", 0))
        hanging.listen(50)
        options: dict[str, dict[str, Any]] = {
            "embedder works": {"embedder": "local"},
            "no embedder": {"embedder": None},
            "embedder down": {"embedder": "ollama", "base_url": _address(deaf)},
            "embedder hangs": {"embedder": "ollama", "base_url": _address(hanging)},
        }
        stores = {
            name: memstore.open(tmp_path / f"{number}.db", **option)
            for number, (name, option) in enumerate(options.items())
        }
        new = episodes(1_000_000, seed=9)

        def hundred(store: Store) -> None:
            for episode in islice(new, 100):
                store.episodes.add(**episode)

        seconds = measure(
            {name: lambda store=store: hundred(store) for name, store in stores.items()}, rounds=15
        )
        print(table("100 acknowledged episodes", seconds, "embedder works"))
        for name, times in seconds.items():
            print(f"  {name:32}{100 / sorted(times)[len(times) // 2]:11.0f} acknowledged/s")
        for store in stores.values():
            store.close()


def _address(listening: socket.socket) -> str:
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_bulk(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """Four thousand episodes in batches of a thousand, then their embeddings."""
    new = list(episodes(LOADED, seed=3))
    numbers = iter(range(100))

    def write() -> None:
        with memstore.open(tmp_path / f"{next(numbers)}.db") as store:
            for start in range(0, len(new), 1_000):
                store.episodes.add_many(new[start : start + 1_000])

    benchmark.pedantic(write, rounds=3)
    if benchmark.stats is not None:  # measured, and not only run
        benchmark.extra_info["episodes_per_second"] = round(LOADED / benchmark.stats.stats.median)


def test_embed_pending(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """The pieces of a thousand episodes through the built-in model."""
    numbers = iter(range(100))

    def waiting() -> tuple[tuple[Store], dict[str, Any]]:
        store = memstore.open(tmp_path / f"{next(numbers)}.db")
        store.episodes.add_many(episodes(1_000, seed=4))
        return (store,), {}

    def embed(store: Store) -> None:
        assert store.file.embed_pending().left == 0
        store.close()

    benchmark.pedantic(embed, setup=waiting, rounds=3)
