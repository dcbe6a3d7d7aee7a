"""What a search runs over: facts, which have one vector each, and episodes, which have several.

All that depends on how rows are indexed is behind three verbs: ``words``, ``near`` and ``parts``.
They use the index, if there is one, and otherwise SQLite, with the same rows and scores.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import partial
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, Generic, NamedTuple, TypeVar

from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.database.tables import facts as fact_table
from memstore.database.tables import generations as generation_table
from memstore.database.tables import indexed
from memstore.database.tables import vectors as vector_table
from memstore.domain import clock
from memstore.domain.records import SearchHit, SearchHits, made
from memstore.domain.results import CLASSIC, THREADS, ScoreParts
from memstore.embedding.vectors import numbers, similarities
from memstore.frozen import replace
from memstore.lazy import lazy_import
from memstore.providers.local import HAS_MODEL, MODEL
from memstore.search.index import visibility
from memstore.search.index.index import EPISODES, FACTS
from memstore.search.ranking import Ageing, Ranked
from memstore.search.requests import F, Request
from memstore.text.words import identifiers, spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memstore.database.engine import FullText, Transaction
    from memstore.database.tables import episodes as episode_table
    from memstore.database.tables import pieces as piece_table
    from memstore.database.tables.pieces import Piece
    from memstore.database.tables.vectors import VectorTable
    from memstore.domain import episodes as episode_records
    from memstore.domain.episodes import Episode, EpisodeHit, EpisodeHits
    from memstore.domain.generations import Generation
    from memstore.domain.records import Fact
    from memstore.domain.results import WordsOnly
    from memstore.embedding.vectors import Vector
    from memstore.search import context, dates, excerpts
    from memstore.search.index.contents import Contents
    from memstore.search.index.index import Kind
    from memstore.search.index.visibility import Visible
else:
    context = lazy_import("memstore.search.context")
    dates = lazy_import("memstore.search.dates")
    episode_records = lazy_import("memstore.domain.episodes")
    episode_table = lazy_import("memstore.database.tables.episodes")
    excerpts = lazy_import("memstore.search.excerpts")
    piece_table = lazy_import("memstore.database.tables.pieces")

REACH: Final = 2
"""How many neighbours in its thread are candidates, on either side of each row found."""

DATED: Final = 3
"""How many rows of a date in the query become candidates, if it says more than that date: more of
them would displace rows of other dates that answer it better."""

H = TypeVar("H", SearchHits, "EpisodeHits")


class Query(NamedTuple):
    """A query, with its vector and the nearest rows if vectors are used."""

    text: str
    vector: Vector | None = None
    """``float32[d]``."""
    near: Mapping[int, float] = MappingProxyType({})
    """Cosines by id."""


class Found(NamedTuple):
    """The best rows, best first, after the least relevance was applied."""

    rows: Sequence[Ranked]
    is_relevant: bool | None = None
    """As in :class:`~memstore.domain.records.SearchHits`, like the next."""
    hidden: int = 0


class Terms(NamedTuple):
    """The terms of a query, as they are written and as the index knows them."""

    written: list[str]
    spellings: list[list[list[str]]]
    """For each term its spellings, each as tokens."""

    @property
    def phrases(self) -> list[list[str]]:
        """All spellings of all terms."""
        return [*chain.from_iterable(self.spellings)]


class Parts(NamedTuple):
    words: Mapping[str, float]
    """BM25 by word of the query, more negative is better, without the words that the row does not
    have. The sum is the row's BM25."""
    cosine: float | None
    """Of the nearest vector, -1 to 1; ``None`` if the row has none yet."""


class Bearing(NamedTuple):
    """What a row has of the names, identifiers and words of a query."""

    is_enough: bool
    """Whether the row is about what the query asks, by that alone."""
    named: bool
    identified: bool
    """It has an identifier of the query that few rows have."""
    weight: float
    """The sum of the weights of its words, rare ones more."""
    coverage: float
    """Their share of the weights of all words of the query, 0 to 1."""
    rare: int
    """How many of its words are rare."""


