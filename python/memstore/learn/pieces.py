"""Cutting long text into pieces that fit a model, at borders a reader would choose."""

from __future__ import annotations

from typing import Final

from memstore.text.chunks import stretches

MOST_CHARACTERS: Final = 12_000
"""About three thousand tokens: small models still read such a piece with care."""


def pieces(text: str, max_characters: int = MOST_CHARACTERS, overlap: int = 0) -> list[str]:
    """Cut a text as :func:`memstore.text.chunks.stretches` does, and return what stands in each.

    Nothing is dropped: without overlap the pieces joined are the text.

    Args:
        text: any text; an empty one has no pieces.
        max_characters: the length of the longest piece, the overlap included.
        overlap: how many characters, at most, of the piece before are repeated.

    Raises:
        ValueError: ``max_characters`` below 1, or an overlap that is more than half of it.
    """
    return [text[start:stop] for start, stop in stretches(text, max_characters, overlap)]
