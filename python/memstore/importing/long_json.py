"""Items of a JSON text of any length, one at a time: the file may be one line of gigabytes.

A list yields its items; an object yields the items of the lists in it, and its other members
whole. Only the brackets and strings are followed here; each item is then read by ``json``.

JSON Lines, and a service's response with a list, are read as records: lines one by one, a list
whole, up to a limit.
"""

from __future__ import annotations

import json
import os
import re
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TextIO

from memstore.domain.arguments import why_no_json
from memstore.importing.records import Damaged, Skipped
from memstore.transfer import long_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.records import Raw


MAX_CHARACTERS: Final = 100_000_000
"""The longest record or list; it has to fit into a database row and into memory."""

LISTS: Final = ("results", "memories", "episodes", "facts")
"""Keys of the list in services' responses."""

OPENING: Final = 2**16
RECORDS_A_LOOK: Final = 1000


def records(path: Path, progress: Progress | None = None) -> Iterator[Raw]:
    """Yield each record of a file with its place, and the parts that cannot be read.

    Args:
        progress: called with the bytes read so far and the size of the file.
    """
    # Invalid UTF-8 becomes lone surrogates, for which the record is refused later.
    with open(path, "rb") as raw:
        file = TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape", newline="")
        opening = file.read(OPENING).lstrip()
        file.seek(0)
        line, end, _ = opening.partition("\n")
        # A line of JSON Lines ends with its object; a longer object goes on after one of these.
        over_lines = end and line.rstrip().endswith(("{", "[", ",", ":"))
        found = _whole(file) if over_lines or opening.startswith("[") else _lines(file)
        size = os.fstat(raw.fileno()).st_size
        for number, one in enumerate(found):
            if progress is not None and number % RECORDS_A_LOOK == 0:
                progress(raw.tell(), size)
            yield one


def _lines(file: TextIO) -> Iterator[Raw]:
    number = 1
    try:
        while text := long_lines.line(file, _longest):
            if text.strip():
                yield from _read(f"line {number}", text)
            number += 1
    except long_lines.TooLong as error:
        yield Damaged(f"line {number}", str(error))


def _longest(beginning: str) -> int:
    if beginning.lstrip().startswith("{"):
        return MAX_CHARACTERS
    raise long_lines.TooLong(f"longer than {long_lines.CHUNK:,} characters, but not a JSON object")


def _whole(file: TextIO) -> Iterator[Raw]:
    text = file.read(MAX_CHARACTERS + 1)
    if len(text) <= MAX_CHARACTERS:
        yield from _read("the file", text, may_be_list=True)
        return
    yield Damaged(
        "the file",
        f"a list of more than {MAX_CHARACTERS:,} characters, which is the limit for a list; JSON "
        "Lines, as written by `jq -c '.[]'`, have no such limit",
    )


def _read(place: str, text: str, *, may_be_list: bool = False) -> Iterator[Raw]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        yield Damaged(place, f"not JSON ({why_no_json(error)})")
        return
    if may_be_list and isinstance(value, list):
        yield from _records_in(value)
    elif not isinstance(value, dict):
        yield Damaged(place, "not a JSON object")
    elif "id" not in value and (lists := [n for n in LISTS if isinstance(value.get(n), list)]):
        yield from _answer(place, lists[0], value)
    else:
        yield place, value


def _records_in(values: list[Any]) -> Iterator[Raw]:
    for number, value in enumerate(values, 1):
        place = f"record {number}"
        yield (place, value) if isinstance(value, dict) else Damaged(place, "not a JSON object")


def _answer(place: str, name: str, answer: dict[str, Any]) -> Iterator[Raw]:
    """Yield the records of a service's response, and note other lists and missing pages."""
    held = answer[name]
    yield from _records_in(held)
    for other, value in answer.items():
        if other != name and isinstance(value, list) and value:
            yield Skipped(other, f"{len(value)} of them", len(value))
    total = answer.get("count")
    missing = total - len(held) if type(total) is int else 0
    if missing > 0 or answer.get("next"):
        yield Skipped("records on other pages", f"{place} is one page", max(missing, 1))


CHUNK: Final = 2**16
MAX_ITEM: Final = 100_000_000
"""Characters of one item, such as a conversation, which is read as a whole."""

STRUCTURE: Final = re.compile(r'["\[\]{},:]')
NESTED: Final = re.compile(r'["\[\]{}]')
"""Inside of a value, commas and colons mean nothing."""
END_OF_STRING: Final = re.compile(r'["\\]')
NOT_BLANK: Final = re.compile(r"[^ \t\r\n]")


