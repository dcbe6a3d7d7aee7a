"""Sets of row ids."""

from collections.abc import Iterable, Iterator
from typing import final

__all__ = ["Ids"]

@final
class Ids:
    """An immutable set of row ids: a bit set, of as many bytes as an eighth of the largest id.

    Args:
        ids: 0 to 2**32 - 1, in any order; equal ones count once.

    Raises:
        ValueError: an id out of range.
        TypeError: not an iterable of integers.
    """

    def __new__(cls, ids: Iterable[int]) -> Ids: ...
    def __len__(self) -> int: ...
    def __contains__(self, row_id: object, /) -> bool: ...
    def __iter__(self) -> Iterator[int]:
        """Yield the ids, from the smallest."""

    def ends(self) -> tuple[int, int] | None:
        """The smallest and the largest of them; `None` if there are none."""

    def until(self, last: int) -> Ids:
        """Those up to an id.

        Raises:
            ValueError: an id out of range.
        """

    def __and__(self, other: Ids, /) -> Ids: ...
    def __or__(self, other: Ids, /) -> Ids: ...
    def __sub__(self, other: Ids, /) -> Ids: ...
    def __rand__(self, other: Ids, /) -> Ids: ...
    def __ror__(self, other: Ids, /) -> Ids: ...
    def __rsub__(self, other: Ids, /) -> Ids: ...
