"""Changes single members of a JSON text, preserving its comments, commas and order.

Hosts keep their settings as JSON with comments and trailing commas. The text is parsed into a tree
with the position of each value; a change replaces, inserts or removes one of them and leaves every
other character alone.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

TOKEN: Final = re.compile(
    r"""(?P<blank>[\s\ufeff]+|//[^\n]*|/\*.*?\*/)|(?P<mark>[{}\[\]:,])"""
    r"""|(?P<value>"(?:[^"\\\n]|\\.)*"|[^\s"{}\[\]:,/]+)""",
    re.DOTALL,
)


class Node(NamedTuple):
    """A value and its position in the text."""

    start: int
    end: int
    value: Any
    inner: list[Member]


class Member(NamedTuple):
    """A value in an object or an array; in an array its key is the index."""

    start: int
    key: str | int
    node: Node


def value_at(text: str, path: Sequence[str | int]) -> Any:
    """Return the value at a path; ``KeyError`` if there is none."""
    return _find(_read(text), path).value


def put(text: str, path: Sequence[str | int], value: Any) -> str:
    """Return the text with a value at a path; missing objects on the way are created."""
    text = text if text.strip("\ufeff \t\r\n") else f"{text}{{}}\n"
    node = _read(text)
    for place, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise ValueError(f"{'.'.join(map(str, path[:place])) or 'it'} is not an object")
        found = [member for member in node.inner if member.key == key]
        if not found:
            for made in reversed(path[place + 1 :]):
                value = {made: value}
            return _insert(text, node, f"{json.dumps(key, ensure_ascii=False)}: ", value)
        node = found[-1].node
    written = _written(value, _indent(text, node.start), text)
    return text[: node.start] + written + text[node.end :]


def append(text: str, path: Sequence[str | int], value: Any) -> str:
    """Return the text with a value appended to the array at a path, which is created if missing."""
    try:
        node = _find(_read(text), path)
    except (KeyError, ValueError):
        return put(text, path, [value])
    if not isinstance(node.value, list):
        raise ValueError(f"{'.'.join(map(str, path))} is not an array")
    return _insert(text, node, "", value)


def cut(text: str, path: Sequence[str | int]) -> str:
    """Return the text without the member at a path, its line and its comma."""
    parent = _find(_read(text), path[:-1])
    places = [n for n, member in enumerate(parent.inner) if member.key == path[-1]]
    place = places[-1]
    member = parent.inner[place]
    comma = _comma(text, member.node.end)
    end = member.node.end if comma is None else comma + 1
    start = member.start
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip():
        start = max(line - 1, parent.start + 1)
        start -= text[start - 1 : start + 1] == "\r\n"
    cut_out = text[:start] + text[end:]
    before = parent.inner[place - 1] if place else None
    if comma is None and before is not None:  # the member before becomes the last
        at = _comma(text, before.node.end)
        assert at is not None
        cut_out = text[:at] + text[at + 1 : start] + text[end:]
    if len(parent.inner) == 1:
        inside = cut_out[parent.start + 1 : cut_out.index(text[parent.end - 1], start)]
        if not inside.strip():
            cut_out = cut_out[: parent.start + 1] + cut_out[parent.start + 1 + len(inside) :]
    return cut_out


def _find(node: Node, path: Sequence[str | int]) -> Node:
    for key in path:
        found = [member.node for member in node.inner if member.key == key]
        if not found:
            raise KeyError(key)
        node = found[-1]
    return node


def _insert(text: str, parent: Node, label: str, value: Any) -> str:
    """Add a member to the end of an object or array, on its own line."""
    outer = _indent(text, parent.start)
    line_end = "\r\n" if "\r\n" in text else "\n"
    if not parent.inner:
        inner = outer + _step(text)
        member = f"{line_end}{inner}{label}{_written(value, inner, text)}"
        rest = text[parent.start + 1 : parent.end - 1].rstrip(" \t\r\n")
        return f"{text[: parent.start + 1]}{rest}{member}{line_end}{outer}{text[parent.end - 1 :]}"
    last = parent.inner[-1]
    inner = _indent(text, last.start)
    comma = _comma(text, last.node.end)
    at = last.node.end if comma is None else comma + 1
    remark = re.compile(r"([ \t]*(//[^\n\r]*|/\*[^\n]*?\*/))*").match(text, at)
    after = remark.end() if remark else at
    member = f"{line_end}{inner}{label}{_written(value, inner, text)}"
    first, last_comma = ("", ",") if comma else (",", "")
    return f"{text[:at]}{first}{text[at:after]}{member}{last_comma}{text[after:]}"


def _written(value: Any, indent: str, text: str) -> str:
    lines = json.dumps(value, indent=_step(text), ensure_ascii=False).split("\n")
    return ("\r\n" if "\r\n" in text else "\n").join([lines[0], *(indent + x for x in lines[1:])])


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    found = re.search(r"^[ \t]+(?=\S)", text, re.MULTILINE)
    return found[0] if found else "  "


def _comma(text: str, at: int) -> int | None:
    """Return the position of the comma after a value; ``None`` if there is none."""
    while (found := TOKEN.match(text, at)) and found["blank"] is not None:
        at = found.end()
    return at if text[at : at + 1] == "," else None


def _read(text: str) -> Node:
    tokens = []
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"cannot be read at line {text.count(chr(10), 0, at) + 1}")
        if found["blank"] is None:
            tokens.append(found)
        at = found.end()
    node, rest = _node(text, tokens, 0)
    if rest != len(tokens):
        raise _unreadable(text, tokens, rest)
    return node


def _node(text: str, tokens: list[re.Match[str]], at: int) -> tuple[Node, int]:
    if at >= len(tokens):
        raise _unreadable(text, tokens, at)
    token = tokens[at]
    if token["value"] is not None:
        return Node(token.start(), token.end(), _decoded(text, token), []), at + 1
    if token[0] not in "{[":
        raise _unreadable(text, tokens, at)
    close = "}" if token[0] == "{" else "]"
    inner: list[Member] = []
    at += 1
    while at < len(tokens) and tokens[at][0] != close:
        first = tokens[at]
        key: str | int = len(inner)
        if close == "}":
            name = _decoded(text, first) if first["value"] else None
            if not isinstance(name, str) or at + 1 >= len(tokens) or tokens[at + 1][0] != ":":
                raise _unreadable(text, tokens, at)
            key, at = name, at + 2
        node, at = _node(text, tokens, at)
        inner.append(Member(first.start(), key, node))
        if at < len(tokens) and tokens[at][0] == ",":
            at += 1
        elif at >= len(tokens) or tokens[at][0] != close:
            raise _unreadable(text, tokens, at)
    if at >= len(tokens):
        raise _unreadable(text, tokens, at)
    values = {member.key: member.node.value for member in inner}
    value = values if close == "}" else [*values.values()]
    return Node(token.start(), tokens[at].end(), value, inner), at + 1


def _decoded(text: str, token: re.Match[str]) -> Any:
    try:
        return json.loads(token[0])
    except ValueError:
        line = text.count("\n", 0, token.start()) + 1
        raise ValueError(f"cannot be read at line {line}") from None


def _unreadable(text: str, tokens: list[re.Match[str]], at: int) -> ValueError:
    place = tokens[at].start() if at < len(tokens) else len(text)
    return ValueError(f"cannot be read at line {text.count(chr(10), 0, place) + 1}")
