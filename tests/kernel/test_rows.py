"""Resident rows: what is put is found, by the cosine, where it was put."""

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.support.naive_rows import NaiveRows, ids

from memstore import _kernel
from memstore._kernel import Rows

DIMENSION = 5
STATM = Path("/proc/self/statm")

# A product of float32 vectors that is zero exactly may come out as something this small.
ROUNDING = 1e-6

# Small integers: many ties and many zeros.
components = st.lists(st.integers(-3, 3), min_size=DIMENSION, max_size=DIMENSION)
vectors = components.map(lambda values: np.array(values, dtype=np.float32))
entries = st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 3), vectors), max_size=60)
id_sets = st.none() | st.lists(st.integers(-55, 55), max_size=60)


def put(rows: Rows, naive: NaiveRows, batch: list[tuple[int, int, NDArray[np.float32]]]) -> None:
    matrix = np.array([vector for _, _, vector in batch], dtype=np.float32)
    rows.put(
        ids(*(row_id for row_id, _, _ in batch)),
        ids(*(partition for _, partition, _ in batch)),
        matrix.reshape(len(batch), DIMENSION),
    )
    naive.rows.update({row_id: (partition, vector) for row_id, partition, vector in batch})


def resident_bytes() -> int:
    return int(STATM.read_text().split()[1]) * mmap.PAGESIZE


def random_rows(count: int, dimension: int, seed: int = 0) -> tuple[Rows, NDArray[np.float32]]:
    matrix = np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)
    rows = Rows(dimension)
    rows.put(np.arange(count, dtype=np.int64), np.zeros(count, dtype=np.int64), matrix)
    return rows, matrix


@given(
    entries,
    st.lists(vectors, min_size=1, max_size=3),
    st.integers(0, 70),
    st.none() | st.lists(st.integers(0, 5), max_size=4),
    id_sets,
    st.booleans(),
)
def test_scan_agrees_with_the_naive_rows(
    batch: list[tuple[int, int, NDArray[np.float32]]],
    queries: list[NDArray[np.float32]],
    limit: int,
    partitions: list[int] | None,
    listed: list[int] | None,
    excluding: bool,
) -> None:
    rows, naive = Rows(DIMENSION), NaiveRows()
    put(rows, naive, batch)
    key = "excluding" if excluding else "only"
    filters = {"partitions": partitions, key: listed}
    arrays = {name: ids(*value) for name, value in filters.items() if value is not None}
    found = rows.scan(np.array(queries), limit, **arrays)
    visible = naive.visible(**filters)
    assert len(found) == len(queries)
    for query, (found_ids, cosines) in zip(queries, found, strict=True):
        exact = naive.cosines(query, visible)
        sure = sorted((value for value in exact.values() if value > ROUNDING), reverse=True)
        assert found_ids.dtype == np.int64
        assert cosines.dtype == np.float32
        assert min(limit, len(sure)) <= len(found_ids) <= limit
        assert cosines == pytest.approx([exact[i] for i in found_ids.tolist()], abs=ROUNDING)
        assert cosines[: len(sure)] == pytest.approx(sure[:limit], abs=ROUNDING)
        order = list(zip((-cosines).tolist(), found_ids.tolist(), strict=True))
        assert order == sorted(order)


@given(entries, entries, st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 3)), max_size=20))
def test_rows_agree_with_a_dictionary_after_changes(
    first: list[tuple[int, int, NDArray[np.float32]]],
    second: list[tuple[int, int, NDArray[np.float32]]],
    moves: list[tuple[int, int]],
) -> None:
    rows, naive = Rows(DIMENSION), NaiveRows()
    put(rows, naive, first)
    gone = {row_id for row_id, _, _ in second[::2]}
    assert rows.drop(ids(*gone)) == len(gone & naive.rows.keys())
    naive.rows = {row_id: row for row_id, row in naive.rows.items() if row_id not in gone}
    put(rows, naive, second)
    moved = 0
    for row_id, partition in moves:
        if row_id in naive.rows:
            moved += naive.rows[row_id][0] != partition
            naive.rows[row_id] = (partition, naive.rows[row_id][1])
    assert rows.assign(ids(*(m[0] for m in moves)), ids(*(m[1] for m in moves))) == moved
    assert len(rows) == len(naive.rows)
    query = np.ones(DIMENSION, dtype=np.float32)
    for partition in range(4):
        [(found, _)] = rows.scan(query[None], 999, partitions=ids(partition))
        expected = naive.cosines(query, naive.visible(partitions=[partition]))
        sure = {row_id for row_id, value in expected.items() if value > ROUNDING}
        assert sure <= set(found.tolist()) <= set(naive.visible(partitions=[partition]))


