"""Many threads on one `Rows`: readers see whole batches, and the interpreter goes on meanwhile."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from memstore._kernel import Rows

BATCH = 64
DIMENSION = 48


def test_readers_see_all_of_a_put_or_nothing() -> None:
    rows = Rows(DIMENSION)
    numbers = np.arange(BATCH, dtype=np.int64)
    partitions = numbers % 5
    query = np.ones((1, DIMENSION), dtype=np.float32)
    toward = np.ones((BATCH, DIMENSION), dtype=np.float32)
    stop = threading.Event()

    def write() -> None:
        for turn in range(300):
            rows.put(numbers, (partitions + turn) % 5, toward)
            rows.put(numbers, partitions, -toward)
            rows.assign(numbers, (partitions + 1) % 5)
            if turn % 10 == 0:
                rows.drop(numbers)
        stop.set()

    def read() -> set[int]:
        seen = set()
        while not stop.is_set():
            [(found, cosines)] = rows.scan(query, 2 * BATCH)
            seen.add(len(found))
            assert (cosines > 0.999).all()
            assert len(set(found.tolist())) == len(found)
        return seen

    with ThreadPoolExecutor() as pool:
        readers = [pool.submit(read) for _ in range(3)]
        pool.submit(write).result()
        seen = set().union(*(reader.result() for reader in readers))
    assert seen <= {0, BATCH}


def test_writers_of_different_ids_lose_nothing() -> None:
    rows = Rows(8)

    def write(worker: int) -> None:
        random = np.random.default_rng(worker)
        for turn in range(100):
            numbers = np.arange(turn * 10, turn * 10 + 10, dtype=np.int64) * 8 + worker
            matrix = random.standard_normal((10, 8), dtype=np.float32)
            rows.put(numbers, numbers % 3, matrix)
            assert rows.drop(numbers[:5]) == 5

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, range(8)))
    assert len(rows) == 8 * 100 * 5


def test_arguments_may_be_changed_while_a_scan_runs() -> None:
    random = np.random.default_rng(0)
    rows = Rows(256)
    numbers = np.arange(8000, dtype=np.int64)
    rows.put(numbers, numbers % 2, random.standard_normal((8000, 256), dtype=np.float32))
    query = random.standard_normal((1, 256), dtype=np.float32)
    [(expected, _)] = rows.scan(query, 10)
    shared = query.copy()
    stop = threading.Event()

    def scribble() -> None:
        while not stop.is_set():
            shared[:] = 0
            shared[:] = query

    with ThreadPoolExecutor() as pool:
        scribbler = pool.submit(scribble)
        for _ in range(50):
            [(found, _)] = rows.scan(shared, 10)
            assert len(found) <= 10
            [(found, _)] = rows.scan(query, 10)
            assert found.tolist() == expected.tolist()
        stop.set()
        scribbler.result()


def test_scan_releases_the_gil() -> None:
    rows = Rows(512)
    matrix = np.random.default_rng(0).standard_normal((20_000, 512), dtype=np.float32)
    rows.put(np.arange(20_000, dtype=np.int64), np.zeros(20_000, dtype=np.int64), matrix)
    queries = matrix[:400].copy()
    ticks = 0
    done = threading.Event()

    def scan() -> None:
        rows.scan(queries, 10)
        done.set()

    scanner = threading.Thread(target=scan)
    scanner.start()
    while not done.wait(0.0005):
        ticks += 1
    scanner.join()
    # Whoever holds the GIL through the scan leaves room for a tick or two.
    assert ticks > 5
