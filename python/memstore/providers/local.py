"""The embedded default: static token embeddings, ready after installation, offline, no key.

A text's vector is the mean of its tokens' vectors, brought to unit length. The table of vectors
is part of the kernel: ``docs/decisions/0043-embedded-model.md``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from memstore._kernel import StaticModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

DIGEST: Final = "6c78cffa9195448cddd8fe7f4d197209e9f31200436bd598b55550f727b972fa"
"""SHA-256 of the table, ``rust/kernel/model/l2-supercat-256-int8.bin``."""

MODEL: Final = f"wordllama-l2-supercat-256-int8-{DIGEST[:8]}"
"""Names the content: other vectors, or another way to pool them, would be another model."""


class LocalEmbedder:
    """Embeds within the process. All share one table, which takes no time to open."""

    model: str = MODEL

    def __init__(self) -> None:
        self._static = StaticModel()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return ``float32[n, 256]``, rows of unit length; zero for the empty text."""
        return self._static.embed(texts)

    def embed_bytes(self, texts: Sequence[str]) -> list[bytes]:
        """Return the same vectors as BLOBs, float32 little-endian, without numpy."""
        return self._static.embed_bytes(texts)

    def __repr__(self) -> str:
        return f"LocalEmbedder(model={self.model!r})"


MARGIN: Final = 1.1
OTHER_SCRIPTS: Final = 0.75
"""What a line takes more by other tokenizers, and what one wholly of other scripts takes more
still; measured: decision 52."""

LATIN: Final = "\u024f"
"""The last letter of the scripts of which the tokenizer has whole words, as others do."""


def tokens_at_most(text: str) -> int:
    """Return how many tokens a text takes at most, whichever model reads it.

    The embedded model's tokenizer cuts text finer than those of current language models do. Line
    by line, so that a longer text never takes fewer.
    """
    lines = text.split("\n")
    counts = StaticModel().token_ids(lines)
    tokens = sum(map(_at_most, lines, (len(ids) // 2 for ids in counts)))
    return tokens + len(lines) - 1


def _at_most(line: str, tokens: int) -> int:
    others = 0 if line.isascii() else sum(character > LATIN for character in line)
    return math.ceil(tokens * MARGIN * (1 + OTHER_SCRIPTS * others / max(1, len(line))))
