"""The look-ups of a search: which rows have its words, which are near, and how much.

The index and the database both answer, with the same rows and scores; what only an index can tell,
the database leaves out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.database.tables import vectors as vector_table
from memstore.domain import clock, zones
from memstore.domain.results import NO_PARTS, ScoreParts
from memstore.embedding.vectors import cosines_of_stored
from memstore.lazy import cached_property, lazy_import
from memstore.named import NamedTuple
from memstore.text.words import spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date, datetime

    from memstore._kernel.ids import Ids
    from memstore._kernel.ranking import Bearing
    from memstore._kernel.words import Words
    from memstore.database.engine import Statement, Transaction
    from memstore.database.tables.vectors import VectorTable
    from memstore.domain.generations import Generation
    from memstore.domain.records import Fact
    from memstore.domain.results import Respelt
    from memstore.embedding.vectors import Vector
    from memstore.search.index.index import RowKind
    from memstore.search.lookups import dates
    from memstore.search.lookups.dates import Calendar, Condition, Named
    from memstore.search.lookups.sequel import Sequel
else:
    dates = lazy_import("memstore.search.lookups.dates")

F = TypeVar("F", FactFilter, EpisodeFilter)


class Query(NamedTuple):
    """A query, with its vector and the nearest rows if vectors are used."""

    text: str
    vector: Vector | None = None
    """``float32[d]``."""
    near: Mapping[int, float] = MappingProxyType({})
    """Cosines by id."""
    respelt: tuple[Respelt, ...] = ()
    """What of the text was written otherwise."""
    by_table: bool = False
    """Whether the built-in model compares it, since the file's could not be asked."""


class Ranked(NamedTuple):
    id: int
    score: float
    word_score: float = 0.0
    vector_score: float = 0.0
    decay: float = 1.0
    parts: ScoreParts = NO_PARTS
    relevance: float | None = None
    """How relevant it is to the query by meaning, 0 to 1, where the ranking has told it."""


class Elsewhere(NamedTuple):
    """Says that the best match of a query is about others than the one whom it names."""

    named: int
    """The best row of the one who is named."""
    other: int
    """The best row of others."""
    difference: float
    """How much better the first one's ``terms`` are: negative."""


class Order(NamedTuple):
    """Rows as a ranking orders them."""

    rows: Sequence[Ranked] = ()
    """Best first."""
    elsewhere: Elsewhere | None = None


class Terms(NamedTuple):
    """The terms of a query, as they are written and as the index knows them."""

    written: list[str]
    spellings: list[list[list[str]]]
    """For each term its spellings, each as tokens."""

    @property
    def phrases(self) -> list[list[str]]:
        """All spellings of all terms."""
        return [*chain.from_iterable(self.spellings)]

    @classmethod
    def of(cls, query: str, transaction: Transaction) -> Terms:
        forms = spelled(query)
        tokens = iter(transaction.tokens(chain.from_iterable(forms)))
        spellings = [list(islice(tokens, len(each))) for each in forms]
        return cls([each[0] for each in forms], spellings)


class About(NamedTuple):
    """What the best rows have of a prompt."""

    bearings: Sequence[Bearing] = ()
    relevances: Sequence[float] = ()
    """Of the same rows, 0 to 1; empty unless it is a question in a script with spaces and without
    paths or other identifiers of several words."""
    has_name: bool = False
    """One of them has a name of the prompt, wherever in its sentences."""
    rows: int = 0
    """How many rows the file has in all."""
    is_dated: bool = False
    """One of them is of a day of the prompt, and an answer by that alone."""
    likenesses: Sequence[float] = ()
    """How relevant some of them are by a model of the user's; empty unless it is a question."""
    is_conditional: bool = False
    """The prompt says of which time its answer is: before April, last."""
    has_event: bool = False
    """That time is the one before, at or after something that it names, of which one of these rows
    tells."""


class Aged(NamedTuple):
    """What the age of a row depends on; times as text."""

    id: int
    known: str
    """When it was stored or last confirmed."""
    said: str
    """The same of the moment that it is about, if there is one."""
    ages_as: str | None
    """The key of the category of a fact that can age."""


