"""Search in the log: words and meaning, one order, each episode by its best piece.

SQL says which episodes may be seen and how near they are by words, the kernel says how near their
pieces are by meaning, the two are merged by episode, and only the winners are read whole.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from memstore.database.sqlite import full_text
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import pieces as piece_table
from memstore.database.tables.vectors import PIECES
from memstore.domain.arguments import checked_limit
from memstore.domain.records import EpisodeHit, EpisodeHits
from memstore.domain.results import WordsOnly
from memstore.errors import EmbedderError, EmbedderMismatch, Reason
from memstore.search import ranking
from memstore.search.hybrid import (
    MAX_LIMIT,
    MIN_CANDIDATES,
    NO_EMBEDDER,
    NO_VECTORS,
    QueryVectors,
    failed,
)
from memstore.search.resident import Resident

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from memstore.database.engine import Engine, Transaction
    from memstore.database.filters import EpisodeFilter
    from memstore.database.tables.pieces import Piece
    from memstore.embedding.current import Following
    from memstore.embedding.vectors import ResidentVectors

ALPHA: Final = 0.4
"""What the meaning counts; as for facts, where the words count 0.6."""

MODES: Final = ("hybrid", "words", "meaning")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What one search wants, apart from its query; ``Episodes.search`` says what each means."""

    wanted: EpisodeFilter
    mode: str = "hybrid"
    alpha: float = ALPHA
    boosted_tags: tuple[str, ...] = ()
    tag_boost: float = 0.0
    min_similarity: float | None = None
    limit: int = 10

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode must be hybrid, words or meaning, not {self.mode!r}")
        checked_limit(self.limit)
        if self.limit is None or self.limit > MAX_LIMIT:
            raise ValueError(f"limit must be 1 to {MAX_LIMIT}, not {self.limit}")
        _check_number(self.alpha, "alpha", 0, 1)
        _check_number(self.tag_boost, "tag_boost", 0, math.inf)
        if self.min_similarity is not None:
            _check_number(self.min_similarity, "min_similarity", -1, 1)

    @property
    def passes(self) -> list[EpisodeFilter]:
        """Where to look: those that get a boost are looked for apart, so that no cut takes them."""
        return [self.wanted, *([self.boosted] if self.boosted_tags else ())]

    @property
    def boosted(self) -> EpisodeFilter:
        """Those that get the boost."""
        return replace(self.wanted, tags=self.boosted_tags)

    @property
    def candidates(self) -> int:
        """How many episodes each pass brings."""
        return max(2 * self.limit, MIN_CANDIDATES)

    def weight_of_meaning(self, meaning: Meaning | None) -> float:
        """Return what the meaning counts, 0 to 1; the words count the rest."""
        if meaning is None:
            return 0.0
        return 1.0 if self.mode == "meaning" else self.alpha


class EpisodeSearch:
    """Finds episodes in one file."""

    def __init__(self, engine: Engine, following: Following | None) -> None:
        self._engine = engine
        self._following = following
        self._resident = Resident(PIECES)

    def find(self, query: str | None, ask: Ask) -> EpisodeHits:
        """Return the hits for a query; without one, the newest episodes."""
        text = _cleaned(query)
        vector, why = self._embed(text, ask)
        try:
            return self._find(text, vector, why, ask)
        except EmbedderMismatch as error:
            # The file went over to another model: so do we, if we can, and ask that one.
            if self._following is not None and self._following.follow(error.stored):
                vector, why = self._embed(text, ask)
                with suppress(EmbedderMismatch):
                    return self._find(text, vector, why, ask)
            return self._find(text, None, WordsOnly("other_model", Reason.of(error)), ask)

    def _find(
        self, text: str, vector: QueryVectors | None, why: WordsOnly | None, ask: Ask
    ) -> EpisodeHits:
        with self._engine.read() as transaction:
            if not text:
                return EpisodeHits(_hits(transaction, "", _newest(transaction, ask), None, ask))
            meaning = None
            if vector is not None:
                meaning, why = self._comparable(transaction, vector, ask)
            found = _ranked(transaction, text, meaning, ask)
            hits = _hits(transaction, text, found, meaning, ask)
            fill = _fill(transaction, hits, ask) if why is not None else []
            return EpisodeHits(hits + fill, words_only=why, newest_first=len(fill))

    def warm(self, namespace: str) -> None:
        """Load a namespace's vectors now rather than at the first search."""
        with suppress(EmbedderError), self._engine.read() as transaction:
            self._resident.current(transaction, [namespace])

    def _embed(self, text: str, ask: Ask) -> tuple[QueryVectors | None, WordsOnly | None]:
        """Return the query's vector, or why there is none."""
        if not text or ask.mode == "words":
            return None, None
        if self._following is None:
            return None, NO_EMBEDDER
        embedding = self._following.current
        try:
            return QueryVectors(embedding.embed([text]), embedding), None
        except EmbedderError as error:
            return None, failed(error)

    def _comparable(
        self, transaction: Transaction, vector: QueryVectors, ask: Ask
    ) -> tuple[Meaning | None, WordsOnly | None]:
        """Return the query beside the file's vectors, or why not.

        Raises:
            EmbedderMismatch: they are not of the query's model.
        """
        resident = None
        if vector.embedding.is_of_file(transaction, vector.rows.shape[1]):
            resident = self._resident.current(transaction, ask.wanted.namespaces)
        if resident is None or not resident.has_any(ask.wanted.namespaces):
            return None, NO_VECTORS
        return Meaning(vector.rows[0], resident), None


