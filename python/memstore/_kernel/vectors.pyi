"""Vectors as bytes, and their cosines."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

__all__ = [
    "cosine", "cosines", "cosines_of_stored", "decode", "decode_many", "encode", "encode_many",
    "instruction_set", "pack", "unpack",
]  # fmt: skip

def encode(vector: NDArray[np.float32]) -> bytes:
    """Return a vector as a BLOB: `4 * d` bytes, float32, little-endian on every machine.

    Keeps the GIL: releasing it would take longer than the work.

    Args:
        vector: `float32[d]`.

    Raises:
        ValueError: a component is NaN or infinite; the message names its position.
        TypeError: not a numpy array of float32.
    """

def encode_many(matrix: NDArray[np.float32]) -> list[bytes]:
    """Return each row of a matrix as a BLOB.

    Releases the GIL while it checks for NaN, and holds it while it creates the `bytes`.

    Args:
        matrix: `float32[n, d]`.

    Raises:
        ValueError: a component is NaN or infinite; the message names its row and position.
        TypeError: not a numpy array of float32.
    """

def decode(blob: bytes) -> NDArray[np.float32]:
    """Read a BLOB as a new, writable `float32[d]`, `d = len(blob) / 4`.

    The values are not checked and may be NaN. Keeps the GIL: releasing it would take longer than
    the work.

    Raises:
        ValueError: the length is not a multiple of four.
        TypeError: not `bytes`.
    """

def decode_many(blobs: Sequence[bytes], dimension: int) -> NDArray[np.float32]:
    """Read BLOBs of one dimension as a new, writable `float32[n, dimension]`.

    The values are not checked and may be NaN. Releases the GIL.

    Raises:
        ValueError: a BLOB is not `4 * dimension` bytes; the message names its index, its length
            and the expected one. Or the dimension is negative or too large.
        TypeError: not a sequence of `bytes`.
    """

def cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    """The cosine of two vectors, in -1..1; 0.0 if one is all zeros or the lengths differ.

    Summed in float64, so that no magnitude overflows or vanishes. Keeps the GIL: releasing it would
    take longer than the work.

    Args:
        a: `float32[d]`.
        b: `float32[d]`.

    Raises:
        ValueError: a component is NaN or infinite; the message names its position.
        TypeError: not numpy arrays of float32.
    """

def cosines(query: Buffer, blobs: Sequence[bytes]) -> list[float]:
    """The cosine of a query with each vector, in order, in -1..1; 0.0 for a vector of zeros.

    Computed in float32; `Codes.scan` bounds this value. Releases the GIL.

    Args:
        query: a C-contiguous buffer of `d` float32.
        blobs: vectors of `4 * d` bytes, float32, little-endian.

    Raises:
        ValueError: a BLOB of another size (its index, its length and the expected one are named),
            NaN or an infinity.
        TypeError: not a buffer of float32, or not a sequence of `bytes`.
    """

def cosines_of_stored(query: Buffer, blobs: Sequence[bytes]) -> list[float | None]:
    """The cosine of a query with each vector as it is stored, packed or whole, in order.

    As of :func:`cosines`. `None` for a BLOB of another dimension or a damaged one, 0.0 for one with
    NaN or an infinity. Releases the GIL.

    Args:
        query: a C-contiguous buffer of `d` float32.
        blobs: vectors of `d` numbers, each as :func:`pack` returned it or whole.

    Raises:
        ValueError: NaN or an infinity in the query.
        TypeError: not a buffer of float32, or not a sequence of `bytes`.
    """

def instruction_set() -> str:
    """The instruction set that scans use here: `"avx512"`, `"avx2"`, `"neon"` or `"scalar"`."""

def pack(blob: bytes) -> bytes:
    """Return a BLOB in fewer bytes, without loss; as it is if it would not be shorter.

    The length of a packed BLOB is one more than a multiple of four. Keeps the GIL.

    Raises:
        TypeError: not `bytes`.
    """

def unpack(blob: bytes) -> bytes:
    """Return the BLOB that was packed; as it is if it was not packed, or is damaged. Keeps the GIL.

    Raises:
        TypeError: not `bytes`.
    """
