"""Records in JSON of any length and layout: the file may be one line of gigabytes.

A program's records may be one object, a list, JSON Lines, objects one after the other, or stand
inside of another object or of a string that holds JSON. A :class:`JsonForm` says what a record is,
and they are found wherever they stand. Items of the outermost list or object are read one at a
time: only brackets and strings are followed here, and each item is then read by ``json``.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, TextIO

from memstore.domain.arguments import why_no_json
from memstore.importing.records import Damaged, Foreign, Skipped, described
from memstore.named import NamedTuple
from memstore.transfer import long_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memstore.importing.records import Raw

CHUNK: Final = 2**16
MAX_ITEM: Final = 100_000_000
"""Characters of one item, such as a conversation, which is read as a whole."""

MAX_DEPTH: Final = 4
"""How many objects and lists deep records are looked for."""

THE_FILE: Final = "the file"
WHOLE: Final = (THE_FILE, "line 1")
"""Places of which what is inside of them needs no mention."""
MARK: Final = 8
"""Characters at the beginning of which one is NUL if they are not in UTF-8."""
OPENING: Final = re.compile(r"^[ \t]*[{[\"]", re.MULTILINE)
"""A line that may be a record."""
COUNTS: Final = ("count", "total")
"""Members of a service's response with the number of its records, on all pages."""
MORE: Final = ("next", "has_more", "hasMore")
"""Members of a service's response that say whether there are other pages."""


class JsonItem(NamedTuple):
    key: str
    """The list or object that it stands in; empty outside of any."""
    place: str
    value: Any


def _never(_: object) -> bool:
    return False


class JsonForm(NamedTuple):
    """What the records of a program look like, and where they stand."""

    noun: str
    """What a record is, for messages: ``a memory of mem0``."""
    is_record: Callable[[dict[str, Any]], bool]
    lists: frozenset[str] = frozenset()
    """Lists of records by their name: whatever is in them, and is none, is damaged."""
    is_part: Callable[[object], bool] = _never
    """Whether several of a kind are one record: the messages of a conversation, in a list or on
    lines. The record's value is then a list."""
    keyed: str = "id"
    """What the name of a record is by which an object has it in place of a list."""
    is_whole: bool = False
    """Whether an object at the top is read as a whole: what is in its lists is its own, even if it
    would be a record by itself."""


Read = JsonItem | Damaged | Foreign | Skipped


def records(file: TextIO, form: JsonForm) -> Iterator[Read]:
    """Yield the records in a text; what is none, or cannot be read, is named, and the next read."""
    parts: list[Any] = []
    for one in _documents(_TextReader(file), form):
        if isinstance(one, JsonItem) and isinstance(one.value, dict) and form.is_part(one.value):
            if form.is_record(one.value):
                yield one
            else:
                parts.append(one.value)
        else:
            yield one
    if parts:
        yield JsonItem("", THE_FILE, parts)


def raw(found: Iterator[Read]) -> Iterator[Raw]:
    """Yield what was read as places and objects; a list in place of an object is damaged."""
    for one in found:
        if not isinstance(one, JsonItem):
            yield one
        elif isinstance(one.value, dict):
            yield one.place, one.value
        else:
            yield Damaged(one.place, "not a JSON object")


def _documents(reader: _TextReader, form: JsonForm) -> Iterator[Read]:
    if not reader.peek():
        yield Foreign(THE_FILE, "it is empty")
        return
    beginning, is_all = reader.beginning()
    if "\0" in beginning[:MARK]:
        yield Foreign(THE_FILE, "it seems to be in UTF-16 without a mark at the beginning")
        return
    if beginning[0] not in '{["' and OPENING.search(beginning) is None and is_all:
        yield _top_of_text(beginning)
        return
    if _is_lines(beginning):
        yield from _lines(reader, form)
        return
    if is_all:
        try:
            value = json.loads(beginning)
        except (ValueError, RecursionError):
            pass  # what is before the error is read below, which says where it is
        else:
            on_one_line = not reader.lines and "\n" not in beginning.rstrip()
            place = "line 1" if on_one_line and not isinstance(value, list) else THE_FILE
            yield from _top(form, place, value)
            return
    number = 1
    try:
        while first := reader.peek():
            if first not in '{["':
                if number == 1:
                    yield _top_of_text(beginning)
                    return
                raise _Broken("something follows its end")
            # What begins with a line that is longer than this is hardly laid out over several.
            is_line = number > 1 or "\n" not in beginning
            place = f"line {reader.line}" if is_line else THE_FILE
            yield from _document(reader, form, first, place)
            number += 1
    except _Broken as error:
        yield Damaged(THE_FILE, f"not JSON ({error})")