class Corpus(ABC, Generic[F, H]):
    """Rows of one kind, as one transaction sees them.

    Args:
        transaction: the state to read.
        contents: the index in the same state; ``None`` if SQLite has to answer.
        ranking: one of :data:`~memstore.domain.results.RANKINGS`. The classic one compares the
            stored vectors, so that the same scores, to the last bit, come with an index and
            without: else rows that are equal but for rounding would change places.
    """

    kind: ClassVar[Kind]
    table: ClassVar[VectorTable]
    newest_of_equals: ClassVar[bool]

    def __init__(
        self, transaction: Transaction, contents: Contents | None, ranking: str = THREADS
    ) -> None:
        self._transaction = transaction
        self._contents = contents
        self._compares_stored = ranking == CLASSIC
        self._full_text: FullText = getattr(transaction.full_text, self.kind.name)
        self._seen: list[tuple[F, Visible]] = []
        self._asked: dict[str, Terms] = {}

    # -- the index verbs --------------------------------------------------------------------

    def words(self, query: str, wanted: F, k: int) -> dict[int, float]:
        """Return the BM25 of the best ``k`` rows by words, best first; negative is better."""
        contents = self._contents
        asked = self._terms(query)
        if contents is None or not asked.written:
            return self._full_text.search(self._transaction, query, wanted, k)
        visible = self._visible(wanted, contents)
        found = contents.words.search(asked.phrases, k, visible)
        return {id_: -score for id_, score in found}

    def near(self, vectors: Sequence[Vector], wanted: F, k: int) -> list[dict[int, float]]:
        """Return the cosines of the ``k`` nearest rows to each query.

        Best first, ties by id; of episodes the newer first. Only positive cosines count.
        """
        if self._contents is None or self._contents.codes is None:
            return self._nearest_by_sql(vectors, wanted, k)
        visible = self._visible(wanted, self._contents)
        found: dict[int, dict[int, float]] = {}
        asked = k
        while waiting := [place for place in range(len(vectors)) if place not in found]:
            queries = numbers(b"".join(vectors[place] for place in waiting))
            survivors = self._contents.codes.scan(queries, asked, visible)
            for place, ids in zip(waiting, survivors, strict=True):
                cosines = self._cosines_of_vectors(vectors[place], ids)
                near = _nearest(cosines, asked)
                rows = self._by_row(near)
                if len(rows) >= k or len(near) < asked:
                    found[place] = self._best(rows, k)
            asked *= 4  # most of the pieces are of a few long episodes
        return [found[place] for place in range(len(vectors))]

    def parts(
        self, query: str | None, vector: Vector | None, ids: Sequence[int]
    ) -> dict[int, Parts]:
        """Return the parts of the scores of these rows; without a query, only the cosines."""
        words = {} if query is None else self._word_parts(query, ids)
        cosines = {} if vector is None or not ids else self._cosines(vector, ids)
        return {id_: Parts(words.get(id_, {}), cosines.get(id_)) for id_ in ids}

    # -- the second stage ---------------------------------------------------------------------

    def query_vectors(self, queries: Sequence[str]) -> Sequence[Vector] | None:
        """Return the queries' vectors of the built-in model, with rare words weighing more.

        ``None`` if there is no index, or it has another model's vectors.
        """
        if self._contents is None or not self._is_embedded_model:
            return None
        return [numbers(self._contents.texts.vector(query)) for query in queries]

    def in_order(
        self, query: Query, found: Iterable[int], request: Request[F]
    ) -> list[Ranked] | None:
        """Return the rows found, their neighbours and rows of a date in the query, best first.

        ``None`` if there is no index.
        """
        contents = self._contents
        if contents is None:
            return None
        visible = self._visible(request.wanted, contents)
        ids = list(found)
        ids += self._of_named_dates(query, ids, request)
        ids += contents.texts.neighbours(ids, REACH, visible)
        compares = query.vector is not None and self._ranks_cosines
        cosines: Mapping[int, float] = {} if compares else query.near
        if query.vector is not None and (not compares or request.min_similarity is not None):
            others = [id_ for id_ in ids if id_ not in cosines]
            cosines = {**cosines, **(self._cosines(query.vector, others) if others else {})}
        if (least := request.min_similarity) is not None:
            # Rows without a vector cannot be compared, and stay.
            ids = [id_ for id_ in ids if cosines.get(id_, least) >= least]
        asked = self._terms(query.text)
        ranked = contents.texts.rank(
            contents.words,
            asked.phrases,
            query.text,
            " ".join(asked.written),
            [(id_, cosines.get(id_)) for id_ in ids],
            limit=len(ids) if request.boosted else request.limit,
            visible=visible,
            half_lives=self._half_lives(request),
            now=clock.to_text(request.wanted.now),
            compares=compares,
        )
        return [
            Ranked(id_, score, word, vector, decay, ScoreParts(*parts, decay=decay))
            for id_, score, decay, word, vector, parts in ranked
        ]

    def _of_named_dates(self, query: Query, found: Sequence[int], request: Request[F]) -> list[int]:
        """Return more rows from the dates in a query, if few of the rows found are from them.

        Rows near the query come first, then rows that match its words.
        """
        wanted: F = request.wanted
        more: list[int] = []
        named = dates.read(query.text, wanted.now)
        if self._contents is None or not named.periods:
            return more
        says_more = len(self._terms(query.text).written) > named.parts + 1
        enough = min(request.limit, DATED) if says_more else request.limit
        for period in named.periods:
            after = max(filter(None, (wanted.valid_after, period.after)))
            before = min(filter(None, (wanted.valid_before, period.before)))
            if after >= before:
                continue
            columns = self._contents.columns
            left = enough - len(visibility.valid_between(columns, found, after, before))
            if left <= 0:
                continue
            then = replace(wanted, valid_after=after, valid_before=before)
            ids = self._visible(then, self._contents)
            best = dict.fromkeys(ids if len(ids) <= enough else ())
            if not best and query.vector is not None:
                best |= dict.fromkeys(self.near([query.vector], then, enough)[0])
            if len(best) < enough:
                best |= dict.fromkeys(self.words(query.text, then, enough))
            more += [id_ for id_ in best if id_ not in found][:left]
        return more

    def relevance(self, query: str, ids: Sequence[int]) -> float | None:
        """Return how relevant the best of these rows is to the query, 0 to 1.

        A row has 1 if it has every word of the query, or bears on it by some of them. ``None`` for
        other rows if there is no index.
        """
        asked = self._terms(query).written
        held = self._word_parts(query, ids).values()
        if asked and any(len(words) >= len(asked) for words in held):
            return 1.0
        if self._contents is None:
            return None
        if any(one.is_enough for one in self.bearings(query, ids)):
            return 1.0
        found = self._contents.texts.relevances(query, " ".join(asked), ids)
        return max((one for one in found if one is not None), default=None)

    def bearings(self, query: str, ids: Sequence[int]) -> list[Bearing]:
        """Return what these rows have of the query's words; nothing if there is no index."""
        if self._contents is None:
            return []
        asked = self._terms(query)
        found = self._contents.texts.bearings(
            self._contents.words,
            query,
            list(zip(asked.written, asked.spellings, strict=True)),
            self._transaction.tokens(identifiers(query)),
            ids,
        )
        return [Bearing(*one) for one in found if one is not None]

    def _ranking(self, request: Request[F]) -> str:
        return CLASSIC if self._contents is None else request.ranking

    @property
    def _is_embedded_model(self) -> bool:
        if self._contents is None or not HAS_MODEL:
            return False
        return self._contents.generation.model == MODEL

    @property
    def _ranks_cosines(self) -> bool:
        """Whether the ranking itself computes the cosines, each of a row's whole text."""
        return False

    def _half_lives(self, request: Request[F]) -> list[tuple[str, float]]:
        lives = request.half_lives_seconds.items()
        return [(name, life) for name, life in lives if 0 < life < math.inf]

    @property
    def generation(self) -> Generation:
        """The active one."""
        if self._contents is None:
            return generation_table.active(self._transaction)
        return self._contents.generation

    # -- implementation ---------------------------------------------------------------------

    def has_vectors(self, namespaces: Sequence[str] | None) -> bool:
        """Whether anything there can be found by meaning."""
        if self._contents is not None and not self._contents.codes:
            return False
        return vector_table.has_any(self._transaction, self.table, namespaces)

    def has_rows(self, namespaces: Sequence[str] | None) -> bool:
        """Whether anything is stored there."""
        return indexed.has_any(self._transaction, self.kind.source, namespaces)

    def _word_parts(self, query: str, ids: Sequence[int]) -> dict[int, dict[str, float]]:
        contents = self._contents
        asked = self._terms(query)
        if contents is None or not asked.written:
            return self._full_text.parts(self._transaction, query, ids)
        rows = map(iter, contents.words.parts(asked.phrases, ids))
        found: dict[int, dict[str, float]] = {}
        for id_, row in zip(ids, rows, strict=True):
            of_terms = (sum(islice(row, len(forms))) for forms in asked.spellings)
            each = zip(asked.written, of_terms, strict=True)
            found[id_] = {word: -part for word, part in each if part}
        return found

    def _terms(self, query: str) -> Terms:
        if query not in self._asked:
            forms = spelled(query)
            tokens = iter(self._transaction.tokens(chain.from_iterable(forms)))
            spellings = [list(islice(tokens, len(each))) for each in forms]
            self._asked[query] = Terms([each[0] for each in forms], spellings)
        return self._asked[query]

    def _visible(self, wanted: F, contents: Contents) -> Visible:
        for known, ids in self._seen:  # words and vectors use the same filter
            if known is wanted:
                return ids
        ids = self._selected(wanted, contents)
        self._seen.append((wanted, ids))
        return ids

    @abstractmethod
    def _selected(self, wanted: F, contents: Contents) -> Visible:
        """Return the ids of the rows that match a filter."""

    def _by_row(self, near: dict[int, float]) -> dict[int, float]:
        """Return the cosine of each row's nearest vector, from those of vectors, best first."""
        return near

    def _nearest_by_sql(
        self, vectors: Sequence[Vector], wanted: F, k: int
    ) -> list[dict[int, float]]:
        """Compare every vector, if there is no index."""
        found: list[dict[int, float]] = [{} for _ in vectors]
        for batch in vector_table.batches(self._transaction, self.table, wanted):
            for best, vector in zip(found, vectors, strict=True):
                cosines = similarities(vector, [one.blob for one in batch])
                for one, cosine in zip(batch, cosines, strict=True):
                    if cosine > best.get(one.row_id, 0.0):
                        best[one.row_id] = cosine
            found = [self._best(best, k) for best in found]
        return found

    def _best(self, cosines: Mapping[int, float], k: int) -> dict[int, float]:
        sign = -1 if self.newest_of_equals else 1
        ordered = sorted([(-cosine, sign * id_) for id_, cosine in cosines.items()])
        return {sign * id_: -cosine for cosine, id_ in ordered[:k]}

    # -- differences between facts and episodes ---------------------------------------------

    def newest(self, request: Request[F]) -> list[Ranked]:
        """Return the results of a search without a query."""
        return []

    def ageing(self, ids: Iterable[int], request: Request[F]) -> list[Ageing]:
        """Return those of the rows whose scores decay."""
        return []

    def boosted(self, ids: Sequence[int], wanted: F) -> set[int]:
        """Return those of the rows that match a filter."""
        return self._full_text.visible(self._transaction, ids, wanted)

    @abstractmethod
    def results(self, query: Query, found: Found, request: Request[F], why: WordsOnly | None) -> H:
        """Read the best rows; ``why`` is the reason why vectors were not used as requested."""

    @abstractmethod
    def _cosines(self, vector: Vector, ids: Sequence[int]) -> dict[int, float]:
        """Return the cosines of those of the rows that have a vector."""

    def _cosines_of_vectors(self, vector: Vector, ids: Sequence[int]) -> dict[int, float]:
        """Return the cosines of those that have a vector, by the ids of facts or pieces."""
        blobs: dict[int, bytes] = {}
        if ids:
            blobs = vector_table.blobs(self._transaction, self.table, ids)
        return dict(zip(blobs, similarities(vector, [*blobs.values()]), strict=True))


