"""Search: words and vectors, one order.

Queries are embedded, SQL says which rows may be seen, the corpus says which match by words and
which are near, the two are merged by id, and only the winners are read whole.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from memstore.domain.arguments import checked_query
from memstore.domain.results import WordsOnly
from memstore.embedding.vectors import numbers
from memstore.errors import (
    EmbedderError,
    EmbedderMismatch,
    EmbedderRejected,
    Reason,
)
from memstore.frozen import replace
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.providers.local import LocalEmbedder
from memstore.search.corpus import BestRows, Corpus, H
from memstore.search.index.index import Index
from memstore.search.lookups import dates
from memstore.search.lookups.base import F, Query, Ranked
from memstore.search.ranking import Candidates
from memstore.search.requests import (
    COVERAGE_TO_FILL,
    JUDGED,
    NEAR_ENOUGH_TO_FILL,
    NEAR_THE_BEST,
    RELEVANT_ENOUGH_TO_FILL,
    WEIGHT_TO_FILL,
)
from memstore.search.spelling import Respelling, respelling
from memstore.text.references import references

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from memstore.database.engine import Engine, Transaction
    from memstore.embedding.current import CurrentEmbedder
    from memstore.embedding.embedding import Embedding
    from memstore.embedding.vectors import Vector
    from memstore.search import events
    from memstore.search.index.contents import FeedContents
    from memstore.search.lookups.base import About, Order
    from memstore.search.requests import Request
else:
    events = lazy_import("memstore.search.events")

UNASKED: Final = ("other_model", "embedder_unavailable", "embedder_rejected")
"""Why a file's model could not be asked, so that the built-in one compares what words find."""

NOTHING_EMBEDDED: Final = WordsOnly("nothing_embedded", Reason("nothing is embedded yet"))


OF_OTHERS: Final = 0.5
"""The part of its score that counts of a row from another project than the caller's."""

BEST_SCORE: Final = 1.0
"""The score of a row that the query names by its id, at least."""

T = TypeVar("T")

Answer: TypeAlias = "Callable[[Corpus[F, H], Request[F], Mapping[str, Query], WordsOnly | None], T]"
"""Makes an answer in one snapshot from what the request stands for there, queries by their texts,
and why vectors were not used."""


AnswerOfEmbedded: TypeAlias = (
    "Callable[[Corpus[F, H], Request[F], Embedded | None, WordsOnly | None], T]"
)
"""Makes an answer from a corpus, a request, and what was embedded or why nothing was."""


class Embedded(NamedTuple):
    embedding: Embedding
    vectors: Sequence[Vector] = ()
    """One for each query; none yet for the built-in model, whose vectors the index may weigh."""


class Misspelt(NamedTuple):
    """Says that queries have to be embedded again, in another spelling."""

    by_text: Mapping[str, Respelling]


MAX_ASKERS: Final = 64
MAX_NAMES: Final = 64
"""Of so many askers, so many names are remembered: some hundred KB at most."""


class NamesAsked:
    """The names of projects in questions, by who asked: the namespaces and the owners."""

    def __init__(self) -> None:
        self._names: dict[tuple[object, ...], frozenset[str]] = {}

    def of(self, asker: tuple[object, ...]) -> frozenset[str]:
        """Return the names in this asker's questions."""
        return self._names.get(asker, frozenset())

    def add(self, asker: tuple[object, ...], names: Collection[str]) -> None:
        """Remember names of a question."""
        known = self.of(asker)
        if known.issuperset(names):
            return
        if asker not in self._names and len(self._names) >= MAX_ASKERS:
            self._names.clear()
        both = known.union(names)
        if len(both) > MAX_NAMES:
            both = frozenset(sorted(names)[:MAX_NAMES])
        self._names[asker] = both