class Lookup(ABC, Generic[F]):
    """One kind of rows of one file, as one transaction sees them."""

    has_contexts: ClassVar[bool]
    """Whether it knows threads, names, dates and tokens, which only an index does."""
    can_compare = False
    """Whether :meth:`in_context` computes cosines itself, each of a row's whole text."""
    joins = False
    """Whether the vectors are those of a model of the user's, which joins the built-in one: only
    where an index has what the built-in one compares."""
    approximates = False
    """Whether :meth:`near` may leave a few rows out, to answer sooner."""
    until: int | None = None
    """The last row that counts for the weights of words; ``None`` for all."""
    aged: Callable[[Sequence[int]], Sequence[Aged]] | None = None
    """Returns the ages of rows that had others at the moment that is searched."""
    sequel: Sequel | None = None
    """What this search and the one before it, or after it, of the same question share."""
    now: datetime | None = None
    """The moment of the search, of which a query's days are told; ``None`` for that of the clock.
    It is set before anything is looked up."""

    @cached_property
    def _dates(self) -> dict[str, Named]:
        return {}

    @cached_property
    def _today(self) -> date:
        return zones.date_of(self.now or clock.utc_now())

    def topic(self, query: str) -> str:
        """Return a query without the condition that it states for the time of its answer."""
        return dates.topic(query, self._today)

    def named_dates(self, query: str) -> Named:
        """Return the days that a query names, which one answer asks for several times."""
        if query not in self._dates:
            self._dates[query] = dates.of_day(query, self._today)
        return self._dates[query]

    def settle(self, query: str, named: Named) -> None:
        """Have a query mean other days than its words alone say."""
        self._dates[query] = named

    @property
    @abstractmethod
    def generation(self) -> Generation:
        """The active one."""

    @abstractmethod
    def terms(self, query: str) -> Terms: ...

    @abstractmethod
    def words(self, query: str, wanted: F, k: int) -> dict[int, float]:
        """Return the BM25 of the best ``k`` rows by words, best first; negative is better."""

    def words_in_parallel(self, queries: Iterable[str], passes: Iterable[F], k: int) -> None:
        """Announce that :meth:`words` of each query with each filter follows after :meth:`near`."""

    @abstractmethod
    def near(self, vectors: Sequence[Vector], wanted: F, k: int) -> list[dict[int, float]]:
        """Return the cosines of the ``k`` nearest rows to each query.

        Best first, ties by id; of episodes the newer first. Only positive cosines count.
        """

    @abstractmethod
    def word_parts(self, query: str, ids: Sequence[int]) -> Mapping[int, Mapping[str, float]]:
        """Return the BM25 of each row by word of the query, without words that it does not have.

        The sum is the row's BM25.
        """

    @abstractmethod
    def cosines(self, vector: Vector, ids: Sequence[int]) -> dict[int, float]:
        """Return the cosines, -1 to 1, of those of the rows that have a vector."""

    @abstractmethod
    def has_vectors(self, namespaces: Sequence[str] | None) -> bool:
        """Whether anything there can be found by meaning."""

    def above_floor(self, cosines: Mapping[int, float]) -> Mapping[int, float]:
        """Return the parts of cosines above that of two texts that have nothing in common."""
        return cosines

    # -- what only an index knows -------------------------------------------------------------

    def likenesses(self, cosines: Mapping[int, float]) -> Mapping[int, float]:
        """Return how relevant rows are by the model of the user's that joins the built-in one.

        As by that one, it is the product of two likenesses; here the same one twice. Empty where
        none joins it.
        """
        return {id_: max(0.0, cosine) ** 2 for id_, cosine in cosines.items()} if self.joins else {}

    def query_vectors(self, queries: Sequence[str]) -> Sequence[Vector] | None:
        """Return the queries' vectors of the built-in model, with rare words weighing more.

        ``None`` if there is no index, or it has another model's vectors.
        """
        return None

    def neighbours(self, ids: Iterable[int], reach: int, wanted: F) -> list[int]:
        """Return the rows up to ``reach`` places from these in their threads, without these."""
        return []

    def all_if_few(self, wanted: F, few: int) -> Sequence[int]:
        """Return every row that passes a filter, if there are no more than a few."""
        return ()

    def count_valid_between(self, ids: Sequence[int], after: datetime, before: datetime) -> int:
        """Count those of the rows that are valid since a moment between two."""
        return 0

    def bearings(self, query: str, ids: Sequence[int]) -> Mapping[int, Bearing]:
        """Return what these rows have of the query's words."""
        return {}

    def relevances(self, query: str, ids: Sequence[int]) -> Mapping[int, float]:
        """Return how relevant each of these rows is to the query by meaning, 0 to 1."""
        return {}

    def relevances_of_hits(
        self, query: str, ids: Sequence[int], known: Sequence[float | None]
    ) -> Mapping[int, float]:
        """Return how relevant each of these rows is to the query, 0 to 1, as far as is known.

        A row has 1 if it has every word of the query, or bears on it by some of them.

        Args:
            known: what :meth:`relevances` tells of each, where that is known.
        """
        asked, held = self.terms(query).written, self.word_parts(query, ids)
        return {id_: 1.0 for id_ in ids if asked and len(held.get(id_, ())) >= len(asked)}

    def has_word(self, word: str, wanted: F) -> bool:
        """Whether a row that passes a filter has a word, by its stem."""
        return bool(self.words(word, wanted, 1))

    def similar(self, word: str, edits: int, wanted: F) -> list[int]:
        """Return some rows with a word that differs from this one by few edits, or may do.

        Args:
            word: in lower case, without accents.
            edits: how many at most.
            wanted: which rows may be found.
        """
        return []

    def about(self, prompt: str, texts: Mapping[int, str], *, asks: bool) -> About:
        """Return what rows have of a prompt, given their texts, and whether it asks."""
        return About()

    def preparing(self, fact_ids: Sequence[int]) -> Iterable[Statement]:
        """Return the queries of :meth:`on_subject` for these facts, to be prefetched."""
        return ()

    def on_subject(
        self,
        facts: Sequence[Fact],
        wanted: F,
        k: int,
        *,
        later: bool,
        among: Sequence[int] | None = None,
    ) -> Mapping[int, Mapping[int, float]]:
        """Return the ``k`` nearest facts on the subject of each fact, with their cosines.

        They are active, no tasks, of the same namespace and owners, pass
        the filter, and are valid since a later (or an earlier) time than the fact, or the same one.
        Without a vector the nearest are those that share words, with a cosine of 0.

        Args:
            among: the only ones to look at; ``None`` is all.
        """
        return {}

    def later_on_subject(self, fact: Fact, wanted: F, ids: Sequence[int]) -> Sequence[int]:
        """Return those of some facts that are later ones as in :meth:`on_subject`."""
        return ()

    def in_context(
        self,
        query: str,
        candidates: Sequence[tuple[int, float | None]],
        wanted: F,
        *,
        limit: int,
        half_lives_seconds: Mapping[str, float],
        compares: bool,
        joins: bool,
        calendar: Calendar,
        condition: Condition | None = None,
    ) -> Order:
        """Rank candidates, given with their cosines, by the contextual ranking.

        ``compares`` has cosines computed by the built-in model; ``joins`` has them computed beside
        those given, which are another model's, above its floor. ``calendar`` is the user's clock
        and the days that the query means, ``condition`` what it says of the time of its answer.
        """
        return Order()


