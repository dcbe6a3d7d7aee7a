"""What a search runs over: facts, which have one vector each, and episodes, which have several.

All that depends on how rows are indexed is behind three verbs: ``words``, ``near`` and ``parts``.
Today FTS5 (kept by triggers) and the resident vectors (kept by the journal) answer them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, NamedTuple, TypeVar

from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import pieces as piece_table
from memstore.database.tables import vectors as vector_table
from memstore.domain.episodes import EpisodeHit, EpisodeHits
from memstore.domain.records import Scope, SearchHit, SearchHits
from memstore.search.excerpts import best_piece
from memstore.search.ranking import Ageing, Ranked
from memstore.search.requests import F

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memstore.database.engine import FullText, Transaction
    from memstore.database.tables.pieces import Piece
    from memstore.database.tables.vectors import VectorTable
    from memstore.domain.results import WordsOnly
    from memstore.embedding.vectors import Near, ResidentVectors
    from memstore.search.requests import Request

H = TypeVar("H", SearchHits, EpisodeHits)


class Query(NamedTuple):
    """A query; the vector and the rows near it are there where vectors take part."""

    text: str
    vector: NDArray[np.float32] | None = None
    """``float32[d]``."""
    near: Mapping[int, float] = MappingProxyType({})
    """Cosines by id."""


class Parts(NamedTuple):
    words: Mapping[str, float]
    """BM25 by word of the query, more negative is better; the words the row does not hold are
    left out. The sum is the row's BM25."""
    cosine: float | None
    """Of the nearest vector, -1 to 1; ``None`` where the row has none yet."""


class Corpus(ABC, Generic[F, H]):
    """Rows of one kind, as one transaction sees them."""

    rows: ClassVar[Literal["facts", "episodes"]]
    table: ClassVar[VectorTable]
    newest_of_equals: ClassVar[bool]

    def __init__(self, transaction: Transaction, vectors: ResidentVectors | None) -> None:
        self._transaction = transaction
        self._vectors = vectors
        self._index: FullText = getattr(transaction.full_text, self.rows)

    # -- the index verbs --------------------------------------------------------------------

    def words(self, query: str, wanted: F, k: int) -> dict[int, float]:
        """Return the BM25 of the best ``k`` rows by words, best first; negative is better."""
        return self._index.search(self._transaction, query, wanted, k)

    @abstractmethod
    def near(
        self, vectors: NDArray[np.float32], wanted: F, k: int, *, enough: int
    ) -> list[dict[int, float]]:
        """Return the cosines of the nearest rows to each query of ``float32[q, d]``, best first.

        Where one scan does not find ``k`` rows, ``enough`` will do. Negative cosines are left out.
        """

    def parts(
        self, query: str | None, vector: NDArray[np.float32] | None, ids: Sequence[int]
    ) -> dict[int, Parts]:
        """Return what the scores of these rows are made of; without a query, the cosines alone."""
        words = {} if query is None else self._index.parts(self._transaction, query, ids)
        cosines = {} if vector is None or not ids else self._cosines(vector, ids)
        return {id_: Parts(words.get(id_, {}), cosines.get(id_)) for id_ in ids}

    # -- what is special to the kind of rows ------------------------------------------------

    def newest(self, request: Request[F]) -> list[Ranked]:
        """Return what is found without a query."""
        return []

    def ageing(self, ids: Iterable[int], request: Request[F]) -> list[Ageing]:
        """Return those of the rows whose scores decay."""
        return []

    def boosted(self, ids: Sequence[int], request: Request[F]) -> set[int]:
        """Return those of the rows that get a boost."""
        if request.boosted is None:
            return set()
        return self._index.visible(self._transaction, ids, request.boosted)

    @abstractmethod
    def results(
        self, query: Query, found: Sequence[Ranked], request: Request[F], why: WordsOnly | None
    ) -> H:
        """Read the winners; ``why`` tells why vectors took no part although they were asked for."""

    @abstractmethod
    def _cosines(self, vector: NDArray[np.float32], ids: Sequence[int]) -> dict[int, float]:
        """Return the cosines of those of the rows that have a vector."""

    def _cosines_of_vectors(
        self, vector: NDArray[np.float32], ids: Sequence[int]
    ) -> dict[int, float]:
        if self._vectors is None or not ids:
            return {}
        found = dict(zip(ids, self._vectors.similarity(vector, [*ids]).tolist(), strict=True))
        if doubtful := [id_ for id_, cosine in found.items() if not cosine]:
            there = vector_table.embedded(self._transaction, self.table, doubtful)
            return {id_: cosine for id_, cosine in found.items() if cosine or id_ in there}
        return found


