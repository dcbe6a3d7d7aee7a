"""The words of one row that match a query, for engines that have no FTS5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.sqlite import full_text, tokens
from memstore.database.sqlite.transaction import SqliteTransaction
from memstore.text import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.domain.results import Span

NAME: Final = "memstore_marked"

COLUMNS: Final = ("first", "second", "third", "segments")
"""As many as the index of facts has, so that the segments have the same place."""

WORDS: Final = full_text.Fts5(NAME, NAME, NAME, lambda *_: set())


def places(query: str, content: str) -> dict[int, str]:
    """Return the words of a text that match a query, folded, by their offset in characters."""
    return WORDS.places(_indexed([content]), query, 1, content)


def matched(query: str, texts: Sequence[str]) -> list[tuple[Span, ...]]:
    """Return where the texts of a row, three at most, match a query."""
    return WORDS.matched(_indexed(texts), query, 1, texts)


def _indexed(texts: Sequence[str]) -> SqliteTransaction:
    """Return a transaction in which these texts are the only row of the index."""
    transaction = SqliteTransaction(tokens.scratch(), "")
    tokenizer, arguments = full_text.TOKENIZER
    transaction.run(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {NAME} USING fts5"
        f"({', '.join(COLUMNS)}, tokenize='{' '.join([tokenizer, *arguments])}')"
    )
    transaction.run(f"DELETE FROM {NAME}")
    given = dict(zip(COLUMNS, texts, strict=False)) | {"segments": words.segments(*texts)}
    transaction.run(
        f"INSERT INTO {NAME} (rowid, {', '.join(given)}) VALUES (1, :{', :'.join(given)})", given
    )
    return transaction
