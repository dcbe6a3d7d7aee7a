"""Adds a table or a switch to a TOML text, and removes it; every other character stays as it is.

A table is the stretch from its header to the last line before a header of another table, without
the comments above that header.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.arguments import why_no_json
from memstore.faces.hosts.placing import PlacedValue, at, line_end
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TOKEN: Final = re.compile(
    r'''(?P<string>"""(?:\\.|[^\\])*?"{3,5}|\'{3}.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*')'''
    r"""|(?P<comment>\#[^\n]*)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<line>\n)"""
    r"""|(?P<blank>[ \t\r\ufeff]+)|(?P<bare>[^"'\#\[\]{}\n \t\r]+)""",
    re.DOTALL,
)
SWITCH: Final = re.compile(r"[^=\n]+=[ \t]*(true|false)\b")
BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


class TomlStatement(NamedTuple):
    """A header or a setting, with the comment beside it and without the line end."""

    start: int
    end: int
    header: tuple[str, ...] | None
    """The path of the table that begins here."""


def value(text: str) -> dict[str, Any] | None:
    """Return what a text says; ``None`` if it has nothing but comments."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"), parse_float=str) or None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"cannot be read: {error}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"cannot be read: {why_no_json(error)}") from None


def put(text: str, path: Sequence[str], value: dict[str, Any] | bool) -> tuple[str, PlacedValue]:
    """Return the text, which is valid, with a table in place of one there, else at the end.

    A switch, ``true`` or ``false``, takes the place of the one there, or is put into its table.
    """
    end = line_end(text)
    if isinstance(value, bool):
        return _switched(text, path, value, end)
    written = _written(path, value, end)
    if (there := _table(text, path)) is not None:
        placed = PlacedValue(len(path), before=text[slice(*there)])
        return text[: there[0]] + written + text[there[1] :], placed
    bare = text.removeprefix("\ufeff")
    lead = "" if not bare else end if bare.endswith("\n") else end + end
    return f"{text}{lead}{written}{end}", PlacedValue(0, lead, end)


def without(
    text: str,
    path: Sequence[str],
    value: dict[str, Any] | bool,
    placed: PlacedValue,
    *,
    element: bool = False,
) -> str:
    """Return the text without what was put at a path; unchanged if it is not there."""
    if isinstance(value, bool):
        return _switched_back(text, path, value, placed)
    there = _table(text, path)
    if there is None or not _says(text, path, value):
        return text
    head, rest = text[: there[0]], text[there[1] :]
    if placed.before is not None:
        return head + placed.before + rest
    before = head.removesuffix(placed.lead)
    if before.endswith("\n") or not before.strip("\ufeff") or placed.lead.count("\n") > 1:
        head = before  # else the lead is the end of a line that somebody wrote since
    rest = rest.removeprefix(placed.tail)
    if head.strip("\ufeff") and rest and not head.endswith("\n"):
        head += line_end(text)
    return head + rest


def _switched(text: str, path: Sequence[str], on: bool, end: str) -> tuple[str, PlacedValue]:
    if (there := _switch(text, path)) is not None:
        first, last = there
        return text[:first] + _inline(on) + text[last:], PlacedValue(
            len(path), before=text[first:last]
        )
    table = _table(text, path[:-1])
    if table is None:
        return put(text, path[:-1], {path[-1]: on})
    header = next(one for one in _statements(text) if one.start == table[0])
    if header.header != tuple(path[:-1]):  # of a table inside of it
        raise ValueError(f"has no table {'.'.join(path[:-1])} of its own")
    line = f"{_key(path[-1])} = {_inline(on)}"
    return f"{text[: header.end]}{end}{line}{text[header.end :]}", PlacedValue(len(path) - 1, end)


def _switched_back(text: str, path: Sequence[str], on: bool, placed: PlacedValue) -> str:
    there = _switch(text, path)
    if there is None or text[slice(*there)] != _inline(on):
        return text  # somebody else changed it
    first, last = there
    if placed.before is not None:
        return text[:first] + placed.before + text[last:]
    if placed.depth == 0 and _says(text, path[:-1], {path[-1]: on}):
        return without(text, path[:-1], {path[-1]: on}, placed)
    line = text.rfind("\n", 0, first) + 1
    head = text[:line].removesuffix(line_end(text))  # its own line end is now that of the header
    return head + text[last:]


def _switch(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """Return where the value of a switch stands; its table may be a header or part of the key."""
    inside: tuple[str, ...] = ()
    for statement in _statements(text):
        if statement.header is not None:
            inside = statement.header
            continue
        found = SWITCH.match(text, statement.start, statement.end)
        if found is not None:
            key, keys = tomllib.loads(found[0]), list[str]()
            while isinstance(key, dict):
                [(name, key)] = key.items()
                keys.append(name)
            if (*inside, *keys) == tuple(path):
                return found.span(1)
    return None


def _says(text: str, path: Sequence[str], table: dict[str, Any]) -> bool:
    try:
        return bool(at(value(text), path) == table)
    except KeyError:
        return False


def _table(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """Return where a table begins and ends, with the tables inside it that follow."""
    found = None
    for statement in _statements(text):
        if statement.header is not None:
            inside = statement.header[: len(path)] == tuple(path)
            if found is not None and not inside:
                break
            if found is None and inside:
                found = (statement.start, statement.end)
        if found is not None:
            found = (found[0], statement.end)
    return found


def _statements(text: str) -> Iterator[TomlStatement]:
    """Yield the statements of a text that is known to be valid."""
    start = end = depth = 0
    begun = False
    for token in TOKEN.finditer(text):
        kind = token.lastgroup
        depth += (kind == "open") - (kind == "close")
        if kind == "line" and depth == 0:
            if begun:
                yield _statement(text, start, end)
            begun = False
        elif kind not in ("line", "blank") and (begun or kind != "comment"):
            start = start if begun else token.start()
            begun, end = True, token.end()
    if begun:
        yield _statement(text, start, end)


def _statement(text: str, start: int, end: int) -> TomlStatement:
    end -= text.endswith("\r", start, end)  # of a comment
    if text[start] != "[":
        return TomlStatement(start, end, None)
    inner: Any = tomllib.loads(text[start:end])
    path: list[str] = []
    while inner:
        inner = inner[0] if isinstance(inner, list) else inner
        if inner:
            [(key, inner)] = inner.items()
            path.append(key)
    return TomlStatement(start, end, tuple(path))


def _written(path: Sequence[str], table: dict[str, Any], end: str) -> str:
    header = ".".join(map(_key, path))
    return end.join([f"[{header}]", *(f"{_key(k)} = {_inline(v)}" for k, v in table.items())])


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _inline(name)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {_inline(v)}' for k, v in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    # The strings of JSON are valid in TOML, except for one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