class FactCorpus(Corpus[FactFilter, SearchHits]):
    """Facts: one vector each."""

    rows = "facts"
    table = vector_table.FACTS
    newest_of_equals = False

    def near(
        self, vectors: NDArray[np.float32], wanted: FactFilter, k: int, *, enough: int
    ) -> list[dict[int, float]]:
        if self._vectors is None:
            return [{} for _ in vectors]
        only = excluding = None
        if not wanted.is_plain:
            only = fact_table.select_ids(self._transaction, wanted)
        elif wanted.active_only:
            excluding = fact_table.expired_ids(self._transaction, wanted.now)
        return [
            dict(_pairs(near))
            for near in self._vectors.nearest(
                vectors,
                k,
                namespaces=wanted.namespaces,
                active_only=wanted.active_only,
                unowned_only=wanted.scope == Scope(),
                only=only,
                excluding=excluding,
            )
        ]

    def ageing(self, ids: Iterable[int], request: Request[FactFilter]) -> list[Ageing]:
        """Return the facts of a category that decays, but never an open task."""
        lives = {
            name: life for name, life in request.half_lives_seconds.items() if 0 < life < math.inf
        }
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
        found: Sequence[Ranked],
        request: Request[FactFilter],
        why: WordsOnly | None,
    ) -> SearchHits:
        facts = fact_table.get_many(self._transaction, [place.id for place in found])
        hits = (SearchHit(facts[place.id], *place[1:]) for place in found if place.id in facts)
        return SearchHits(hits, words_only=why)

    def _cosines(self, vector: NDArray[np.float32], ids: Sequence[int]) -> dict[int, float]:
        return self._cosines_of_vectors(vector, ids)


class EpisodeCorpus(Corpus[EpisodeFilter, EpisodeHits]):
    """Episodes: a vector for each piece; an episode counts once, by its nearest piece."""

    rows = "episodes"
    table = vector_table.PIECES
    newest_of_equals = True  # what was said last is what holds

    def near(
        self, vectors: NDArray[np.float32], wanted: EpisodeFilter, k: int, *, enough: int
    ) -> list[dict[int, float]]:
        if self._vectors is None:
            return [{} for _ in vectors]
        only = excluding = None
        if not wanted.is_plain:
            only = piece_table.select_ids(self._transaction, wanted)
        elif not wanted.include_expired:
            excluding = piece_table.expired_ids(self._transaction, wanted.now)
        found: dict[int, dict[int, float]] = {}
        asked = 2 * k
        while waiting := [place for place in range(len(vectors)) if place not in found]:
            for place, near in zip(
                waiting,
                self._vectors.nearest(
                    vectors[waiting],
                    asked,
                    namespaces=wanted.namespaces,
                    active_only=False,
                    unowned_only=wanted.scope == Scope(),
                    only=only,
                    excluding=excluding,
                ),
                strict=True,
            ):
                best = self._by_episode(near)
                if len(best) >= enough or len(near.ids) < asked:
                    found[place] = dict([*best.items()][:k])
            asked *= 4  # a few long episodes took the places
        return [found[place] for place in range(len(vectors))]

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
        found: Sequence[Ranked],
        request: Request[EpisodeFilter],
        why: WordsOnly | None,
    ) -> EpisodeHits:
        fill: list[Ranked] = []
        if why is not None:
            known = {place.id for place in found}
            newest = self._newest_ids(request.wanted, request.limit)
            fill = [Ranked(id_, 0.0) for id_ in newest if id_ not in known]
            fill = fill[: request.limit - len(found)]
        return EpisodeHits(
            self._hits(query, [*found, *fill], request), words_only=why, newest_first=len(fill)
        )

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
                words = self._index.places(
                    self._transaction, query.text, episode.id, episode.content
                )
            best = best_piece(parts, cosines, words, weights)
            similarity = max((cosines[p.id] for p in parts if p.id in cosines), default=None)
            hits.append(
                EpisodeHit(
                    episode, place.score, place.word_score, similarity, best.start, best.stop
                )
            )
        return hits

    def _cosines(self, vector: NDArray[np.float32], ids: Sequence[int]) -> dict[int, float]:
        pieces = list(piece_table.of_episodes(self._transaction, ids))
        cosines = self._cosines_of_vectors(vector, [piece.id for piece in pieces])
        best: dict[int, float] = {}
        for piece in pieces:
            if piece.id in cosines:
                cosine = cosines[piece.id]
                best[piece.episode_id] = max(cosine, best.get(piece.episode_id, cosine))
        return best

    def _by_episode(self, near: Near) -> dict[int, float]:
        """Return the cosine of each episode's nearest piece, best first."""
        episodes = vector_table.episodes_of(self._transaction, near.ids.tolist())
        best: dict[int, float] = {}
        for piece_id, cosine in _pairs(near):
            if piece_id in episodes:  # else it came after this transaction began
                best.setdefault(episodes[piece_id], cosine)
        return best

    def _newest_ids(self, wanted: EpisodeFilter, limit: int) -> list[int]:
        return episode_table.newest_ids(self._transaction, wanted, limit)


def _pairs(near: Near) -> Iterable[tuple[int, float]]:
    return zip(near.ids.tolist(), near.cosines.tolist(), strict=True)
