"""What stands beside hits in their threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from memstore.domain.episodes import Episode
from memstore.domain.records import Fact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

R = TypeVar("R", Fact, Episode)


def beside(
    found: Sequence[R], neighbours: Callable[[R], tuple[Sequence[R], Sequence[R]]]
) -> Iterator[tuple[tuple[R, ...], tuple[R, ...]]]:
    """Yield what is before and after each row that was found, in its thread.

    No row is there twice: one that was found is no neighbour of another, and what is beside
    several goes with the first of them.
    """
    told = {row.id for row in found}

    def fresh(rows: Iterable[R]) -> tuple[R, ...]:
        new = tuple(row for row in rows if row.id not in told)
        told.update(row.id for row in new)
        return new

    for row in found:
        before, after = neighbours(row)
        yield fresh(before), fresh(after)
