"""The built-in model."""

from collections.abc import Sequence
from typing import Final, Self, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["HAS_MODEL", "BuiltInModel"]

HAS_MODEL: Final[bool]
"""Whether the built-in model is part of this build. Without it there is no `BuiltInModel`,
`Features` has no `vector`, `cosines` and `nearest`, and its tokens are words."""

@final
class BuiltInModel:
    """The built-in model: static token vectors, pooled by their mean and scaled to length one.

    The table is part of the module, so creating an instance is free. Every method releases the GIL
    and may be called from any thread. The strings are read in place, and a text of any length is
    read whole. Results are the same on every machine, alone or in a batch, and for any number of
    threads.

    Tokens are those of Llama 2's tokenizer without its special ones: `<s>` in a text is text.
    """

    def __new__(cls) -> Self: ...
    @property
    def dimension(self) -> int:
        """Components of a vector: 256."""

    @property
    def token_count(self) -> int:
        """The size of the vocabulary: every token id is smaller."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vector of each text as a new, writable `float32[n, 256]`.

        Rows have length one; that of the empty text is zeros. A large batch uses several threads.

        Raises:
            ValueError: a text contains a lone surrogate (`UnicodeEncodeError`).
            TypeError: not a sequence of `str`, or a single `str`.
        """

    def embed_bytes(self, texts: Sequence[str]) -> list[bytes]:
        """The same vectors as BLOBs of float32, little-endian; does not import numpy.

        Raises:
            ValueError: a text contains a lone surrogate (`UnicodeEncodeError`).
            TypeError: not a sequence of `str`, or a single `str`.
        """

    def token_ids(self, texts: Sequence[str]) -> list[bytes]:
        """The token ids of each text, in order, as uint16, little-endian.

        Raises:
            ValueError: a text contains a lone surrogate (`UnicodeEncodeError`).
            TypeError: not a sequence of `str`, or a single `str`.
        """
