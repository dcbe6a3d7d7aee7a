"""Files of lines: the records of whole acts, from one line of a device to another.

The first line says what the file holds, and the hashes of the ledger before and after it; then
come, compressed, each act and its records as JSON. What a file holds depends on the ledger alone,
so it can be made again at any time.
"""

from __future__ import annotations

import json
import re
import zlib
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from memstore.domain import clock
from memstore.domain.arguments import checked_text
from memstore.errors import SyncError
from memstore.named import NamedTuple
from memstore.sync import rules
from memstore.sync.rules import EPISODE, FACT, About, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from memstore.sync.places.names import Named

FORMAT: Final = 1
MAX_BYTES: Final = 64 * 1024 * 1024
"""A larger file is not read."""
MAX_TEXT: Final = 512 * 1024 * 1024
"""What a file may hold when it is decompressed."""
MAX_RECORDS: Final = 1_000_000
MAX_LINE: Final = 16 * 1024 * 1024
FULL_BYTES: Final = 4 * 1024 * 1024
"""A file of this size is not merged with others any more."""
FULL_LINES: Final = 50_000
"""About so many lines are in one file."""
LEVEL: Final = 6
CHUNK: Final = 256 * 1024
HASH: Final = re.compile(r"[0-9a-f]{0,64}")
HASH_DIGITS: Final = 16
"""So many digits of an act's hash tell whether two chains have it in common."""


class ActRecords(NamedTuple):
    """The records of one act."""

    first: int
    last: int
    """The last line of the act, whether or not it has a record."""
    hash: str
    """The beginning of the hash of that line; empty in a relayed file."""
    records: tuple[Record, ...]


class Header(NamedTuple):
    """What a file says of itself."""

    device: str
    first: int
    last: int
    before: str
    """The hash of the line before the first; empty if it is not known."""
    after: str
    """The hash of the last line; empty if it is not known."""
    number: int
    """How many records it has."""
    edition: int = 0
    """Which of the choices of its writer it follows, as the writer's state counts them."""


class Segment(NamedTuple):
    """A file of lines that was read."""

    header: Header
    acts: tuple[ActRecords, ...]


NEWER: Final = "a newer version of memstore wrote it"


class NewerFormat(SyncError):
    """A file was written by a newer version of the program."""


def acts_of(
    records: Iterable[Record], end: Callable[[int], tuple[int, str]]
) -> Iterator[ActRecords]:
    """Yield records by their acts; ``end`` returns the last line of an act, and its hash."""
    for act, its in groupby(records, key=lambda record: record.act):
        last, hash_ = end(act)
        yield ActRecords(act, last, hash_[:HASH_DIGITS], tuple(its))


def write(header: Header, acts: Iterable[ActRecords]) -> tuple[bytes, int]:
    """Return a file, and how many records it has."""
    packer = zlib.compressobj(LEVEL)
    parts: list[bytes] = []
    count = 0
    at = 0
    names: dict[str, int] = {}
    for act in acts:
        rows = _rows(act, header.first, at, names)
        parts.extend(packer.compress(_encode(row)) for row in rows)
        at = act.records[0].at
        count += len(act.records)
    parts.append(packer.flush())
    told = {"memstore": "lines", "format": FORMAT, **header._replace(number=count)._asdict()}
    return json.dumps(told).encode() + b"\n" + b"".join(parts), count


def _encode(row: object) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _rows(act: ActRecords, first: int, before: int, names: dict[str, int]) -> Iterator[list[Any]]:
    """Yield the lines of an act: its numbers, and each of its records; moments as differences."""
    at = act.records[0].at
    yield [act.first - first, act.last - act.first, at - before, act.hash]
    for record in act.records:
        yield [
            record.line - act.first,
            record.at - at,
            record.rank - record.at,
            _name(names, record.kind),
            _name(names, record.about.namespace),
            record.about.uuid if record.about.kind == FACT else f"e{record.about.uuid}",
            _name(names, record.actor),
            _name(names, record.source),
            _packed(record),
        ]


def _name(names: dict[str, int], text: str) -> str | int:
    """Return a text the first time, and its number from then on."""
    if (number := names.get(text)) is not None:
        return number
    names[text] = len(names)
    return text


def _packed(record: Record) -> Mapping[str, Any] | None:
    """Return what a record says, without what its other members say too."""
    value = record.value
    if value is None or record.kind not in rules.BIRTHS:
        return value
    told = {name: one for name, one in value.items() if name != "uuid"}
    if told.get("created_at") == rules.text_of(record.at):
        del told["created_at"]
    return told


