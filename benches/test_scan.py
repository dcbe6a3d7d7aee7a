"""A scan beside numpy and beside just reading the bytes.

    python -m pytest benches/test_scan.py

`numpy` is what one would write without the kernel: `matrix @ query`, times the inverse lengths
(made beforehand), `argpartition`, sort. `plain read` goes once over the same float32 matrix, in the
fastest of six ways, on one thread or on as many as there are cores; it needs no answer. The scan
reads the coarse half of those bytes, and so it may be faster than reading them all.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memstore._kernel import Rows, instruction_set

from .side_by_side import measure, ratio, table

LIMIT = 10
SIZES = [(10_000, 384), (10_000, 768), (100_000, 384), (100_000, 768)]
LOAD_ROWS = 5_000


def embeddings(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    """Vectors as models give them: a direction shared by all, topics, and what is one's own."""
    random = np.random.default_rng(seed)
    topics = np.random.default_rng(0).standard_normal((300, dimension), dtype=np.float32)
    shared = np.random.default_rng(1).standard_normal(dimension, dtype=np.float32)
    matrix = random.standard_normal((count, dimension), dtype=np.float32)
    matrix += 0.8 * topics[random.integers(0, len(topics), count)]
    matrix += 0.5 * shared
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix


def resident(matrix: NDArray[np.float32]) -> Rows:
    """The rows of a matrix in one partition, their index as id."""
    rows = Rows(matrix.shape[1])
    for start in range(0, len(matrix), LOAD_ROWS):
        part = matrix[start : start + LOAD_ROWS]
        numbers = np.arange(start, start + len(part), dtype=np.int64)
        rows.put(numbers, np.zeros(len(part), dtype=np.int64), part)
    return rows


def numpy_top(
    matrix: NDArray[np.float32], inverse_lengths: NDArray[np.float32], query: NDArray[np.float32]
) -> NDArray[np.int64]:
    """The same answer with numpy, for one query."""
    cosines = (matrix @ query) * inverse_lengths
    best = np.argpartition(-cosines, LIMIT)[:LIMIT]
    return best[np.argsort(-cosines[best])]


def on_all(
    pool: ThreadPoolExecutor, reduce: Callable[[Any], object], parts: list[NDArray[Any]]
) -> object:
    return list(pool.map(reduce, parts))


def plain_reads(
    matrix: NDArray[np.float32], pool: ThreadPoolExecutor
) -> dict[str, Callable[[], object]]:
    """Ways to read every byte once, on one thread or split over those of the pool."""
    cores = os.cpu_count() or 1
    floats = matrix.reshape(-1)
    reductions: list[tuple[str, Callable[[Any], object], NDArray[Any]]] = [
        ("max of int64", np.max, floats.view(np.int64)),
        ("or of int64", np.bitwise_or.reduce, floats.view(np.int64)),
        ("max of float32", np.max, floats),
    ]
    ways: dict[str, Callable[[], object]] = {}
    for name, reduce, array in reductions:
        parts = np.array_split(array, cores)
        ways[f"{name}, 1"] = partial(reduce, array)
        ways[f"{name}, {cores}"] = partial(on_all, pool, reduce, parts)
    return ways


def fastest(ways: dict[str, Callable[[], object]]) -> tuple[str, Callable[[], object]]:
    seconds = measure(ways, rounds=7)
    name = min(ways, key=lambda name: median(seconds[name]))
    return name, ways[name]


@pytest.mark.parametrize(("count", "dimension"), SIZES)
def test_scan_beside_numpy_and_a_plain_read(
    count: int, dimension: int, benchmark: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    matrix = embeddings(count, dimension, seed=2)
    inverse_lengths = 1 / np.linalg.norm(matrix, axis=1)
    queries = embeddings(1, dimension, seed=3)
    rows = resident(matrix)
    [(found, _)] = rows.scan(queries, LIMIT)
    assert found.tolist() == numpy_top(matrix, inverse_lengths, queries[0]).tolist()

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        name, plain_read = fastest(plain_reads(matrix, pool))
        seconds = measure(
            {
                "scan": lambda: rows.scan(queries, LIMIT),
                "numpy": lambda: numpy_top(matrix, inverse_lengths, queries[0]),
                f"plain read ({name})": plain_read,
            },
            rounds=25,
        )
    benchmark.extra_info |= {
        "instruction_set": instruction_set(),
        "scan_to_numpy": round(ratio(seconds, "scan", "numpy"), 3),
        "scan_to_plain_read": round(ratio(seconds, "scan", f"plain read ({name})"), 3),
        "plain_read": name,
    }
    with capsys.disabled():
        print(table(f"{count:,} x {dimension}, one query, {instruction_set()}", seconds, "scan"))
    benchmark.pedantic(rows.scan, args=(queries, LIMIT), rounds=20, warmup_rounds=2)


@pytest.mark.parametrize("kind", ["8 queries", "32 queries", "only half", "only 500", "limit 1000"])
def test_scan_of_another_kind_beside_numpy(
    kind: str, benchmark: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    matrix = embeddings(100_000, 384, seed=2)
    rows = resident(matrix)
    inverse_lengths = 1 / np.linalg.norm(matrix, axis=1)
    several = {"8 queries": 8, "32 queries": 32}.get(kind, 1)
    queries = embeddings(several, 384, seed=3)
    limit = 1000 if kind == "limit 1000" else LIMIT
    chosen = {"only half": 50_000, "only 500": 500}.get(kind)
    only = None
    if chosen is not None:
        only = np.random.default_rng(4).permutation(len(matrix))[:chosen].astype(np.int64)

    def by_numpy() -> object:
        seen = matrix if only is None else matrix[only]
        lengths = inverse_lengths if only is None else inverse_lengths[only]
        cosines = (seen @ queries.T).T * lengths
        best = np.argpartition(-cosines, limit, axis=1)[:, :limit]
        return np.argsort(-np.take_along_axis(cosines, best, axis=1))

    seconds = measure(
        {"scan": lambda: rows.scan(queries, limit, only=only), "numpy": by_numpy}, rounds=15
    )
    benchmark.extra_info["scan_to_numpy"] = round(ratio(seconds, "scan", "numpy"), 3)
    with capsys.disabled():
        print(table(f"100,000 x 384, {kind}", seconds, "scan"))
    benchmark.pedantic(rows.scan, args=(queries, limit), kwargs={"only": only}, rounds=10)