class JsonItem(NamedTuple):
    key: str
    """The member of the outermost object that it is part of; empty in a list."""
    place: str
    value: Any


class _Broken(ValueError):
    """The text is not JSON from here on."""


def items(file: TextIO) -> Iterator[JsonItem | Damaged]:
    """Yield each item of a text; what cannot be read is named, and the next one is read."""
    reader = _TextReader(file)
    try:
        first = reader.peek()
        if first == "[":
            yield from _listed(reader, "")
        elif first == "{":
            yield from _members(reader)
        else:
            raise _Broken("neither a list nor an object")
        if reader.peek():
            raise _Broken("something follows its end")
    except _Broken as error:
        yield Damaged("the file", f"not JSON ({error})")


def _listed(reader: _TextReader, key: str) -> Iterator[JsonItem | Damaged]:
    reader.take()  # the bracket
    number = 0
    if reader.peek() == "]":
        reader.take()
        return
    while True:
        number += 1
        place = f"{key} {number}".strip() if key else f"record {number}"
        yield _value(reader, key, place)
        following = reader.take()
        if following == "]":
            return
        if following != ",":
            raise _Broken(_ended(following, place))


def _members(reader: _TextReader) -> Iterator[JsonItem | Damaged]:
    reader.take()  # the brace
    if reader.peek() == "}":
        reader.take()
        return
    while True:
        name = _value(reader, "", "a name")
        if (
            not isinstance(name, JsonItem)
            or not isinstance(name.value, str)
            or reader.take() != ":"
        ):
            raise _Broken("a member without a name")
        if reader.peek() == "[":
            yield from _listed(reader, name.value)
        else:
            yield _value(reader, name.value, name.value)
        following = reader.take()
        if following == "}":
            return
        if following != ",":
            raise _Broken(_ended(following, name.value))


def _ended(following: str, place: str) -> str:
    return f"no comma after {place}" if following else f"it ends after {place}"


def _value(reader: _TextReader, key: str, place: str) -> JsonItem | Damaged:
    text = reader.value(place)
    if text is None:
        return Damaged(place, f"longer than {MAX_ITEM:,} characters")
    try:
        return JsonItem(key, place, json.loads(text))
    except (ValueError, RecursionError) as error:
        return Damaged(place, f"not JSON ({why_no_json(error)})")


class _TextReader:
    """A text of which only the next part is in memory."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._at = 0

    def peek(self) -> str:
        """Return the next character that is not blank; empty at the end."""
        while True:
            if found := NOT_BLANK.search(self._text, self._at):
                self._at = found.start()
                return found[0]
            if not self._more():
                return ""

    def take(self) -> str:
        found = self.peek()
        self._at += len(found)
        return found

    def value(self, place: str) -> str | None:
        """Return the text of the next value; ``None`` if it is too long.

        Raises:
            _Broken: the file ends within it.
        """
        self.peek()
        parts: list[str] = []
        length = depth = 0
        quoted = False
        start = self._at
        while True:
            wanted = END_OF_STRING if quoted else NESTED if depth else STRUCTURE
            found = wanted.search(self._text, self._at)
            if found is None:
                self._at = len(self._text)
            elif quoted:
                self._at = found.end()
                if found[0] == "\\":
                    if self._at == len(self._text):  # the escaped character is in the next part
                        length += _keep(parts, self._text[start:], length)
                        if not self._more():
                            raise _Broken(f"it ends within {place}")
                        start = 0
                    self._at += 1
                else:
                    quoted = False
            else:
                mark = found[0]
                if not depth and mark in ",:]}":
                    self._at = found.start()
                    return self._whole(parts, start, length)
                self._at = found.end()
                quoted = mark == '"'
                depth += (mark in "[{") - (mark in "]}")
                if not depth and mark in "]}":
                    return self._whole(parts, start, length)
            if self._at >= len(self._text):
                length += _keep(parts, self._text[start:], length)
                if not self._more():
                    raise _Broken(f"it ends within {place}")
                start = 0

    def _whole(self, parts: list[str], start: int, length: int) -> str | None:
        length += _keep(parts, self._text[start : self._at], length)
        return "".join(parts) if length <= MAX_ITEM else None

    def _more(self) -> bool:
        self._text, self._at = self._file.read(CHUNK), 0
        return bool(self._text)


def _keep(parts: list[str], text: str, length: int) -> int:
    """Add the next part of a value, unless it is too long already; return its length."""
    if length + len(text) <= MAX_ITEM:
        parts.append(text)
    else:
        parts.clear()
    return len(text)
