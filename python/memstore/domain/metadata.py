"""Metadata: checking it, patching it, and filtering by it with typed operators."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from memstore.domain.arguments import MAX_NUMBER, MAX_QUERY, check_length, checked_items
from memstore.errors import InvalidArgument, InvalidArgumentType

MAX_BYTES = 64 * 1024
MAX_DEPTH = 100
"""Levels of nesting; the database reads a thousand, Python's own reader sometimes fewer."""
OPERATORS = ("=", "!=", "<", "<=", ">", ">=")

Scalar: TypeAlias = str | int | float | bool | None
TEXTS: Final = frozenset({str})
FLAT: Final = frozenset({str, int, float, bool, type(None)})
"""Types of values that are read as they were written."""


@dataclass(frozen=True, slots=True)
class MetadataFilter:
    """One condition on a metadata key.

    A comparison never mixes types: ``=`` and the ordering operators match values of the filter
    value's own JSON type (number, string, boolean). ``!=`` matches a key that is present with
    another value, of whatever type. ``= None`` matches facts that have no value there (null or
    no such key), ``!= None`` those that have one.

    Args:
        key: a top-level key, taken literally.
        op: one of ``= != < <= > >=``.
        value: a number, string, boolean or ``None``.
        include_missing: let facts match that have no such key.

    Raises:
        InvalidArgument: an unknown operator, or one the value's type has no order for.
        InvalidArgumentType: a key or value of another type.
    """

    key: str
    op: str
    value: Scalar
    include_missing: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not self.key:
            raise InvalidArgumentType(
                f"must be non-empty text, not {self.key!r}", argument="key", place="metadata filter"
            )
        check_length(self.key, "the key of a metadata filter", MAX_QUERY)
        place = f"metadata filter on {self.key!r}"
        if self.op not in OPERATORS:
            raise InvalidArgument(
                f"must be one of {' '.join(OPERATORS)}, not {self.op!r}", argument="op", place=place
            )
        if not isinstance(self.value, str | int | float | bool | None):
            raise InvalidArgumentType(
                f"must be a number, text, true, false or null, not {type(self.value).__name__}",
                argument="value",
                place=place,
            )
        if wrong := self._trouble():
            raise InvalidArgument(wrong, argument="value", place=place)

    def _trouble(self) -> str | None:
        if isinstance(self.value, str) and len(self.value) > MAX_QUERY:
            return f"is {len(self.value):,} characters long; the limit is {MAX_QUERY:,}"
        if isinstance(self.value, float) and not math.isfinite(self.value):
            return f"must be a JSON number, not {self.value}"
        if isinstance(self.value, int) and abs(self.value) > MAX_NUMBER:
            return "must fit in 64 bits"
        if self.op not in ("=", "!=") and isinstance(self.value, bool | None):
            return f"must be a number or text for {self.op}: true, false and null have no order"
        return None


Filters: TypeAlias = (
    Mapping[str, Scalar] | Iterable[MetadataFilter | tuple[str, str, Scalar]] | None
)
"""What ``filters=`` takes: ``{"key": value}`` for equality, or a list of filters or triples."""


def parse_filters(filters: Filters) -> tuple[MetadataFilter, ...]:
    if filters is None:
        return ()
    if isinstance(filters, Mapping):
        return tuple(MetadataFilter(key, "=", value) for key, value in filters.items())
    if isinstance(filters, str):
        raise InvalidArgumentType(
            'must be {"key": value} or a list of ("key", "=", value), not text', argument="filters"
        )
    return tuple(map(_parse_one, checked_items(filters, "filters")))


