"""Changes one table of a TOML text; ``tomlkit`` preserves comments, order and blanks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

if TYPE_CHECKING:
    from collections.abc import Sequence


def value_at(text: str, path: Sequence[Any]) -> Any:
    """Return the value at a path; ``KeyError`` if there is none."""
    value = _read(text).unwrap()
    for key in path:
        value = value[key]
    return value


def put(text: str, path: Sequence[Any], value: Any) -> str:
    """Return the text with a value at a path; missing tables on the way are created."""
    document = _read(text)
    *way, last = path
    table: Any = document
    for key in way:
        if key not in table:
            table.append(key, tomlkit.table(is_super_table=True))
        table = table[key]
    if last in table:
        table[last] = value
    else:
        made = tomlkit.item(value)
        if isinstance(made, tomlkit.items.Table):
            made.add(tomlkit.nl())  # before the table that follows
        table.append(last, made)
    return _text_of(document, text)


def cut(text: str, path: Sequence[Any]) -> str:
    """Return the text without the value at a path."""
    document = _read(text)
    *way, last = path
    table: Any = document
    for key in way:
        table = table[key]
    del table[last]
    return _text_of(document, text)


def _text_of(document: tomlkit.TOMLDocument, before: str) -> str:
    """Return a document's text, with the line ends that the file had before."""
    text = tomlkit.dumps(document)
    if 0 < before.count("\n") == before.count("\r\n"):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return text


def _read(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise ValueError(f"cannot be read: {error}") from None
