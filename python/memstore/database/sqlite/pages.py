"""Texts that cross from one page of a database file to the next, where no plain search finds them.

A row that is longer than a page goes on in overflow pages. Each begins with the number of the next
one, and what stands before the first of them ends with its number.
"""

from __future__ import annotations

from collections import defaultdict
from typing import IO, TYPE_CHECKING, Final

from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

MAGIC: Final = b"SQLite format 3\x00"
HEADER_BYTES: Final = 100
POINTER_BYTES: Final = 4
MAX_PAGE_BYTES: Final = 65536
"""The size that the header writes as 1."""


class _Layout(NamedTuple):
    page_bytes: int
    usable_bytes: int


def divided(file: IO[bytes], texts: Collection[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield the texts that a database file holds in two parts, each with the place of the second.

    A file that is no SQLite database has none. Texts must be shorter than a page.
    """
    layout = _layout(file)
    if layout is None or not texts:
        return
    ends = _second_parts(file, layout, texts)
    firsts = {first for parts in ends.values() for first, _ in parts}
    for page, content in _pages(file, layout):
        following = int.from_bytes(content[:POINTER_BYTES])
        for first, text in ends.get(following, ()):
            if content[: layout.usable_bytes].endswith(first):
                yield text, (following - 1) * layout.page_bytes + POINTER_BYTES
        for first in firsts:
            at = content.find(first)
            while at >= 0:
                after = at + len(first)
                number = int.from_bytes(content[after : after + POINTER_BYTES])
                for known, text in ends.get(number, ()):
                    if known == first and number != page:
                        yield text, (number - 1) * layout.page_bytes + POINTER_BYTES
                at = content.find(first, at + 1)


def _layout(file: IO[bytes]) -> _Layout | None:
    file.seek(0)
    header = file.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        return None
    size = int.from_bytes(header[16:18])
    page_bytes = MAX_PAGE_BYTES if size == 1 else size
    return _Layout(page_bytes, page_bytes - header[20]) if page_bytes >= 512 else None


def _second_parts(
    file: IO[bytes], layout: _Layout, texts: Collection[bytes]
) -> dict[int, set[tuple[bytes, bytes]]]:
    """Return the pages that begin with the end of a text: what comes before it, and the text."""
    cuts: dict[bytes, set[tuple[bytes, bytes]]] = defaultdict(set)
    for text in texts:
        for place in range(1, len(text)):
            cuts[text[place:]].add((text[:place], text))
    lengths = sorted({*map(len, cuts)})
    found: dict[int, set[tuple[bytes, bytes]]] = defaultdict(set)
    for page, content in _pages(file, layout):
        for length in lengths:
            parts = cuts.get(content[POINTER_BYTES : POINTER_BYTES + length])
            if parts:
                found[page] |= parts
    return found


def _pages(file: IO[bytes], layout: _Layout) -> Iterator[tuple[int, bytes]]:
    file.seek(0)
    number = 1
    while content := file.read(layout.page_bytes):
        yield number, content
        number += 1