class FactCorpus(Corpus[FactFilter, SearchHits]):
    """Facts: one vector each."""

    kind = FACTS
    table = vector_table.FACTS
    newest_of_equals = False

    def _selected(self, wanted: FactFilter, contents: Contents) -> Visible:
        return visibility.of_facts(self._transaction, contents.columns, wanted)

    def ageing(self, ids: Iterable[int], request: Request[FactFilter]) -> list[Ageing]:
        """Return the facts of a category that decays, but never an open task."""
        lives = dict(self._half_lives(request))
        if not lives:
            return []
        now = request.wanted.now
        return [
            Ageing(fact_id, (now - created_at).total_seconds(), lives[category])
            for fact_id, category, created_at in fact_table.births(
                self._transaction, sorted(ids), tuple(lives)
            )
        ]

    def results(
        self,
        query: Query,
        found: Found,
        request: Request[FactFilter],
        why: WordsOnly | None,
    ) -> SearchHits:
        facts = fact_table.get_many(self._transaction, [place.id for place in found.rows])
        hits = [_hit(facts[place.id], place) for place in found.rows if place.id in facts]
        if request.context:
            sides = context.beside([hit.fact for hit in hits], partial(self._neighbours, request))
            hits = [
                replace(hit, before=before, after=after)
                for hit, (before, after) in zip(hits, sides, strict=True)
            ]
        return SearchHits(
            hits,
            words_only=why,
            ranking=self._ranking(request),
            is_relevant=found.is_relevant,
            hidden=found.hidden,
        )

    def _neighbours(
        self, request: Request[FactFilter], fact: Fact
    ) -> tuple[Sequence[Fact], Sequence[Fact]]:
        wanted = FactFilter(
            (fact.namespace,),
            request.wanted.now,
            scope=fact.scope,
            active_only=request.wanted.active_only,
            tasks=False,
        )
        return fact_table.neighbours(self._transaction, fact, wanted, request.context)

    @property
    def _ranks_cosines(self) -> bool:
        return self._is_embedded_model

    # The built-in model's vectors are computed from the tokens, which are in the index.

    @property
    def _computes_vectors(self) -> bool:
        return self._is_embedded_model and not self._compares_stored

    def near(self, vectors: Sequence[Vector], wanted: FactFilter, k: int) -> list[dict[int, float]]:
        contents = self._contents
        if contents is None or contents.codes is None or not self._computes_vectors:
            return super().near(vectors, wanted, k)
        queries, visible = numbers(b"".join(vectors)), self._visible(wanted, contents)
        return [*map(dict, contents.texts.nearest(contents.codes, queries, k, visible))]

    def _cosines(self, vector: Vector, ids: Sequence[int]) -> dict[int, float]:
        if self._contents is None or not self._computes_vectors:
            return self._cosines_of_vectors(vector, ids)
        cosines = self._contents.texts.cosines(vector, ids)
        return {id_: one for id_, one in zip(ids, cosines, strict=True) if one is not None}


