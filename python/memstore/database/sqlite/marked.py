"""Texts as FTS5 reads them, for engines that have none: their tokens, and where a query matches."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

import apsw

from memstore.database.sqlite import full_text
from memstore.database.sqlite.transaction import SqliteTransaction
from memstore.lazy import lazy_pattern
from memstore.text import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memstore.domain.results import Span

NAME: Final = "memstore_marked"

COLUMNS: Final = ("first", "second", "third", "segments")
"""As many as the index of facts has, so that the segments have the same place."""

WORDS: Final = full_text.Fts5(NAME, NAME, NAME, lambda *_: set(), NAME)


OF_NO_WORD: Final = lazy_pattern(r"[\s!-/:-@\[-`{-~]")

_own = threading.local()


def tokens(texts: Iterable[str]) -> list[list[str]]:
    """Return the tokens of each text, in order."""
    return _scratch().tokens(texts)


def places(query: str, content: str) -> dict[int, str]:
    """Return the words of a text that match a query, folded, by their offset in characters."""
    is_long = len(content) > full_text.MAX_HIGHLIGHTED
    return WORDS.places(_scratch() if is_long else _indexed([content]), query, 1, content)


def places_of_words(expression: str, content: str) -> dict[int, str]:
    """Return the words of a long text that match, as :func:`places` does, stretch by stretch.

    FTS5 copies the whole text for each word that it marks.

    Args:
        expression: the words, as FTS5 reads them.
    """
    cut = [*_stretches(content)]
    transaction = _emptied()
    for number, (start, stop) in enumerate(cut):
        transaction.run(
            f"INSERT INTO {NAME} (rowid, {COLUMNS[0]}) VALUES (:number, :text)",
            {"number": number, "text": content[start:stop]},
        )
    rows = transaction.rows(
        f"SELECT rowid, highlight({NAME}, 0, :opens, :closes) FROM {NAME}"
        f" WHERE {NAME} MATCH :expression",
        {"opens": full_text.OPENS, "closes": full_text.CLOSES, "expression": expression},
    )
    found = {
        cut[number][0] + at: word.casefold()
        for number, text in rows
        for at, word in full_text.marked_words(str(text))
    }
    transaction.run(f"DELETE FROM {NAME}")
    return found


def _stretches(content: str) -> Iterator[tuple[int, int]]:
    """Yield where stretches of a text start and stop; they end after a character of no word."""
    start = 0
    while start < len(content):
        least = start + full_text.MAX_HIGHLIGHTED
        end = OF_NO_WORD.search(content, least, least + full_text.MAX_HIGHLIGHTED)
        stop = min(end.end() if end else least + full_text.MAX_HIGHLIGHTED, len(content))
        yield start, stop
        start = stop


def matched(query: str, texts: Sequence[str]) -> list[tuple[Span, ...]]:
    """Return where the texts of a row, three at most, match a query."""
    return WORDS.matched(_indexed(texts), query, 1, texts)


def _indexed(texts: Sequence[str]) -> SqliteTransaction:
    """Return a transaction in which these texts are the only row of the index."""
    transaction = _emptied()
    given = dict(zip(COLUMNS, texts, strict=False)) | {"segments": words.segments(*texts)}
    transaction.run(
        f"INSERT INTO {NAME} (rowid, {', '.join(given)}) VALUES (1, :{', :'.join(given)})", given
    )
    return transaction


def _emptied() -> SqliteTransaction:
    transaction = _scratch()
    tokenizer, arguments = full_text.TOKENIZER
    transaction.run(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {NAME} USING fts5"
        f"({', '.join(COLUMNS)}, tokenize='{' '.join([tokenizer, *arguments])}')"
    )
    transaction.run(f"DELETE FROM {NAME}")
    return transaction


def _scratch() -> SqliteTransaction:
    """Return a transaction of this thread's own database in memory."""
    if not hasattr(_own, "connection"):
        _own.connection = apsw.Connection(":memory:")
    return SqliteTransaction(_own.connection, "")
