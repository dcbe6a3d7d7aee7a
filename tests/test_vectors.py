"""The public codec of vectors, beside numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import memstore
from memstore import InvalidArgument, vectors

FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
MATRICES = arrays.arrays(
    np.float32, arrays.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=FINITE
)


@given(MATRICES)
def test_blobs_are_little_endian_float32(matrix: Any) -> None:
    blobs = vectors.encode_many(matrix)
    assert blobs == [row.astype("<f4").tobytes() for row in matrix]
    assert blobs == [vectors.encode(row) for row in matrix.tolist()]
    read = vectors.decode_many(blobs, matrix.shape[1])
    assert read.dtype == np.float32
    assert np.array_equal(read, matrix)
    assert all(
        np.array_equal(vectors.decode(blob), row) for blob, row in zip(blobs, matrix, strict=True)
    )


@given(MATRICES)
def test_the_cosine_is_that_of_numpy(matrix: Any) -> None:
    a, b = matrix[0].astype(np.float64), matrix[-1].astype(np.float64)
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    expected = float(a @ b) / norms if norms > 1e-300 else 0.0
    found = vectors.cosine(matrix[0], matrix[-1])
    assert -1 <= found <= 1
    if norms > 1e-300 and np.all(np.isfinite([expected])):
        assert found == pytest.approx(expected, abs=1e-6)
    assert vectors.cosine([1, 0], [1, 0, 0]) == 0
    assert vectors.cosine([0, 0], [1, 0]) == 0


def test_vectors_are_reached_by_the_package_alone() -> None:
    assert memstore.vectors is vectors
    assert all(getattr(vectors, name).__doc__ for name in vectors.__all__)


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (lambda: vectors.encode([1, float("nan")]), "vector has a component that is NaN"),
        (lambda: vectors.encode([1e39]), "infinite"),
        (lambda: vectors.encode([[1, 2]]), "1 dimension, not 2"),
        (lambda: vectors.encode("text"), "vector must be numbers"),
        (lambda: vectors.encode(7), "1 dimension, not 0"),
        (lambda: vectors.encode_many([1, 2]), "2 dimensions, not 1"),
        (lambda: vectors.encode_many([[1], [1, 2]]), "matrix must be numbers"),
        (lambda: vectors.decode(b"123"), "4"),
        (lambda: vectors.decode_many([b"1234", b"12345678"], 1), "1"),
        (lambda: vectors.decode_many([], -1), "-1|negative"),
        (lambda: vectors.cosine([1], [float("inf")]), "b has a component"),
    ],
)
def test_bad_input_is_an_invalid_argument(work: Any, told: str) -> None:
    with pytest.raises(InvalidArgument, match=told):
        work()


def test_another_type_than_bytes_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        vectors.decode("1234")  # type: ignore[arg-type]