def test_put_blobs_agrees_with_put() -> None:
    rows, matrix = random_rows(200, 33)
    blobs = Rows(33)
    numbers = np.arange(200, dtype=np.int64)
    blobs.put_blobs(numbers, np.zeros(200, dtype=np.int64), _kernel.encode_many(matrix))
    [(expected, expected_cosines)] = rows.scan(matrix[:1], 50)
    [(found, cosines)] = blobs.scan(matrix[:1], 50)
    assert found.tolist() == expected.tolist()
    assert cosines.tolist() == expected_cosines.tolist()


def test_put_replaces_and_moves_a_row() -> None:
    rows = Rows(2)
    rows.put(ids(1, 2), ids(7, 7), np.eye(2, dtype=np.float32))
    rows.put(ids(1), ids(8), np.array([[1, 1]], dtype=np.float32))
    query = np.array([[1, 0]], dtype=np.float32)
    assert len(rows) == 2
    assert rows.scan(query, 9, partitions=ids(7))[0][0].tolist() == []
    [(found, cosines)] = rows.scan(query, 9, partitions=ids(8))
    assert found.tolist() == [1]
    assert cosines == pytest.approx([2**-0.5])


def test_put_keeps_the_last_of_a_repeated_id() -> None:
    rows = Rows(2)
    rows.put(ids(1, 1), ids(0, 3), np.eye(2, dtype=np.float32))
    assert len(rows) == 1
    assert rows.similarity(np.array([0, 1], dtype=np.float32), ids(1)).tolist() == [1.0]
    assert rows.scan(np.array([[0, 1]], dtype=np.float32), 1, partitions=ids(0))[0][0].size == 0


def test_scan_orders_ties_by_the_smaller_id() -> None:
    rows = Rows(3)
    order = np.random.default_rng(0).permutation(500).astype(np.int64)
    rows.put(order, order % 7, np.ones((500, 3), dtype=np.float32))
    [(found, _)] = rows.scan(np.ones((1, 3), dtype=np.float32), 20)
    assert found.tolist() == list(range(20))


def test_scan_of_many_rows_agrees_with_numpy() -> None:
    rows, matrix = random_rows(20_000, 96)
    queries = np.random.default_rng(1).standard_normal((4, 96), dtype=np.float32)
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1)
    for query, (found, cosines) in zip(queries, rows.scan(queries, 25), strict=True):
        exact = matrix.astype(np.float64) @ query / (lengths * np.linalg.norm(query))
        assert cosines == pytest.approx(np.sort(exact)[::-1][:25], abs=2e-6)
        assert cosines == pytest.approx(exact[found], abs=2e-6)
        assert rows.similarity(query, found).tolist() == cosines.tolist()


@pytest.mark.parametrize("scale", [3e38, 1e25, 1e-25, 1e-40])
def test_scan_does_not_depend_on_magnitude(scale: float) -> None:
    matrix = np.random.default_rng(3).uniform(-1, 1, (50, 200))
    scaled = (matrix * scale).astype(np.float32)
    rows = Rows(200)
    rows.put(np.arange(50, dtype=np.int64), np.zeros(50, dtype=np.int64), scaled)
    [(found, cosines)] = rows.scan(scaled[7:8], 1)
    assert found.tolist() == [7]
    assert cosines == pytest.approx([1.0], abs=1e-6)


