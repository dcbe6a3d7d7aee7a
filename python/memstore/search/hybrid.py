"""Search: words and vectors, one order.

Queries are embedded, SQL says which rows may be seen, the corpus says which match by words and
which are near, the two are merged by id, and only the winners are read whole.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, Generic, NamedTuple

from memstore.domain.arguments import MAX_QUERY, check_length
from memstore.domain.results import THREADS, WordsOnly
from memstore.embedding.vectors import numbers
from memstore.errors import (
    EmbedderError,
    EmbedderMismatch,
    EmbedderRejected,
    InvalidArgumentType,
    Reason,
)
from memstore.providers.local import LocalEmbedder
from memstore.search import ranking
from memstore.search.corpus import Corpus, Found, H, Query
from memstore.search.index.index import Index
from memstore.search.requests import JUDGED, F

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Engine
    from memstore.embedding.current import CurrentEmbedder
    from memstore.embedding.embedding import Embedding
    from memstore.embedding.vectors import Vector
    from memstore.search.corpus import Bearing
    from memstore.search.ranking import Ranked
    from memstore.search.requests import Request

NOTHING_EMBEDDED: Final = WordsOnly("nothing_embedded", Reason("nothing is embedded yet"))


class Embedded(NamedTuple):
    embedding: Embedding
    vectors: Sequence[Vector] = ()
    """One for each query; none yet for the built-in model, whose vectors the index may weigh."""


class Search(Generic[F, H]):
    def __init__(
        self,
        engine: Engine,
        embedder: CurrentEmbedder | None,
        corpus: type[Corpus[F, H]],
        wordless: WordsOnly,
        *,
        read_only: bool,
    ) -> None:
        self._embedder = embedder
        self._corpus: type[Corpus[F, H]] = corpus
        self.index = Index(engine, corpus.kind, read_only=read_only)
        self._wordless = wordless

    def find(self, query: str, request: Request[F]) -> H:
        return self.batch([query], request)[0]

    def batch(self, queries: Sequence[str], request: Request[F]) -> list[H]:
        """Return the hits for each query; one call embeds them all."""
        texts = [_cleaned(query) for query in queries]
        asked = list(dict.fromkeys(filter(None, texts)))  # a blank one has no vector
        embedded, why = self._embed(asked, request)
        try:
            return self._find(texts, asked, embedded, request, why)
        except EmbedderMismatch as error:
            # The file switched to another model: so do we, if we can, and ask that one.
            if self._embedder is not None and self._embedder.follow(error.stored):
                embedded, why = self._embed(asked, request)
                with suppress(EmbedderMismatch):
                    return self._find(texts, asked, embedded, request, why)
            why = WordsOnly("other_model", Reason.of(error))
            return self._find(texts, asked, None, request, why)

    def bearings(self, query: str, ids: Sequence[int]) -> list[Bearing]:
        """Return what rows have of a query's words; nothing if there is no index yet."""
        with self.index.reading() as (transaction, contents):
            return self._corpus(transaction, contents).bearings(_cleaned(query), ids)

    def _embed(
        self, texts: Sequence[str], request: Request[F]
    ) -> tuple[Embedded | None, WordsOnly | None]:
        if not texts or not request.compares:
            return None, None
        if self._embedder is None:
            return None, self._wordless
        embedding = self._embedder.current
        if request.ranking == THREADS and type(embedding.embedder) is LocalEmbedder:
            return Embedded(embedding), None
        return _embedded(embedding, texts)

    def _find(
        self,
        texts: Sequence[str],
        asked: Sequence[str],
        embedded: Embedded | None,
        request: Request[F],
        why: WordsOnly | None,
    ) -> list[H]:
        with self.index.reading() as (transaction, contents):
            corpus = self._corpus(transaction, contents, request.ranking)
            found = {text: Query(text) for text in texts}
            if embedded is not None and request.ranking == THREADS:
                embedded, why = _weighed(corpus, asked, embedded)
            if embedded is not None:
                near = self._near(corpus, embedded, request)
                is_empty = near is None and not corpus.has_rows(request.wanted.namespaces)
                why = NOTHING_EMBEDDED if near is None and not is_empty else None
                queries = map(Query, asked, embedded.vectors, near or ())
                found |= {query.text: query for query in queries}
            results = {}
            for text, query in found.items():
                ranked = _ranked(corpus, query, request)
                results[text] = corpus.results(query, ranked, request, why if text else None)
            return [results[text] for text in texts]

    def _near(
        self,
        corpus: Corpus[F, H],
        embedded: Embedded,
        request: Request[F],
    ) -> list[dict[int, float]] | None:
        """Return the rows near each query; ``None`` where nothing is embedded yet."""
        if not embedded.embedding.is_of_file(corpus.generation, len(embedded.vectors[0])):
            return None
        near = _near(corpus, embedded.vectors, request)
        return near if any(near) or corpus.has_vectors(request.wanted.namespaces) else None


