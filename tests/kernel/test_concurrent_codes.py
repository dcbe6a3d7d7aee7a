"""Many threads on one `Codes`: readers see complete batches, and the interpreter keeps running."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from memstore._kernel.codes import Codes

BATCH = 64
DIMENSION = 48


def blobs(matrix: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in matrix]


def test_readers_see_a_put_completely_or_not_at_all() -> None:
    codes = Codes(DIMENSION)
    numbers = range(BATCH)
    query = np.ones(DIMENSION, dtype=np.float32)
    toward = blobs(np.ones((BATCH, DIMENSION), dtype=np.float32))
    away = blobs(-np.ones((BATCH, DIMENSION), dtype=np.float32))
    stop = threading.Event()

    def write() -> None:
        for turn in range(300):
            codes.put(numbers, numbers, toward)
            codes.put(numbers, numbers, away)
            if turn % 10 == 0:
                codes.drop(numbers)
        stop.set()

    def read() -> set[int]:
        seen = set()
        while not stop.is_set():
            [found] = codes.scan(query.data, 2 * BATCH)
            seen.add(len(found))
        return seen

    with ThreadPoolExecutor() as pool:
        readers = [pool.submit(read) for _ in range(3)]
        pool.submit(write).result()
        seen = set().union(*(reader.result() for reader in readers))
    assert seen <= {0, BATCH}


def test_concurrent_writers_lose_nothing() -> None:
    codes = Codes(8)

    def write(worker: int) -> None:
        random = np.random.default_rng(worker)
        for turn in range(100):
            numbers = [number * 8 + worker for number in range(turn * 10, turn * 10 + 10)]
            matrix = random.standard_normal((10, 8), dtype=np.float32)
            codes.put(numbers, numbers, blobs(matrix))
            assert codes.drop(numbers[:5]) == 5

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, range(8)))
    assert len(codes) == 8 * 100 * 5


def test_changing_arguments_during_a_scan_is_safe() -> None:
    random = np.random.default_rng(0)
    codes = Codes(256)
    matrix = random.standard_normal((8000, 256), dtype=np.float32)
    codes.put(range(8000), range(8000), blobs(matrix))
    query = random.standard_normal(256, dtype=np.float32)
    expected = codes.scan(query.data, 10)
    shared = query.copy()
    stop = threading.Event()

    def scribble() -> None:
        while not stop.is_set():
            shared[:] = 0
            shared[:] = query

    with ThreadPoolExecutor() as pool:
        scribbler = pool.submit(scribble)
        for _ in range(50):
            assert len(codes.scan(shared.data, 10)) == 1
            assert codes.scan(query.data, 10) == expected
        stop.set()
        scribbler.result()


def test_scan_releases_the_gil() -> None:
    codes = Codes(512)
    matrix = np.random.default_rng(0).standard_normal((20_000, 512), dtype=np.float32)
    codes.put(range(20_000), range(20_000), blobs(matrix))
    queries = matrix[:400].copy()
    ticks = 0
    done = threading.Event()

    def scan() -> None:
        codes.scan(queries.data, 10)
        done.set()

    scanner = threading.Thread(target=scan)
    scanner.start()
    while not done.wait(0.0005):
        ticks += 1
    scanner.join()
    # If the scan held the GIL, there would be a tick or two.
    assert ticks > 5
