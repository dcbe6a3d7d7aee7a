"""Metadata: checks, patches, and filters with typed operators."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from json import encoder
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memstore.domain.arguments import (
    MAX_NUMBER,
    MAX_QUERY,
    check_length,
    checked_items,
    stored_text,
    why_no_json,
)
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.frozen import frozen
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from memstore._kernel import json as objects
else:
    objects = lazy_import("memstore._kernel.json")

MAX_BYTES = 64 * 1024
MAX_DEPTH = 100
"""Levels of nesting. SQLite parses a thousand, Python's own parser sometimes fewer."""
OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

CHOOSING: Final = ("in", "contains")
"""Further operators of filters: the value is one of several; the list or text contains one."""

MAX_CHOICES: Final = 200
"""Values after ``in``, and filters in :class:`AnyOf`: each is a part of the statement."""

Scalar: TypeAlias = str | int | float | bool | None
TEXTS: Final = frozenset({str})
FLAT: Final = frozenset({str, int, float, bool, type(None)})
"""Types of values that survive JSON unchanged."""


def _kind(value: object) -> type:
    """Return the JSON type of a value; numbers are of one."""
    return float if type(value) is int else type(value)


@frozen
class MetadataFilter:
    """One condition on a metadata key.

    A comparison never mixes types: ``=`` and the ordering operators match only values of the
    filter value's JSON type (number, string, boolean). ``!=`` matches a key that is present with
    any other value of any type. ``= None`` matches facts whose key is null or missing,
    ``!= None`` those whose key has a value.

    ``in`` matches like ``=`` with any of several values. ``contains`` matches a list that holds the
    value, and a text in which a text stands, as it is written.

    Args:
        key: a top-level key, taken literally; or a path of keys into objects, as a tuple.
        op: one of ``= != < <= > >= in contains``. A path, ``in`` and ``contains`` are looked up in
            the metadata of each fact, without an index.
        value: a number, string, boolean or ``None``; for ``in`` up to 200 of them.
        include_missing: also match facts without the key.

    Raises:
        InvalidArgument: an unknown operator, or an ordering operator for a type without order.
        InvalidArgumentType: a key or value of an unsupported type.
    """

    key: str | tuple[str, ...]
    op: str
    value: Any
    include_missing: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.key, list):
            object.__setattr__(self, "key", tuple(self.key))
        name = "the key of a metadata filter"
        for key in self.path or ("",):
            if not isinstance(key, str) or not key:
                raise InvalidArgumentType(
                    f"must be non-empty text, not {self.key!r}",
                    argument="key",
                    place="metadata filter",
                )
            check_length(stored_text(key, name), name, MAX_QUERY)
        place = f"metadata filter on {self.key!r}"
        if len(self.path) > MAX_DEPTH:
            raise InvalidArgument(f"is deeper than {MAX_DEPTH} levels", argument="key", place=place)
        if self.op not in (*OPERATORS, *CHOOSING):
            listed = " ".join((*OPERATORS, *CHOOSING))
            raise InvalidArgument(
                f"must be one of {listed}, not {self.op!r}", argument="op", place=place
            )
        if self.op == "in":
            choices = tuple(checked_items(self.value, "value"))
            check_number(choices, place)
            object.__setattr__(self, "value", choices)
            for choice in choices:
                MetadataFilter(self.key, "=", choice)
            return
        if not isinstance(self.value, str | int | float | bool | None):
            raise InvalidArgumentType(
                f"must be a number, text, true, false or null, not {type(self.value).__name__}",
                argument="value",
                place=place,
            )
        if problem := self._problem():
            raise InvalidArgument(problem, argument="value", place=place)

    @property
    def path(self) -> tuple[str, ...]:
        """The keys that lead to the value."""
        return self.key if isinstance(self.key, tuple) else (self.key,)

    @property
    def is_indexed(self) -> bool:
        """Whether the index of metadata finds what passes; else each fact's metadata is read."""
        return isinstance(self.key, str) and self.op in OPERATORS

    @property
    def choices(self) -> tuple[MetadataFilter, ...]:
        """What ``in`` stands for: one of these passes."""
        return tuple(MetadataFilter(self.key, "=", value) for value in self.value)

    def passes(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether metadata passes, as the database decides it."""
        found: Any = metadata
        for key in self.path:
            if not isinstance(found, Mapping) or key not in found:
                return self.include_missing or self._passes_missing()
            found = found[key]
        if self.op == "in":
            return any(one.passes(metadata) for one in self.choices)
        if self.op == "contains":
            return self._is_in(found)
        if self.value is None:
            return (found is None) == (self.op == "=")
        is_alike = _kind(found) == _kind(self.value)
        if self.op == "!=":
            return not (is_alike and found == self.value)
        return is_alike and bool(OPERATORS[self.op](found, self.value))

    def _passes_missing(self) -> bool:
        """Return whether what lacks the key passes: it counts as null."""
        if self.op == "in":
            return None in self.value
        return self.value is None and self.op == "="

    def _is_in(self, found: object) -> bool:
        if isinstance(found, str):
            return isinstance(self.value, str) and self.value in found
        if not isinstance(found, list | tuple):
            return False
        return any(_kind(one) == _kind(self.value) and one == self.value for one in found)

    def _problem(self) -> str | None:
        if isinstance(self.value, str):
            if len(self.value) > MAX_QUERY:
                return f"is {len(self.value):,} characters long; the limit is {MAX_QUERY:,}"
            stored_text(self.value, f"the value of the metadata filter on {self.key!r}")
        if isinstance(self.value, float) and not math.isfinite(self.value):
            return f"must be a JSON number, not {self.value}"
        if isinstance(self.value, int) and abs(self.value) > MAX_NUMBER:
            return "must fit in 64 bits"
        if self.op in ("<", "<=", ">", ">=") and isinstance(self.value, bool | None):
            return f"must be a number or text for {self.op}: true, false and null have no order"
        return None


@frozen
class AnyOf:
    """A condition on metadata that passes if any of several does; none of none.

    Args:
        filters: up to 200 conditions: filters, triples, ``AnyOf`` or ``Not``.
    """

    filters: tuple[Condition, ...]

    def __post_init__(self) -> None:
        every = tuple(_parse_one(one) for one in checked_items(self.filters, "filters"))
        check_number(every, "AnyOf")
        object.__setattr__(self, "filters", every)

    is_indexed = False

    def passes(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether metadata passes, as the database decides it."""
        return any(one.passes(metadata) for one in self.filters)


@frozen
class Not:
    """A condition on metadata that passes if none of several does.

    Unlike ``!=``, it also passes what lacks the key.

    Args:
        filters: one condition, or up to 200.
    """

    filters: tuple[Condition, ...]

    def __post_init__(self) -> None:
        given = self.filters
        is_one = isinstance(given, MetadataFilter | AnyOf | Not) or _is_triple(given)
        every = AnyOf((given,) if is_one else given).filters  # type: ignore[arg-type]
        object.__setattr__(self, "filters", every)

    is_indexed = False

    def passes(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether metadata passes, as the database decides it."""
        return not any(one.passes(metadata) for one in self.filters)


Condition: TypeAlias = MetadataFilter | AnyOf | Not

Filters: TypeAlias = (
    Mapping[str, Scalar]
    | Iterable[MetadataFilter | AnyOf | Not | tuple[str | tuple[str, ...], str, Any]]
    | None
)
"""The type of ``filters=``: ``{"key": value}`` for equality, or a list of filters or triples."""


def check_number(items: tuple[object, ...], place: str) -> None:
    if len(items) > MAX_CHOICES:
        raise InvalidArgument(
            f"are {len(items):,}; the limit is {MAX_CHOICES}", argument="values", place=place
        )


def parse_filters(filters: Filters) -> tuple[Condition, ...]:
    if filters is None:
        return ()
    if isinstance(filters, Mapping):
        return tuple(MetadataFilter(key, "=", value) for key, value in filters.items())
    if isinstance(filters, str):
        raise InvalidArgumentType(
            'must be {"key": value} or a list of ("key", "=", value), not text', argument="filters"
        )
    return tuple(map(_parse_one, checked_items(filters, "filters")))


def _is_triple(item: object) -> bool:
    return isinstance(item, tuple | list) and len(item) == 3 and isinstance(item[1], str)


def _parse_one(item: Any) -> Condition:
    if isinstance(item, MetadataFilter | AnyOf | Not):
        return item
    if isinstance(item, tuple | list) and len(item) == 3:
        return MetadataFilter(*item)
    raise InvalidArgumentType(
        f'must hold ("key", "=", value) or a MetadataFilter, not {item!r}', argument="filters"
    )


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two are the same JSON, in any key order; unlike ``==``, 1 is not true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def encode(metadata: Mapping[str, Any] | None, name: str = "metadata") -> str | None:
    """Write metadata as JSON text; ``None`` if it is empty."""
    if metadata is None:
        return None
    text = _written(checked_mapping(metadata, name), name)
    return text if metadata else None


def _written(metadata: Mapping[str, Any], name: str) -> str:
    try:
        text = _to_text(metadata if type(metadata) is dict else dict(metadata))
        if not text.isascii():
            text.encode("utf-8")
    except ValueError as error:
        raise InvalidArgument(
            f"cannot be written as JSON: {why_no_json(error)}", argument=name
        ) from None
    except TypeError as error:
        raise InvalidArgumentType(f"cannot be written as JSON: {error}", argument=name) from None
    return text


def checked_mapping(value: Mapping[str, Any], name: str = "metadata") -> Mapping[str, Any]:
    """Return metadata, or a patch to it, after checking its keys and depth."""
    if is_flat(value):
        return value
    if not isinstance(value, Mapping):
        raise InvalidArgumentType(f"must be a mapping, not {type(value).__name__}", argument=name)
    check(value, name)
    return value


def is_flat(value: object) -> bool:
    """Return whether this is a dictionary without nesting, as most metadata is."""
    return (
        type(value) is dict
        and TEXTS.issuperset(map(type, value))
        and FLAT.issuperset(map(type, value.values()))
    )


def checked_new(
    metadata: Mapping[str, Any] | None, max_bytes: int = MAX_BYTES
) -> tuple[dict[str, Any], str | None]:
    """Return new metadata as later reads will return it, and as :func:`text_of` writes it.

    The limit applies to new metadata only; other programs may have stored more.

    Raises:
        InvalidArgument: it is not JSON, or over ``max_bytes``.
    """
    if metadata is None:
        return {}, None
    text = objects.flat(metadata)
    is_copied = text is not None
    if text is None:
        text = _written(checked_mapping(metadata), "metadata")
    if not metadata:
        return {}, None
    size = len(text) if text.isascii() else len(text.encode("utf-8"))
    if size > max_bytes:
        raise InvalidArgument(
            f"is {size:,} bytes, over the limit of {max_bytes:,}", argument="metadata"
        )
    return dict(metadata) if is_copied else DECODER.decode(text), text


def text_of(checked: Mapping[str, Any]) -> str | None:
    """Write checked metadata as JSON text; ``None`` if it is empty."""
    return _to_text(checked) if checked else None


def check(value: object, name: str = "metadata", depth: int = 0) -> None:
    """Refuse deep or cyclic nesting, and keys that JSON would silently convert to text."""
    if depth > MAX_DEPTH:
        raise InvalidArgument(f"is nested deeper than {MAX_DEPTH} levels", argument=name)
    if isinstance(value, str | int | float):
        return  # the usual case; the check for Mapping below is slow
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise InvalidArgumentType(f"must have text keys, not {key!r}", argument=name)
            check(inner, name, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            check(inner, name, depth + 1)


def decode(stored: str | bytes | None) -> dict[str, Any]:
    """Read metadata from a row. Anything but a JSON object is kept under ``_raw``."""
    if not stored:
        return {}
    text = stored.decode("utf-8", "replace") if isinstance(stored, bytes) else stored
    try:
        value = _from_text(text)
        is_plain = type(value) is dict and FLAT.issuperset(map(type, value.values()))
        if not is_plain:
            check(value)
    except (ValueError, RecursionError):
        return {"_raw": text}
    return value if isinstance(value, dict) else {"_raw": value}


def _from_text(text: str) -> Any:
    """Read JSON text."""
    # ``decode`` looks for spaces around the object, which takes as long as reading a small one.
    if text.startswith("{"):
        try:
            value, end = SCAN(text, 0)
        except StopIteration:  # no JSON, as ``decode`` says in full
            return DECODER.decode(text)
        if end == len(text):
            return value
    return DECODER.decode(text)


def no_number(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def json_writer(*, allow_nan: bool, ascii_only: bool = False) -> Callable[[Any], str]:
    """Return a function that writes values without cycles as JSON text.

    It is what ``json.JSONEncoder.encode`` creates and drops for each value: for small ones
    that takes half the time.
    """
    plain = json.JSONEncoder(ensure_ascii=ascii_only, allow_nan=allow_nan)
    if encoder.c_make_encoder is None:  # type: ignore[attr-defined]
        return plain.encode
    quote = encoder.encode_basestring_ascii if ascii_only else encoder.encode_basestring
    to_parts = encoder.c_make_encoder(  # type: ignore[attr-defined]
        None, plain.default, quote, None, ": ", ", ", False, False, allow_nan
    )
    return lambda value: "".join(to_parts(value, 0))


# Made once: json.dumps and json.loads would make new ones for every call.
_to_text: Final = json_writer(allow_nan=False)
DECODER: Final = json.JSONDecoder(parse_constant=no_number)
SCAN: Final[Callable[[str, int], tuple[Any, int]]] = DECODER.scan_once  # type: ignore[attr-defined]
"""Reads the value that begins at a place; returns it and its end."""


def merge_patch(target: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Apply a JSON merge patch (RFC 7396): null removes a key, objects merge, others replace."""
    merged = dict(target)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping):
            inner = merged.get(key)
            merged[key] = merge_patch(inner if isinstance(inner, Mapping) else {}, value)
        else:
            merged[key] = value
    return merged


def reverse_patch(before: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch that undoes another one.

    It cannot restore a null: in a merge patch, null removes the key.
    """
    return _patch_between(merge_patch(before, patch), before)


def _patch_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    patch: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        current = old.get(key)
        if isinstance(current, Mapping) and isinstance(value, Mapping):
            if inner := _patch_between(current, value):
                patch[key] = inner
        elif key not in old or json.dumps(current) != json.dumps(value):  # True is not 1
            patch[key] = value
    return patch
