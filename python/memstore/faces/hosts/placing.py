"""Describes a value that was put into a settings text, in either language.

An edit inserts text and leaves every other character alone. Its :class:`PlacedValue` remembers
the text around the value, so that taking the value out again restores the text as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class PlacedValue(NamedTuple):
    """Where a value was put, and the text that was inserted with it or replaced by it."""

    depth: int
    """How many keys of the path were there before; -1 if the text had no value at all."""
    lead: str = ""
    """Inserted before the member."""
    tail: str = ""
    """Inserted after the member."""
    before: str | None = None
    """The replaced text; ``None`` if there was none."""


def at(value: Any, path: Iterable[str | int]) -> Any:
    """Return the value at a path; ``KeyError`` if there is none."""
    for key in path:
        try:
            value = value[key]
        except (IndexError, TypeError):
            raise KeyError(key) from None
    return value


def nested(path: Sequence[str | int], value: Any) -> Any:
    """Return a value inside an object for each key of a path."""
    for key in reversed(path):
        value = {key: value}
    return value


def with_value(whole: Any, path: Sequence[str | int], value: Any) -> Any:
    """Return an object with another value at a path; objects beside the path are shared."""
    if not path:
        return value
    held = dict(whole or {})
    held[path[0]] = with_value(held.get(path[0]), path[1:], value)
    return held


def without_value(whole: Any, path: Sequence[str | int]) -> Any:
    """Return an object or array without what is at a path; what is beside the path is shared."""
    copy: Any = list(whole) if isinstance(whole, list) else dict(whole)
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = without_value(copy[path[0]], path[1:])
    return copy


def line_end(text: str) -> str:
    """Return the line end for inserted lines: that of Windows if every line has it."""
    return "\r\n" if 0 < text.count("\n") == text.count("\r\n") else "\n"