def _embedded(
    embedding: Embedding, texts: Sequence[str]
) -> tuple[Embedded | None, WordsOnly | None]:
    try:
        return Embedded(embedding, [numbers(blob) for blob in embedding.blobs(texts)]), None
    except EmbedderError as error:
        rejected = isinstance(error, EmbedderRejected)
        code = "embedder_rejected" if rejected else "embedder_unavailable"
        return None, WordsOnly(code, Reason.of(error))


def _weighed(
    corpus: Corpus[F, H], texts: Sequence[str], embedded: Embedded
) -> tuple[Embedded | None, WordsOnly | None]:
    """Return the vectors that the index makes for its built-in model, or else the embedder's."""
    if vectors := corpus.query_vectors(texts):
        return embedded._replace(vectors=vectors), None
    return (embedded, None) if embedded.vectors else _embedded(embedded.embedding, texts)


def _near(
    corpus: Corpus[F, H], vectors: Sequence[Vector], request: Request[F]
) -> list[dict[int, float]]:
    """Return the rows near each query; one scan is for all queries."""
    if not request.weights.vectors:
        return [{} for _ in vectors]
    found, *others = (corpus.near(vectors, wanted, request.candidates) for wanted in request.passes)
    for more in others:
        found = [near | extra for near, extra in zip(found, more, strict=True)]
    return found


def _ranked(corpus: Corpus[F, H], query: Query, request: Request[F]) -> Found:
    if not query.text:
        return Found(corpus.newest(request))
    weights = request.weights if query.vector is not None else request.weights_alone
    by_words: dict[int, float] = {}
    if weights.words:
        for wanted in request.passes:
            by_words |= corpus.words(query.text, wanted, request.candidates)
    found: Sequence[Ranked] | None = None
    if request.ranking == THREADS:
        found = corpus.in_order(query, {**by_words, **query.near}, request)
    if found is None:
        found = _classic(corpus, query, by_words, request)
    found = _boosted(corpus, found, request)
    return _judged(corpus, query, found[: request.limit], request)


def _judged(
    corpus: Corpus[F, H], query: Query, found: Sequence[Ranked], request: Request[F]
) -> Found:
    """Leave out what is not relevant, if a minimum is asked for.

    A search by words alone leaves nothing out: each row has a word of the query.
    """
    if not request.min_relevance or not found:
        return Found(found)
    relevant = _is_relevant(corpus, query, found[:JUDGED], request.min_relevance)
    if relevant or query.vector is None:
        return Found(found, is_relevant=relevant)
    return Found([], is_relevant=False, hidden=len(found))


def _is_relevant(
    corpus: Corpus[F, H], query: Query, judged: Sequence[Ranked], least: float
) -> bool:
    """Whether one of these rows is as relevant as is asked for, if that is known.

    What the query names, a person or a date, is relevant however little its words resemble it.
    """
    if any(place.parts.subject or place.parts.date for place in judged):
        return True
    relevance = corpus.relevance(query.text, [place.id for place in judged])
    return relevance is None or relevance >= least


def _classic(
    corpus: Corpus[F, H], query: Query, by_words: dict[int, float], request: Request[F]
) -> Sequence[Ranked]:
    weights = request.weights if query.vector is not None else request.weights_alone
    others = [id_ for id_ in by_words if id_ not in query.near]
    near: dict[int, float] = {**query.near, **_cosines(corpus, query, others)}
    if (least := request.min_similarity) is not None:
        # What has no vector yet cannot be judged and stays.
        by_words = {id_: bm25 for id_, bm25 in by_words.items() if near.get(id_, least) >= least}
        near = {id_: cosine for id_, cosine in near.items() if cosine >= least}
    ageing = corpus.ageing({*by_words, *near}, request)
    if not corpus.newest_of_equals:
        return ranking.merge(by_words, near, ageing, weights, request.limit)
    found = ranking.merge(by_words, near, ageing, weights, len(by_words) + len(near))
    found.sort(key=lambda place: (-place.score, -place.id))
    return found


def _cosines(corpus: Corpus[F, H], query: Query, ids: Sequence[int]) -> dict[int, float]:
    """Return the true cosines of rows that only the words found."""
    if query.vector is None:
        return {}
    return {
        id_: part.cosine
        for id_, part in corpus.parts(None, query.vector, ids).items()
        if part.cosine is not None
    }


def _boosted(
    corpus: Corpus[F, H], found: Sequence[Ranked], request: Request[F]
) -> Sequence[Ranked]:
    """Add the boost where it is due, and order the rows again."""
    if request.boosted is None:
        return found
    boosted = corpus.boosted([place.id for place in found], request.boosted)
    if not boosted:
        return found
    raised = [
        place._replace(score=place.score + request.boost) if place.id in boosted else place
        for place in found
    ]
    return sorted(raised, key=lambda place: -place.score)


def _cleaned(query: str) -> str:
    if not isinstance(query, str):
        raise InvalidArgumentType(f"must be text, not {type(query).__name__}", argument="query")
    check_length(query, "query", MAX_QUERY)
    return query.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ").strip()
