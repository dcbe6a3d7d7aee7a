"""Reading lines that may be long, or never end: one that cannot be valid ends the reading.

A line is read in chunks. Its beginning says how long it may be, so that a device, a program's
output or another file without line ends is refused after a few kilobytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from memstore.domain.arguments import MAX_CONTENT
from memstore.errors import TransferError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import TextIOBase

CHUNK: Final = 2**16
"""Characters of a line that are read before anything is known about it."""

MAX_FACT_CHARACTERS: Final = 16 * MAX_CONTENT
"""Characters of a fact's line: its text with every character escaped, and room for the rest."""

MAX_LINE_CHARACTERS: Final = 1_000_000_000
"""Characters of another line. An episode may be nearly as long as a row of the database."""

OTHERS: Final = frozenset({"episode", "operation", "proposal", "reading", "reply", "decision"})
BEGINNING: Final = re.compile(r'\s*\{\s*"(\w+)"')


class TooLong(ValueError):
    """A line is longer than a valid one can be."""


def of_export(file: TextIO | TextIOBase) -> Iterator[str]:
    """Yield the lines of an export.

    Raises:
        TransferError: a line is longer than its kind of record; the error names the line.
    """
    number = 1
    try:
        while text := line(file, _longest):
            yield text
            number += 1
    except TooLong as error:
        raise TransferError(f"{error}; nothing was imported", place=f"line {number}") from None


class Lines(Protocol):
    """A text that is read by lines, or by parts of them."""

    def readline(self, size: int, /) -> str: ...


def line(file: Lines, longest: Callable[[str], int]) -> str:
    """Return the next line with its end; nothing at the end of the file.

    Args:
        file: text, read from its position.
        longest: says from the beginning of a line of more than :data:`CHUNK` characters how long
            it may be, or raises :class:`TooLong`.

    Raises:
        TooLong: the line is longer, or not text.
    """
    part = file.readline(CHUNK)
    if len(part) < CHUNK:
        return part
    most = longest(part)
    parts, length = [part], len(part)
    while len(part) == CHUNK and not part.endswith("\n"):
        if length > most:
            raise TooLong(f"longer than {most:,} characters")
        if "\0" in part:
            raise TooLong("contains NUL characters")
        part = file.readline(CHUNK)
        parts.append(part)
        length += len(part)
    return "".join(parts)


def _longest(beginning: str) -> int:
    found = BEGINNING.match(beginning)
    if found is not None and found[1] == "fact":
        return MAX_FACT_CHARACTERS
    if found is not None and found[1] in OTHERS:
        return MAX_LINE_CHARACTERS
    raise TooLong(f"longer than {CHUNK:,} characters, but no record of an export")
