"""The full-text indexes (FTS5) over facts and episodes: searched, checked, rebuilt.

Triggers keep them in step with the rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memstore.database.engine import FullTexts
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.errors import StorageError
from memstore.text.words import UNSPACED_RUN, match_expression, quoted, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memstore.database.engine import Parameters, Transaction, Wanted

OPENS, CLOSES = "\x02", "\x03"
"""Put around the words that matched; control characters that no text of words holds."""

BM25_OF_TEXT: Final = -1.0
"""What a row gets that holds a text without words, such as an emoji or ``->``; all the same."""


@dataclass(frozen=True, slots=True)
class Fts5:
    """The FTS5 index over one table, whose ``content`` and other columns of text it holds."""

    name: str
    rows: str
    """The table, and what a filter calls it."""
    alias: str
    visible: Callable[[Transaction, Sequence[int], Any], set[int]]
    """Returns those of some ids that a filter lets through."""

    def search(
        self, transaction: Transaction, query: str, wanted: Wanted, limit: int
    ) -> dict[int, float]:
        # Of equals the newer come first: the older ones may have decayed, and the cut comes before
        # that.
        expression = match_expression(query)
        if expression is None:
            return self._containing(transaction, query.strip(), wanted, limit)
        if wanted.is_plain:
            asked = limit * 3 // 2  # where nearly all may be seen, that is nearly always enough
            best = self._best(transaction, expression, asked)
            seen = self.visible(transaction, [*best], wanted)
            found = [id_ for id_ in best if id_ in seen][:limit]
            if len(found) == limit or len(best) < asked:
                return {id_: best[id_] for id_ in found}
        where, values = wanted.where(transaction.dialect)
        # CROSS: the index first. Asked for one row at a time it takes a hundred times as long.
        return _scores(
            transaction,
            f"SELECT {self.alias}.id, bm25({self.name}) AS nearness"
            f" FROM {self.name} CROSS JOIN {self.rows} ON {self.alias}.id = {self.name}.rowid"
            f" WHERE {self.name} MATCH :expression AND {where}"
            f" ORDER BY nearness, {self.alias}.id DESC LIMIT :limit",
            {**values, "expression": expression, "limit": limit},
        )

    def parts(
        self, transaction: Transaction, query: str, ids: Sequence[int]
    ) -> dict[int, dict[str, float]]:
        # BM25 is a sum over the words, and a word's part depends on nothing else in the query: so
        # the index is asked for each word by itself.
        words = terms(query)
        listed = transaction.dialect.listed("ids")
        found: dict[int, dict[str, float]] = {id_: {} for id_ in ids}
        for word in words:
            # "+" keeps SQLite from asking FTS5 again for each id.
            scores = _scores(
                transaction,
                f"SELECT rowid, bm25({self.name}) FROM {self.name}"
                f" WHERE {self.name} MATCH :word AND +rowid IN {listed}",
                {"word": quoted(word), "ids": ids},
            )
            for id_, bm25 in scores.items():
                found[id_][word] = bm25
        text = query.strip()
        if not words and text:
            for id_ in transaction.ints(
                f"SELECT {self.alias}.id FROM {self.rows}"
                f" WHERE {self.alias}.id IN {listed} AND instr({self.alias}.content, :text)",
                {"ids": ids, "text": text},
            ):
                found[id_][text] = BM25_OF_TEXT
        return found

    def places(
        self, transaction: Transaction, query: str, row_id: int, content: str
    ) -> dict[int, str]:
        expression = match_expression(query)
        if expression is None:
            at = content.find(query.strip())
            return {at: query.strip()} if at >= 0 and query.strip() else {}
        found = _of_scripts_without_spaces(query, content)
        if OPENS in content or CLOSES in content:
            return found
        row = transaction.one(
            f"SELECT highlight({self.name}, 0, :opens, :closes) FROM {self.name}"
            f" WHERE {self.name} MATCH :expression AND rowid = :id",
            {"opens": OPENS, "closes": CLOSES, "expression": expression, "id": row_id},
        )
        if row is None:
            return found
        return found | {at: word.casefold() for at, word in _marked(str(row[0]))}

    def check(self, transaction: Transaction) -> str | None:
        try:
            refresh(transaction)
            transaction.run(
                f"INSERT INTO {self.name} ({self.name}, rank) VALUES ('integrity-check', 1)"
            )
        except StorageError as error:
            return str(error)
        return None

    def forget_deleted(self, transaction: Transaction) -> None:
        # Merges the index into one segment. FTS5's own `secure-delete` would do it at each delete,
        # and make the file unreadable to programs with a SQLite before 3.42.
        transaction.run(f"INSERT INTO {self.name} ({self.name}) VALUES ('optimize')")

    def rebuild(self, transaction: Transaction) -> None:
        transaction.run(f"INSERT INTO {self.name} ({self.name}) VALUES ('rebuild')")

    def _best(self, transaction: Transaction, expression: str, limit: int) -> dict[int, float]:
        """Ask the index alone, whatever may be seen: a quarter of the time of a join."""
        return _scores(
            transaction,
            f"SELECT rowid, bm25({self.name}) AS nearness FROM {self.name}"
            f" WHERE {self.name} MATCH :expression ORDER BY nearness, rowid DESC LIMIT :limit",
            {"expression": expression, "limit": limit},
        )

    def _containing(
        self, transaction: Transaction, text: str, wanted: Wanted, limit: int
    ) -> dict[int, float]:
        """Find what holds a text that has no words in it."""
        if not text:
            return {}
        where, values = wanted.where(transaction.dialect)
        ids = transaction.ints(
            f"SELECT {self.alias}.id FROM {self.rows}"
            f" WHERE instr({self.alias}.content, :text) AND {where}"
            f" ORDER BY {self.alias}.id DESC LIMIT :limit",
            {**values, "text": text, "limit": limit},
        )
        return dict.fromkeys(ids, BM25_OF_TEXT)


INDEXES: Final = FullTexts(
    facts=Fts5("memstore_facts_fts", "memstore_facts f", "f", fact_table.visible),
    episodes=Fts5("memstore_episodes_fts", "memstore_episodes e", "e", episode_table.visible),
)


def refresh(transaction: Transaction) -> None:
    """Let this connection see how the indexes are laid out now.

    FTS5 remembers the layout, looks again when it is searched, and takes a merge made by another
    process for damage when it is checked without having been searched.
    """
    for name in ("memstore_facts_fts", "memstore_episodes_fts"):
        transaction.one(f"SELECT 1 FROM {name} WHERE {name} MATCH 'memstore'")


def _scores(transaction: Transaction, sql: str, parameters: Parameters) -> dict[int, float]:
    return dict(transaction.rows(sql, parameters))


def _marked(text: str) -> list[tuple[int, str]]:
    """Return what stands between the marks, by where it begins in the text without them."""
    found: list[tuple[int, str]] = []
    before, *marked = text.split(OPENS)
    at = len(before)
    for part in marked:
        word, _, rest = part.partition(CLOSES)
        found.append((at, word))
        at += len(word) + len(rest)
    return found


def _of_scripts_without_spaces(query: str, content: str) -> dict[int, str]:
    """Find what the index knows by its single characters: pairs of neighbours."""
    found: dict[int, str] = {}
    for term in terms(query):
        if not re.match(UNSPACED_RUN, term):
            continue
        pair = term.replace(" ", "")
        at = content.find(pair)
        while at >= 0:
            found[at] = pair
            at = content.find(pair, at + 1)
    return found
