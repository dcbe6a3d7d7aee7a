"""Words in rows, as the server finds them while a process has no index, or without one.

The scores are the server's own, so the order is provisional: it is that of the file only once the
index is there.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, Final

from memstore.database.engine import FullTexts, Statement
from memstore.database.sqlite import marked
from memstore.database.tables import facts as fact_table
from memstore.lazy import lazy_import, lazy_pattern
from memstore.named import NamedTuple
from memstore.text.words import identifiers, spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from memstore.database.engine import RowFilter, Transaction
    from memstore.database.tables import episodes as episode_table
    from memstore.domain.results import Span
else:
    episode_table = lazy_import("memstore.database.tables.episodes")

RANK_OF_TEXT: Final = -1.0
"""The score of every row that contains a query without words, such as an emoji or ``->``."""

RANKED: Final = 1000
"""How many rows are ranked for each word of a query, and for all of its words together."""

ACCENTED: Final = lazy_pattern("([A-Za-z])[\u0300-\u036f]+")

MAX_WORDS: Final = 16
"""For how many words, of a long query the longest."""


class Words(NamedTuple):
    """The column ``words`` of one table."""

    rows: str
    """The table with the alias that filters use."""
    alias: str
    visible: Callable[[Transaction, Sequence[int], Any], set[int]]

    def search(
        self, transaction: Transaction, query: str, wanted: RowFilter, limit: int
    ) -> dict[int, float]:
        asked = self._statement(transaction, query, wanted, limit)
        if asked is None:
            where, values = wanted.where(transaction.dialect)
            return self._containing(transaction, query.strip(), where, {**values, "limit": limit})
        return dict(transaction.rows(*asked))

    def search_in_parallel(
        self, transaction: Transaction, searches: Iterable[tuple[str, RowFilter]], limit: int
    ) -> None:
        asked = [self._statement(transaction, *search, limit) for search in searches]
        transaction.ask_in_parallel([one for one in asked if one is not None])

    def _statement(
        self, transaction: Transaction, query: str, wanted: RowFilter, limit: int
    ) -> Statement | None:
        """Return the statement of a search; ``None`` if the query has no words."""
        words = [folded(word) for alternatives in spelled(query) for word in alternatives]
        if not words:
            return None
        names = [folded(name) for name in identifiers(query)]
        where, values = wanted.where(transaction.dialect)
        return Statement(
            f"SELECT id, nearness FROM ({self._candidates(words, names, where)}) AS found"
            " ORDER BY nearness, id DESC LIMIT :limit",
            {**values, **_named([*words, *names]), "limit": limit},
        )

    def _candidates(self, words: Sequence[str], names: Sequence[str], where: str) -> str:
        """Return a query for rows that may be among the best, with their scores.

        Ranking every row with a frequent word takes too long. So these are rows with all words, and
        with each word: all that have it, if it is rare. The words are looked up before the filter,
        because indexes for the filter only help if few rows pass it. The server has an address, a
        path or a version as one word, so these are looked up whole, too.
        """
        given = [*words, *names]
        asked = [_word(place) for place in range(len(given))]
        longest = sorted(range(len(given)), key=lambda place: -len(given[place]))[:MAX_WORDS]
        queries = [f"({' && '.join(asked[: len(words)])})"]
        queries += [asked[place] for place in sorted(longest)]
        rank, alias = f"-ts_rank(best.words, {' || '.join(asked)})::float8", self.alias
        return " UNION ".join(
            f"SELECT best.id, {rank} AS nearness FROM (SELECT {alias}.id, {alias}.words"
            f" FROM (SELECT * FROM {self.rows} WHERE {alias}.words @@ {query} OFFSET 0) AS {alias}"
            f" WHERE {where} LIMIT {RANKED}) AS best"
            for query in queries
        )

    def parts(
        self, transaction: Transaction, query: str, ids: Sequence[int]
    ) -> dict[int, dict[str, float]]:
        listed = transaction.dialect.listed("ids")
        found: dict[int, dict[str, float]] = {id_: {} for id_ in ids}
        for alternatives in spelled(query):
            rows = transaction.rows(
                f"SELECT {self.alias}.id, -ts_rank({self.alias}.words, sought.query)::float8"
                f" FROM {self.rows} CROSS JOIN {_query(len(alternatives))}"
                f" WHERE {self.alias}.words @@ sought.query AND {self.alias}.id IN {listed}",
                {**_named([*map(folded, alternatives)]), "ids": ids},
            )
            for id_, nearness in rows:
                found[id_][alternatives[0]] = nearness
        if not spelled(query) and (text := query.strip()):
            contains = transaction.dialect.contains(f"{self.alias}.content", ":text")
            for id_ in transaction.ints(
                f"SELECT {self.alias}.id FROM {self.rows}"
                f" WHERE {self.alias}.id IN {listed} AND {contains}",
                {"ids": ids, "text": text},
            ):
                found[id_][text] = RANK_OF_TEXT
        return found

    def places(
        self,
        transaction: Transaction,
        query: str,
        row_id: int,
        content: str,
    ) -> dict[int, str]:
        return marked.places(query, content)

    def matched(
        self, transaction: Transaction, query: str, row_id: int, texts: Sequence[str]
    ) -> list[tuple[Span, ...]]:
        return marked.matched(query, texts)

    def check(self, transaction: Transaction) -> str | None:
        return None  # the server computes the column itself

    def forget_deleted(self, transaction: Transaction) -> None:
        pass

    def forget_some(self, transaction: Transaction, *, first: bool) -> bool:
        return True

    def holds(self, transaction: Transaction, term: str) -> bool:
        # A row may have the word where the server does not index it; then "no" errs on the safe
        # side, as queries are blanked. A stop word says nothing about anybody.
        sought = "phraseto_tsquery('english', :term)"
        term = folded(term)
        if not transaction.scalar(f"SELECT numnode({sought})", {"term": term}):
            return True
        found = f"SELECT 1 FROM {self.rows} WHERE {self.alias}.words @@ {sought} LIMIT 1"
        return transaction.one(found, {"term": term}) is not None

    def stray(self, transaction: Transaction, tokens: Collection[str]) -> set[str]:
        return set()

    def rebuilding(self) -> Iterator[Callable[[Transaction], None]]:
        return iter(())

    def _containing(
        self, transaction: Transaction, text: str, where: str, values: dict[str, Any]
    ) -> dict[int, float]:
        if not text:
            return {}
        contains = transaction.dialect.contains(f"{self.alias}.content", ":text")
        ids = transaction.ints(
            f"SELECT {self.alias}.id FROM {self.rows} WHERE {contains} AND {where}"
            f" ORDER BY {self.alias}.id DESC LIMIT :limit",
            {**values, "text": text},
        )
        return dict.fromkeys(ids, RANK_OF_TEXT)


def folded(word: str) -> str:
    """Return a word as the column has it: without accents on Latin letters."""
    if word.isascii():
        return word
    bare = ACCENTED.sub(r"\1", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare).replace("ς", "σ")


def _query(count: int) -> str:
    """Return a FROM item for a query that any of so many words answers, as ``sought.query``."""
    return f"(SELECT {' || '.join(map(_word, range(count)))} AS query) AS sought"


def _word(place: int) -> str:
    return f"plainto_tsquery('english', :word_{place})"


def _named(words: Sequence[str]) -> dict[str, str]:
    return {f"word_{place}": word for place, word in enumerate(words)}


INDEXES: Final = FullTexts(
    facts=Words("memstore_facts f", "f", fact_table.visible),
    episodes=Words("memstore_episodes e", "e", lambda *asked: episode_table.visible(*asked)),
)
