"""Looking rows up in the index, with the same results as in the database, and more."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from memstore._kernel import ranking
from memstore.database.tables import vectors as vector_table
from memstore.domain import clock
from memstore.domain.records import NOBODY
from memstore.domain.results import ScoreParts
from memstore.embedding.vectors import numbers, similarities
from memstore.frozen import replace
from memstore.lazy import lazy_import
from memstore.providers.local import HAS_MODEL, MODEL
from memstore.search.index import visibility
from memstore.search.lookups.base import (
    About,
    Elsewhere,
    F,
    Lookup,
    Order,
    Ranked,
    Terms,
    best,
    best_by_words,
    cosines_of_rows,
    cosines_of_vectors,
    nearest_stored,
    parts_by_word,
)
from memstore.search.lookups.database import DatabaseLookup
from memstore.text.words import has_unspaced, identifiers, parts_of_identifiers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore._kernel.ranking import Bearing
    from memstore._kernel.ranking import _Condition as GivenCondition
    from memstore.database.engine import Statement, Transaction
    from memstore.domain.generations import Generation
    from memstore.domain.records import Fact, Scope
    from memstore.embedding.vectors import Vector
    from memstore.search.index.contents import FeedContents
    from memstore.search.index.index import RowKind
    from memstore.search.index.visibility import Visible
    from memstore.search.lookups import floor
    from memstore.search.lookups.dates import Calendar, Condition
else:
    floor = lazy_import("memstore.search.lookups.floor")


T = TypeVar("T")

SIMILAR_TERMS: Final = 64
"""How many terms near a misspelt word are looked at."""

FEWEST_LETTERS: Final = 3
"""Shorter terms are near any word."""

ROWS_OF_SIMILAR: Final = 2
"""How many rows with such a term: another form of the word may be nearer."""


OUTSIDE: Final = 0.4
"""What a row loses outside of the time that a query asks for."""
MATCHING: Final = 0.8
"""The share of the best score with which a row matches as well, so that its time decides."""


class IndexLookup(Lookup[F]):
    """Looks up in an index that has the transaction's state."""

    has_contexts = True

    def __init__(
        self,
        transaction: Transaction,
        kind: RowKind,
        contents: FeedContents,
        *,
        compares_stored: bool,
    ) -> None:
        self._transaction: Transaction = transaction
        self._kind: RowKind = kind
        self._contents: FeedContents = contents
        self._seen: list[tuple[F, Visible]] = []
        self._terms: dict[str, Terms] = {}
        self._of_owners: dict[Scope, F] = {}
        self._prepared: frozenset[int] = frozenset()
        """The facts whose vectors were read together with the hits."""
        self._on_subject: dict[tuple[str, Scope, str], Visible] = {}
        self._is_built_in_model = HAS_MODEL and contents.generation.model == MODEL
        # The built-in model's vectors are computed from the tokens, which are in the index: those
        # of whole rows, and so not those of the pieces of an episode.
        is_whole = kind.vectors is vector_table.FACTS
        self.can_compare = self._is_built_in_model and is_whole and not compares_stored
        self.joins = HAS_MODEL and contents.generation.model not in (None, MODEL)

    @property
    def generation(self) -> Generation:
        return self._contents.generation

    @property
    def _database(self) -> DatabaseLookup[F]:
        """Answers for a query without terms: what it finds depends on the tokenizer alone."""
        return DatabaseLookup(self._transaction, self._kind)

    def terms(self, query: str) -> Terms:
        if query not in self._terms:
            self._terms[query] = Terms.of(query, self._transaction)
        return self._terms[query]

    def words(self, query: str, wanted: F, k: int) -> dict[int, float]:
        asked = self.terms(query)
        if not asked.written:
            return self._database.words(query, wanted, k)
        words, visible = self._contents.words, self._visible(wanted)
        return best_by_words(words, asked, k, visible, until=self.until)

    def near(self, vectors: Sequence[Vector], wanted: F, k: int) -> list[dict[int, float]]:
        if self._contents.codes is None:
            return self._database.near(vectors, wanted, k)
        visible = self._visible(wanted)
        look = partial(self._nearest_to, visible=visible, k=k)
        if self.sequel is None or len(vectors) > 1:
            return look(vectors)
        given = self._contents, vectors[0], k, visible
        return [self.sequel.nearest(*given, look, self.query_vectors)]

    def _nearest_to(
        self, vectors: Sequence[Vector], visible: Visible, k: int
    ) -> list[dict[int, float]]:
        """Return the ``k`` nearest rows to each vector, in one pass."""
        codes = self._contents.codes
        assert codes is not None
        if self.can_compare:
            queries = numbers(b"".join(vectors))
            nearest = self._contents.features.nearest(codes, queries, k, visible)
            return [dict(pairs) for pairs in nearest]
        found: dict[int, dict[int, float]] = {}
        asked = k
        while waiting := [place for place in range(len(vectors)) if place not in found]:
            queries = numbers(b"".join(vectors[place] for place in waiting))
            survivors = codes.scan(queries, asked, visible)
            for place, ids in zip(waiting, survivors, strict=True):
                cosines = cosines_of_vectors(
                    self._transaction, self._kind.vectors, vectors[place], ids
                )
                near = _nearest(cosines, asked)
                rows = self._by_row(near)
                if len(rows) >= k or len(near) < asked:
                    found[place] = best(rows, k, self._kind)
            asked *= 4  # most of the pieces are of a few long episodes
        return [found[place] for place in range(len(vectors))]

    def _by_row(self, near: dict[int, float]) -> dict[int, float]:
        """Return the cosine of each row's nearest vector, from those of vectors, best first."""
        if self._kind.vectors is not vector_table.PIECES:
            return near
        episodes = vector_table.episodes_of(self._transaction, [*near])
        nearest: dict[int, float] = {}
        for piece_id, cosine in near.items():
            nearest.setdefault(episodes[piece_id], cosine)
        return nearest

    def word_parts(self, query: str, ids: Sequence[int]) -> Mapping[int, Mapping[str, float]]:
        asked = self.terms(query)
        if not asked.written:
            return self._database.word_parts(query, ids)
        return parts_by_word(self._contents.words, asked, ids, until=self.until)

    def cosines(self, vector: Vector, ids: Sequence[int]) -> dict[int, float]:
        if not ids:
            return {}
        if not self.can_compare:
            table, transaction = self._kind.vectors, self._transaction
            if self.sequel is None or table is not vector_table.PIECES:
                return cosines_of_rows(transaction, table, vector, ids)
            read = partial(vector_table.stored_of_episodes, transaction)
            return nearest_stored(vector, self.sequel.vectors(self._contents, ids, read))
        cosines = self._contents.features.cosines(vector, ids)
        return {id_: one for id_, one in zip(ids, cosines, strict=True) if one is not None}

    def above_floor(self, cosines: Mapping[int, float]) -> Mapping[int, float]:
        if not self.joins:
            return cosines
        table = self._kind.vectors
        key = self.generation.id, floor.size(self._transaction, table)
        floors = self._contents.floors
        if key not in floors:
            floors[key] = floor.measured(self._transaction, table, key[1])
        return floor.above(cosines, floors[key])

    def has_vectors(self, namespaces: Sequence[str] | None) -> bool:
        if not self._contents.codes:
            return False
        return vector_table.has_any(self._transaction, self._kind.vectors, namespaces)

    def query_vectors(self, queries: Sequence[str]) -> Sequence[Vector] | None:
        if not self._is_built_in_model:
            return None
        return [numbers(self._contents.features.vector(query)) for query in queries]

    def neighbours(self, ids: Iterable[int], reach: int, wanted: F) -> list[int]:
        return self._contents.features.neighbours(ids, reach, self._visible(wanted))

    def all_if_few(self, wanted: F, few: int) -> Sequence[int]:
        ids = self._visible(wanted)
        return list(ids) if len(ids) <= few else ()

    def count_valid_between(self, ids: Sequence[int], after: datetime, before: datetime) -> int:
        return len(visibility.valid_between(self._contents.columns, ids, after, before))

    def bearings(self, query: str, ids: Sequence[int]) -> Mapping[int, Bearing]:
        return self._bearings(query, ids, frozenset())

    def _bearings(
        self, query: str, ids: Sequence[int], without: Collection[str]
    ) -> Mapping[int, Bearing]:
        """Return what rows have of a query, of which some terms do not count."""
        calendar = self.named_dates(query).calendar
        query = self.topic(query)
        found = ranking.bearings(
            self._contents.features,
            self._contents.words,
            query,
            [term for term in self._spelt(query) if term[0].casefold() not in without],
            self._transaction.tokens(identifiers(query)),
            ids,
            until=self.until,
            calendar=calendar,
        )
        return _by_id(ids, found)

    def _spelt(self, query: str) -> list[tuple[str, list[list[str]]]]:
        """Return the terms of a query, each with its spellings as the index knows them."""
        asked: Terms = self.terms(query)
        return [*zip(asked.written, asked.spellings, strict=True)]

    def relevances_of_hits(
        self, query: str, ids: Sequence[int], known: Sequence[float | None]
    ) -> Mapping[int, float]:
        found = ranking.relevances_of_hits(
            self._contents.features,
            self._contents.words,
            query,
            self._spelt(query),
            self._transaction.tokens(identifiers(query)),
            " ".join(self.terms(query).written),
            ids,
            known,
            until=self.until,
            calendar=self.named_dates(query).calendar,
        )
        return _by_id(ids, found)

    def relevances(self, query: str, ids: Sequence[int]) -> Mapping[int, float]:
        telling = " ".join(self.terms(query).written)
        found = ranking.relevances(self._contents.features, query, telling, ids)
        return _by_id(ids, found)

    def has_word(self, word: str, wanted: F) -> bool:
        phrases = self.terms(word).phrases
        is_anywhere = any(self._contents.words.frequencies(phrases))
        return is_anywhere and bool(self.words(word, wanted, 1))

    def similar(self, word: str, edits: int, wanted: F) -> list[int]:
        return self._contents.words.similar_rows(
            word,
            edits,
            terms=SIMILAR_TERMS,
            letters=FEWEST_LETTERS,
            rows=ROWS_OF_SIMILAR,
            visible=self._visible(wanted),
            until=self.until,
        )

    def about(self, prompt: str, texts: Mapping[int, str], *, asks: bool) -> About:
        ids: list[int] = list(texts)
        of_identifiers: frozenset[str] = parts_of_identifiers(prompt)
        # What is like a path is another path.
        compares = asks and not of_identifiers and not has_unspaced(prompt)
        topic: str = self.topic(prompt) if asks else prompt
        return About(
            [*self._bearings(prompt, ids, of_identifiers).values()],
            [*self.relevances(topic, ids).values()] if compares else [],
            any(ranking.named(prompt, asks, list(texts.values()))),
            len(self._contents.words),
            is_conditional=topic != prompt,
        )

    def preparing(self, fact_ids: Sequence[int]) -> Iterator[Statement]:
        self._prepared = frozenset(fact_ids)
        yield vector_table.selecting(self._transaction, self._kind.vectors, sorted(fact_ids))

    def later_on_subject(self, fact: Fact, wanted: F, ids: Sequence[int]) -> Sequence[int]:
        return [*self._others(fact, wanted, later=True, within=visibility.Visible(ids))]

    def on_subject(
        self,
        facts: Sequence[Fact],
        wanted: F,
        k: int,
        *,
        later: bool,
        among: Sequence[int] | None = None,
    ) -> Mapping[int, Mapping[int, float]]:
        within = None if among is None else visibility.Visible(among)
        every = ((fact, self._others(fact, wanted, later=later, within=within)) for fact in facts)
        found: list[tuple[Fact, Visible]] = [one for one in every if len(one[1])]
        ids = [fact.id for fact, _ in found]
        read = self._prepared if self._prepared.issuperset(ids) else ids
        vectors = vector_table.blobs(self._transaction, self._kind.vectors, sorted(read))
        codes = self._contents.codes
        rows: dict[int, Sequence[int]] = {}
        many: dict[int, Visible] = {}
        for fact, others in found:
            if len(others) <= k:
                rows[fact.id] = list(others)
            elif codes is not None and fact.id in vectors:
                many[fact.id] = others
            else:
                phrases = self.terms(fact.content).phrases
                best_rows = self._contents.words.search(phrases, k, others, until=self.until)
                rows[fact.id] = [id_ for id_, _ in best_rows]
        near: dict[int, dict[int, float]] = {}
        if codes is not None and many:
            queries = numbers(b"".join(vectors[fact_id] for fact_id in many))
            visible = [*many.values()]
            if self.can_compare:
                nearest = self._contents.features.nearest(codes, queries, k, visible)
                near = {fact_id: dict(each) for fact_id, each in zip(many, nearest, strict=True)}
            else:
                rows |= zip(many, codes.scan(queries, k, visible), strict=True)
        near |= self._compared(rows, vectors, k)
        return {fact_id: near[fact_id] for fact_id in ids}

    def _others(
        self, fact: Fact, wanted: F, *, later: bool, within: Visible | None = None
    ) -> Visible:
        """Return the facts on its subject, of its owners, that are as late as a fact or later.

        Args:
            within: the only ones to look at.
        """
        columns, key = self._contents.columns, (fact.namespace, fact.scope, fact.subject)
        if key not in self._on_subject:
            owned = wanted
            if not wanted.is_exact and fact.scope != NOBODY:
                owned = self._of_owners.setdefault(fact.scope, replace(wanted, scope=fact.scope))
            # Of an earlier moment, only those that were active then pass the filter.
            now = wanted.now if wanted.among is None else None
            among = self._visible(owned)
            self._on_subject[key] = visibility.on_subject(columns, fact, among, now)
        found = self._on_subject[key]
        among = found if within is None else found & within
        return visibility.valid_since(columns, fact, among, later=later)

    def _compared(
        self, near: Mapping[int, Sequence[int]], vectors: Mapping[int, bytes], k: int
    ) -> dict[int, dict[int, float]]:
        """Return the nearest of these rows of each fact, with their cosines."""
        if not self.can_compare:
            others = {id_ for ids in near.values() for id_ in ids}
            vectors = {
                **vectors,
                **vector_table.blobs(
                    self._transaction, self._kind.vectors, sorted(others.difference(vectors))
                ),
            }
        found = {}
        for fact_id, ids in near.items():
            cosines = dict.fromkeys(ids, 0.0)
            if fact_id in vectors:
                vector = numbers(vectors[fact_id])
                known = [id_ for id_ in ids if id_ in vectors]
                if self.can_compare:
                    cosines |= self.cosines(vector, ids)
                else:
                    each = similarities(vector, [vectors[id_] for id_ in known])
                    cosines |= zip(known, each, strict=True)
            found[fact_id] = best(cosines, k, self._kind)
        return found

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
        asked = self.terms(query)
        ranked, elsewhere = ranking.contextual(
            self._contents.features,
            self._contents.words,
            asked.phrases,
            query,
            " ".join(asked.written),
            candidates,
            limit=limit,
            visible=self._visible(wanted),
            half_lives=[*half_lives_seconds.items()],
            now=clock.to_text(wanted.now),
            compares=compares,
            joins=joins,
            until=self.until,
            ages=self.aged([id_ for id_, _ in candidates]) if self.aged else (),
            calendar=calendar,
            condition=condition and self._condition(condition),
        )
        rows = [
            Ranked(id_, score, word, vector, decay, ScoreParts(*parts), relevance)
            for id_, score, word, vector, decay, parts, relevance in ranked
        ]
        return Order(rows, elsewhere and Elsewhere(*elsewhere))

    def _condition(self, asked: Condition) -> GivenCondition:
        words = self._transaction.tokens([asked.words]) if asked.words else []
        return (
            None if asked.since is None else clock.to_text(asked.since),
            None if asked.until is None else clock.to_text(asked.until),
            asked.order,
            words,
            asked.telling,
            self._topic(asked.rest),
            (OUTSIDE, MATCHING),
        )

    def _topic(self, rest: str) -> tuple[str, list[list[str]], str] | None:
        """Return what is asked besides its time, if that is something."""
        terms = self.terms(rest) if rest else None
        if terms is None or not terms.written:
            return None
        return rest, terms.phrases, " ".join(terms.written)

    def _visible(self, wanted: F) -> Visible:
        for known, ids in self._seen:  # words and vectors use the same filter
            if known is wanted:
                return ids
        ids = self._kind.visible(self._transaction, self._contents.state, wanted)
        self._seen.append((wanted, ids))
        return ids


def _by_id(ids: Sequence[int], found: Sequence[T | None]) -> dict[int, T]:
    """Return what was found of each row that exists."""
    return {id_: one for id_, one in zip(ids, found, strict=True) if one is not None}


def _nearest(cosines: Mapping[int, float], k: int) -> dict[int, float]:
    """Return the ``k`` largest positive cosines, best first, and all that equal the last of them.

    Which of equal pieces count is decided by their rows.
    """
    near = sorted([pair for pair in cosines.items() if pair[1] > 0], key=lambda pair: -pair[1])
    while len(near) > k and near[-1][1] < near[k - 1][1]:
        near.pop()
    return dict(near)
