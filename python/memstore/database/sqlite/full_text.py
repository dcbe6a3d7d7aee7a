"""The full-text indexes (FTS5) of facts and episodes: search, check, rebuild.

Triggers keep them in sync with the rows.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from memstore.database.engine import FullTexts
from memstore.database.short_transactions import in_groups
from memstore.database.tables import facts as fact_table
from memstore.domain.results import Span
from memstore.errors import Conflict, Remedy, StorageError
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.text.words import (
    UNSPACED_RUN,
    any_of,
    apart,
    match_expression,
    quoted,
    spelled,
    terms,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from memstore.database.engine import Parameters, RowFilter, Transaction
    from memstore.database.sqlite import full_text_terms
    from memstore.database.tables import episodes as episode_table
    from memstore.text import spans
else:
    full_text_terms = lazy_import("memstore.database.sqlite.full_text_terms")
    episode_table = lazy_import("memstore.database.tables.episodes")
    spans = lazy_import("memstore.text.spans")

OPENS, CLOSES = "\x02", "\x03"
"""Control characters to put around matching words; ordinary texts do not contain them."""

SEGMENTS: Final = 3
"""The column of segments."""

BM25_OF_TEXT: Final = -1.0
"""The score of every row that contains a query without words, such as an emoji or ``->``."""

TOKENIZER: Final = ("porter", ["unicode61", "remove_diacritics", "2"])
"""The tokenizer of both full-text indexes, as in the schema."""

ROWS: Final = 100
"""Rows that are indexed together during a rebuild."""


MAX_HIGHLIGHTED: Final = 10_000
"""Characters of a text whose matching words FTS5 marks: for each it copies the whole text."""

MERGED_PAGES: Final = 64
"""Pages of an index that are merged together, in a few milliseconds."""


class Fts5(NamedTuple):
    """The FTS5 index of one table's text columns."""

    name: str
    rows: str
    """The table with the alias that filters use."""
    alias: str
    visible: Callable[[Transaction, Sequence[int], Any], set[int]]
    """Returns the ids that pass a filter."""
    texts: str
    """The view that holds the words of each row that has any."""
    has_words: str = "TRUE"
    """Whether a row of the table is in that view, and so in the index: erased rows are not."""
    decided_by: Sequence[str] = ()
    """The columns of which that depends."""

    def search(
        self, transaction: Transaction, query: str, wanted: RowFilter, limit: int
    ) -> dict[int, float]:
        # Among equals the newer come first: the older may decay, and decay applies after the limit.
        expression = match_expression(query)
        if expression is None:
            return self._containing(transaction, query.strip(), wanted, limit)
        if wanted.is_plain:
            requested = limit * 3 // 2  # nearly all rows pass, so this is nearly always enough
            best = self._best(transaction, expression, requested)
            passing = self.visible(transaction, [*best], wanted)
            found = [id_ for id_ in best if id_ in passing][:limit]
            if len(found) == limit or len(best) < requested:
                return {id_: best[id_] for id_ in found}
        where, values = wanted.where(transaction.dialect)
        # CROSS JOIN reads the index first; looking it up row by row takes a hundred times as long.
        return _scores(
            transaction,
            f"SELECT {self.alias}.id, bm25({self.name}) AS nearness"
            f" FROM {self.name} CROSS JOIN {self.rows} ON {self.alias}.id = {self.name}.rowid"
            f" WHERE {self.name} MATCH :expression AND {where}"
            f" ORDER BY nearness, {self.alias}.id DESC LIMIT :limit",
            {**values, "expression": expression, "limit": limit},
        )

    def search_in_parallel(self, *_: object) -> None:
        pass  # there is no server that could answer meanwhile

    def parts(
        self, transaction: Transaction, query: str, ids: Sequence[int]
    ) -> dict[int, dict[str, float]]:
        # BM25 is a sum over the words, and a word's part does not depend on the other words of the
        # query, so each word is searched for separately.
        words = spelled(query)
        listed = transaction.dialect.listed("ids")
        found: dict[int, dict[str, float]] = {id_: {} for id_ in ids}
        for word in words:
            # "+" keeps SQLite from querying FTS5 once for each id.
            scores = _scores(
                transaction,
                f"SELECT rowid, bm25({self.name}) FROM {self.name}"
                f" WHERE {self.name} MATCH :word AND +rowid IN {listed}",
                {"word": any_of(word), "ids": ids},
            )
            for id_, bm25 in scores.items():
                found[id_][word[0]] = bm25
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
        if len(content) > MAX_HIGHLIGHTED:
            return found | _places_of_words(transaction, query, content)
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

    def matched(
        self, transaction: Transaction, query: str, row_id: int, texts: Sequence[str]
    ) -> list[tuple[Span, ...]]:
        expression = match_expression(query)
        if expression is None:
            return [_occurrences(text, query.strip()) for text in texts]
        opens, closes = _marks(texts)
        segments = [spans.placed_segments(text) for text in texts]
        shown = ", ".join(
            f"highlight({self.name}, {place}, :opens, :closes)"
            for place in (*range(len(texts)), SEGMENTS)
        )
        row = transaction.one(
            f"SELECT {shown} FROM {self.name} WHERE {self.name} MATCH :expression AND rowid = :id",
            {"opens": opens, "closes": closes, "expression": expression, "id": row_id},
        )
        if row is None:  # found by its meaning
            return [()] * len(texts)
        *marked, cut = row
        found = [
            [(at, at + len(word)) for at, word in _between(one, opens, closes)] for one in marked
        ]
        for place, start, stop in _cut_between(str(cut or ""), opens, closes, segments):
            found[place].append((start, stop))
        return [tuple(Span(*one) for one in spans.merged(some)) for some in found]

    def check(self, transaction: Transaction) -> str | None:
        try:
            refresh(transaction)
            transaction.execute(
                f"INSERT INTO {self.name} ({self.name}, rank) VALUES ('integrity-check', 1)"
            )
        except StorageError as error:
            if error.remedy is Remedy.OPEN_WRITABLE:
                return None  # SQLite treats the check as a write
            return str(error)
        return None

    def forget_deleted(self, transaction: Transaction) -> None:
        # This merges the index into one segment. FTS5's `secure-delete` would erase text at each
        # delete, but make the file unreadable for SQLite before 3.42.
        transaction.execute(f"INSERT INTO {self.name} ({self.name}) VALUES ('optimize')")

    def forget_some(self, transaction: Transaction, *, first: bool) -> bool:
        # A negative number begins a merge of all segments into one. A merge that changes nothing
        # more than the command itself has found nothing to do.
        before = transaction.scalar("SELECT total_changes()")
        transaction.execute(
            f"INSERT INTO {self.name} ({self.name}, rank) VALUES ('merge', :pages)",
            {"pages": -MERGED_PAGES if first else MERGED_PAGES},
        )
        return transaction.scalar("SELECT total_changes()") - before < 2

    def holds(self, transaction: Transaction, term: str) -> bool:
        found = f"SELECT 1 FROM {self.name} WHERE {self.name} MATCH :term LIMIT 1"
        return transaction.one(found, {"term": quoted(term)}) is not None

    def stray(self, transaction: Transaction, tokens: Collection[str]) -> set[str]:
        wanted = {token.encode(): token for token in tokens}
        known = {term for term in full_text_terms.terms(transaction, self.name) if term in wanted}
        return {
            wanted[term]
            for term in known
            if not transaction.scalar(
                f"SELECT count(*) FROM {self.name} WHERE {self.name} MATCH :token",
                {"token": quoted(wanted[term])},
            )
        }

    def rebuilding(self) -> Iterator[Callable[[Transaction], None]]:
        return _Rebuild(self).steps()

    def _best(self, transaction: Transaction, expression: str, limit: int) -> dict[int, float]:
        """Search the index without the filter, in a quarter of the time of a join."""
        return _scores(
            transaction,
            f"SELECT rowid, bm25({self.name}) AS nearness FROM {self.name}"
            f" WHERE {self.name} MATCH :expression ORDER BY nearness, rowid DESC LIMIT :limit",
            {"expression": expression, "limit": limit},
        )

    def _containing(
        self, transaction: Transaction, text: str, wanted: RowFilter, limit: int
    ) -> dict[int, float]:
        """Find the rows that contain a text without words."""
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


