"""Columns of many rows as the server's arrays, and strings of bits, in its binary format.

The driver writes lists as text, with a search for special characters in each element; vectors
double in size. This takes a tenth of the time.
"""

from __future__ import annotations

from itertools import repeat
from struct import Struct, pack
from typing import TYPE_CHECKING, Any, Final

from psycopg.adapt import Dumper
from psycopg.pq import Format

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ELEMENTS: Final = {"text": 25, "bigint": 20, "bytea": 17, "double precision": 701, "varbit": 1562}
"""The types of elements, by name, as the server numbers them."""

NUMBERS: Final = {"bigint": Struct(">iq").pack, "double precision": Struct(">id").pack}
"""How numbers of eight bytes are written, after their length."""

NULL: Final = b"\xff\xff\xff\xff"

_length: Final = Struct(">i").pack


class Array(bytes):
    """An array in the binary format. Its type is given by a cast in the statement."""

    __slots__ = ()


class Bits(bytes):
    """A string of bits in the binary format."""

    __slots__ = ()


class IdArray(bytes):
    """An array of ids in the binary format."""

    __slots__ = ()


class IdsDumper(Dumper):
    """Writes an array of ids as it is."""

    format = Format.BINARY
    oid = 1016  # bigint[]

    def dump(self, obj: IdArray) -> IdArray:
        return obj


class ArrayDumper(Dumper):
    """Writes an array as it is."""

    format = Format.BINARY

    def dump(self, obj: Array) -> Array:
        return obj


class BitsDumper(Dumper):
    """Writes a string of bits as it is."""

    format = Format.BINARY
    oid = ELEMENTS["varbit"]

    def dump(self, obj: Bits) -> Bits:
        return obj


def array(values: Sequence[Any], type_: str) -> Array:
    """Return values, some of which may be ``None``, as an array of a type of ELEMENTS."""
    head = pack(">iiIii", 1, None in values, ELEMENTS[type_], len(values), 1)
    if type_ in NUMBERS and None not in values:
        return Array(head + b"".join(map(NUMBERS[type_], repeat(8), values)))
    return Array(head + b"".join(_parts(values, type_)))


def ids(values: Sequence[int]) -> IdArray:
    """Return numbers as an array.

    Raises:
        struct.error: one is no number of the server.
    """
    return IdArray(array(values, "bigint"))


def _parts(values: Sequence[Any], type_: str) -> Iterator[bytes]:
    write = NUMBERS.get(type_)
    for value in values:
        if value is None:
            yield NULL
        elif write is not None:
            yield write(8, value)
        else:
            content = value.encode() if type_ == "text" else value
            yield _length(len(content))
            yield content
