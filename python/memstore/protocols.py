"""The seams where a caller may put a part of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors that are near each other when the texts mean similar things."""

    @property
    def model(self) -> str:
        """Names the model whose vectors these are; a file keeps to the first one it meets.

        Reading it must not load a model or touch the network.
        """
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return ``float32[n, d]``, one row a text, in order.

        Raises:
            EmbedderUnavailable: the failure may pass; the texts stay pending and are tried again.
            EmbedderRejected: the same texts would fail again; after repeated tries a text
                is quarantined with this error.
        """
        ...
