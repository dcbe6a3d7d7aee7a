"""Vectors: the float32 little-endian codec, and rows resident in memory to be scanned.

One of the two modules that import the Rust kernel; its stub says who owns what.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from memstore._kernel import Rows
from memstore._kernel import cosine as cosine
from memstore._kernel import decode as decode
from memstore._kernel import decode_many as decode_many
from memstore._kernel import encode_many as encode_many
from memstore.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

LOAD_BATCH = 4096
"""Rows handed to the kernel at once while a file is read."""


class Near(NamedTuple):
    """What a scan found for one query, best first: ``ids int64[r]``, ``cosines float32[r]``."""

    ids: NDArray[np.int64]
    cosines: NDArray[np.float32]


def checked(vectors: object, count: int) -> NDArray[np.float32]:
    """Return what an embedder gave as ``float32[count, d]``, C-contiguous and finite."""
    matrix = np.ascontiguousarray(vectors, dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[0] != count or (count and not matrix.shape[1]):
        raise EmbedderUnavailable(
            f"the embedder returned an array of shape {matrix.shape} for {count} texts; "
            f"({count}, dimension) was expected"
        )
    if not np.isfinite(matrix).all():
        raise EmbedderUnavailable("the embedder returned NaN or infinity")
    return matrix


class ResidentVectors:
    """The embeddings of one file in memory, apart by namespace, standing and having an owner.

    Thread-safe: a scan sees each row whole, before or after a change.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._rows = Rows(dimension)
        self._partitions: dict[tuple[str, bool, bool], int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def has_any(self, namespaces: Iterable[str] | None) -> bool:
        """Whether there is or was a row in one of these namespaces; ``None`` for everywhere."""
        if namespaces is None:
            return len(self) > 0
        held = {namespace for namespace, *_ in list(self._partitions)}
        return not held.isdisjoint(namespaces)

    def put(self, found: Iterable[tuple[int, tuple[str, bool, bool], bytes]]) -> list[int]:
        """Add or replace ids in their ``(namespace, superseded, owned)``; return the ids."""
        seen: list[int] = []
        rows = iter(found)
        while batch := list(islice(rows, LOAD_BATCH)):
            try:
                seen.extend(self._put(batch))
            except ValueError:  # one holds NaN: leave it to the doctor, and search the others
                matrix = decode_many([row[2] for row in batch], self.dimension)
                sound = np.flatnonzero(np.isfinite(matrix).all(axis=1))
                seen.extend(self._put([batch[place] for place in sound]))
        return seen

    def _put(self, batch: list[tuple[int, tuple[str, bool, bool], bytes]]) -> list[int]:
        ids = [row[0] for row in batch]
        known = self._partitions
        homes = np.array([known.setdefault(row[1], len(known)) for row in batch], dtype=np.int64)
        self._rows.put_blobs(np.array(ids, dtype=np.int64), homes, [row[2] for row in batch])
        return ids

    def drop(self, fact_ids: Iterable[int]) -> None:
        self._rows.drop(np.fromiter(fact_ids, dtype=np.int64))

    def nearest(
        self,
        queries: NDArray[np.float32],
        limit: int,
        *,
        namespaces: Iterable[str] | None,
        active_only: bool,
        unowned_only: bool,
        only: list[int] | None = None,
        excluding: list[int] | None = None,
    ) -> list[Near]:
        """Return the nearest facts for each query of ``float32[q, d]``, positive cosines only."""
        wanted = None if namespaces is None else frozenset(namespaces)
        homes = [
            number
            for (namespace, superseded, owned), number in list(self._partitions.items())
            if (wanted is None or namespace in wanted)
            and not (active_only and superseded)
            and not (unowned_only and owned)
        ]
        found = self._rows.scan(
            queries,
            limit,
            partitions=np.array(homes, dtype=np.int64),
            only=None if only is None else np.array(only, dtype=np.int64),
            excluding=np.array(excluding, dtype=np.int64) if excluding else None,
        )
        return [Near(ids, cosines) for ids, cosines in found]

    def similarity(self, query: NDArray[np.float32], fact_ids: list[int]) -> NDArray[np.float32]:
        """Return each fact's cosine to the query, ``float32[n]``; 0 where there is no vector."""
        return self._rows.similarity(query, np.array(fact_ids, dtype=np.int64))
