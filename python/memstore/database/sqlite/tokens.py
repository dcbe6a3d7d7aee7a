"""The tokens of texts, as the full-text indexes of SQLite tokenize them."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import apsw

from memstore.database.sqlite.full_text import TOKENIZER

if TYPE_CHECKING:
    from collections.abc import Iterable

REPEATED: Final = 40
"""Texts up to this length, such as subjects and categories, often repeat; their tokens are kept."""

_own = threading.local()


def tokens(connection: apsw.Connection, texts: Iterable[str]) -> list[list[str]]:
    """Return the tokens of each text, in order."""
    tokenize = partial(
        connection.fts5_tokenizer(*TOKENIZER),
        flags=apsw.FTS5_TOKENIZE_DOCUMENT,
        locale=None,
        include_offsets=False,
        include_colocated=False,
    )
    known: dict[str, list[str]] = {}

    def of(text: str) -> list[str]:
        found = known.get(text)
        if found is None:
            found = cast("list[str]", tokenize(text.encode()))
            if len(text) <= REPEATED:
                known[text] = found
        return found

    return [*map(of, texts)]


def scratch() -> apsw.Connection:
    """Return this thread's own empty database in memory, for engines that have no SQLite."""
    if not hasattr(_own, "connection"):
        _own.connection = apsw.Connection(":memory:")
    return cast("apsw.Connection", _own.connection)
