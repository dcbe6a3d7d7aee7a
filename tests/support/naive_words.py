"""The answers of the inverted index, computed with FTS5 and with a naive BM25."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Final

import apsw

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

TOKENIZER: Final = ("porter", ["unicode61", "remove_diacritics", "2"])

Phrases = list[list[str]]
Scores = list[tuple[int, float]]


class Fts5:
    """Rows of two columns in an FTS5 table."""

    def __init__(self) -> None:
        self._connection = apsw.Connection(":memory:")
        self._tokenizer = self._connection.fts5_tokenizer(*TOKENIZER)
        self._connection.execute(
            "CREATE VIRTUAL TABLE texts USING fts5("
            "one, two, tokenize='porter unicode61 remove_diacritics 2')"
        )

    def tokens(self, *columns: str) -> list[str]:
        """Return a row's tokens in the form that the index expects."""
        tokens: list[str] = []
        for column in columns:
            tokens += ["", *self._tokens(column)]
        return tokens[1:]

    def _tokens(self, text: str) -> list[str]:
        return self._tokenizer(
            text.encode(),
            apsw.FTS5_TOKENIZE_DOCUMENT,
            None,
            include_offsets=False,
            include_colocated=False,
        )

    def put(self, id_: int, one: str, two: str) -> list[str]:
        """Add or replace a row; returns its tokens."""
        self.drop(id_)
        self._connection.execute(
            "INSERT INTO texts (rowid, one, two) VALUES (?, ?, ?)", (id_, one, two)
        )
        return self.tokens(one, two)

    def drop(self, id_: int) -> None:
        """Remove a row, if present."""
        self._connection.execute("DELETE FROM texts WHERE rowid = ?", (id_,))

    def all(self, texts: Sequence[str]) -> Scores:
        """Return every row that has any of the texts as a phrase, best first."""
        expression = " OR ".join(f'"{text}"' for text in texts)
        return self._connection.execute(
            "SELECT rowid, -bm25(texts) AS score FROM texts WHERE texts MATCH ?"
            " ORDER BY score DESC, rowid DESC",
            (expression,),
        ).fetchall()

    def search(self, texts: Sequence[str], limit: int) -> Scores:
        """Return the best rows."""
        return self.all(texts)[:limit]

    def frequency(self, text: str) -> int:
        """Return how many rows have a phrase."""
        query = "SELECT count(*) FROM texts WHERE texts MATCH ?"
        [(count,)] = self._connection.execute(query, (f'"{text}"',))
        return count


def occurrences(phrase: list[str], tokens: list[str]) -> int:
    """Return how often a row has a phrase; one without tokens ("😀") occurs nowhere, as in FTS5."""
    size = len(phrase)
    places = range(len(tokens) - size + 1) if phrase else ()
    return sum(tokens[at : at + size] == phrase for at in places)


def bm25(rows: dict[int, list[str]], phrases: Phrases, id_: int) -> list[float]:
    """Return what each phrase adds to a row's score: Robertson's formula with FTS5's constants."""
    lengths = {other: sum(map(bool, tokens)) for other, tokens in rows.items()}
    mean = sum(lengths.values()) / len(rows)
    parts = []
    for phrase in phrases:
        frequency = sum(occurrences(phrase, tokens) > 0 for tokens in rows.values())
        idf = log((len(rows) - frequency + 0.5) / (frequency + 0.5))
        count = occurrences(phrase, rows[id_])
        saturation = 1.2 * (0.25 + 0.75 * lengths[id_] / mean) if mean else 1.0
        parts.append((idf if idf > 0 else 1e-6) * count * 2.2 / (count + saturation))
    return parts


def seen(scores: Scores, visible: Collection[int]) -> Scores:
    """Return the visible rows."""
    return [(id_, score) for id_, score in scores if id_ in visible]
