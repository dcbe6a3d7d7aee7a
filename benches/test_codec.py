"""The codec compared with numpy's `tobytes` and `frombuffer`.

    python -m pytest benches/test_codec.py

`encode` also looks for NaN and infinities, and so does the numpy that it is compared with.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memstore._kernel import vectors as kernel

from .side_by_side import measure, ratio, table

SIZES = [(10_000, 384), (10_000, 768)]
SINGLES = 1_000


def vectors(count: int, dimension: int) -> NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal((count, dimension), dtype=np.float32)


def numpy_encode(vector: NDArray[np.float32]) -> bytes:
    if not np.isfinite(vector).all():
        raise ValueError
    return vector.tobytes()


def numpy_encode_many(matrix: NDArray[np.float32]) -> list[bytes]:
    if not np.isfinite(matrix).all():
        raise ValueError
    return [row.tobytes() for row in matrix]


def numpy_decode_many(blobs: list[bytes], dimension: int) -> NDArray[np.float32]:
    joined = np.frombuffer(b"".join(blobs), dtype="<f4")
    return joined.reshape(len(blobs), dimension).copy()


def compare(
    title: str,
    ours: Callable[[], object],
    numpys: Callable[[], object],
    benchmark: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seconds = measure({"kernel": ours, "numpy": numpys}, rounds=25, pause_seconds=0.001)
    benchmark.extra_info["kernel_to_numpy"] = round(ratio(seconds, "kernel", "numpy"), 3)
    with capsys.disabled():
        print(table(title, seconds, "kernel"))
    benchmark.pedantic(ours, rounds=20, warmup_rounds=2)


@pytest.mark.parametrize(("count", "dimension"), SIZES)
def test_encode_many_against_numpy(
    count: int, dimension: int, benchmark: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    matrix = vectors(count, dimension)
    compare(
        f"encode_many, {count:,} x {dimension}",
        lambda: kernel.encode_many(matrix),
        lambda: numpy_encode_many(matrix),
        benchmark,
        capsys,
    )


@pytest.mark.parametrize(("count", "dimension"), SIZES)
def test_decode_many_against_numpy(
    count: int, dimension: int, benchmark: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    blobs = kernel.encode_many(vectors(count, dimension))
    compare(
        f"decode_many, {count:,} x {dimension}",
        lambda: kernel.decode_many(blobs, dimension),
        lambda: numpy_decode_many(blobs, dimension),
        benchmark,
        capsys,
    )


@pytest.mark.parametrize("dimension", [384, 768])
def test_one_vector_against_numpy(
    dimension: int, benchmark: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    vector = vectors(1, dimension)[0].copy()
    blob = kernel.encode(vector)
    compare(
        f"encode and decode, {SINGLES:,} times x {dimension}",
        lambda: [kernel.decode(kernel.encode(vector)) for _ in range(SINGLES)],
        lambda: [
            (numpy_encode(vector), np.frombuffer(blob, dtype="<f4").copy()) for _ in range(SINGLES)
        ],
        benchmark,
        capsys,
    )