class Search(Generic[F, H]):
    def __init__(
        self,
        engine: Engine,
        embedder: CurrentEmbedder | None,
        corpus: type[Corpus[F, H]],
        wordless: WordsOnly,
        *,
        read_only: bool,
        after: Callable[[], object] = lambda: None,
    ) -> None:
        """Search rows of one kind; ``after`` is called after each answer."""
        self._after = after
        self._embedder = embedder
        self._corpus: type[Corpus[F, H]] = corpus
        self.index = Index(engine, corpus.kind, read_only=read_only)
        self.other_kind: Search[Any, Any] | None = None
        """The search over rows of the other kind, which may tell when something was."""
        self._wordless = wordless
        self._is_remote = engine.is_remote

    def find(self, query: str, request: Request[F]) -> H:
        return self.batch([query], request)[0]

    def batch(self, queries: Sequence[str], request: Request[F]) -> list[H]:
        """Return the hits for each query; one call embeds them all."""
        texts = [checked_query(query) for query in queries]

        def results(
            corpus: Corpus[F, H],
            request: Request[F],
            found: Mapping[str, Query],
            words_only: WordsOnly | None,
        ) -> list[H]:
            each = {text: _results(corpus, found[text], request, words_only) for text in found}
            return [each[text] for text in texts]

        return self._read(texts, request, results)

    def examine(
        self,
        query: str,
        request: Request[F],
        examined: Callable[[Corpus[F, H], Request[F], Query, WordsOnly | None], T],
    ) -> T:
        """Return what a function makes of a query, prepared as a search prepares it."""
        text = checked_query(query)
        return self._read(
            [text],
            request,
            lambda corpus, settled, found, words: examined(corpus, settled, found[text], words),
        )

    def _read(self, texts: Sequence[str], request: Request[F], answer: Answer[F, H, T]) -> T:
        """Embed the queries, and have them answered from one snapshot.

        Misspelt ones are answered as the memory spells them; if a model was asked for their
        vectors, it is asked once more.
        """
        if request.ranking.reads_times and self.other_kind is not None:
            request = self.other_kind.knowing(texts, request)
        found = self._tried(texts, request, answer, {})
        if not isinstance(found, Misspelt):
            return found
        again = self._tried(texts, request, answer, found.by_text)
        assert not isinstance(again, Misspelt)
        return again

    def _tried(
        self,
        texts: Sequence[str],
        request: Request[F],
        answer: Answer[F, H, T],
        respelt: Mapping[str, Respelling],
    ) -> T | Misspelt:
        def spelt(
            corpus: Corpus[F, H],
            request: Request[F],
            embedded: Embedded | None,
            words_only: WordsOnly | None,
        ) -> T | Misspelt:
            others = respelt or _misspelt(corpus, texts, request)
            if others is not respelt and others and embedded is not None and embedded.vectors:
                return Misspelt(others)
            asked = [_respelt(text, others) for text in texts]
            told = {_respelt(text, others): one for text, one in request.events.items()}
            request = replace(request, events=told) if others and told else request
            found, words_only = _compared(corpus, asked, embedded, request, words_only)
            each = {text: _as_given(text, found, others) for text in texts}
            return answer(corpus, request, each, words_only)

        return self._embedded_and_answered(
            [_respelt(text, respelt) for text in texts], request, spelt
        )

    def _embedded_and_answered(
        self, texts: Sequence[str], request: Request[F], answer: AnswerOfEmbedded[F, H, T]
    ) -> T:
        embedded, why = self._embed(texts, request)
        try:
            return self._answered(embedded, request, why, answer)
        except EmbedderMismatch as error:
            # The file switched to another model: so do we, if we can, and ask that one.
            if self._embedder is not None and self._embedder.follow(error.stored):
                embedded, why = self._embed(texts, request)
                with suppress(EmbedderMismatch):
                    return self._answered(embedded, request, why, answer)
            other = WordsOnly("other_model", Reason.of(error))
            return self._answered(None, request, other, answer)

    def knowing(self, texts: Sequence[str], request: Request[Any]) -> Request[Any]:
        """Return a request for rows of the other kind, with what these tell of the queries' events.

        Of another time, rows of both kinds know what was then.
        """
        now = request.wanted.now
        named = {text: one for text in texts if (one := dates.with_event(text, now)) is not None}
        if not named:
            return request

        def known(transaction: Transaction, contents: FeedContents | None) -> Request[Any]:
            transaction.admit(request.wanted.namespaces or ())
            corpus = self._corpus(transaction, contents)
            if not corpus.lookup.has_contexts:
                is_sure = self.index.is_unfit or not corpus.has_rows(request.wanted.namespaces)
                return replace(request, knows_events=is_sure)
            corpus.lookup.now = now
            seen = replace(request, wanted=corpus.seen_by(request.wanted), boosted=None)
            wanted = corpus.settled(seen).wanted
            each = {text: events.event(corpus, one, wanted) for text, one in named.items()}
            told = {text: one for text, one in each.items() if one is not None}
            return replace(request, events=told)

        return self.index.read(known)

    def about(
        self,
        prompt: str,
        texts: Mapping[int, str],
        near: Mapping[int, float],
        *,
        asks: bool,
        found: Collection[int] = (),
    ) -> About:
        """Return what rows have of a prompt, given their texts and cosines.

        Nothing if there is no index yet.

        Args:
            asks: whether it is a question.
            found: the rows among which one may tell of an event that it names.
        """
        text = checked_query(prompt)

        def about(*state: Any) -> About:
            corpus = self._corpus(*state)
            told = corpus.about(text, texts, near, asks=asks)
            if not asks or not found or not corpus.lookup.has_contexts:
                return told
            condition = corpus.lookup.named_dates(text).condition
            if condition is None or not condition.event:
                return told
            return told._replace(has_event=bool(events.among(corpus, condition.event, [*found])))

        return self.index.read(about)

    def _embed(
        self, texts: Sequence[str], request: Request[F]
    ) -> tuple[Embedded | None, WordsOnly | None]:
        if not any(texts) or not request.ranking.compares:
            return None, None
        if self._embedder is None:
            return None, self._wordless
        embedding = self._embedder.current
        weighs = request.ranking.weighs_words_of_queries
        if weighs and type(embedding.embedder) is LocalEmbedder:
            return Embedded(embedding), None
        return _embedded(embedding, _distinct(texts))

    def _answered(
        self,
        embedded: Embedded | None,
        request: Request[F],
        words_only: WordsOnly | None,
        answer: AnswerOfEmbedded[F, H, T],
    ) -> T:
        compares_stored = request.ranking.compares_stored

        def answered(transaction: Transaction, contents: FeedContents | None) -> T:
            transaction.admit(request.wanted.namespaces or ())
            corpus = self._corpus(transaction, contents, compares_stored=compares_stored)
            is_provisional = contents is None and self._is_provisional(corpus, request)
            corpus.is_provisional = is_provisional or not request.knows_events
            corpus.lookup.approximates = is_provisional
            corpus.lookup.now = request.wanted.now
            corpus.lookup.sequel = request.sequel
            return answer(corpus, corpus.settled(request), embedded, words_only)

        found = self.index.read(answered)
        self._after()
        return found

    def _is_provisional(self, corpus: Corpus[F, H], request: Request[F]) -> bool:
        """Whether an answer without the index has another order than one with it.

        A file finds the same words without it; only the contextual ranking needs it.
        """
        if self.index.is_unfit:
            return False  # there never is one
        is_fallback = request.ranking.usable(corpus.lookup) is not request.ranking
        return is_fallback or self._is_remote


