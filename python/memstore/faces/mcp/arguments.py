"""Arguments of tools: the JSON schema and the check that a function's signature gives for each.

    limit: Annotated[int, Field(ge=1, le=100, description="how many")] = 10

Models write JSON by hand, so a number passed as text is accepted, and an object or an array may be
passed as JSON text if the type allows it.
"""

from __future__ import annotations

import json
from math import isfinite
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Union, get_args, get_origin

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DIGITS: Final = 20
"""No number with more digits is in any argument's range."""

TRUTH: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

REQUIRED: Final = object()
"""Marks an argument without a default."""


class Field(NamedTuple):
    """Limits and description of an argument, as an annotation of its type."""

    ge: float | None = None
    le: float | None = None
    max_length: int | None = None
    description: str | None = None

    def schema(self) -> dict[str, Any]:
        said = {
            "description": self.description,
            "minimum": self.ge,
            "maximum": self.le,
            "maxLength": self.max_length,
        }
        return {key: value for key, value in said.items() if value is not None}

    def check(self, value: Any) -> Any:
        if value is None:
            return None
        if self.ge is not None and not value >= self.ge:
            raise ValueError(f"must be greater than or equal to {self.ge}")
        if self.le is not None and not value <= self.le:
            raise ValueError(f"must be less than or equal to {self.le}")
        if self.max_length is not None and len(value) > self.max_length:
            raise ValueError(f"must have at most {self.max_length} characters")
        return value


class BeforeValidator(NamedTuple):
    """A function that converts a value before its type is checked."""

    read: Callable[[Any], Any]


class WithJsonSchema:
    """A schema to show instead of the type's own."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema  # not a NamedTuple: its dictionary is unhashable, so unions would fail


class ArgumentKind(NamedTuple):
    """A type: its schema, the conversion of values, and the Python types that need none."""

    schema: dict[str, Any]
    read: Callable[[Any], Any]
    types: tuple[type, ...]


class Argument(NamedTuple):
    """One argument of a tool."""

    kind: ArgumentKind
    default: Any

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def is_text(self) -> bool:
        """Whether it takes any text, or one of some."""
        return str in self.kind.types and int not in self.kind.types

    @property
    def is_choice(self) -> bool:
        """Whether it takes one of the texts that its schema lists."""
        return "enum" in self.kind.schema

    @property
    def schema(self) -> dict[str, Any]:
        # A default of None, False or empty is left out, because it would cost tokens.
        default = {} if self.required or not self.default else {"default": self.default}
        return self.kind.schema | default

    def read(self, value: Any) -> Any:
        """Return a value as the function takes it; the text of a ValueError says what is wrong."""
        return self.kind.read(value)


def argument(annotation: Any, default: Any = REQUIRED) -> Argument:
    return Argument(kind_of(annotation), default)


def kind_of(annotation: Any) -> ArgumentKind:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        kind = kind_of(inner[0])
        for said in inner[1:]:
            kind = _said(kind, said)
        return kind
    if origin in (UnionType, Union):
        return _any_of([kind_of(one) for one in inner])
    if origin is list:
        return _list_of(kind_of(inner[0]))
    return KINDS[origin or annotation]


def from_json(value: Any) -> Any:
    """Read an object or an array passed as JSON text, as some hosts do."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _said(kind: ArgumentKind, said: Any) -> ArgumentKind:
    """Return a kind with one more annotation."""
    if isinstance(said, Field):
        return kind._replace(
            schema=kind.schema | said.schema(), read=lambda value: said.check(kind.read(value))
        )
    if isinstance(said, BeforeValidator):
        return kind._replace(read=lambda value: kind.read(said.read(value)))
    assert isinstance(said, WithJsonSchema), said
    return kind._replace(schema=dict(said.schema))


def _any_of(kinds: list[ArgumentKind]) -> ArgumentKind:
    """Return a kind that accepts any of some kinds; the first that can converts other values.

    Null is not in the schema, because it means the same as leaving the argument out.
    """
    types = tuple(one for kind in kinds for one in kind.types)
    shown = [kind for kind in kinds if kind.types != (NoneType,)]

    def read(value: Any) -> Any:
        exact = (kind for kind in kinds if type(value) in kind.types)
        return next(exact, shown[0]).read(value)

    schemas = [kind.schema for kind in shown]
    return ArgumentKind(schemas[0] if len(schemas) == 1 else {"anyOf": schemas}, read, types)


def _list_of(item: ArgumentKind) -> ArgumentKind:
    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError("must be a list")
        return [item.read(one) for one in value]

    schema = {"type": "array"} | ({"items": item.schema} if item.schema else {})
    return ArgumentKind(schema, read, (list,))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


def _whole(value: Any) -> int:
    number = _number(value, "must be a whole number")
    if isinstance(number, float) and not number.is_integer():
        raise ValueError("must be a whole number")
    return int(number)


def _fraction(value: Any) -> float:
    try:
        return float(_number(value, "must be a number"))
    except OverflowError:
        raise ValueError("must be a smaller number") from None


def _number(value: Any, otherwise: str) -> int | float:
    if isinstance(value, str) and len(value) <= DIGITS:
        try:
            value = json.loads(value)
        except ValueError:
            raise ValueError(otherwise) from None
    # In Python True equals 1, but in JSON true is not a number.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(otherwise)
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(otherwise)
    return value


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    known = TRUTH.get(str(value).strip().lower()) if isinstance(value, str | int) else None
    if known is None:
        raise ValueError("must be true or false")
    return known


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("must be an object")
    return value


def _nothing(value: Any) -> None:
    if value is not None:
        raise ValueError("must be null")


KINDS: Final = {
    str: ArgumentKind({"type": "string"}, _text, (str,)),
    int: ArgumentKind({"type": "integer"}, _whole, (int,)),
    float: ArgumentKind({"type": "number"}, _fraction, (float, int)),
    bool: ArgumentKind({"type": "boolean"}, _truth, (bool,)),
    dict: ArgumentKind({"type": "object"}, _object, (dict,)),
    NoneType: ArgumentKind({"type": "null"}, _nothing, (NoneType,)),
    Any: ArgumentKind({}, lambda value: value, ()),
}
