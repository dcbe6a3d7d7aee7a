"""Codes: the rows that can be among the nearest, and the exact cosines of their vectors."""

from __future__ import annotations

import array
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore._kernel.codes import Codes
from memstore._kernel.ids import Ids
from memstore._kernel.vectors import cosine, cosines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DIMENSION = 6
DATABASE = b"0123456789abcdef"

# Small integers: many ties and many zeros.
vectors = st.lists(st.integers(-3, 3), min_size=DIMENSION, max_size=DIMENSION)
entries = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9), vectors), max_size=60)

Model = dict[int, tuple[int, bytes]]


def blob(vector: Sequence[float]) -> bytes:
    return np.array(vector, dtype="<f4").tobytes()


def nearest(model: Model, query: Sequence[float], limit: int, visible: Ids | None) -> list[int]:
    """The nearest rows, found by comparing every vector."""
    seen = [id_ for id_, (owner, _) in model.items() if visible is None or owner in visible]
    found = cosines(array.array("f", query), [model[id_][1] for id_ in seen])
    near = sorted((-cosine, id_) for cosine, id_ in zip(found, seen, strict=True) if cosine > 0)
    return [id_ for _, id_ in near[:limit]]


@given(
    entries,
    entries,
    st.lists(st.integers(0, 50), max_size=20),
    st.lists(vectors, min_size=1, max_size=3),
    st.integers(0, 40),
    st.none() | st.sets(st.integers(0, 11)),
)
def test_scan_misses_none_of_the_nearest(
    first: list[tuple[int, int, list[int]]],
    second: list[tuple[int, int, list[int]]],
    dropped: list[int],
    queries: list[list[int]],
    limit: int,
    owners: set[int] | None,
) -> None:
    codes = Codes(DIMENSION)
    model: Model = {}

    def put(batch: list[tuple[int, int, list[int]]]) -> None:
        ids, of, texts = zip(*batch, strict=True) if batch else ((), (), ())
        codes.put(ids, of, [blob(vector) for vector in texts])
        model.update({id_: (owner, blob(vector)) for id_, owner, vector in batch})

    put(first)
    assert codes.drop(dropped) == len(model.keys() & {*dropped})
    for id_ in dropped:
        model.pop(id_, None)
    put(second)
    assert len(codes) == len(model)
    visible = None if owners is None else Ids(owners)
    found = codes.scan(np.array(queries, dtype=np.float32), limit, visible)
    assert len(found) == len(queries)
    for query, ids in zip(queries, found, strict=True):
        assert {*nearest(model, query, limit, visible)} <= {*ids} <= model.keys()
        assert ids == sorted({*ids})
        assert visible is None or all(model[id_][0] in visible for id_ in ids)


@given(entries, st.lists(st.tuples(vectors, st.sets(st.integers(0, 11))), max_size=4))
def test_each_query_may_see_rows_of_its_own(
    rows: list[tuple[int, int, list[int]]], asked: list[tuple[list[int], set[int]]]
) -> None:
    codes = Codes(DIMENSION)
    ids, of, texts = zip(*rows, strict=True) if rows else ((), (), ())
    codes.put(ids, of, [blob(vector) for vector in texts])
    queries = [np.array(vector, dtype=np.float32) for vector, _ in asked]
    sets = [Ids(owners) for _, owners in asked]
    found = codes.scan(np.array(queries, dtype=np.float32), 3, sets)
    alone = [codes.scan(query, 3, ids)[0] for query, ids in zip(queries, sets, strict=True)]
    assert found == alone


def test_another_number_of_sets_than_of_queries_is_refused() -> None:
    with pytest.raises(ValueError, match="visible has 1 sets, expected 2"):
        Codes(2).scan(np.ones((2, 2), dtype=np.float32), 3, [Ids([1])])


def test_scan_returns_few_extra_candidates() -> None:
    matrix = np.random.default_rng(0).standard_normal((5000, 256), dtype=np.float32)
    codes = Codes(256)
    codes.put(range(5000), range(5000), [row.tobytes() for row in matrix])
    [found] = codes.scan(matrix[7], 10)
    assert 10 <= len(found) <= 100
    assert codes.scan(matrix[:0], 10) == []


