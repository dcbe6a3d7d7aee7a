"""Vectors as they are stored, and their cosine, for programs that keep their own.

A BLOB is float32, little-endian on every machine: ``4 * d`` bytes for ``d`` numbers, as the
original memstore writes it and as numpy reads it with ``dtype="<f4"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memstore._kernel import vectors as kernel
from memstore.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["cosine", "decode", "decode_many", "encode", "encode_many"]


def encode(vector: ArrayLike) -> bytes:
    """Return a vector as a BLOB of ``4 * d`` bytes.

    Args:
        vector: ``float32[d]``, or numbers that become that.

    Raises:
        InvalidArgument: it has no or several dimensions, or a component is NaN or infinite.
    """
    return kernel.encode(_floats(vector, 1, "vector"))


def encode_many(matrix: ArrayLike) -> list[bytes]:
    """Return each row of a matrix as a BLOB.

    Args:
        matrix: ``float32[n, d]``, or numbers that become that.

    Raises:
        InvalidArgument: it has another number of dimensions, or a component is NaN or infinite.
    """
    return kernel.encode_many(_floats(matrix, 2, "matrix"))


def decode(blob: bytes) -> NDArray[np.float32]:
    """Return the vector of a BLOB as a new ``float32[d]``, ``d = len(blob) / 4``.

    The numbers are not checked and may be NaN.

    Raises:
        InvalidArgument: the length is not a multiple of four.
        TypeError: it is not ``bytes``.
    """
    try:
        return kernel.decode(blob)
    except ValueError as error:
        raise InvalidArgument(str(error)) from None


def decode_many(blobs: Sequence[bytes], dimension: int) -> NDArray[np.float32]:
    """Return the vectors of BLOBs as a new ``float32[n, dimension]``.

    The numbers are not checked and may be NaN.

    Raises:
        InvalidArgument: a BLOB is not ``4 * dimension`` bytes.
        TypeError: they are not a sequence of ``bytes``.
    """
    try:
        return kernel.decode_many(blobs, dimension)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(str(error)) from None


def cosine(a: ArrayLike, b: ArrayLike) -> float:
    """Return the cosine of two vectors, -1 to 1; 0.0 if one is all zeros or their lengths differ.

    Summed in float64, so that no magnitude overflows or vanishes.

    Args:
        a: ``float32[d]``, or numbers that become that.
        b: the same.

    Raises:
        InvalidArgument: one has no or several dimensions, or a component is NaN or infinite.
    """
    return kernel.cosine(_floats(a, 1, "a"), _floats(b, 1, "b"))


def _floats(values: ArrayLike, dimensions: int, name: str) -> NDArray[np.float32]:
    """Return finite numbers as a contiguous array of so many dimensions."""
    try:
        with np.errstate(over="ignore"):  # beyond float32: infinite, and refused as such
            array = np.ascontiguousarray(values, dtype=np.float32)
    except (ValueError, TypeError) as error:
        raise InvalidArgument(f"must be numbers: {error}", argument=name) from None
    if np.ndim(values) != dimensions:
        raise InvalidArgument(
            f"must have {dimensions} {'dimension' if dimensions == 1 else 'dimensions'}, not "
            f"{np.ndim(values)}",
            argument=name,
        )
    if not np.isfinite(array).all():
        raise InvalidArgument("has a component that is NaN or infinite", argument=name)
    return array
