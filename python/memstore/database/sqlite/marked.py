"""The words of one text that match a query, for engines that have no FTS5."""

from __future__ import annotations

from typing import Final

from memstore.database.sqlite import full_text, tokens
from memstore.database.sqlite.transaction import SqliteTransaction

NAME: Final = "memstore_marked"

WORDS: Final = full_text.Fts5(NAME, NAME, NAME, lambda *_: set())


def places(query: str, content: str) -> dict[int, str]:
    """Return the words of a text that match a query, folded, by their offset in characters."""
    transaction = SqliteTransaction(tokens.scratch(), "")
    tokenizer, arguments = tokens.TOKENIZER
    transaction.run(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {NAME} USING fts5"
        f"(content, tokenize='{' '.join([tokenizer, *arguments])}')"
    )
    transaction.run(f"DELETE FROM {NAME}")
    transaction.run(
        f"INSERT INTO {NAME} (rowid, content) VALUES (1, :content)", {"content": content}
    )
    return WORDS.places(transaction, query, 1, content)