def _misspelt(
    corpus: Corpus[F, H], texts: Sequence[str], request: Request[F]
) -> Mapping[str, Respelling]:
    """Return the queries that the memory spells otherwise."""
    if not request.ranking.respells:
        return {}
    tried = {text: respelling(corpus, text, request.wanted) for text in _distinct(texts)}
    return {text: other for text, other in tried.items() if other is not None}


def _respelt(text: str, respelt: Mapping[str, Respelling]) -> str:
    return respelt[text].text if text in respelt else text


def _as_given(text: str, found: Mapping[str, Query], respelt: Mapping[str, Respelling]) -> Query:
    """Return the query that stands for a text, with what was written otherwise in it."""
    query = found[_respelt(text, respelt)]
    return query._replace(respelt=respelt[text].changed) if text in respelt else query


def _compared(
    corpus: Corpus[F, H],
    texts: Sequence[str],
    embedded: Embedded | None,
    request: Request[F],
    words_only: WordsOnly | None,
) -> tuple[dict[str, Query], WordsOnly | None]:
    """Return the queries, by their texts, with the rows near them, or why there are none."""
    asked = _distinct(texts)
    found = {text: Query(text) for text in texts}
    if embedded is not None and request.ranking.weighs_words_of_queries:
        embedded, words_only = _weighed(corpus, asked, embedded)
    if embedded is not None:
        if corpus.lookup.approximates and request.ranking.weights.words:
            corpus.lookup.words_in_parallel(asked, request.passes, request.candidates)
        near = _near(corpus, embedded, request)
        is_empty = near is None and not corpus.has_rows(request.wanted.namespaces)
        words_only = NOTHING_EMBEDDED if near is None and not is_empty else None
        queries = map(Query, asked, embedded.vectors, near or ())
        found |= {query.text: query for query in queries}
    elif words_only is not None and words_only.code in UNASKED and corpus.lookup.joins:
        found = {text: query._replace(by_table=True) for text, query in found.items()}
    return found, words_only


