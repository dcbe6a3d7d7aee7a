"""The built-in embedder: a table of token vectors, offline, without download or key.

A text's vector is the mean of its tokens' vectors, scaled to unit length. The table of vectors
is part of the kernel: ``docs/decisions/0043-embedded-model.md``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from memstore._kernel import model
from memstore.errors import InvalidArgument, Reason, Remedy
from memstore.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

DIGEST: Final = "6c78cffa9195448cddd8fe7f4d197209e9f31200436bd598b55550f727b972fa"
"""SHA-256 of the table, ``rust/kernel/model/l2-supercat-256-int8.bin``."""

MODEL: Final = f"wordllama-l2-supercat-256-int8-{DIGEST[:8]}"
"""Contains the digest: a change to the vectors or to the pooling makes a different model."""


HAS_MODEL: Final = model.HAS_MODEL
"""Whether this build contains the model: distributions may leave it out (decision 60)."""

BYTES_PER_TOKEN: Final = 2

NO_MODEL: Final = Reason("this build of memstore has no embedding model", Remedy.NAME_EMBEDDER)


def is_word(word: str) -> bool:
    """Return whether the model's vocabulary has a word whole, in any case of its letters.

    A build without the model knows no word.
    """
    if not HAS_MODEL:
        return False
    forms = [word, word.lower(), word.capitalize()]
    return any(len(ids) == BYTES_PER_TOKEN for ids in model.BuiltInModel().token_ids(forms))


class LocalEmbedder:
    """Embeds within the process. All instances share one table, which needs no loading.

    Raises:
        ValueError: this build of memstore has no embedding model.
    """

    model: str = MODEL

    def __init__(self) -> None:
        if not HAS_MODEL:
            raise InvalidArgument(
                f"cannot be 'local': {NO_MODEL}", argument="embedder", remedy=NO_MODEL.remedy
            )
        self._model = model.BuiltInModel()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return ``float32[n, 256]``, rows of length 1 (within 8e-6), 0 for the empty text."""
        return self._model.embed(texts)

    def embed_bytes(self, texts: Sequence[str]) -> list[bytes]:
        """Return the same vectors as BLOBs, float32 little-endian, without numpy."""
        return self._model.embed_bytes(texts)

    def __repr__(self) -> str:
        return f"LocalEmbedder(model={self.model!r})"


MARGIN: Final = 1.1
OTHER_SCRIPTS: Final = 0.75
"""Other tokenizers need at most ``MARGIN`` times as many tokens for a Latin text, and this share
more for one entirely in scripts between Latin and Hangul; measured (decision 52)."""

LATIN: Final = "\u024f"
"""The last letter of Latin script, for which this tokenizer, like others, has whole words."""

HANGUL: Final = "\u1100"
"""From here on, this tokenizer needs as many tokens as others: for most letters, one per byte."""


def tokens_at_most(text: str) -> int:
    """Return an upper bound on a text's tokens for any current language model.

    The built-in model's tokenizer splits text more finely than theirs; without it, the bound is
    higher. Counted line by line, so that more lines never count less.
    """
    return TokenCounter()(text)


class TokenCounter:
    """:func:`tokens_at_most` for texts that share lines: it remembers each line's tokens."""

    def __init__(self) -> None:
        self._known: dict[str, float] = {}

    def __call__(self, text: str) -> int:
        return self.of_lines(text.split("\n"))

    def of_lines(self, lines: Sequence[str]) -> int:
        """Return the tokens of a text of these lines, in any order."""
        known = self._known
        if new := [line for line in lines if line not in known]:
            known.update(zip(new, map(_at_most, new, _counts(new)), strict=True))
        total = math.fsum(map(known.__getitem__, lines)) + len(lines) - 1
        return math.ceil(round(total, 6))


def _counts(lines: Sequence[str]) -> list[int]:
    if HAS_MODEL:
        return [len(ids) // 2 for ids in model.BuiltInModel().token_ids(lines)]
    return [sum(map(_tokens_of, UNITS.findall(line))) for line in lines]


UNITS: Final = lazy_pattern(r" ?[a-zA-Z]+| +|[^ ]")
"""Words, each with a space before it, other runs of spaces, and other characters."""

CYRILLIC_END: Final = "\u052f"
"""Up to here, in Latin, Greek and Cyrillic script, a letter needs no more than one token."""


def _tokens_of(unit: str) -> int:
    if unit.isascii():
        return (len(unit.lstrip()) + 1) // 2 or 1
    return 1 if unit <= CYRILLIC_END else len(unit.encode("utf-8", "replace"))


def _at_most(line: str, tokens: int) -> float:
    digits = sum(map(line.count, "0123456789"))  # a token each; no tokenizer can need more
    others = 0 if line.isascii() else sum(LATIN < character < HANGUL for character in line)
    share = others / max(1, len(line) - digits)
    return digits + (tokens - digits) * MARGIN * (1 + OTHER_SCRIPTS * share)
