"""Texts as FTS5 reads them, for engines that have none: their tokens, and where a query matches."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

import apsw

from memstore.database.sqlite import full_text
from memstore.database.sqlite.transaction import SqliteTransaction
from memstore.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memstore.domain.results import Span

NAME: Final = "memstore_marked"

COLUMNS: Final = ("first", "second", "third", "segments")
"""As many as the index of facts has, so that the segments have the same place."""

WORDS: Final = full_text.Fts5(NAME, NAME, NAME, lambda *_: set(), NAME)


_own = threading.local()


def tokens(texts: Iterable[str]) -> list[list[str]]:
    """Return the tokens of each text, in order."""
    return _scratch().tokens(texts)


def places(query: str, content: str) -> dict[int, str]:
    """Return the words of a text that match a query, folded, by their offset in characters."""
    if len(content) > full_text.MAX_HIGHLIGHTED:  # read without an index
        return WORDS.places(_scratch(), query, 1, content)
    return WORDS.places(_indexed([content]), query, 1, content)


def matched(query: str, texts: Sequence[str]) -> list[tuple[Span, ...]]:
    """Return where the texts of a row, three at most, match a query."""
    return WORDS.matched(_indexed(texts), query, 1, texts)


def _indexed(texts: Sequence[str]) -> SqliteTransaction:
    """Return a transaction in which these texts are the only row of the index."""
    transaction = _scratch()
    tokenizer, arguments = full_text.TOKENIZER
    transaction.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {NAME} USING fts5"
        f"({', '.join(COLUMNS)}, tokenize='{' '.join([tokenizer, *arguments])}')"
    )
    transaction.execute(f"DELETE FROM {NAME}")
    given = dict(zip(COLUMNS, texts, strict=False)) | {"segments": words.segments(*texts)}
    transaction.execute(
        f"INSERT INTO {NAME} (rowid, {', '.join(given)}) VALUES (1, :{', :'.join(given)})", given
    )
    return transaction


def _scratch() -> SqliteTransaction:
    """Return a transaction of this thread's own database in memory."""
    if not hasattr(_own, "connection"):
        _own.connection = apsw.Connection(":memory:")
    return SqliteTransaction(_own.connection, "")
