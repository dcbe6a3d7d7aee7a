"""Reading a model's reply as strict JSON.

The JSON is looked for in three places, in this order:

1. the whole reply;
2. the Markdown code blocks in it;
3. the text between the outermost brackets: the first bracket must open the wanted type, and the
   last one close it.

So a truncated reply is an error and never a shorter list. NaN, infinities and duplicate keys are
errors too, because their meaning would be a guess.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.domain.metadata import no_number
from memstore.errors import Remedy, ReplyError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EXCERPT: Final = 200
"""How many characters of a reply its error shows."""

FENCE: Final = "```"
OPENING: Final = {list: "[", dict: "{"}
CLOSING: Final = {list: "]", dict: "}"}
NAMES: Final = {list: "array", dict: "object"}

JSON = TypeVar("JSON", list[Any], dict[str, Any])
T = TypeVar("T")


def list_schema(name: str, **properties: Any) -> dict[str, Any]:
    """Return the JSON Schema of an object with one list of objects, every property required."""
    entries = {"type": "array", "items": _closed(properties)}
    return _closed({name: entries})


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def parse_list(text: str, name: str) -> list[object]:
    """Return the list under a key of the JSON object in a reply, as :func:`list_schema` asks."""
    entries = parse_object(text).get(name)
    if not isinstance(entries, list):
        raise unusable(f'the model\'s reply has no list "{name}"')
    return entries


class Unusable(ValueError):
    """One entry of a reply cannot be carried out; the text says why."""


def shown(number: object, items: Sequence[T]) -> T | None:
    """Return the item with this number, counted from 1, if it was among those shown."""
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(items):
        return None
    return items[number - 1]


def unusable(why: str) -> ReplyError:
    return ReplyError(f"{why}. Nothing was lost", remedy=Remedy.ASK_AGAIN)


def parse_array(text: str) -> list[object]:
    """Return the JSON array in a reply; an error if it is truncated or several differ."""
    return _parse(text, list)


def parse_object(text: str) -> dict[str, object]:
    """Return the JSON object in a reply; an error if it is truncated or several differ."""
    return _parse(text, dict)


def _parse(text: str, wanted: type[JSON]) -> JSON:
    if not isinstance(text, str):  # a generator may be the caller's own code
        raise ReplyError(f"the generator returned {type(text).__name__}, not text")
    stripped = text.lstrip("\ufeff").strip()
    if not stripped:
        raise _no_json(text, wanted, "it is empty")
    try:
        value = _strict(stripped)
    except (ValueError, RecursionError) as error:
        why = _words(error)
    else:
        if isinstance(value, wanted):
            return value
        raise _no_json(text, wanted, f"it is a JSON {_name(value)}")
    fenced = _all(wanted, _blocks(stripped))
    if fenced and any(block != fenced[0] for block in fenced[1:]):
        raise _no_json(text, wanted, f"it has {len(fenced)} that differ")
    if fenced:
        return fenced[0]
    bracketed = _all(wanted, _outermost(stripped, wanted))
    if bracketed:
        return bracketed[0]
    raise _no_json(text, wanted, why)


def _all(wanted: type[JSON], texts: Iterator[str]) -> list[JSON]:
    found = []
    for text in texts:
        try:
            value = _strict(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, wanted):
            found.append(value)
    return found


def _blocks(text: str) -> Iterator[str]:
    """Yield the code blocks whose fences are on lines of their own.

    JSON strings contain no line breaks, so such a line is never inside one.
    """
    inside: list[str] | None = None
    for line in text.split("\n"):  # not splitlines(): a JSON string may contain U+2028
        mark = line.strip()
        if inside is None:
            if mark.startswith(FENCE):
                inside = []
        elif mark.startswith(FENCE) and not mark.strip("`"):
            yield "\n".join(inside)
            inside = None
        else:
            inside.append(line)


def _outermost(text: str, wanted: type[JSON]) -> Iterator[str]:
    """Yield the text from the first bracket to the last, if the first opens the wanted type.

    An array inside a truncated object is not the model's answer.
    """
    starts = [place for bracket in "[{" if (place := text.find(bracket)) >= 0]
    start = min(starts, default=-1)
    end = text.rfind(CLOSING[wanted])
    if 0 <= start < end and text[start] == OPENING[wanted]:
        yield text[start : end + 1]


def _strict(text: str) -> Any:
    return json.loads(
        text, parse_constant=no_number, parse_float=_finite, object_pairs_hook=_distinct
    )


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("it has a number that is too large")
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


def _no_json(text: str, wanted: type[JSON], why: str) -> ReplyError:
    return unusable(
        f"the model's reply has no usable JSON {NAMES[wanted]}: {why}. "
        f'It begins "{_printable(text)}"'
    )


def _printable(text: str) -> str:
    """Return the first characters on one line, unprintable ones escaped."""
    begin = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[:EXCERPT]
    )
    return begin + ("…" if len(text) > EXCERPT else "")