def _results(
    corpus: Corpus[F, H], query: Query, request: Request[F], words_only: WordsOnly | None
) -> H:
    ranked = _ranked(corpus, query, request)
    return corpus.results(query, ranked, request, words_only if query.text else None)


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return the queries to embed; a blank one has no vector."""
    return [*dict.fromkeys(filter(None, texts))]


def _embedded(
    embedding: Embedding, texts: Sequence[str]
) -> tuple[Embedded | None, WordsOnly | None]:
    try:
        return Embedded(
            embedding, [numbers(blob) for blob in embedding.blobs(texts, as_queries=True)]
        ), None
    except EmbedderError as error:
        rejected = isinstance(error, EmbedderRejected)
        code = "embedder_rejected" if rejected else "embedder_unavailable"
        return None, WordsOnly(code, Reason.of(error))


def _weighed(
    corpus: Corpus[F, H], texts: Sequence[str], embedded: Embedded
) -> tuple[Embedded | None, WordsOnly | None]:
    """Return the vectors that the index makes for its built-in model, or else the embedder's."""
    if vectors := corpus.lookup.query_vectors(texts):
        return embedded._replace(vectors=vectors), None
    return (embedded, None) if embedded.vectors else _embedded(embedded.embedding, texts)


def _near(
    corpus: Corpus[F, H], embedded: Embedded, request: Request[F]
) -> list[dict[int, float]] | None:
    """Return the rows near each query; ``None`` where nothing is embedded yet."""
    lookup, vectors = corpus.lookup, embedded.vectors
    if not embedded.embedding.is_of_file(lookup.generation, len(vectors[0])):
        return None
    found: list[dict[int, float]] = [{} for _ in vectors]
    for wanted in request.passes if request.ranking.weights.vectors else ():
        more = lookup.near(vectors, wanted, request.candidates)  # one scan is for all queries
        found = [near | extra for near, extra in zip(found, more, strict=True)]
    return found if any(found) or lookup.has_vectors(request.wanted.namespaces) else None


def _ranked(corpus: Corpus[F, H], query: Query, request: Request[F]) -> BestRows:
    ranking = request.ranking.usable(corpus.lookup)
    if not query.text:
        return BestRows(corpus.newest(request)[request.part], ranking.name)
    order = ranking.rank(query, candidates(corpus, query, request))
    shown = answered(corpus, query, order, request)
    return shown._replace(rows=shown.rows[request.part])


def answered(corpus: Corpus[F, H], query: Query, order: Order, request: Request[F]) -> BestRows:
    """Return what a search gives of the rows that it ranked, up to its depth."""
    ranked = _boosted(corpus, order.rows, request)
    rows = _others_lower(corpus, query, ranked, request)[: request.depth]
    ranking = request.ranking.usable(corpus.lookup)
    found = BestRows(rows, ranking.name, order.elsewhere)
    return _named_first(corpus, query, judged(corpus, query, found, request), found, request)


def _named_first(
    corpus: Corpus[F, H], query: Query, shown: BestRows, found: BestRows, request: Request[F]
) -> BestRows:
    """Put the rows that the query names by their ids before all others."""
    named = corpus.named(query.text, request.wanted)
    if not named:
        return shown
    ranked = {row.id: row for row in found.rows}
    best = max(BEST_SCORE, *(row.score for row in found.rows[:1]), 0.0)
    first: list[Ranked]
    first = [ranked.get(id_, Ranked(id_, best))._replace(score=best) for id_ in named]
    rest: list[Ranked] = [row for row in shown.rows if row.id not in named]
    was_shown = {row.id for row in shown.rows}
    hidden = shown.hidden - sum(id_ in ranked and id_ not in was_shown for id_ in named)
    rows = [*first, *rest][: request.depth]
    is_relevant = True if request.least_relevance else shown.is_relevant
    return shown._replace(rows=rows, is_relevant=is_relevant, hidden=hidden)


def candidates(
    corpus: Corpus[F, H], query: Query, request: Request[F], *, keeps_all: bool = False
) -> Candidates[F]:
    """Return what a ranking orders; with ``keeps_all``, it does not stop at the limit."""
    ranking = request.ranking.usable(corpus.lookup)
    if corpus.lookup.has_contexts:
        condition = corpus.lookup.named_dates(query.text).condition
        if condition is not None and condition.event:
            elsewhere = request.events.get(query.text)
            events.settle(corpus, query.text, request.wanted, elsewhere)
    by_words: dict[int, float] = {}
    if ranking.weights_for(query).words:
        for wanted in request.passes:
            by_words |= corpus.lookup.words(query.text, wanted, request.candidates)
    return Candidates(
        by_words=by_words,
        lookup=corpus.lookup,
        wanted=request.wanted,
        limit=request.depth,
        keeps_all=keeps_all or request.boosted is not None or request.project is not None,
        min_similarity=request.min_similarity,
        ageing=partial(corpus.ageing, request.wanted.now),
        newest_of_equals=corpus.kind.newest_of_equals,
    )