def _parse_one(item: MetadataFilter | tuple[str, str, Scalar]) -> MetadataFilter:
    if isinstance(item, MetadataFilter):
        return item
    if isinstance(item, tuple | list) and len(item) == 3:
        return MetadataFilter(*item)
    raise InvalidArgumentType(
        f'must hold ("key", "=", value) or a MetadataFilter, not {item!r}', argument="filters"
    )


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two are the same JSON, in whatever order; to Python 1 and true are equal too."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def encode(metadata: Mapping[str, Any] | None, name: str = "metadata") -> str | None:
    """Write metadata as JSON text; ``None`` for nothing."""
    if metadata is None:
        return None
    checked_mapping(metadata, name)
    try:
        text = ENCODER.encode(metadata if type(metadata) is dict else dict(metadata))
        text.encode("utf-8")
    except ValueError as error:
        raise InvalidArgument(f"cannot be written as JSON: {error}", argument=name) from None
    except TypeError as error:
        raise InvalidArgumentType(f"cannot be written as JSON: {error}", argument=name) from None
    return text if metadata else None


def checked_mapping(given: Mapping[str, Any], name: str = "metadata") -> Mapping[str, Any]:
    """Return metadata, or a patch to it, whose keys and depth JSON can hold."""
    if is_flat(given):
        return given
    if not isinstance(given, Mapping):
        raise InvalidArgumentType(f"must be a mapping, not {type(given).__name__}", argument=name)
    check(given, name)
    return given


def is_flat(given: object) -> bool:
    """Whether this is a dictionary of texts, numbers and the like, as most metadata is."""
    return (
        type(given) is dict
        and TEXTS.issuperset(map(type, given))
        and FLAT.issuperset(map(type, given.values()))
    )


def checked_new(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return new metadata as it will be read again; what other programs stored may be larger.

    Raises:
        InvalidArgument: it is no JSON, or over 64 KiB.
    """
    text = encode(metadata)
    if metadata is None or text is None:
        return {}
    size = len(text) if text.isascii() else len(text.encode("utf-8"))
    if size > MAX_BYTES:
        raise InvalidArgument(
            f"is {size:,} bytes, over the limit of {MAX_BYTES:,}", argument="metadata"
        )
    return dict(metadata) if is_flat(metadata) else DECODER.decode(text)


def text_of(checked: Mapping[str, Any]) -> str | None:
    """Write metadata that was checked as JSON text; ``None`` for nothing."""
    return ENCODER.encode(checked) if checked else None


def check(value: object, name: str = "metadata", depth: int = 0) -> None:
    """Refuse nesting without end, and keys that JSON would turn into text silently."""
    if depth > MAX_DEPTH:
        raise InvalidArgument(f"is nested deeper than {MAX_DEPTH} levels", argument=name)
    if isinstance(value, str | int | float):
        return  # as most are; whether something is a Mapping is slow to tell
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise InvalidArgumentType(f"must have text keys, not {key!r}", argument=name)
            check(inner, name, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            check(inner, name, depth + 1)


def decode(stored: str | bytes | None) -> dict[str, Any]:
    """Read metadata from a row. What is not a JSON object is kept under ``_raw``."""
    if not stored:
        return {}
    text = stored.decode("utf-8", "replace") if isinstance(stored, bytes) else stored
    try:
        value = DECODER.decode(text)
        check(value)
    except (ValueError, RecursionError):
        return {"_raw": text}
    return value if isinstance(value, dict) else {"_raw": value}


def no_number(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


# Made once: json.dumps and json.loads make new ones for every value.
ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
DECODER: Final = json.JSONDecoder(parse_constant=no_number)


def merge_patch(target: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Apply a JSON merge patch (RFC 7396): null removes a key, objects merge, the rest replaces."""
    merged = dict(target)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping):
            below = merged.get(key)
            merged[key] = merge_patch(below if isinstance(below, Mapping) else {}, value)
        else:
            merged[key] = value
    return merged


def reverse_patch(before: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch that undoes one: what it changes, as it was before.

    A merge patch cannot bring back a null.
    """
    return _patch_between(merge_patch(before, patch), before)


def _patch_between(now: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    patch: dict[str, Any] = {key: None for key in now if key not in wanted}
    for key, value in wanted.items():
        held = now.get(key)
        if isinstance(held, Mapping) and isinstance(value, Mapping):
            if below := _patch_between(held, value):
                patch[key] = below
        elif key not in now or json.dumps(held) != json.dumps(value):  # True is not 1
            patch[key] = value
    return patch
