"""Changes single members of a JSON text, preserving its comments, commas and order.

Hosts keep their settings as JSON with comments and trailing commas. The text is parsed into a tree
with the position of each value; a change replaces, inserts or removes one of them and leaves every
other character alone.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.arguments import why_no_json
from memstore.faces.hosts.placing import PlacedValue, line_end, nested, without_value
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

TOKEN: Final = re.compile(
    r"""(?P<blank>[\s\ufeff]+|//[^\n]*|/\*.*?\*/)|(?P<mark>[{}\[\]:,])"""
    r"""|(?P<value>"(?:[^"\\\n]|\\.)*"|[^\s"{}\[\]:,/]+)""",
    re.DOTALL,
)
COMMENT: Final = re.compile(r"""("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/""", re.DOTALL)
COMMA: Final = re.compile(r"""("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])""", re.DOTALL)
"""One after the last member."""
REMARK: Final = re.compile(r"([ \t]*(//[^\n\r]*|/\*[^\n]*?\*/))*")
"""Comments on the line of a member."""
BLANK: Final = " \t\r\n"


class Node(NamedTuple):
    """A value and its position in the text."""

    start: int
    end: int
    value: Any


class Member(NamedTuple):
    """Where a member begins, and its value; in an array its key is the index."""

    first: int
    key: str | int
    start: int
    end: int


class Style(NamedTuple):
    """How a container's members are written."""

    one_line: bool
    line_end: str
    comma: str
    colon: str
    step: str
    """The indentation of one level."""


def value(text: str) -> Any:
    """Return what a text says; ``None`` if it has nothing but comments."""
    root = _read(text)
    return None if root is None else root.value


def put(
    text: str, path: Sequence[str], value: Any, *, element: bool = False
) -> tuple[str, PlacedValue]:
    """Return the text with a value at a path, or appended to the array there.

    Objects on the way, and the array, are created if they are missing.
    """
    whole = [value] if element else value
    node = _read(text)
    if node is None:
        style = Style(False, line_end(text), ",", ": ", "  ")
        lead = "" if not text.strip("\ufeff") or text.endswith("\n") else style.line_end
        written = _written(nested(path, whole), "", style)
        placed = PlacedValue(-1, lead, style.line_end, text)
        return f"{text}{lead}{written}{style.line_end}", placed
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise ValueError(f"{'.'.join(path[:depth]) or 'it'} is not an object")
        found = _find(text, node, [key])
        if found is None:
            new = nested(path[depth + 1 :], whole)
            return _insert(text, node, json.dumps(key, ensure_ascii=False), new, depth)
        node = found
    if not element:
        before = text[node.start : node.end]
        written = _written(value, _indent(text, node.start), _style(text, node))
        return text[: node.start] + written + text[node.end :], PlacedValue(
            len(path), before=before
        )
    if not isinstance(node.value, list):
        raise ValueError(f"{'.'.join(path)} is not an array")
    return _insert(text, node, None, value, len(path))


def without(
    text: str, path: Sequence[str], value: Any, placed: PlacedValue, *, element: bool = False
) -> str:
    """Return the text without a value that was put at a path, or appended to the array there.

    What was created for it goes too, unless something else is in it. If the value is not there,
    nothing changes.
    """
    root = _read(text)
    if root is None:
        return text
    whole = [value] if element else value
    if placed.depth < 0 and root.value == nested(path, whole):
        around = (text[: root.start], text[root.end :])
        if around == ((placed.before or "") + placed.lead, placed.tail):
            return placed.before or ""
    if placed.depth == len(path) and not element:
        node = _find(text, root, path)
        if node is None or node.value != value:
            return text
        return text[: node.start] + (placed.before or "null") + text[node.end :]
    for depth in range(max(placed.depth, 0), len(path)):
        node = _find(text, root, path[: depth + 1])
        if node is None:
            return text
        emptied = (element or depth + 1 < len(path)) and node.value in ({}, [])
        if emptied or node.value == nested(path[depth + 1 :], whole):
            return _cut(text, root, path[: depth + 1], placed if depth == placed.depth else None)
    node = _find(text, root, path)
    if element and node is not None and isinstance(node.value, list) and value in node.value:
        own = placed if placed.depth == len(path) else None
        return _cut(text, root, [*path, _last(node.value, value)], own)
    return text


def _last(values: list[Any], value: Any) -> int:
    return len(values) - 1 - values[::-1].index(value)


def _insert(
    text: str, parent: Node, name: str | None, value: Any, depth: int
) -> tuple[str, PlacedValue]:
    style = _style(text, parent)
    label = "" if name is None else f"{name}{style.colon}"
    outer = _indent(text, parent.start)
    members = _members(text, parent.start)
    if not members:
        inner = outer + style.step
        at = parent.start + 1 + len(text[parent.start + 1 : parent.end - 1].rstrip(BLANK))
        lead = "" if style.one_line else style.line_end + inner
        open_end = style.one_line or "\n" in text[at : parent.end]
        tail = "" if open_end else style.line_end + outer
        member = f"{lead}{label}{_written(value, inner, style)}{tail}"
        return text[:at] + member + text[at:], PlacedValue(depth, lead, tail)
    last = members[-1]
    inner = _indent(text, last.first)
    comma = _comma(text, last.end)
    at = last.end if comma is None else comma + 1
    lead = style.comma[1:] if style.one_line else style.line_end + inner
    remark = None if style.one_line else REMARK.match(text, at)
    after = remark.end() if remark else at
    member = f"{lead}{label}{_written(value, inner, style)}"
    first, last_comma = (",", "") if comma is None else ("", ",")
    new = f"{text[:at]}{first}{text[at:after]}{member}{last_comma}{text[after:]}"
    return new, PlacedValue(depth, lead)


