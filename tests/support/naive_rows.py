"""Rows in a dictionary, every cosine in float64: what `Rows` is held to."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


def ids(*values: int) -> NDArray[np.int64]:
    """Ids as the kernel takes them."""
    return np.array(values, dtype=np.int64)


def cosine(a: Vector, b: Vector) -> float:
    """The cosine, 0.0 with a vector of zeros."""
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    lengths = float(np.linalg.norm(wide_a) * np.linalg.norm(wide_b))
    return float(wide_a @ wide_b) / lengths if lengths > 0 else 0.0


class NaiveRows:
    """A dictionary from id to partition and vector."""

    def __init__(self) -> None:
        self.rows: dict[int, tuple[int, Vector]] = {}

    def visible(
        self,
        partitions: Sequence[int] | None = None,
        only: Sequence[int] | None = None,
        excluding: Sequence[int] | None = None,
    ) -> list[int]:
        """The ids a scan may find."""
        return [
            row_id
            for row_id, (partition, _) in self.rows.items()
            if (partitions is None or partition in partitions)
            and (only is None or row_id in only)
            and (excluding is None or row_id not in excluding)
        ]

    def cosines(self, query: Vector, visible: Sequence[int]) -> dict[int, float]:
        """The cosine of each visible row, also where it is not positive."""
        return {row_id: cosine(query, self.rows[row_id][1]) for row_id in visible}
