"""Vectors: the float32 little-endian codec, and cosines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore._kernel.vectors import cosine as cosine
from memstore._kernel.vectors import cosines
from memstore._kernel.vectors import cosines_of_stored as cosines_of_stored
from memstore._kernel.vectors import decode as decode
from memstore._kernel.vectors import decode_many as decode_many
from memstore._kernel.vectors import encode_many as encode_many
from memstore.errors import EmbedderUnavailable
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = memoryview[float]
    """One vector, float32: a stored BLOB as :func:`numbers` reads it."""
else:  # only embedders that return arrays need it
    np = lazy_import("numpy")


def numbers(blob: bytes) -> Vector:
    return memoryview(blob).cast("f")


def checked(vectors: object, count: int) -> NDArray[np.float32]:
    """Return an embedder's result as ``float32[count, d]``, C-contiguous and finite."""
    matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[0] != count or (count and not matrix.shape[1]):
        raise EmbedderUnavailable(
            f"the embedder returned an array of shape {matrix.shape} for {count} texts; "
            f"({count}, dimension) was expected"
        )
    if not np.isfinite(matrix).all():
        raise EmbedderUnavailable("the embedder returned NaN or infinity")
    return matrix


def similarities(query: Vector, blobs: Sequence[bytes]) -> list[float]:
    """Return the cosine of each vector with the query; 0 for a damaged one."""
    try:
        return cosines(query, blobs)
    except ValueError:
        if len(blobs) == 1:
            return [0.0]
        return [cosine for blob in blobs for cosine in similarities(query, [blob])]