def test_similarity_is_zero_for_zeros_and_for_ids_that_are_not_here() -> None:
    rows = Rows(2)
    rows.put(ids(1, 2, 3), ids(0, 0, 0), np.array([[1, 0], [0, 0], [-2, 0]], dtype=np.float32))
    query = np.array([5, 0], dtype=np.float32)
    assert rows.similarity(query, ids(3, 99, 2, 1)).tolist() == [-1.0, 0.0, 0.0, 1.0]


def test_drop_counts_and_clear_empties() -> None:
    rows, _ = random_rows(10, 4)
    assert rows.nbytes > 0
    assert rows.drop(ids(3, 3, 77)) == 1
    assert len(rows) == 9
    rows.clear()
    assert (len(rows), rows.nbytes, rows.dimension) == (0, 0, 4)


@pytest.mark.skipif(not STATM.exists(), reason="resident memory is read from /proc")
def test_many_small_partitions_stay_small() -> None:
    matrix = np.random.default_rng(0).standard_normal((10_000, 384), dtype=np.float32)
    numbers = np.arange(len(matrix), dtype=np.int64)
    rows = Rows(384)
    before = resident_bytes()
    for start in range(0, len(matrix), 50):
        part = slice(start, start + 50)
        rows.put(numbers[part], numbers[part] // 5, matrix[part])
    assert rows.nbytes < 1.05 * matrix.nbytes
    # Five rows have room for eight, and the allocator keeps some for itself.
    assert resident_bytes() - before < 2.5 * matrix.nbytes


def test_put_takes_nothing_of_a_refused_batch() -> None:
    rows = Rows(2)
    bad = np.array([[1, 2], [np.nan, 0]], dtype=np.float32)
    with pytest.raises(ValueError, match="vector 1 holds NaN at position 0"):
        rows.put(ids(1, 2), ids(0, 0), bad)
    with pytest.raises(ValueError, match="vector 1 holds NaN at position 0"):
        rows.put_blobs(ids(1, 2), ids(0, 0), [bad[0].tobytes(), bad[1].tobytes()])
    with pytest.raises(ValueError, match="blob 1 has 4 bytes, expected 8"):
        rows.put_blobs(ids(1, 2), ids(0, 0), [bytes(8), bytes(4)])
    assert len(rows) == 0


def test_wrong_arguments_are_refused_by_name() -> None:
    rows = Rows(2)
    two: Any = np.ones((1, 2), dtype=np.float32)
    three: Any = np.ones((1, 3), dtype=np.float32)
    for dimension in (0, -1, 65_537, 2**63 - 1):
        with pytest.raises(ValueError, match=f"dimension must be 1 to 65536, got {dimension}"):
            Rows(dimension)
    with pytest.raises(ValueError, match="vectors has dimension 3, expected 2"):
        rows.put(ids(1), ids(1), three)
    with pytest.raises(ValueError, match="queries has dimension 3, expected 2"):
        rows.scan(three, 1)
    with pytest.raises(ValueError, match="query has dimension 3, expected 2"):
        rows.similarity(three[0], ids(1))
    with pytest.raises(ValueError, match="ids and partitions must have the same length, got 2"):
        rows.put(ids(1, 2), ids(1), two)
    with pytest.raises(ValueError, match="ids and vectors must have the same length, got 2 and 1"):
        rows.put(ids(1, 2), ids(1, 1), two)
    with pytest.raises(ValueError, match="only or excluding, not both"):
        rows.scan(two, 1, only=ids(1), excluding=ids(2))
    with pytest.raises(ValueError, match="limit must not be negative, got -1"):
        rows.scan(two, -1)
    with pytest.raises(ValueError, match="queries row 0 holds inf at position 0"):
        rows.scan(two * np.float32(np.inf), 1)
    with pytest.raises(TypeError, match="ids must be an array of int64, got int32"):
        rows.drop(np.array([1], dtype=np.int32))
