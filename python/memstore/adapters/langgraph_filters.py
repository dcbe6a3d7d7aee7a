"""Filters of LangGraph on the values of items: what passes, and what the database can decide.

``{"a.b": 1}`` and ``{"a": {"b": 1}}`` compare what is in a nested object, ``{"a": {"$gt": 1}}``
orders numbers or texts, lists are compared element by element. Nothing counts as null.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.arguments import MAX_QUERY
from memstore.domain.metadata import MAX_DEPTH, OPERATORS, MetadataFilter
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from memstore.domain.metadata import Condition

COMPARISONS: Final[Mapping[str, str]] = {
    "$eq": "=",
    "$ne": "!=",
    "$gt": ">",
    "$gte": ">=",
    "$lt": "<",
    "$lte": "<=",
}
"""The operators of LangGraph, and those of filters on metadata."""

ORDERS: Final = frozenset({"$gt", "$gte", "$lt", "$lte"})
EXACT_INTEGER: Final = 2**53
"""Larger ones are compared here, not by the database."""


class Comparison(NamedTuple):
    """One test of what is at a path in a value."""

    path: tuple[str, ...]
    name: str
    """An operator, or ``""`` for a value that is given as it is."""
    operand: Any

    def passes(self, value: object) -> bool:
        found = value
        for key in self.path:
            found = found.get(key) if isinstance(found, dict) else None
        if self.name == "$ne":
            return not _equal(found, self.operand)
        if self.name in ORDERS:
            return _kind(found) is _kind(self.operand) and bool(
                OPERATORS[COMPARISONS[self.name]](found, self.operand)
            )
        return (_matches if self.name == "" else _equal)(found, self.operand)

    def condition(self, root: str) -> Condition | None:
        """Return the same test for the database; ``None`` if only :meth:`passes` can decide it.

        Args:
            root: the key of the metadata under which the value is.
        """
        if not _is_plain(self.operand) or not all(self.path) or len(self.path) >= MAX_DEPTH:
            return None
        compared = COMPARISONS[self.name or "$eq"]
        missing = self.name == "$ne" and self.operand is not None
        return MetadataFilter((root, *self.path), compared, self.operand, include_missing=missing)


def comparisons(wanted: Mapping[str, Any] | None) -> list[Comparison]:
    """Return the tests of a filter, all of which must pass.

    Raises:
        InvalidArgument: an operator that does not exist, or an order of what has none.
        InvalidArgumentType: the filter is no mapping, or a key is no text.
    """
    if wanted is None:
        return []
    if not isinstance(wanted, dict):
        raise InvalidArgumentType(
            f"must be a mapping, not {type(wanted).__name__}", argument="filter"
        )
    for key in wanted:
        if not isinstance(key, str):
            raise InvalidArgumentType(f"must have text keys, not {key!r}", argument="filter")
    return [one for key, given in wanted.items() for one in _compared(tuple(key.split(".")), given)]


def _compared(path: tuple[str, ...], given: object) -> Iterator[Comparison]:
    if not isinstance(given, dict):
        yield Comparison(path, "", given)
    elif any(str(key).startswith("$") for key in given):
        for name, operand in given.items():
            yield Comparison(path, _checked(name, operand), operand)
    elif not given or any(not isinstance(key, str) for key in given):
        yield Comparison(path, "", given)
    else:
        for key, inner in given.items():
            yield from _compared((*path, key), inner)


def _checked(name: object, operand: object) -> str:
    if name not in COMPARISONS:
        raise InvalidArgument(
            f"has an unsupported operator: {name!r} is none of {' '.join(COMPARISONS)}",
            argument="filter",
        )
    if name in ORDERS and _kind(operand) not in (float, str):
        raise InvalidArgument(
            f"must compare with a number or text by {name}, not {operand!r}", argument="filter"
        )
    return str(name)


def _is_plain(operand: object) -> bool:
    """Whether the database compares with it exactly as Python does."""
    if isinstance(operand, bool) or operand is None:
        return True
    if isinstance(operand, int):
        return abs(operand) <= EXACT_INTEGER
    if isinstance(operand, float):
        return math.isfinite(operand)
    return isinstance(operand, str) and len(operand) <= MAX_QUERY and "\x00" not in operand


def _kind(value: object) -> type:
    """Return the JSON type of a value; numbers are of one."""
    return float if type(value) is int else type(value)


def _matches(found: object, given: object) -> bool:
    """Whether a value is as a filter gives it: objects may have more keys, lists may not."""
    if isinstance(given, dict):
        return isinstance(found, dict) and all(
            _matches(found.get(key), inner) for key, inner in given.items()
        )
    return _both(found, given, _matches)


def _equal(found: object, given: object) -> bool:
    """Whether two values are equal as JSON: 1 is 1.0, but not true."""
    if isinstance(given, dict):
        return (
            isinstance(found, dict)
            and found.keys() == given.keys()
            and all(_equal(found[key], inner) for key, inner in given.items())
        )
    return _both(found, given, _equal)


def _both(found: object, given: object, compare: Callable[[object, object], bool]) -> bool:
    if isinstance(given, list | tuple):
        return (
            isinstance(found, list) and len(found) == len(given) and all(map(compare, found, given))
        )
    return _kind(found) is _kind(given) and operator.eq(found, given)
