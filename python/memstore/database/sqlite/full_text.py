"""The full-text indexes (FTS5) over facts and episodes: searched, checked, rebuilt.

Triggers keep them in step with the rows.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memstore.database.engine import FullTexts
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.errors import Conflict, Remedy, StorageError
from memstore.text.words import UNSPACED_RUN, match_expression, quoted, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memstore.database.engine import Parameters, Transaction, Wanted

OPENS, CLOSES = "\x02", "\x03"
"""Put around the words that matched; control characters that no text of words holds."""

BM25_OF_TEXT: Final = -1.0
"""What a row gets that holds a text without words, such as an emoji or ``->``; all the same."""

TOKENIZER: Final = ("porter", ["unicode61", "remove_diacritics", "2"])
"""The one that the schema names for both full-text indexes."""

ROWS: Final = 100
"""Rows that are indexed together when an index is built again."""


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
            if error.remedy is Remedy.OPEN_WRITABLE:
                return None  # comparing counts as a write
            return str(error)
        return None

    def forget_deleted(self, transaction: Transaction) -> None:
        # Merges the index into one segment. FTS5's own `secure-delete` would do it at each delete,
        # and make the file unreadable to programs with a SQLite before 3.42.
        transaction.run(f"INSERT INTO {self.name} ({self.name}) VALUES ('optimize')")

    def rebuilding(self) -> Iterator[Callable[[Transaction], None]]:
        return _Rebuild(self.name, self.rows.split()[0]).steps()

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


class _Rebuild:
    """Builds an index again under another name, which then takes the place of the old one."""

    def __init__(self, name: str, table: str) -> None:
        self._old = name
        self._table = table
        self._new = f"{name}_new_{os.urandom(4).hex()}"
        self._columns: list[str] = []
        self._last_id = 0

    def steps(self) -> Iterator[Callable[[Transaction], None]]:
        yield self._begin
        for start in range(0, self._last_id + 1, ROWS):  # as the first step found it
            yield partial(self._index, range(start, start + ROWS))
        yield self._replace

    def _begin(self, transaction: Transaction) -> None:
        """Create an empty index, and triggers that keep it in step with the rows it holds."""
        self._remove_unfinished(transaction)
        info = transaction.rows(f"PRAGMA table_info({self._old})")
        self._columns = [str(row[1]) for row in info]
        self._last_id = transaction.scalar(f"SELECT max(id) FROM {self._table}")
        columns = ", ".join(self._columns)
        tokenizer, arguments = TOKENIZER
        transaction.run(
            f"CREATE VIRTUAL TABLE {self._new} USING fts5({columns}, content='{self._table}',"
            f" content_rowid='id', tokenize='{' '.join([tokenizer, *arguments])}')"
        )
        new, old = (", ".join(f"{row}.{c}" for c in self._columns) for row in ("new", "old"))
        insert = f"INSERT INTO {self._new} (rowid, {columns}) VALUES (new.id, {new});"
        delete = (
            f"INSERT INTO {self._new} ({self._new}, rowid, {columns})"
            f" VALUES ('delete', old.id, {old});"
        )
        # What is not in it yet will be indexed as it is then.
        held = f"WHEN EXISTS (SELECT 1 FROM {self._new}_docsize WHERE id = old.id)"
        for event, when, does in (
            ("INSERT", "", insert),
            ("DELETE", held, delete),
            (f"UPDATE OF {columns}", held, delete + insert),
        ):
            transaction.run(
                f"CREATE TRIGGER {self._new}_{event.split()[0].lower()} AFTER {event}"
                f" ON {self._table} {when} BEGIN {does} END"
            )

    def _index(self, ids: range, transaction: Transaction) -> None:
        self._check_there(transaction)
        columns = ", ".join(self._columns)
        transaction.run(
            f"INSERT INTO {self._new} (rowid, {columns}) SELECT id, {columns} FROM {self._table}"
            " WHERE id >= :start AND id < :stop"
            # A row with a reserved id may have come in since.
            f" AND id NOT IN (SELECT id FROM {self._new}_docsize"
            "  WHERE id >= :start AND id < :stop)",
            {"start": ids.start, "stop": ids.stop},
        )

    def _replace(self, transaction: Transaction) -> None:
        self._check_there(transaction)
        self._drop_triggers(transaction, self._new)
        transaction.run(f"DROP TABLE {self._old}")
        # Legacy: the triggers that name the old index are to name the new one.
        transaction.run("PRAGMA legacy_alter_table = ON")
        transaction.run(f"ALTER TABLE {self._new} RENAME TO {self._old}")
        transaction.run("PRAGMA legacy_alter_table = OFF")

    def _check_there(self, transaction: Transaction) -> None:
        if not _named(transaction, "table", self._new):
            raise Conflict("another rebuild began in the meantime", remedy=Remedy.RETRY)

    def _remove_unfinished(self, transaction: Transaction) -> None:
        """Remove what is left of a rebuild that was interrupted."""
        for name in _named(transaction, "table", f"{self._old}_new_????????"):
            self._drop_triggers(transaction, name)
            transaction.run(f"DROP TABLE {name}")

    def _drop_triggers(self, transaction: Transaction, new: str) -> None:
        for name in _named(transaction, "trigger", f"{new}_*"):
            transaction.run(f"DROP TRIGGER {name}")


def _named(transaction: Transaction, kind: str, pattern: str) -> list[str]:
    rows = transaction.rows(
        "SELECT name FROM sqlite_schema WHERE type = :kind AND name GLOB :pattern",
        {"kind": kind, "pattern": pattern},
    )
    return [str(row[0]) for row in rows]


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