class EpisodeCorpus(Corpus[EpisodeFilter, "EpisodeHits"]):
    """Episodes: a vector for each piece; an episode counts once, by its nearest piece."""

    kind = EPISODES
    table = vector_table.PIECES
    newest_of_equals = True  # the latest statement counts

    def _selected(self, wanted: EpisodeFilter, contents: Contents) -> Visible:
        return visibility.of_episodes(self._transaction, contents.columns, wanted)

    def newest(self, request: Request[EpisodeFilter]) -> list[Ranked]:
        """Return the newest episodes, those that get a boost before the others."""
        found: dict[int, Ranked] = {}
        if request.boosted is not None:
            for id_ in self._newest_ids(request.boosted, request.limit):
                found[id_] = Ranked(id_, request.boost)
        for id_ in self._newest_ids(request.wanted, request.limit):
            found.setdefault(id_, Ranked(id_, 0.0))
        return [*found.values()][: request.limit]

    def results(
        self,
        query: Query,
        found: Found,
        request: Request[EpisodeFilter],
        why: WordsOnly | None,
    ) -> EpisodeHits:
        fill: list[Ranked] = []
        if why is not None:
            known = {place.id for place in found.rows}
            newest = self._newest_ids(request.wanted, request.limit)
            fill = [Ranked(id_, 0.0) for id_ in newest if id_ not in known]
            fill = fill[: request.limit - len(found.rows)]
        hits = self._hits(query, [*found.rows, *fill], request)
        if request.context:
            sides = context.beside(
                [hit.episode for hit in hits], partial(self._neighbours, request)
            )
            hits = [
                replace(hit, before=before, after=after)
                for hit, (before, after) in zip(hits, sides, strict=True)
            ]
        return episode_records.EpisodeHits(
            hits,
            words_only=why,
            newest_first=len(fill),
            ranking=self._ranking(request),
            is_relevant=found.is_relevant,
            hidden=found.hidden,
        )

    def _neighbours(
        self, request: Request[EpisodeFilter], episode: Episode
    ) -> tuple[Sequence[Episode], Sequence[Episode]]:
        wanted = EpisodeFilter(
            (episode.namespace,),
            request.wanted.now,
            scope=episode.scope,
            include_expired=request.wanted.include_expired,
        )
        return episode_table.neighbours(self._transaction, episode, wanted, request.context)

    def _hits(
        self, query: Query, found: Sequence[Ranked], request: Request[EpisodeFilter]
    ) -> list[EpisodeHit]:
        ids = [place.id for place in found]
        episodes = episode_table.get_many(self._transaction, ids)
        pieces: dict[int, list[Piece]] = {}
        for piece in piece_table.of_episodes(self._transaction, ids):
            pieces.setdefault(piece.episode_id, []).append(piece)
        cosines: dict[int, float] = {}
        if query.vector is not None:
            every = [piece.id for each in pieces.values() for piece in each]
            cosines = self._cosines_of_vectors(query.vector, every)
        weights = request.weights if query.vector is not None else request.weights_alone
        hits = []
        for place in found:
            episode, parts = episodes[place.id], pieces[place.id]
            words: Mapping[int, str] = {}
            if len(parts) > 1 and place.word_score:
                words = self._full_text.places(
                    self._transaction, query.text, episode.id, episode.content
                )
            best = excerpts.best_piece(parts, cosines, words, weights)
            similarity = max((cosines[p.id] for p in parts if p.id in cosines), default=None)
            hits.append(
                episode_records.EpisodeHit(
                    episode,
                    place.score,
                    place.word_score,
                    similarity,
                    best.start,
                    best.stop,
                    place.parts,
                )
            )
        return hits

    def _cosines(self, vector: Vector, ids: Sequence[int]) -> dict[int, float]:
        pieces = list(piece_table.of_episodes(self._transaction, ids))
        cosines = self._cosines_of_vectors(vector, [piece.id for piece in pieces])
        best: dict[int, float] = {}
        for piece in pieces:
            if piece.id in cosines:
                cosine = cosines[piece.id]
                best[piece.episode_id] = max(cosine, best.get(piece.episode_id, cosine))
        return best

    def _by_row(self, near: dict[int, float]) -> dict[int, float]:
        episodes = vector_table.episodes_of(self._transaction, [*near])
        best: dict[int, float] = {}
        for piece_id, cosine in near.items():
            best.setdefault(episodes[piece_id], cosine)
        return best

    def _newest_ids(self, wanted: EpisodeFilter, limit: int) -> list[int]:
        return episode_table.newest_ids(self._transaction, wanted, limit)


def _hit(fact: Fact, place: Ranked) -> SearchHit:
    return made(
        SearchHit,
        {
            "fact": fact,
            "score": place.score,
            "word_score": place.word_score,
            "vector_score": place.vector_score,
            "decay": place.decay,
            "parts": place.parts,
        },
    )


def _nearest(cosines: Mapping[int, float], k: int) -> dict[int, float]:
    """Return the ``k`` largest positive cosines, best first, and all that equal the last of them.

    Which of equal pieces count is decided by their rows.
    """
    near = sorted([pair for pair in cosines.items() if pair[1] > 0], key=lambda pair: -pair[1])
    while len(near) > k and near[-1][1] < near[k - 1][1]:
        near.pop()
    return dict(near)