def _top_of_text(text: str) -> Foreign:
    """Return what a text without an object or a list is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Foreign(THE_FILE, f"not JSON, which {text[0]!r} cannot begin")
    return Foreign("line 1", f"not a JSON object, but {described(value)}")


def _document(reader: _TextReader, form: JsonForm, first: str, place: str) -> Iterator[Read]:
    """Yield the records of one value, of which only the next item is in memory."""
    if first == "{":
        yield from _object(reader, form, place)
    elif first == "[":
        empty = True
        for item in _listed(reader, ""):
            empty = False
            if isinstance(item, Damaged):
                yield item
            else:
                yield from _unwrapped(form, item)
        if empty:
            yield Foreign(place, "it is an empty list")
    else:
        value = _value(reader, "", place)
        if isinstance(value, Damaged):
            yield value
        else:
            yield from _top(form, place, value.value)


def _is_lines(beginning: str) -> bool:
    """Return whether a text is JSON Lines, from its first line and what follows it."""
    line, _, rest = beginning.partition("\n")
    rest = rest.lstrip()
    # A line of JSON Lines ends with its object; a longer object goes on after one of these.
    goes_on = line.rstrip().endswith(("{", "[", ",", ":")) or rest.startswith((",", "]", "}", ":"))
    return bool(rest) and not goes_on


def _lines(reader: _TextReader, form: JsonForm) -> Iterator[Read]:
    """Yield the records of lines, each of which stands alone."""
    number = 1 + reader.lines
    try:
        while text := long_lines.line(reader, _longest):
            if text.strip():
                try:
                    value = json.loads(text)
                except (ValueError, RecursionError) as error:
                    kind = Damaged if text.lstrip().startswith(("{", "[")) else Foreign
                    yield kind(f"line {number}", f"not JSON ({why_no_json(error)})")
                else:
                    yield from _unwrapped(form, JsonItem("", f"line {number}", value))
            number += 1
    except long_lines.TooLong as error:
        yield Damaged(f"line {number}", str(error))


def _longest(beginning: str) -> int:
    if beginning.lstrip().startswith("{"):
        return MAX_ITEM
    raise long_lines.TooLong(f"longer than {long_lines.CHUNK:,} characters, but not a JSON object")


# -- records inside of values ----------------------------------------------------------------


def _top(form: JsonForm, place: str, value: Any) -> Iterator[Read]:
    """Yield the records of a whole text."""
    value = _decoded(value)
    if not isinstance(value, list):
        yield from _unwrapped(form, JsonItem("", place, value))
    elif not value:
        yield Foreign(place, "it is an empty list")
    elif _are_parts(form, value):
        yield JsonItem("", place, value)
    else:
        for number, one in enumerate(value, 1):
            yield from _unwrapped(form, JsonItem("", f"record {number}", one))


def _unwrapped(form: JsonForm, item: JsonItem, depth: int = 0) -> Iterator[Read]:
    """Yield the records in a value that may be one; if it holds none, what it is."""
    found = _search(form, item, depth)
    yield from [_none(form, item)] if found is None else found


def _search(form: JsonForm, item: JsonItem, depth: int) -> list[Read] | None:
    """Return what is read in a value; ``None`` if it holds no record."""
    value = _decoded(item.value)
    if isinstance(value, dict):
        if form.is_record(value):
            return [item._replace(value=value)]
        return None if depth > MAX_DEPTH else _inside(form, item.place, value, depth)
    if not isinstance(value, list) or not value or depth > MAX_DEPTH:
        return None
    if _are_parts(form, value):
        return [item._replace(value=value)]
    return _in_list(form, item, value, depth)


def _in_list(form: JsonForm, item: JsonItem, values: list[Any], depth: int) -> list[Read] | None:
    found: list[Read] = []
    is_named = item.key in form.lists
    for number, one in enumerate(values, 1):
        inner = JsonItem(item.key, f"{item.place} {number}", one)
        read = _search(form, inner, depth + 1)
        is_named = is_named or read is not None
        found += [_none(form, inner)] if read is None else read
    return found if is_named else None


def _none(form: JsonForm, item: JsonItem) -> Read:
    """Return what a value that holds no record is: a part of one, or nothing of the program."""
    value = _decoded(item.value)
    if form.is_part(value):
        return item._replace(value=value)
    noun = form.noun if isinstance(value, dict) else "a JSON object"
    return Foreign(item.place, f"not {noun}, but {described(value)}")


def _inside(form: JsonForm, place: str, value: dict[str, Any], depth: int) -> list[Read] | None:
    """Return what is read of an object that is no record; ``None`` if it holds none."""
    found: list[Read] = []
    others: list[Read] = []
    is_wrapper = False
    within = "" if place in WHOLE else f"{place}, "
    for name, given in value.items():
        inner = _decoded(given)
        here = JsonItem(name, f"{within}{name}", inner)
        held: list[Read] | None = None
        if name in form.lists and isinstance(inner, list | dict):
            held = _in_list(form, here, _listed_by_name(form, inner), depth)
        elif isinstance(inner, dict | list):
            held = _search(form, here, depth + 1)
        if held is not None:
            is_wrapper = True
            found += held
        elif isinstance(inner, list) and inner:
            others.append(Skipped(name, f"{len(inner)} of them", len(inner)))
    if not is_wrapper:
        return None
    return [*found, *others, *_other_pages(place, value, len(found))]


def _listed_by_name(form: JsonForm, values: list[Any] | dict[str, Any]) -> list[Any]:
    """Return a list of records, which an object may hold by their names."""
    if isinstance(values, list):
        return values
    if form.is_record(values) or not all(isinstance(one, dict) for one in values.values()):
        return [values]
    return [{form.keyed: name, **one} for name, one in values.items()]


def _other_pages(place: str, answer: dict[str, Any], found: int) -> Iterator[Skipped]:
    """Note the records that a response says are on other pages."""
    total = next((answer[name] for name in COUNTS if type(answer.get(name)) is int), 0)
    missing = total - found
    if missing > 0 or any(answer.get(name) for name in MORE):
        yield Skipped("records on other pages", f"{place} is one page", max(missing, 1))


def _is_record(form: JsonForm, value: object) -> bool:
    return isinstance(value, dict) and form.is_record(value)


def _are_parts(form: JsonForm, values: Sequence[Any]) -> bool:
    return all(
        isinstance(one, dict) and form.is_part(one) and not form.is_record(one) for one in values
    )


def _decoded(value: Any) -> Any:
    """Return what a string that holds JSON stands for; anything else as it is."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _object(reader: _TextReader, form: JsonForm, place: str) -> Iterator[Read]:
    """Yield the records in the members of a long object, or the object if it is one."""
    own: dict[str, Any] = {}
    length = count = 0
    wrapping: set[str] = set()
    for item in _members(reader):
        if isinstance(item, Damaged):
            yield item
            continue
        name, value = item.key, item.value
        if item.place == name:
            own[name] = value
        elif form.is_whole:
            own.setdefault(name, []).append(value)
        elif name in wrapping or name in form.lists or _is_record(form, value):
            earlier = own.pop(name, []) if name not in wrapping else []
            wrapping.add(name)
            for number, one in enumerate(earlier, 1):
                yield from _unwrapped(form, JsonItem(name, f"{name} {number}", one), 1)
            yield from _unwrapped(form, item, 1)
            count += 1 + len(earlier)
            continue
        else:
            own.setdefault(name, []).append(value)
        length += reader.length
        if length > MAX_ITEM:
            own.clear()
    if length > MAX_ITEM:
        yield Damaged(place, f"longer than {MAX_ITEM:,} characters")
        return
    if form.is_record(own):
        yield JsonItem("", place, own)
        return
    inner = _inside(form, place, own, 0)
    if inner is not None:
        yield from inner
    elif wrapping:
        for name, value in own.items():
            if isinstance(value, list):
                yield Skipped(name, f"{len(value)} of them", len(value))
        yield from _other_pages(place, own, count)
    else:
        yield Foreign(place, f"not {form.noun}, but {described(own)}")


