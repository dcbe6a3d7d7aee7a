"""Values that come back as they were given: JSON, or refused with the name of what is not."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from memstore.domain.arguments import MAX_NUMBER, stored_text
from memstore.domain.metadata import DECODER, MAX_DEPTH, json_writer
from memstore.errors import InvalidArgument, InvalidArgumentType

if TYPE_CHECKING:
    from typing import Final


def to_json(value: object, name: str) -> str:
    """Return a value as JSON text, such that :func:`from_json` returns an equal one.

    Tuples become lists, as in JSON.

    Args:
        value: mappings with text keys, lists, tuples, text, numbers, ``True``, ``False``, ``None``.
        name: the caller's name for the value, for errors.

    Raises:
        InvalidArgument: a number that is not finite or does not fit in 64 bits, half a character
            (a lone surrogate), or nesting deeper than 100 levels; the error says where.
        InvalidArgumentType: a value or key of another type; the error says where.
    """
    check_json(value, name)
    return _written(value)


def from_json(text: str) -> Any:
    """Return the value of a JSON text that :func:`to_json` wrote."""
    return DECODER.decode(text)


def check_json(value: object, name: str, depth: int = 0) -> None:
    """Refuse a value that JSON cannot keep; the error names the place in it."""
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        stored_text(value, name)
    elif isinstance(value, int):
        if abs(value) > MAX_NUMBER:  # JSON keeps it, but databases read it as an inexact number
            raise InvalidArgument("must fit in 64 bits; store it as text", argument=name)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgument(f"is {value}, which JSON cannot keep", argument=name)
    elif depth >= MAX_DEPTH:
        raise InvalidArgument(f"is nested deeper than {MAX_DEPTH} levels", argument=name)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise InvalidArgumentType(f"must have text keys, not {key!r}", argument=name)
            stored_text(key, f"a key of {name}")
            check_json(inner, f"{name}[{json.dumps(key)}]", depth + 1)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            check_json(inner, f"{name}[{number}]", depth + 1)
    else:
        raise InvalidArgumentType(
            f"is a {type(value).__name__}, which JSON cannot keep", argument=name
        )


_written: Final = json_writer(allow_nan=False)
