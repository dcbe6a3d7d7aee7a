"""The terms in the pages of an FTS5 index, those of deleted rows too.

Terms are written without what they share with the one before, so a search for bytes misses them. A
term of which all rows were deleted stays until its segment is merged, and no query shows it. The
format is described in SQLite's ``ext/fts5/fts5_index.c``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memstore.database.engine import Transaction

FIRST_SEGMENT: Final = 1 << 37
"""The id of a page is this times its segment, plus its number."""

IS_LIST_INDEX: Final = 1 << 36
"""The bit in the ids of pages without terms."""

MAX_VARINT: Final = 9


def terms(transaction: Transaction, index: str) -> Iterator[bytes]:
    """Yield each term as its token in UTF-8, perhaps several times."""
    rows = transaction.rows(
        f"SELECT id, block FROM {index}_data WHERE id >= :first ORDER BY id",
        {"first": FIRST_SEGMENT},
    )
    for id_, block in rows:
        if not id_ & IS_LIST_INDEX:
            yield from _of_page(bytes(block))


def _of_page(page: bytes) -> Iterator[bytes]:
    """Yield the terms of a page; the places of all stand at its end, each after the one before."""
    footer = at = int.from_bytes(page[2:4])
    place, term = 0, b""
    while at < len(page):
        step, at = _number(page, at)
        place += step
        shared, start = _number(page, place) if term else (0, place)
        length, start = _number(page, start)
        if start + length > footer:
            return  # damaged
        term = term[:shared] + page[start : start + length]
        yield term[1:]  # without the byte for the main index


def _number(page: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, and the place after it."""
    number = 0
    for length in range(1, MAX_VARINT + 1):
        byte = page[at] if at < len(page) else 0
        at += 1
        if length == MAX_VARINT:
            return number << 8 | byte, at
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return number, at