# -- reading item by item --------------------------------------------------------------------

STRUCTURE: Final = re.compile(r'["\[\]{},:]')
NESTED: Final = re.compile(r'["\[\]{}]')
"""Inside of a value, commas and colons mean nothing."""
END_OF_STRING: Final = re.compile(r'["\\]')
NOT_BLANK: Final = re.compile(r"[^ \t\r\n]")


class _Broken(ValueError):
    """The text is not JSON from here on."""


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
            empty = True
            for item in _listed(reader, name.value):
                empty = False
                yield item
            if empty:
                yield JsonItem(name.value, name.value, [])
        else:
            yield _value(reader, name.value, name.value)
        following = reader.take()
        if following == "}":
            return
        if following != ",":
            raise _Broken(_ended(following, name.value))


def _ended(following: str, place: str) -> str:
    return f"no comma after {place}" if following else f"it ends after {place}"


DECODER: Final = json.JSONDecoder()


def _value(reader: _TextReader, key: str, place: str) -> JsonItem | Damaged:
    if (at_once := reader.decoded()) is not None:
        return JsonItem(key, place, at_once[0])
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
        self.length = 0
        """Characters of the last value."""
        self.lines = 0
        """Lines before the part that is in memory."""

    def peek(self) -> str:
        """Return the next character that is not blank; empty at the end."""
        while True:
            if found := NOT_BLANK.search(self._text, self._at):
                self._at = found.start()
                return found[0]
            if not self._more():
                return ""

    def beginning(self) -> tuple[str, bool]:
        """Return the first part of the text from its first value, and whether it is all of it."""
        self.lines += self._text.count("\n", 0, self._at)
        more = self._file.read(CHUNK)
        self._text, self._at = self._text[self._at :] + more, 0
        return self._text, len(more) < CHUNK

    def readline(self, size: int) -> str:
        """Return the rest of the line, or so many characters of it."""
        found = ""
        while len(found) < size:
            end = self._text.find("\n", self._at, self._at + size - len(found)) + 1
            stop = end or min(len(self._text), self._at + size - len(found))
            found += self._text[self._at : stop]
            self._at = stop
            if end or (self._at == len(self._text) and not self._more()):
                break
        return found

    @property
    def line(self) -> int:
        """The line on which it is."""
        return self.lines + self._text.count("\n", 0, self._at) + 1

    def take(self) -> str:
        found = self.peek()
        self._at += len(found)
        return found

    def decoded(self) -> tuple[Any] | None:
        """Return the next value if all of it is in memory; ``None`` to follow it to its end."""
        if self.peek() in '{["':  # of a number, the rest may be in the next part
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError):
                return None
            self.length, self._at = end - self._at, end
            return (value,)
        return None

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
                elif depth:
                    quoted = False
                else:
                    return self._whole(parts, start, length)
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
        self.length = length
        return "".join(parts) if length <= MAX_ITEM else None

    def _more(self) -> bool:
        self.lines += self._text.count("\n")
        self._text, self._at = self._file.read(CHUNK), 0
        return bool(self._text)


def _keep(parts: list[str], text: str, length: int) -> int:
    """Add the next part of a value, unless it is too long already; return its length."""
    if length + len(text) <= MAX_ITEM:
        parts.append(text)
    else:
        parts.clear()
    return len(text)
