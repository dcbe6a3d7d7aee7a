"""The hash chain of the journal, over rows as the database has them."""

from collections.abc import Sequence

__all__ = ["breaks", "linked", "seal"]

def linked(
    previous: bytes, lines: Sequence[tuple[int | str | bytes | None, ...]], salts: bytes
) -> list[tuple[int | str | bytes | None, ...]]:
    """Return new lines of the journal, each with its salt and its hash over the one before it.

    Args:
        previous: the hash of the line before the first, 32 bytes; zeros if there is none.
        lines: for each line its columns in order, then three texts (or ``None``).
        salts: 16 random bytes for each line; one without texts gets ``None`` instead.

    Returns:
        The lines with two more columns. A hash is 32 bytes: SHA-256 over the hash before, the
        columns with their types and lengths, and for each text a commitment, SHA-256 over a salt of
        its own, which is made from the line's, and the text.

    Raises:
        ValueError: a hash of another length, more or fewer salts than lines, or an integer of more
            than 64 bits.
        TypeError: a column of another type.
    """

def breaks(previous: bytes, lines: Sequence[tuple[int | str | bytes | None, ...]]) -> list[int]:
    """Return the places of lines whose stored hash does not follow from what is stored.

    Args:
        previous: as for :func:`linked`.
        lines: for each line its columns, texts and salt, the commitments to its erased texts
            (:func:`seal`; ``None`` if there are none) and its stored hash. Each is compared
            with the stored hash of the line before it, so that one break is one place.
    """

def seal(
    line: tuple[str | bytes | None, ...],
    erased: bytes | None,
    erasing: Sequence[bool],
) -> tuple[bytes | None, bytes]:
    """Return the salts and the commitments of a line of which texts are erased.

    Args:
        line: its three texts and its salt.
        erased: the commitments to texts that were erased before; ``None`` if there are none.
        erasing: for each text, whether it is erased now.

    Returns:
        The salts of the texts that are left (``None`` if none is), and the commitments to all that
        were erased, 96 bytes.
    """