class Meaning(NamedTuple):
    """A query's vector, ``float32[d]``, and those it is compared with."""

    query: NDArray[np.float32]
    resident: ResidentVectors

    def nearest(
        self, transaction: Transaction, wanted: EpisodeFilter, least: int, most: int
    ) -> dict[int, float]:
        """Return the cosines of the nearest episodes, each by its nearest piece, best first.

        Args:
            transaction: what is looked at.
            wanted: among which.
            least: how many, if there are so many: the limit of the search. What the words find
                gets its cosine anyway, so no more are needed.
            most: how many, where one look finds them; a few long episodes may take all places.
        """
        only = excluding = None
        if not wanted.is_plain:
            only = piece_table.select_ids(transaction, wanted)
        elif not wanted.include_expired:
            excluding = piece_table.expired_ids(transaction, wanted.now)
        asked = 2 * most
        while True:
            [near] = self.resident.nearest(
                self.query[np.newaxis],
                asked,
                namespaces=wanted.namespaces,
                active_only=False,
                only=only,
                excluding=excluding,
            )
            owners = piece_table.owners(transaction, near.ids.tolist())
            best: dict[int, float] = {}
            for piece_id, cosine in zip(near.ids.tolist(), near.cosines.tolist(), strict=True):
                if piece_id in owners:  # else it came after this transaction began
                    best.setdefault(owners[piece_id], cosine)
            if len(best) >= least or len(near.ids) < asked:
                return dict(list(best.items())[:most])
            asked *= 4  # a few long episodes took the places

    def cosines(self, transaction: Transaction, pieces: Sequence[Piece]) -> dict[int, float]:
        """Return the cosine of each piece that is embedded, by the piece's id."""
        ids = [piece.id for piece in pieces]
        embedded = piece_table.embedded(transaction, ids)
        found = self.resident.similarity(self.query, ids).tolist()
        return {id_: cosine for id_, cosine in zip(ids, found, strict=True) if id_ in embedded}

    def similarities(
        self, transaction: Transaction, episode_ids: Sequence[int]
    ) -> dict[int, float]:
        """Return the cosine of each episode's nearest piece; none for those that are pending."""
        pieces = list(piece_table.of_episodes(transaction, episode_ids))
        cosines = self.cosines(transaction, pieces)
        best: dict[int, float] = {}
        for piece in pieces:
            if piece.id in cosines:
                cosine = cosines[piece.id]
                best[piece.episode_id] = max(cosine, best.get(piece.episode_id, cosine))
        return best


class Found(NamedTuple):
    """An episode's place, before it is read."""

    episode_id: int
    score: float
    word_score: float


def _ranked(transaction: Transaction, text: str, meaning: Meaning | None, ask: Ask) -> list[Found]:
    """Return the best episodes, best first."""
    weight = ask.weight_of_meaning(meaning)
    by_words: dict[int, float] = {}
    near: dict[int, float] = {}
    for wanted in ask.passes:
        if weight < 1:
            by_words |= full_text.EPISODES.search(transaction, text, wanted, ask.candidates)
        if meaning is not None and weight > 0:
            near |= meaning.nearest(transaction, wanted, ask.limit, ask.candidates)
    if meaning is not None:
        others = [id_ for id_ in by_words if id_ not in near]
        near |= meaning.similarities(transaction, others)
    if ask.min_similarity is not None:
        least = ask.min_similarity
        by_words = {id_: bm25 for id_, bm25 in by_words.items() if near.get(id_, least) >= least}
        near = {id_: cosine for id_, cosine in near.items() if cosine >= least}
    ranked = ranking.merge(
        list(by_words.items()),
        np.array(list(near), dtype=np.int64),
        np.array(list(near.values()), dtype=np.float32),
        [],
        word_weight=1 - weight,
        vector_weight=weight,
        limit=len(by_words) + len(near),
    )
    found = [Found(one.fact_id, one.score, one.word_score) for one in ranked]
    # Of equals the newer: what was said last is what holds.
    found.sort(key=lambda one: (-one.score, -one.episode_id))
    return _boosted(transaction, found, ask)[: ask.limit]


