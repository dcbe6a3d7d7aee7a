"""Pages of a list by ids: they stay right while agents write, and cost the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memstore.faces.web.visit import Visit


class Numbered(Protocol):
    """A record with an id."""

    @property
    def id(self) -> int: ...


T = TypeVar("T", bound=Numbered)

ROWS: Final = 50

NARROWING: Final = ("q", "days")
"""The numbers of an address that say what a list has; others, where one is in it."""


class Links(NamedTuple):
    """Where the pages beside one are: the queries of their addresses; "" for none."""

    earlier: str = ""
    later: str = ""
    earlier_text: str = "newer"
    later_text: str = "older"


class LinkedPage(NamedTuple, Generic[T]):
    """Records, the newest first, and the links to those beside them."""

    rows: Sequence[T]
    links: Links


def newest_first(visit: Visit, records: Callable[..., Sequence[T]]) -> LinkedPage[T]:
    """Return the page that the address names with ``before`` or ``after``; else the first.

    Args:
        records: such as ``Store.list``: takes ``limit``, ``newest_first``, ``before_id`` and
            ``after_id``.
    """
    before, after = visit.number("before"), visit.number("after")
    asked = _question(visit)
    if after is not None:
        found = [*records(after_id=after, limit=ROWS + 1, newest_first=False)]
        has_newer, rows = len(found) > ROWS, found[:ROWS][::-1]
        has_older = True  # the one that it was asked after
    else:
        place = {} if before is None else {"before_id": before}
        found = [*records(**place, limit=ROWS + 1, newest_first=True)]
        has_older, rows = len(found) > ROWS, found[:ROWS]
        has_newer = before is not None
    if not rows:
        return LinkedPage(rows, Links())
    return LinkedPage(
        rows,
        Links(
            f"{asked}after={rows[0].id}" if has_newer else "",
            f"{asked}before={rows[-1].id}" if has_older else "",
        ),
    )


def onward(
    visit: Visit,
    name: str,
    last: int | None,
    *,
    earlier_text: str = "newest",
    later_text: str = "older",
) -> Links:
    """Return the links of a list that is read in one direction: to its beginning, and onward.

    Args:
        name: the number in the address that says where a page begins: ``before`` or ``after``.
        last: what the next page begins with; ``None`` if there is none.
    """
    asked = _question(visit)
    beginning = asked.rstrip("&") or "first=1"
    return Links(
        beginning if visit.number(name) is not None else "",
        "" if last is None else f"{asked}{name}={last}",
        earlier_text,
        later_text,
    )


def _question(visit: Visit) -> str:
    """Return the part of an address that says what was asked; "" if nothing was."""
    return "".join(f"{name}={visit.query[name]}&" for name in NARROWING if name in visit.query)