def judged(corpus: Corpus[F, H], query: Query, found: BestRows, request: Request[F]) -> BestRows:
    """Leave out what is not relevant, if a minimum is asked for: each row by itself.

    Nothing is left unless one of the first rows is relevant. Beside a relevant one, a row that
    ranks near the best stays too: the answer to a question may have none of its words. A search by
    words alone leaves nothing out: each row has a word of the query. Where a budget is to be
    filled, less is enough for the first rows, and the caller decides, who has rows of both kinds.
    """
    least = request.least_relevance
    rows = found.rows
    if not least or not rows:
        return found
    best = _relevances(corpus, query, rows[:JUDGED])
    first = {id_ for id_, relevance in best.items() if relevance >= least}
    if query.vector is None:
        return found._replace(is_relevant=bool(first))
    if any(references(query.text)):
        # The meaning of a number is that of other numbers.
        held = corpus.lookup.word_parts(query.text, [row.id for row in rows])
        shown = [row for row in rows if held.get(row.id)]
        hidden = len(rows) - len(shown)
        return found._replace(rows=shown, is_relevant=bool(shown), hidden=hidden)
    if request.fills and not first:
        first = _may_answer(corpus, query, best)
    if not first and not request.fills:
        return BestRows([], found.ranking, is_relevant=False, hidden=len(rows))
    part = NEAR_ENOUGH_TO_FILL if request.fills else NEAR_THE_BEST
    near = part * rows[0].score if rows[0].score > 0 else math.inf
    dated: dict[int, float]
    dated = {row.id: row.score - row.parts.date for row in rows if row.parts.date > 0}
    meant = corpus.of_that_day(query.text, [*dated])
    # Else all that was stored today would be near the best of "today".
    bare = {id_: score for id_, score in dated.items() if id_ not in meant}
    far = {row.id for row in rows if bare.get(row.id, row.score) < near}
    doubted = [row for row in rows[JUDGED:] if row.id in far]
    others = _relevances(corpus, query, doubted) if doubted else {}
    kept = first | {id_ for id_, relevance in others.items() if relevance >= least}
    shown = [row for row in rows if row.id in kept or row.id not in far]
    return found._replace(rows=shown, is_relevant=bool(first), hidden=len(rows) - len(shown))


def _may_answer(corpus: Corpus[F, H], query: Query, relevances: Mapping[int, float]) -> set[int]:
    """Return the ids of those of the rows of which more is told to who gave a budget for it."""
    topic = corpus.lookup.topic(query.text)
    bearings = corpus.lookup.bearings(topic, [*relevances])
    return {id_ for id_, one in relevances.items() if one >= RELEVANT_ENOUGH_TO_FILL} | {
        id_
        for id_, one in bearings.items()
        if one.weight >= WEIGHT_TO_FILL and one.coverage >= COVERAGE_TO_FILL
    }


def _relevances(corpus: Corpus[F, H], query: Query, rows: Sequence[Ranked]) -> Mapping[int, float]:
    """Return how relevant rows are to a query, 0 to 1, or 1 if that is not known.

    What the query names, a person or a date, has infinity, however little its words resemble it.
    """
    named = {row.id for row in rows if row.parts.subject}
    named |= corpus.of_that_day(query.text, [row.id for row in rows if row.parts.date > 0])
    others = [row for row in rows if row.id not in named]
    relevances = corpus.relevances(query.text, others)
    likeness = corpus.lookup.likenesses({row.id: row.vector_score for row in rows})
    return dict.fromkeys(named, math.inf) | {
        row.id: max(relevances.get(row.id, 1.0), likeness.get(row.id, 0.0)) for row in others
    }


def _others_lower(
    corpus: Corpus[F, H], query: Query, found: Sequence[Ranked], request: Request[F]
) -> Sequence[Ranked]:
    """Lower what comes from other projects than the caller's, and order the rows again.

    What comes from one that the query names stays.
    """
    if request.project is None or not found:
        return found
    others = corpus.of_others([row.id for row in found], request.project, query.text)
    if not others:
        return found
    lowered = [_lowered(row) if row.id in others else row for row in found]
    return sorted(lowered, key=lambda row: -row.score)


def _lowered(row: Ranked) -> Ranked:
    less = OF_OTHERS * row.score if row.score > 0 else row.score
    parts = row.parts._replace(project=row.parts.project + less - row.score)
    return row._replace(score=less, parts=parts)


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