def _cut(text: str, root: Node, path: Sequence[str | int], placed: PlacedValue | None) -> str:
    """Remove a member with its comma, and its line or the text that was inserted around it."""
    parent = _find(text, root, path[:-1])
    assert parent is not None
    members = _members(text, parent.start)
    place = max(n for n, member in enumerate(members) if member.key == path[-1])
    start, end = members[place].first, members[place].end
    rest = text[end : parent.end - 1]
    tail = placed.tail if placed else "" if rest.strip() else rest
    wanted = without_value(root.value, path)
    for lead in (placed.lead if placed else None, _lead(text, parent, start), ""):
        if lead is not None and text[:start].endswith(lead):
            new = _without_member(text, parent, place, lead, tail)
            with suppress(ValueError):
                if value(new) == wanted:
                    return new
    raise ValueError(f"{'.'.join(map(str, path))} cannot be removed without changing the rest")


def _without_member(text: str, parent: Node, place: int, lead: str, tail: str) -> str:
    members = _members(text, parent.start)
    start, end = members[place].first - len(lead), members[place].end
    gaps = [(start, end)]
    comma = _comma(text, end)
    if comma is not None:
        gaps.append((comma, comma + 1))
    elif place:  # the member before becomes the last
        before = _comma(text, members[place - 1].end)
        assert before is not None
        gaps.insert(0, (before, before + 1))
    elif len(members) == 1 and text.startswith(tail, end):
        gaps = [(start, end + len(tail))]
    return "".join(
        text[one[1] : other[0]]
        for one, other in zip([(0, 0), *gaps], [*gaps, (len(text), 0)], strict=True)
    )


def _lead(text: str, parent: Node, start: int) -> str:
    """Return the blanks before a member, with the line end if it starts its line."""
    blanks = start - len(text[:start].rstrip(" \t"))
    at = start - blanks
    if text[:at].endswith("\n"):
        at -= 2 if text[:at].endswith("\r\n") else 1
    elif _members(text, parent.start)[0].first == start:
        return ""
    return text[max(at, parent.start + 1) : start]


def _find(text: str, node: Node, path: Sequence[str | int]) -> Node | None:
    for key in path:
        if not isinstance(node.value, dict | list):
            return None
        found = [member for member in _members(text, node.start) if member.key == key]
        if not found:
            return None
        inner: Any = node.value
        node = Node(found[-1].start, found[-1].end, inner[key])
    return node


def _style(text: str, parent: Node) -> Style:
    """Return how a member of a container is written: as its neighbours, or as the file."""
    body = text[parent.start : parent.end]
    bare = text.strip("\ufeff \t\r\n")
    # A file that is only {} has no style yet.
    one_line = "\n" not in body and (bool(parent.value) or not ("\n" in bare or body == bare))
    tight = one_line and not re.search(r'"[ \t]*:[ \t]', text)
    indent = re.search(r"^[ \t]+(?=[^\s])", text, re.MULTILINE)
    step = indent[0] if indent else "  "
    return Style(one_line, line_end(text), "," if tight else ", ", ":" if tight else ": ", step)


def _written(value: Any, indent: str, style: Style) -> str:
    if style.one_line:
        separators = (style.comma, style.colon)
        return json.dumps(value, ensure_ascii=False, separators=separators)
    lines = json.dumps(value, indent=style.step, ensure_ascii=False).split("\n")
    return style.line_end.join([lines[0], *(indent + line for line in lines[1:])])


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _comma(text: str, at: int) -> int | None:
    """Return the position of the comma after a value; ``None`` if there is none."""
    while (found := TOKEN.match(text, at)) and found["blank"] is not None:
        at = found.end()
    return at if text[at : at + 1] == "," else None


@lru_cache(maxsize=8)
def _read(text: str) -> Node | None:
    """Return the whole value of a text; ``None`` if there are only comments."""
    bare = " " + text[1:] if text.startswith("\ufeff") else text
    with suppress(ValueError, RecursionError):  # most files are plain JSON
        return _whole(bare, bare)
    bare = COMMENT.sub(_blanked, bare)
    if not bare.strip():
        return None
    try:
        return _whole(bare, COMMA.sub(_blanked, bare))
    except json.JSONDecodeError as error:
        raise ValueError(f"cannot be read at line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"cannot be read: {why_no_json(error)}") from None


def _whole(bare: str, plain: str) -> Node:
    value = json.loads(plain, parse_float=str, parse_constant=str)
    return Node(len(bare) - len(bare.lstrip()), len(bare.rstrip()), value)


def _blanked(found: re.Match[str]) -> str:
    """Return a string as it is, and blanks in place of anything else."""
    return found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0])


@lru_cache(maxsize=16)
def _members(text: str, start: int) -> list[Member]:
    """Return the members of the object or array that starts at a position of a valid text."""
    members: list[Member] = []
    in_object = text[start] == "{"
    depth = 0
    first: re.Match[str] | None = None
    begin = end = -1
    for token in TOKEN.finditer(text, start + 1):
        mark = token[0]
        if token["blank"] is not None or (depth == 0 and mark == ":"):
            begin = -1 if mark == ":" else begin
        elif depth == 0 and mark in ",}]":
            if first is not None:
                key = json.loads(first[0]) if in_object else len(members)
                members.append(Member(first.start(), key, begin, end))
            if mark != ",":
                break
            first, begin = None, -1
        else:
            first = first or token
            begin = token.start() if begin < 0 else begin
            depth += (mark in "{[") - (mark in "}]")
            end = token.end()
    return members
