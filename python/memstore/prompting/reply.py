"""Reading a model's reply: strict JSON, and one documented way back to it.

What is tried, in this order, and nothing more lenient:

1. the whole reply is one JSON value;
2. it holds Markdown fences, and one of them holds the JSON;
3. the outermost brackets: from the first bracket, which must open the wanted kind, to the last one
   that closes it.

A reply that was cut short is therefore an error and never a shorter list. NaN, infinities and a
key given twice are errors too: what such a reply means would be a guess.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.errors import ReplyError

if TYPE_CHECKING:
    from collections.abc import Iterator

EXCERPT: Final = 200
"""Characters of a reply that its error shows."""

FENCE: Final = "```"
OPENING: Final = {list: "[", dict: "{"}
CLOSING: Final = {list: "]", dict: "}"}
KINDS: Final = {list: "array", dict: "object"}

Kind = TypeVar("Kind", list[Any], dict[str, Any])


def parse_array(text: str) -> list[object]:
    """Return the JSON array a reply holds.

    Raises:
        ReplyError: there is none, it is cut short, or there are several that differ.
    """
    return _parse(text, list)


def parse_object(text: str) -> dict[str, object]:
    """Return the JSON object a reply holds.

    Raises:
        ReplyError: there is none, it is cut short, or there are several that differ.
    """
    return _parse(text, dict)


def _parse(text: str, kind: type[Kind]) -> Kind:
    if not isinstance(text, str):  # a generator may be anybody's code
        raise ReplyError(f"the generator returned {type(text).__name__}, not text")
    stripped = text.lstrip("\ufeff").strip()
    if not stripped:
        raise _unusable(text, kind, "it is empty")
    try:
        value = _strict(stripped)
    except (ValueError, RecursionError) as error:
        why = _words(error)
    else:
        if isinstance(value, kind):
            return value
        raise _unusable(text, kind, f"it is a JSON {_name(value)}")
    fenced = _of_kind(_blocks(stripped), kind)
    if fenced and any(block != fenced[0] for block in fenced[1:]):
        raise _unusable(text, kind, f"it holds {len(fenced)} that differ")
    if fenced:
        return fenced[0]
    bracketed = _of_kind(_outermost(stripped, kind), kind)
    if bracketed:
        return bracketed[0]
    raise _unusable(text, kind, why)


def _of_kind(texts: Iterator[str], kind: type[Kind]) -> list[Kind]:
    """Return what parses strictly and is of the wanted kind."""
    found = []
    for text in texts:
        try:
            value = _strict(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, kind):
            found.append(value)
    return found


def _blocks(text: str) -> Iterator[str]:
    """Yield what stands between fences that have a line of their own.

    A JSON string holds no line break, so such a line is never inside one.
    """
    inside: list[str] | None = None
    for line in text.split("\n"):  # not splitlines(): U+2028 may stand in a JSON string
        mark = line.strip()
        if inside is None:
            if mark.startswith(FENCE):
                inside = []
        elif mark.startswith(FENCE) and not mark.strip("`"):
            yield "\n".join(inside)
            inside = None
        else:
            inside.append(line)


def _outermost(text: str, kind: type[Kind]) -> Iterator[str]:
    """Yield the text from the first bracket to the last, if the first opens the wanted kind.

    Of an object that lost its end, the array inside is not what the model meant to say.
    """
    starts = [place for bracket in "[{" if (place := text.find(bracket)) >= 0]
    start = min(starts, default=-1)
    end = text.rfind(CLOSING[kind])
    if 0 <= start < end and text[start] == OPENING[kind]:
        yield text[start : end + 1]


def _strict(text: str) -> Any:
    return json.loads(
        text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_distinct
    )


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number in it is too large")
    return number


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {_printable(name)!r} is given twice in one object")
        found[name] = value
    return found


def _words(error: ValueError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        if error.pos >= len(error.doc) or error.msg.startswith("Unterminated string"):
            return "it ends before its JSON does"
        return f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos}"
    return str(error)


def _name(value: object) -> str:
    names = {list: "array", dict: "object", str: "text", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def _unusable(text: str, kind: type[Kind], why: str) -> ReplyError:
    return ReplyError(
        f"the model's reply holds no usable JSON {KINDS[kind]}: {why}. "
        f'It begins "{_printable(text)}". Nothing was lost: ask again, or ask another model'
    )


def _printable(text: str) -> str:
    """Return the first characters on one line, with what does not print as escapes."""
    begin = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[:EXCERPT]
    )
    return begin + ("…" if len(text) > EXCERPT else "")
