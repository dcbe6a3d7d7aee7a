"""Files of other programs as text: UTF-8, or UTF-16 and UTF-32 with their mark at the beginning."""

from __future__ import annotations

import codecs
import os
from contextlib import contextmanager
from io import BufferedIOBase, TextIOWrapper
from typing import IO, TYPE_CHECKING, Final, Protocol, TextIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memstore.database.engine import Progress

MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before that of UTF-16, which it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
MARK_BYTES: Final = 4
UTF8: Final = "utf-8-sig"
TOLD_BYTES: Final = 200_000
"""How much is read until the progress is told."""

NUL_SHARE: Final = 5
"""One byte in so many is NUL in UTF-16 of most languages' texts; in UTF-8 there is none."""


class Peeking(Protocol):
    """Bytes whose beginning can be looked at, as of files and of entries of archives."""

    def read(self, size: int = -1, /) -> bytes: ...

    def peek(self, size: int = 1, /) -> bytes: ...


def encoding_of(beginning: bytes) -> str:
    """Return the encoding that the mark at the beginning of a file names; without one, UTF-8."""
    return next((name for mark, name in MARKS if beginning.startswith(mark)), UTF8)


def decoded(raw: bytes) -> str:
    """Return a text; bytes that are not of its encoding become lone surrogates or ``\ufffd``."""
    encoding = encoding_of(raw)
    # Only UTF-8 has surrogates for single bytes.
    return raw.decode(encoding, "surrogateescape" if encoding == UTF8 else "replace")


def opened(raw: Peeking) -> TextIO:
    """Return a file of bytes, at its beginning, as text, decoded as :func:`decoded` does."""
    encoding = encoding_of(raw.peek(MARK_BYTES)[:MARK_BYTES])
    errors = "surrogateescape" if encoding == UTF8 else "replace"
    return TextIOWrapper(cast("IO[bytes]", raw), encoding=encoding, errors=errors, newline="")


@contextmanager
def reading(path: Path, progress: Progress | None = None) -> Iterator[TextIO]:
    """Open a file as text.

    Args:
        progress: called with the bytes read so far and the size of the file.
    """
    with open(path, "rb") as raw:
        size = os.fstat(raw.fileno()).st_size
        with opened(raw if progress is None else Followed(raw, progress, 0, size)) as file:
            yield file


def why_no_text(raw: bytes) -> str | None:
    """Return what bytes are that seem to be no text at all; ``None`` if they may be one."""
    if encoding_of(raw) != UTF8 or b"\0" not in raw:
        return None
    if raw.count(0) * NUL_SHARE > len(raw):
        return "in UTF-16 without a mark at the beginning"
    return "that are not text"


def damage(raw: bytes) -> str | None:
    """Return where a text is not in its encoding; ``None`` if all of it is."""
    encoding = encoding_of(raw)
    try:
        raw.decode(encoding)
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} is not {encoding.removesuffix('-sig').upper()}"
    return None


class Followed(BufferedIOBase):
    """A file that tells how much of it was read, even while nothing in it is a record.

    Args:
        before: bytes of other files that were read before it.
        total: bytes of all of them.
    """

    def __init__(self, raw: Peeking, progress: Progress, before: int, total: int) -> None:
        self._raw = raw
        self._progress = progress
        self._done, self._said = before, before
        self._total = total

    def readable(self) -> bool:
        return True

    def peek(self, size: int = 1, /) -> bytes:
        return self._raw.peek(size)

    def read(self, size: int | None = -1, /) -> bytes:
        found = self._raw.read(-1 if size is None else size)
        self._done += len(found)
        if self._done - self._said >= TOLD_BYTES:
            self._said = self._done
            self._progress(min(self._done, self._total), self._total)
        return found

    read1 = read