def test_cosines_match_float64() -> None:
    matrix = np.random.default_rng(1).standard_normal((50, 300), dtype=np.float32)
    matrix[3] = 0
    matrix[4] *= 1e30
    found = cosines(matrix[0], [row.tobytes() for row in matrix])
    assert found == pytest.approx([cosine(matrix[0], row) for row in matrix], abs=1e-6)
    assert found[3] == 0


def test_saved_codes_can_be_scanned_and_changed(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    codes = Codes(2)
    codes.put([3, 1, 2], [1, 1, 2], [blob([1, 0]), blob([1, 1]), blob([0, 1])])
    path.touch()
    codes.save(path, DATABASE, 7, 41)
    opened = Codes.open(path, DATABASE, 7)
    assert (len(opened), opened.dimension, opened.position) == (3, 2, 41)
    assert opened.nbytes < 200
    assert opened.scan(array.array("f", [1, -0.1]), 3) == [[1, 3]]
    opened.put([3], [9], [blob([-1, 0])])
    assert opened.drop([2, 2, 77]) == 1
    (tmp_path / "new").touch()
    opened.save(tmp_path / "new", DATABASE, 7, 42)
    again = Codes.open(tmp_path / "new", DATABASE, 7)
    assert (len(again), again.position) == (2, 42)
    assert again.scan(array.array("f", [-1, 0, 1, 0]), 9) == [[3], [1]]
    assert again.scan(array.array("f", [-1, 0]), 9, Ids([1])) == [[]]


def test_a_file_of_another_type_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    path.touch()
    Codes(2).save(path, DATABASE, 7, 41)
    for database, generation in ((b"another database", 7), (DATABASE, 8)):
        with pytest.raises(ValueError, match="derived from something else"):
            Codes.open(path, database, generation)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="damaged"):
        Codes.open(path, DATABASE, 7)
    with pytest.raises(FileNotFoundError):
        Codes.open(tmp_path / "none", DATABASE, 7)


@pytest.mark.parametrize(
    ("ids", "owners", "blobs", "message"),
    [
        ([1], [1], [blob([1])], "vector 0 has 4 bytes, expected 8"),
        ([1, 2], [1, 2], [blob([1, 2]), blob([1, np.nan])], "vector 1 holds NaN at position 1"),
        ([1], [1, 2], [blob([1, 2])], "ids and owners must have the same length"),
        ([1], [1], [], "ids and blobs must have the same length"),
        ([-1], [1], [blob([1, 2])], "ids holds -1"),
        ([1], [2**32], [blob([1, 2])], "owners holds 4294967296"),
    ],
)
def test_refused_rows_change_nothing(
    ids: list[int], owners: list[int], blobs: list[bytes], message: str
) -> None:
    codes = Codes(2)
    with pytest.raises(ValueError, match=message):
        codes.put(ids, owners, blobs)
    assert len(codes) == 0


def test_a_query_that_is_not_a_vector_is_refused() -> None:
    codes = Codes(2)
    with pytest.raises(ValueError, match="expected vectors of dimension 2"):
        codes.scan(array.array("f", [1, 2, 3]), 1)
    with pytest.raises(ValueError, match="queries row 1 holds inf at position 0"):
        codes.scan(array.array("f", [1, 2, np.inf, 4]), 1)
    with pytest.raises(ValueError, match="limit must not be negative"):
        codes.scan(array.array("f", [1, 2]), -1)
    with pytest.raises(TypeError, match="queries must be a buffer of float32"):
        codes.scan(array.array("d", [1, 2]), 1)
    with pytest.raises(ValueError, match="C-contiguous"):
        codes.scan(np.zeros((2, 4), dtype=np.float32)[:, ::2], 1)
    with pytest.raises(ValueError, match="vector 0 has 4 bytes, expected 8"):
        cosines(array.array("f", [1, 2]), [blob([1])])
    with pytest.raises(ValueError, match="query row 0 holds NaN"):
        cosines(array.array("f", [np.nan]), [blob([1])])
    for wrong in (0, 65_537):
        with pytest.raises(ValueError, match="dimension must be 1 to 65536"):
            Codes(wrong)
