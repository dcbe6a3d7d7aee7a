"""Texts of JSON objects, as Python's ``json`` writes them with ``ensure_ascii=False``."""

from collections.abc import Sequence
from typing import final

__all__ = ["Members", "flat"]

def flat(value: object) -> str | None:
    """Return a dictionary without nesting as JSON.

    ``None`` if it is anything else: not exactly a ``dict`` whose keys are texts and whose values
    are texts, numbers, truths or ``None``; or it has a lone surrogate, a number that is not finite,
    or a whole number of more than 64 bits.
    """

@final
class Members:
    """Which values of a row are members of an object, and in which order."""

    def __new__(
        cls, members: Sequence[tuple[int, str, Sequence[str | int]]], *, json: Sequence[int]
    ) -> Members:
        """Describe objects.

        Args:
            members: for each the place of its value in the row, its key, and the values that are
                left out besides ``None``.
            json: the places whose texts are JSON already.
        """

    def text(self, row: tuple[object, ...]) -> str:
        """Return the object of a row as JSON.

        Raises:
            IndexError: the row is shorter than a place.
            ValueError: a member is no text, whole number of 64 bits, truth or ``None``.
        """