def read(data: bytes, named: Named) -> Segment:
    """Return what a file holds.

    Raises:
        SyncError: it is damaged, or is not what its name says.
        NewerFormat: a newer version of the program wrote it.
    """
    head, separator, body = data.partition(b"\n")
    try:
        header = _header(json.loads(head) if separator and len(head) < CHUNK else None, named)
        return Segment(header, tuple(_acts(header, _texts(body))))
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, zlib.error) as error:
        raise SyncError(f"it is damaged: {error}") from error


def _header(values: Any, named: Named) -> Header:
    if not isinstance(values, dict) or values.get("memstore") != "lines":
        raise ValueError("it does not say what it is")
    if _number(values.get("format")) > FORMAT:
        raise NewerFormat(NEWER)
    header = Header(
        _text(values.get("device")),
        _number(values.get("first")),
        _number(values.get("last")),
        hash_of(values.get("before")),
        hash_of(values.get("after")),
        _number(values.get("number")),
        _number(values.get("edition", 0)),
    )
    if (header.device, header.first, header.last) != (named.of, named.first, named.last):
        raise ValueError("it holds other lines than its name says")
    return header


def _texts(body: bytes) -> Iterator[bytes]:
    """Yield the lines of a compressed text, which may not be longer than is allowed."""
    unpacker = zlib.decompressobj()
    rest, total = b"", 0
    data = body
    while data and not unpacker.eof:
        part = unpacker.decompress(data, CHUNK)
        data = unpacker.unconsumed_tail
        total += len(part)
        if total > MAX_TEXT or len(rest) > MAX_LINE:
            raise ValueError("it holds more than a file may hold")
        *lines, rest = (rest + part).split(b"\n")
        yield from lines
    part = unpacker.flush()
    if not unpacker.eof or rest + part:
        raise ValueError("its end is missing")


def _acts(header: Header, texts: Iterator[bytes]) -> Iterator[ActRecords]:
    names: list[str] = []
    found: list[Record] = []
    act, at, last, count = (0, 0, ""), 0, header.first - 1, 0
    for text in texts:
        row = json.loads(text)
        if not isinstance(row, list):
            raise ValueError("a line is no list")
        if len(row) == 4:
            if found:
                yield ActRecords(*act, tuple(found))
            found = []
            first = header.first + _number(row[0])
            act = first, first + _number(row[1]), hash_of(row[3])
            at += _whole(row[2])
            if not last < first <= act[1] <= header.last:
                raise ValueError("its acts are out of order")
            last = act[1]
        else:
            record = _record(row, header.device, act[0], at, names)
            if not act[0] <= record.line <= act[1] or (found and record.line <= found[-1].line):
                raise ValueError("its records are out of order")
            found.append(record)
            count += 1
            if count > MAX_RECORDS:
                raise ValueError("it holds more than a file may hold")
    if found:
        yield ActRecords(*act, tuple(found))
    if count != header.number:
        raise ValueError("records are missing")


def _record(row: list[Any], device: str, act: int, at: int, names: list[str]) -> Record:
    line, later, more, kind, namespace, uuid, actor, source, value = row
    kind, namespace = _named(names, kind), _named(names, namespace)
    uuid = _text(uuid)
    is_fact = not uuid.startswith("e") or len(uuid) != clock.UUID_CHARACTERS + 1
    about = About(FACT if is_fact else EPISODE, namespace, uuid if is_fact else uuid[1:])
    if kind not in (rules.OF_FACTS if is_fact else rules.OF_EPISODES):
        raise ValueError(f"{kind[:40]!a} is no kind of line that travels")
    moment = at + _whole(later)
    actor = checked_text(_named(names, actor), "actor", MAX_LINE)
    source = checked_text(_named(names, source), "source", MAX_LINE)
    if value is not None:
        value = _value(kind, value, about, moment)
    rules.text_of(moment + _whole(more))  # refuses what is no moment
    return Record(
        device, act + _number(line), act, moment, moment + more, kind, about, value, actor, source
    )


def _value(kind: str, value: Any, about: About, at: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("a record says nothing")
    if kind in rules.BIRTHS:
        rules.check_birth(value, about.kind)
        return {"uuid": about.uuid, "created_at": rules.text_of(at), **value}
    return rules.checked(kind, value, about.kind)


def _named(names: list[str], name: Any) -> str:
    if isinstance(name, str):
        names.append(_text(name))
        return name
    return names[_number(name)]


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise TypeError("a number is missing")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or abs(value) >= 2**60:
        raise TypeError("a number is missing")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is missing")
    value.encode()  # half of a character is refused
    return value


def hash_of(value: Any) -> str:
    """Return a hash, or its beginning, or nothing.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, str) or not HASH.fullmatch(value):
        raise TypeError("a hash is missing")
    return value