def _boosted(transaction: Transaction, found: list[Found], ask: Ask) -> list[Found]:
    """Add the boost to those that have all the tags, and put them where that takes them."""
    if not ask.boosted_tags or not found:
        return found
    tagged = episode_table.visible(transaction, [one.episode_id for one in found], ask.boosted)
    raised = [
        one._replace(score=one.score + ask.tag_boost) if one.episode_id in tagged else one
        for one in found
    ]
    return sorted(raised, key=lambda one: -one.score)


def _newest(transaction: Transaction, ask: Ask) -> list[Found]:
    """Return the newest episodes; those that get the boost come first."""
    found: dict[int, Found] = {}
    if ask.boosted_tags:
        for id_ in episode_table.newest_ids(transaction, ask.boosted, ask.limit):
            found[id_] = Found(id_, ask.tag_boost, 0.0)
    for id_ in episode_table.newest_ids(transaction, ask.wanted, ask.limit):
        found.setdefault(id_, Found(id_, 0.0, 0.0))
    return list(found.values())[: ask.limit]


def _fill(transaction: Transaction, hits: Sequence[EpisodeHit], ask: Ask) -> list[EpisodeHit]:
    """Return the newest episodes, to come after what the words found."""
    known = {hit.episode.id for hit in hits}
    room = ask.limit - len(hits)
    newest = episode_table.newest_ids(transaction, ask.wanted, ask.limit)
    more = [Found(id_, 0.0, 0.0) for id_ in newest if id_ not in known][:room]
    return _hits(transaction, "", more, None, ask)


def _hits(
    transaction: Transaction,
    text: str,
    found: Sequence[Found],
    meaning: Meaning | None,
    ask: Ask,
) -> list[EpisodeHit]:
    """Read the winners, and find the piece of each that matched best."""
    ids = [one.episode_id for one in found]
    episodes = episode_table.get_many(transaction, ids)
    pieces: dict[int, list[Piece]] = {}
    for piece in piece_table.of_episodes(transaction, ids):
        pieces.setdefault(piece.episode_id, []).append(piece)
    every = [piece for each in pieces.values() for piece in each]
    cosines = {} if meaning is None else meaning.cosines(transaction, every)
    hits = []
    for one in found:
        episode, parts = episodes[one.episode_id], pieces[one.episode_id]
        places: Mapping[int, str] = {}
        if len(parts) > 1 and one.word_score:
            places = full_text.EPISODES.places(transaction, text, episode.id, episode.content)
        best = _best_piece(parts, cosines, places, ask.weight_of_meaning(meaning))
        known = [cosines[piece.id] for piece in parts if piece.id in cosines]
        hits.append(
            EpisodeHit(
                episode,
                one.score,
                one.word_score,
                max(known, default=None),
                best.start,
                best.stop,
            )
        )
    return hits


def _best_piece(
    pieces: Sequence[Piece],
    cosines: Mapping[int, float],
    places: Mapping[int, str],
    weight: float,
) -> Piece:
    """Return the piece that holds most of the words and is nearest; of equals the first."""
    begins = sorted(places)
    held = {
        piece.id: [
            places[at]
            for at in begins[bisect_left(begins, piece.start) : bisect_left(begins, piece.stop)]
        ]
        for piece in pieces
    }
    most = max((len(set(words)) for words in held.values()), default=0) or 1

    def score(piece: Piece) -> tuple[float, int]:
        by_words = len(set(held[piece.id])) / most
        by_meaning = max(0.0, cosines.get(piece.id, 0.0))
        return (1 - weight) * by_words + weight * by_meaning, len(held[piece.id])

    return max(pieces, key=score)


def _cleaned(query: str | None) -> str:
    if query is None:
        return ""
    if not isinstance(query, str):
        raise TypeError(f"a query must be text, not {type(query).__name__}")
    return query.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ").strip()


def _check_number(value: float, name: str, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not least <= value <= most or value == math.inf:
        span = f"{least} or more" if most == math.inf else f"{least} to {most}"
        raise ValueError(f"{name} must be {span}, not {value}")