def unfinished(transaction: Transaction) -> dict[str, str]:
    """Return the text of what rebuilds that are not finished have created, by its name."""
    found: dict[str, str] = {}
    for index in (FACTS, EPISODES):
        columns = [str(row[1]) for row in transaction.rows(f"PRAGMA table_info({index.name})")]
        for name in _named(transaction, "table", f"{index.name}_new_????????"):
            found[name] = ""
            found.update(_Rebuild(index, name, columns).triggers())
    return found


class _Rebuild:
    """Builds a new index under another name, then replaces the old one with it."""

    def __init__(self, index: Fts5, name: str | None = None, columns: Sequence[str] = ()) -> None:
        self._old = index.name
        self._table = index.rows.split()[0]
        self._texts, self._has_words = index.texts, index.has_words
        self._decided_by = index.decided_by
        self._new = name or f"{index.name}_new_{os.urandom(4).hex()}"
        self._columns: list[str] = [*columns]
        self._next_id = 0
        """The first row that is not indexed yet."""
        self._last_id = 0

    def steps(self) -> Iterator[Callable[[Transaction], None]]:
        yield self._begin
        while self._next_id <= self._last_id:  # the first step has set both
            yield self._index
        yield self._replace

    def _begin(self, transaction: Transaction) -> None:
        """Create an empty index, and triggers that keep it in sync with the rows in it."""
        self._remove_unfinished(transaction)
        info = transaction.rows(f"PRAGMA table_info({self._old})")
        self._columns = [str(row[1]) for row in info]
        self._last_id = transaction.scalar(f"SELECT max(id) FROM {self._table}")
        columns = ", ".join(self._columns)
        tokenizer, arguments = TOKENIZER
        transaction.execute(
            f"CREATE VIRTUAL TABLE {self._new} USING fts5({columns}, content='{self._texts}',"
            f" content_rowid='id', tokenize='{' '.join([tokenizer, *arguments])}')"
        )
        for _, trigger in self.triggers():
            transaction.execute(trigger)

    def triggers(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the text of each trigger of the new index."""
        columns = ", ".join(self._columns)
        new, old = (", ".join(f"{row}.{c}" for c in self._columns) for row in ("new", "old"))
        insert = (
            f"INSERT INTO {self._new} (rowid, {columns}) SELECT new.id, {new}"
            f" WHERE {self._has_words.format('new')};"
        )
        # A row that is not in it yet is indexed now, and left out later.
        delete = (
            f"INSERT INTO {self._new} ({self._new}, rowid, {columns}) SELECT 'delete', old.id,"
            f" {old} WHERE EXISTS (SELECT 1 FROM {self._new}_docsize WHERE id = old.id);"
        )
        changed = ", ".join({**dict.fromkeys(self._columns), **dict.fromkeys(self._decided_by)})
        for event, does in (
            ("INSERT", insert),
            ("DELETE", delete),
            (f"UPDATE OF {changed}", delete + insert),
        ):
            name = f"{self._new}_{event.split()[0].lower()}"
            yield (
                name,
                f"CREATE TRIGGER {name} AFTER {event} ON {self._table} BEGIN {does} END",
            )

    def _index(self, transaction: Transaction) -> None:
        """Index the next rows, as many as one transaction may write."""
        self._check_there(transaction)
        ids = range(self._next_id, self._next_id + ROWS)
        long = "".join(f" + coalesce(octet_length({each}), 0)" for each in self._columns)
        sizes = transaction.rows(
            f"SELECT id, 0{long} FROM {self._texts} WHERE id >= :start AND id < :stop ORDER BY id",
            {"start": ids.start, "stop": ids.stop},
        )
        groups = in_groups(sizes, lambda row: row[1])
        next(groups, None)
        if following := next(groups, None):
            ids = range(ids.start, following[0][0])
        self._next_id = ids.stop
        columns = ", ".join(self._columns)
        transaction.execute(
            f"INSERT INTO {self._new} (rowid, {columns}) SELECT id, {columns} FROM {self._texts}"
            " WHERE id >= :start AND id < :stop"
            # A row with a reserved id may have been inserted and indexed since.
            f" AND id NOT IN (SELECT id FROM {self._new}_docsize"
            "  WHERE id >= :start AND id < :stop)",
            {"start": ids.start, "stop": ids.stop},
        )

    def _replace(self, transaction: Transaction) -> None:
        self._check_there(transaction)
        self._drop_triggers(transaction, self._new)
        transaction.execute(f"DROP TABLE {self._old}")
        # Legacy: triggers keep the old name, which the new index is about to get.
        transaction.execute("PRAGMA legacy_alter_table = ON")
        transaction.execute(f"ALTER TABLE {self._new} RENAME TO {self._old}")
        transaction.execute("PRAGMA legacy_alter_table = OFF")

    def _check_there(self, transaction: Transaction) -> None:
        if not _named(transaction, "table", self._new):
            raise Conflict("another rebuild began in the meantime", remedy=Remedy.RETRY)

    def _remove_unfinished(self, transaction: Transaction) -> None:
        """Remove the remains of an interrupted rebuild."""
        for name in _named(transaction, "table", f"{self._old}_new_????????"):
            self._drop_triggers(transaction, name)
            transaction.execute(f"DROP TABLE {name}")

    def _drop_triggers(self, transaction: Transaction, new: str) -> None:
        for name in _named(transaction, "trigger", f"{new}_*"):
            transaction.execute(f"DROP TRIGGER {name}")


def _named(transaction: Transaction, kind: str, pattern: str) -> list[str]:
    rows = transaction.rows(
        "SELECT name FROM sqlite_schema WHERE type = :kind AND name GLOB :pattern",
        {"kind": kind, "pattern": pattern},
    )
    return [str(row[0]) for row in rows]


FACTS: Final = Fts5(
    "memstore_facts_fts",
    "memstore_facts f",
    "f",
    fact_table.visible,
    "memstore_facts_words",
    "{0}.unsearched IS NULL AND {0}.content <> ''",
    ("content", "unsearched"),
)
EPISODES: Final = Fts5(
    "memstore_episodes_fts",
    "memstore_episodes e",
    "e",
    lambda *asked: episode_table.visible(*asked),  # imported by a search of episodes alone
    "memstore_episodes_words",
    "{0}.content_hash <> ''",
    ("content_hash",),
)
INDEXES: Final = FullTexts(facts=FACTS, episodes=EPISODES)


def refresh(transaction: Transaction) -> None:
    """Make this connection reload the structure of the indexes.

    FTS5 caches the structure and reloads it only in a search. Without one, its integrity check
    reports a merge by another process as damage.
    """
    for name in ("memstore_facts_fts", "memstore_episodes_fts"):
        transaction.one(f"SELECT 1 FROM {name} WHERE {name} MATCH 'memstore'")


def _scores(transaction: Transaction, sql: str, parameters: Parameters) -> dict[int, float]:
    return dict(transaction.rows(sql, parameters))


def _marked(text: str) -> list[tuple[int, str]]:
    """Return the marked words, each with its offset in the text without the marks."""
    return _between(text, OPENS, CLOSES)


def _between(text: str, opens: str, closes: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    before, *marked = text.split(opens)
    at = len(before)
    for part in marked:
        word, _, rest = part.partition(closes)
        found.append((at, word))
        at += len(word) + len(rest)
    return found


def _places_of_words(transaction: Transaction, query: str, content: str) -> dict[int, str]:
    """Return the words of a text that match a query, as ``highlight`` marks them."""
    asked = [spelling for term in spelled(query) for spelling in term]
    wanted = {tokens[0] for tokens in transaction.tokens(asked) if len(tokens) == 1}
    runs = [*re.finditer(r"\S+", apart(content))]
    every = [*{run[0] for run in runs}]
    read = zip(every, transaction.tokens(every), strict=True)
    matching = {word for word, tokens in read if not wanted.isdisjoint(tokens)}
    return {run.start(): run[0].casefold() for run in runs if run[0] in matching}


def _marks(texts: Sequence[str]) -> tuple[str, str]:
    """Return marks that none of the texts has.

    They begin with a character that they have nowhere else, so that no mark is read across the
    beginning or the end of another.
    """
    number = 1
    while any(f"{OPENS}{sign * number}" in text for text in texts for sign in "oc"):
        number += 1
    return f"{OPENS}{'o' * number}", f"{OPENS}{'c' * number}"


def _cut_between(
    cut: str, opens: str, closes: str, segments: Sequence[Sequence[spans.Placed]]
) -> Iterator[tuple[int, int, int]]:
    """Yield what is marked in the column of segments: in which text, from where and to where."""
    tokens = [(place, token) for place, some in enumerate(segments) for token in some]
    plain = cut.replace(opens, "").replace(closes, "")
    if plain != " ".join(token.text for _, token in tokens):
        return  # cut by another version of Unicode
    for at, marked in _between(cut, opens, closes):
        first = plain.count(" ", 0, at)
        run = tokens[first : first + marked.count(" ") + 1]
        for place in dict.fromkeys(place for place, _ in run):  # a phrase may go into the next text
            own = [token for its, token in run if its == place]
            yield place, own[0].start, own[-1].stop


def _occurrences(text: str, part: str) -> tuple[Span, ...]:
    """Return where a text has a part of it."""
    starts = [one.start() for one in re.finditer(re.escape(part), text)] if part else []
    return tuple(Span(at, at + len(part)) for at in starts)


def _of_scripts_without_spaces(query: str, content: str) -> dict[int, str]:
    """Find the pairs of adjacent characters that stand for words in scripts without spaces."""
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