def best_by_words(
    words: Words, asked: Terms, k: int, visible: Ids, *, until: int | None = None
) -> dict[int, float]:
    """Return the BM25 of the best ``k`` rows, by an inverted index."""
    return words.bm25(asked.phrases, k, visible, until=until)


def parts_by_word(
    words: Words, asked: Terms, ids: Sequence[int], *, until: int | None = None
) -> dict[int, dict[str, float]]:
    """Return the BM25 of each row by word, by an inverted index."""
    rows = map(iter, words.parts(asked.phrases, ids, until=until))
    found: dict[int, dict[str, float]] = {}
    for id_, row in zip(ids, rows, strict=True):
        of_terms = (sum(islice(row, len(forms))) for forms in asked.spellings)
        each = zip(asked.written, of_terms, strict=True)
        found[id_] = {word: -part for word, part in each if part}
    return found


def cosines_of_vectors(
    transaction: Transaction, table: VectorTable, vector: Vector, ids: Sequence[int]
) -> dict[int, float]:
    """Return the cosines of those that have a vector, by the ids of facts or pieces.

    Damaged vectors are left out: the doctor reports them.
    """
    return nearest_stored(vector, vector_table.stored(transaction, table, ids) if ids else ())


def cosines_of_rows(
    transaction: Transaction, table: VectorTable, vector: Vector, ids: Sequence[int]
) -> dict[int, float]:
    """Return the cosines of rows that have a vector; of an episode, its nearest piece's."""
    if table is not vector_table.PIECES:
        return cosines_of_vectors(transaction, table, vector, ids)
    return nearest_stored(vector, vector_table.stored_of_episodes(transaction, ids) if ids else ())


def nearest_stored(vector: Vector, rows: Sequence[tuple[int, bytes]]) -> dict[int, float]:
    """Return the largest cosine of each row's vectors, without damaged ones."""
    best: dict[int, float] = {}
    cosines = cosines_of_stored(vector, [blob for _, blob in rows])
    for (id_, _), cosine in zip(rows, cosines, strict=True):
        if cosine is not None and not (id_ in best and best[id_] > cosine):
            best[id_] = cosine
    return best


def best(cosines: Mapping[int, float], k: int, kind: RowKind) -> dict[int, float]:
    """Return the ``k`` largest cosines of rows, best first, and the order of equal ones."""
    sign = -1 if kind.newest_of_equals else 1
    ordered = sorted([(-cosine, sign * id_) for id_, cosine in cosines.items()])
    return {sign * id_: -cosine for cosine, id_ in ordered[:k]}
