"""The codec: round trips, and refusal of anything that is not a vector."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from memstore._kernel import vectors as kernel

finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
vectors = hnp.arrays(np.float32, st.integers(0, 300), elements=finite)
matrices = hnp.arrays(np.float32, st.tuples(st.integers(0, 9), st.integers(0, 40)), elements=finite)


@given(vectors)
def test_encode_returns_little_endian_float32(vector: NDArray[np.float32]) -> None:
    assert kernel.encode(vector) == vector.astype("<f4").tobytes()


@given(vectors)
def test_decode_reverses_encode(vector: NDArray[np.float32]) -> None:
    back = kernel.decode(kernel.encode(vector))
    assert back.dtype == np.float32
    assert back.tobytes() == vector.tobytes()
    assert back.flags.writeable
    assert back.flags.aligned


@given(matrices)
def test_batch_codec_equals_single_calls(matrix: NDArray[np.float32]) -> None:
    blobs = kernel.encode_many(matrix)
    assert blobs == [kernel.encode(row) for row in matrix]
    back = kernel.decode_many(blobs, matrix.shape[1])
    assert back.shape == matrix.shape
    assert back.tobytes() == matrix.tobytes()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_encode_names_the_position_of_a_non_finite_value(bad: float) -> None:
    vector = np.ones(500, dtype=np.float32)
    vector[[321, 400]] = bad
    with pytest.raises(ValueError, match=r"vector holds .* at position 321"):
        kernel.encode(vector)
    matrix = np.ones((3, 500), dtype=np.float32)
    matrix[2] = vector
    with pytest.raises(ValueError, match=r"row 2 holds .* at position 321"):
        kernel.encode_many(matrix)


def test_decode_returns_nan_unchanged() -> None:
    assert np.isnan(kernel.decode(np.array([np.nan], dtype="<f4").tobytes())).all()


def test_decode_refuses_a_length_that_is_not_a_multiple_of_four() -> None:
    with pytest.raises(ValueError, match="7 bytes, not a multiple of 4"):
        kernel.decode(b"1234567")


def test_decode_many_names_the_blob_with_a_different_length() -> None:
    with pytest.raises(ValueError, match="blob 1 has 4 bytes, expected 8"):
        kernel.decode_many([b"12345678", b"1234"], 2)
    with pytest.raises(ValueError, match="dimension -1 is negative or too large"):
        kernel.decode_many([], -1)
    with pytest.raises(ValueError, match="is negative or too large"):
        kernel.decode_many([b""], 2**62)


wrong: list[tuple[Any, type[Exception], str]] = [
    ([1.0], TypeError, "vector must be a numpy array of float32, got list"),
    (np.ones(3), TypeError, "vector must be an array of float32, got float64"),
    (np.ones(3, dtype=">f4"), TypeError, "vector must be an array of float32, got >f4"),
    (np.ones((2, 3), dtype=np.float32), ValueError, "1 dimension.*got 2"),
    (np.ones(6, dtype=np.float32)[::2], ValueError, "C-contiguous"),
    (np.frombuffer(bytes(9), np.uint8)[1:].view(np.float32), ValueError, "aligned"),
]


@pytest.mark.parametrize(("vector", "error", "message"), wrong)
def test_encode_says_what_is_wrong_with_an_array(
    vector: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        kernel.encode(vector)


def test_wrong_dtype_error_suggests_a_remedy() -> None:
    with pytest.raises(TypeError, match=r"np\.ascontiguousarray\(vector, dtype=np\.float32\)"):
        kernel.encode(np.ones(3))  # type: ignore[arg-type]


@given(
    hnp.arrays(np.float32, 20, elements=finite),
    hnp.arrays(np.float32, 20, elements=finite),
)
def test_cosine_agrees_with_float64(a: NDArray[np.float32], b: NDArray[np.float32]) -> None:
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    lengths = float(np.linalg.norm(wide_a) * np.linalg.norm(wide_b))
    expected = float(wide_a @ wide_b) / lengths if lengths > 0 else 0.0
    assert kernel.cosine(a, b) == pytest.approx(expected, abs=1e-12)
    assert -1.0 <= kernel.cosine(a, b) <= 1.0


def test_cosine_is_zero_for_zeros_and_unequal_lengths() -> None:
    ones, zeros = np.ones(3, dtype=np.float32), np.zeros(3, dtype=np.float32)
    assert kernel.cosine(ones, zeros) == 0.0
    assert kernel.cosine(ones, ones[:2].copy()) == 0.0


@given(matrices.filter(lambda matrix: len(matrix) > 0), st.data())
def test_cosines_of_stored_vectors_are_those_of_whole_ones(
    matrix: NDArray[np.float32], data: st.DataObject
) -> None:
    whole = kernel.encode_many(matrix)
    stored = [kernel.pack(blob) if data.draw(st.booleans()) else blob for blob in whole]
    assert kernel.cosines_of_stored(matrix[0], stored) == kernel.cosines(matrix[0], whole)


def test_cosines_of_stored_vectors_leave_out_damaged_ones() -> None:
    vector = np.arange(1, 65, dtype=np.float32)
    whole = kernel.encode(vector)
    packed = kernel.pack(whole)
    assert len(packed) < len(whole)
    longer = kernel.pack(kernel.encode(np.arange(1, 129, dtype=np.float32)))
    nan = np.float32("nan").tobytes() + whole[4:]
    others = [packed[:-4], whole[:-4], longer, b"", nan, packed]
    assert kernel.cosines_of_stored(vector, others) == [None, None, None, None, 0.0, 1.0]


def test_instruction_set_is_one_of_those_implemented() -> None:
    assert kernel.instruction_set() in {"avx512", "avx2", "neon", "scalar"}
