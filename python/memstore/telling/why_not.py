"""Repeats a search and follows a fact through it, to say why it was not found.

Each condition of the filter is asked of the same SQL as in a search, one more at a time, and the
ranking is the same but for where it stops, so a place here is the place in a search.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, cast

from memstore.database.tables import facts as fact_table
from memstore.domain import zones
from memstore.domain.metadata import MetadataFilter
from memstore.domain.records import Record, SearchHits, set_fields
from memstore.domain.results import NO_PARTS, ScoreParts
from memstore.frozen import frozen, replace
from memstore.history.seen import Seen
from memstore.search import hybrid
from memstore.search.corpus import BestRows, Corpus, FactCorpus
from memstore.search.lookups.base import Order
from memstore.search.requests import MAX_LIMIT
from memstore.telling import fitting, recall
from memstore.text.escaping import visible
from memstore.text.folding import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.filters import FactFilter
    from memstore.domain.episodes import EpisodeHits
    from memstore.domain.metadata import Condition
    from memstore.domain.records import Fact
    from memstore.domain.results import WordsOnly
    from memstore.embedding.vectors import Vector
    from memstore.search.lookups.base import Query, Ranked
    from memstore.search.requests import Request


class Stage(StrEnum):
    """What a fact has to pass to be found, in this order."""

    ERASED = "erased"
    DELETED = "deleted"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    DISTRUSTED = "distrusted"
    """It rests on sources that are not trusted."""
    NAMESPACE = "namespace"
    """It is in a namespace that was not searched."""
    OWNERS = "owners"
    """It belongs to other owners than those asked for."""
    SUBJECT = "subject"
    CATEGORY = "category"
    TASKS = "tasks"
    """It is a task, and tasks were not asked for."""
    METADATA = "metadata"
    CREATED = "created"
    """It was not stored in the period asked for."""
    VALID = "valid"
    """It is not valid since the period asked for, or did not hold on the day asked for."""
    BLANK = "blank"
    """The query has nothing to search for."""
    PENDING = "pending"
    """It is not embedded yet, and has none of the words."""
    CANDIDATES = "candidates"
    """Neither by words nor by meaning is it among the rows that are ranked."""
    RANK = "rank"
    """It is ranked behind the limit."""
    RELEVANCE = "relevance"
    """It is not as relevant as ``min_relevance`` asks for."""
    REPEATED = "repeated"
    """In a recall: something better has the same words."""
    BUDGET = "budget"
    """In a recall: it does not fit into the budget."""
    FOUND = "found"


@frozen(kw_only=True)
class RankedFact(Record):
    """A fact with its place in a ranking, and the parts of its score."""

    fact_id: int
    place: int
    """From 1."""
    score: float
    word_score: float
    """As of :class:`~memstore.domain.records.SearchHit`, like the next three."""
    vector_score: float
    decay: float = 1.0
    parts: ScoreParts = NO_PARTS

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        return set_fields(self) | {"parts": self.parts._asdict()}


SIDE_BY_SIDE: Final = ("score", "word_score", "vector_score")


@frozen(kw_only=True)
class WhyNot(Record):
    """Why a search did not find a fact; ``str()`` returns it as a text."""

    fact_id: int
    stage: str
    """The first :class:`Stage` that it did not pass; ``found`` if it passed all."""
    text: str
    """The answer in one line."""
    limit: int
    """How many facts the search returns."""
    place: int | None = None
    """Its place from 1, if it was ranked: in the search, or in what a recall shows. Behind
    the limit it is that in a search with the largest limit, which compares more candidates."""
    candidates: int | None = None
    """How many rows each of words and meaning may suggest, if it is not among them."""
    by_words: int | None = None
    """Its place by words alone; ``None`` if it has none, or the words were not compared."""
    by_meaning: int | None = None
    """Its place by meaning alone; ``None`` if its meaning is none of the query's, or unknown."""
    fact: RankedFact | None = None
    """What it scores, if it was ranked."""
    last: RankedFact | None = None
    """What the last fact that is returned scores, if this one is ranked behind it."""
    relevance: float | None = None
    """How relevant it is, 0 to 1, if that is why."""
    min_relevance: float | None = None
    """How relevant it had to be."""
    tokens: int | None = None
    """How many its line in a recall takes."""
    max_tokens: int | None = None
    words_only: WordsOnly | None = None
    """Why the search went by words alone; ``None`` if it did not."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON values."""
        values = set_fields(self)
        if self.words_only is not None:
            code, reason = self.words_only
            values["words_only"] = {"code": code, "reason": str(reason)}
        return values

    def __str__(self) -> str:
        return "\n".join([self.text, *self._side_by_side()])

    def _side_by_side(self) -> Iterator[str]:
        """Yield a line for each part of the scores of this fact and the last one returned."""
        own, last = self.fact, self.last
        if own is None or last is None:
            return
        yield _row("", f"#{own.fact_id}", f"#{last.fact_id}")
        for name in SIDE_BY_SIDE:
            yield _row(name, _number(getattr(own, name)), _number(getattr(last, name)))
        for name, part, other in zip(ScoreParts._fields, own.parts, last.parts, strict=True):
            if part != other:
                yield _row(name, _number(part), _number(other))


def _row(name: str, *cells: str) -> str:
    return f"{name:<14}" + "".join(f"{cell:>9}" for cell in cells)


def _number(value: float) -> str:
    return f"{value:.3f}"


MAX_PLACE: Final = 2 * MAX_LIMIT
"""How far the place of a fact that is no candidate is looked for: no search has more candidates."""

BEHIND: Final = f"is behind the first {MAX_PLACE:,} by {{}}"

NARROWING: Final = (
    (Stage.NAMESPACE, ("namespaces",)),
    (Stage.OWNERS, ("scope",)),
    (Stage.SUBJECT, ("subject",)),
    (Stage.CATEGORY, ("category",)),
    (Stage.TASKS, ("tasks",)),
    (Stage.CREATED, ("created_after", "created_before")),
    (Stage.VALID, ("valid_after", "valid_before")),
    (Stage.VALID, ("valid_on",)),
)
"""The conditions of a filter that are not about the state of a fact, in the order of stages."""

ANY: Final[Mapping[str, Any]] = {
    **{name: None for _, names in NARROWING for name in names},
    "tasks": True,
    "metadata": (),
}
"""The values with which no fact is left out by them."""


def examined(
    fact: Fact, request: Request[FactFilter]
) -> Callable[
    [Corpus[FactFilter, SearchHits], Request[FactFilter], Query, WordsOnly | None],
    tuple[WhyNot, SearchHits],
]:
    """Return a function for :meth:`Search.examine` that follows a fact through a search.

    The caller may see the fact. If it is found, the hits of the search are returned too.
    """
    return lambda corpus, settled, query, words_only: _Followed(
        cast("FactCorpus", corpus), query, words_only, fact, settled, request.wanted
    ).outcome()


def recalled(
    found: WhyNot,
    facts: SearchHits,
    episodes: EpisodeHits,
    max_tokens: int,
    counter: Callable[[str], int] | None,
    sources: Mapping[str, str],
    question: str,
    *,
    is_of_a_time: bool = False,
) -> WhyNot:
    """Return what becomes, in a recall, of a fact that its search found.

    Args:
        is_of_a_time: whether nothing is relevant, and only what is of the time asked for is told.
    """
    number = found.fact_id
    if all(hit.fact.id != number for hit in facts):
        text = (
            f"fact {number} is not relevant, nor known to be of the time that the query asks for"
            if is_of_a_time
            else f"fact {number} scores far below the results from the project named in the query"
        )
        return replace(found, stage=Stage.RELEVANCE, text=text, place=None, max_tokens=max_tokens)
    fitted = fitting.fitted(facts, episodes, max_tokens, counter, sources, question)
    item = next((one for one in fitted.items if one.is_fact and one.id == number), None)
    if item is None:
        words = next(_words(hit.fact) for hit in facts if hit.fact.id == number)
        same = next(one.name for one in fitted.items if folded(one.words) == words)
        text = f"fact {number} is left out: {same} has the same words and is better"
        return replace(found, stage=Stage.REPEATED, text=text, place=None, max_tokens=max_tokens)
    tokens, place = fitted.tokens_of(item), fitted.items.index(item) + 1
    shown = [*fitted.shown]
    if item.name in (one.name for one in shown):
        place = next(at for at, one in enumerate(shown, 1) if one.name == item.name)
        stage, text = Stage.FOUND, f"fact {number} is recalled, {_nth(place)} of {len(shown)}"
    else:
        stage = Stage.BUDGET
        text = (
            f"fact {number} is cut by the budget: it is {_nth(place)} of {len(fitted.items)}, its "
            f"line takes {tokens} tokens, and {len(shown)} of them fit into {max_tokens}"
        )
    return replace(found, stage=stage, text=text, place=place, tokens=tokens, max_tokens=max_tokens)


def _words(fact: Fact) -> str:
    """Return what a recall compares, to show each text once."""
    return folded(recall.of_fact(fact, 0.0).words)


class _Followed:
    def __init__(
        self,
        corpus: FactCorpus,
        query: Query,
        words_only: WordsOnly | None,
        fact: Fact,
        request: Request[FactFilter],
        wanted: FactFilter,
    ) -> None:
        self._corpus = corpus
        self._query = query
        self._words_only = words_only if query.text else None
        # As it is in the snapshot; no row is ever removed.
        self._fact = corpus.fact(fact.id)
        self._request = request
        self._wanted = wanted
        """The filter as it was asked for; that of the request may name the rows that passed it."""
        self._by_words: Mapping[int, float] = {}
        """The candidates by words, best first; those by meaning are the query's."""

    def outcome(self) -> tuple[WhyNot, SearchHits]:
        """Return the first stage that lost the fact; if none did, also what the search found."""
        shown, hits = BestRows((), ""), SearchHits()
        order = Order()
        if self._query.text:
            order = self._order(self._request)
            shown = hybrid.answered(self._corpus, self._query, order, self._request)
            hits = self._hits(shown, self._request)
        if (lost := self._by_state() or self._by_filter()) is not None:
            return lost, SearchHits()
        answer = self._by_rank(order.rows, shown, hits)
        return answer, hits if answer.stage in (Stage.FOUND, Stage.RANK) else SearchHits()

    def _order(self, request: Request[FactFilter]) -> Order:
        found = hybrid.candidates(self._corpus, self._query, request, keeps_all=True)
        if request is self._request:
            self._by_words = found.by_words
        return request.ranking.usable(self._corpus.lookup).rank(self._query, found)

    def _hits(self, shown: BestRows, request: Request[FactFilter]) -> SearchHits:
        part = shown._replace(rows=shown.rows[request.part])
        return self._corpus.results(self._query, part, request, self._words_only)

    # -- what may be seen ------------------------------------------------------------------

    def _by_state(self) -> WhyNot | None:
        fact, wanted = self._fact, self._wanted
        if fact.deleted_at is not None:
            stage = Stage.DELETED if fact.content else Stage.ERASED
            return self._lost(stage, f"was {stage}{_at(fact.deleted_at)}")
        unnarrowed = self._unnarrowed()
        if self._passes(unnarrowed):
            return None
        active_only = unnarrowed.active_only
        if active_only and fact.superseded_by is not None:
            by = self._successor(fact.superseded_by)
            return self._lost(Stage.SUPERSEDED, f"was superseded by {by}{_at(fact.superseded_at)}")
        if active_only and fact.expired_at is not None and fact.expired_at <= wanted.now:
            return self._lost(Stage.EXPIRED, f"expired{_at(fact.expired_at)}")
        if fact.distrusted:
            return self._lost(Stage.DISTRUSTED, "rests on sources that are not trusted")
        return None

    def _unnarrowed(self) -> FactFilter:
        """Return the filter with the conditions on states alone; ``valid_on`` stands for them."""
        wanted = self._wanted
        return replace(wanted, **ANY, active_only=wanted.active_only and wanted.valid_on is None)

    def _successor(self, fact_id: int) -> str:
        """Name what superseded the fact, unless it is of other owners or another namespace."""
        any_owners = self._wanted.scope is None
        seen = Seen((self._fact.namespace,), None if any_owners else self._fact.scope)
        return seen.named(fact_table.get_many(self._corpus.transaction, [fact_id]).get(fact_id))

    def _by_filter(self) -> WhyNot | None:
        """Add one condition after another; the first that the fact does not pass lost it."""
        wanted = self._wanted
        so_far = self._unnarrowed()
        for stage, names in NARROWING:
            so_far = replace(so_far, **{name: getattr(wanted, name) for name in names})
            if not self._passes(so_far):
                holding = names == ("valid_on",)
                return self._lost(stage, self._of_holding() if holding else self._condition(stage))
            if stage is Stage.TASKS:
                for condition in wanted.metadata:
                    if not self._passes(replace(so_far, metadata=[condition])):
                        return self._lost(Stage.METADATA, self._of_metadata(condition))
        return None

    def _passes(self, wanted: FactFilter) -> bool:
        return self._corpus.passes(self._fact.id, wanted)

    def _condition(self, stage: Stage) -> str:
        fact, wanted = self._fact, self._wanted
        if stage is Stage.NAMESPACE:
            return f"is in the namespace {fact.namespace!r}, which was not searched"
        if stage is Stage.OWNERS:
            return "belongs to other owners than those asked for"
        if stage is Stage.TASKS:
            return "is a task, and tasks were not asked for"
        if stage is Stage.CREATED:
            return f"was stored{_at(fact.created_at)}{_outside(wanted, 'created')}"
        if stage is Stage.VALID:
            since = fact.valid_at or fact.created_at
            return f"is valid since{_at(since)}{_outside(wanted, 'valid')}"
        return f"has the {stage} {getattr(fact, stage)!r}, not {getattr(wanted, stage)!r}"

    def _of_holding(self) -> str:
        """Say when the fact held, and when it should have."""
        fact, until = self._fact, self._fact.holds_until
        asked, _ = self._wanted.valid_on or (self._wanted.now, None)
        since = fact.valid_at or fact.created_at
        if until is not None and until <= since:
            return f"never held: what superseded it is valid since{_at(until)}"
        ended = "" if until is None else f" until{_at(until)}"
        on = self._wanted.said("valid_on") or zones.minute(asked)
        return f"held from{_at(since)}{ended}, not on {on}"

    def _of_metadata(self, condition: Condition) -> str:
        if not (isinstance(condition, MetadataFilter) and condition.is_indexed):
            return f"has metadata that does not pass {condition}"
        asked = f"{condition.key} {condition.op} {condition.value!r}"
        (key,) = condition.path
        if key not in self._fact.metadata:
            return f"has no {key!r} in its metadata, and {asked} was asked for"
        return f"has {key} = {self._fact.metadata[key]!r}, not {asked}"

    # -- what is ranked --------------------------------------------------------------------

    def _by_rank(self, rows: Sequence[Ranked], shown: BestRows, hits: SearchHits) -> WhyNot:
        if not self._query.text:
            return self._lost(Stage.BLANK, "is not searched for: the query is blank")
        number = self._fact.id
        ranked = {row.id: row for row in (*rows, *shown.rows)}
        given = [hit.fact.id for hit in hits]
        if number in given:
            place = given.index(number) + 1
            row = ranked.get(number)
            scored = {} if row is None else {"fact": _scored(row, place)}
            text = f"fact {number} is found, {_nth(place)}"
            return self._outcome(Stage.FOUND, text, place=place, **scored)
        if number not in ranked:
            return self._no_candidate()
        if any(row.id == number for row in shown.rows[self._request.part]):
            return self._behind(ranked[number], "gives way to a newer one of a fact before it")
        place = next(at for at, row in enumerate(rows, 1) if row.id == number)
        if place <= self._request.limit and shown.hidden:
            return self._irrelevant(place, ranked[number])
        return self._behind(ranked[number])

    def _irrelevant(self, place: int, row: Ranked) -> WhyNot:
        relevance = self._relevance(row)
        least = self._request.least_relevance
        text = (
            f"is ranked {_nth(place)}, but it is not relevant enough: {relevance:.3f} of {least:g}"
        )
        return self._lost(
            Stage.RELEVANCE,
            text,
            place=place,
            fact=_scored(row, place),
            relevance=relevance,
            min_relevance=least,
        )

    def _relevance(self, row: Ranked) -> float:
        return self._corpus.relevances(self._query.text, [row]).get(row.id, 0.0)

    def _behind(self, row: Ranked, reason: str = "") -> WhyNot:
        """Say where the longest search has the fact: that is another order than a shorter one's.

        More candidates are compared, so that a fact has more neighbours that match, or fewer.
        ``reason`` says what lost the fact, if it is not its rank.
        """
        limit, number = self._request.limit, self._fact.id
        longest = replace(self._request, limit=MAX_LIMIT)
        shown = hybrid.answered(self._corpus, self._query, self._order(longest), longest)
        given = [hit.fact.id for hit in self._hits(shown, longest)]
        if number not in given and reason:
            return self._lost(Stage.RANK, reason)
        if number not in given:
            relevance, least = self._relevance(row), self._request.least_relevance
            text = f"is ranked behind the first {limit:,}"
            if not least or relevance >= least:
                return self._lost(Stage.RANK, text)
            text += f", and not relevant enough for a place: {relevance:.3f} of {least:g}"
            return self._lost(Stage.RANK, text, relevance=relevance, min_relevance=least)
        rows = {one.id: one for one in shown.rows}
        place = given.index(number) + 1
        text = f"is ranked {_nth(place)} of {limit}"
        if place <= limit:
            text = f"is ranked {_nth(place)} of {MAX_LIMIT:,}, but not among the first {limit}"
        if reason:
            text = f"{reason}, and is ranked {_nth(place)} of {MAX_LIMIT:,}"
        if row.parts.date < 0:
            text += ", as it is not of the time that is asked for"
        last = rows.get(given[min(limit, len(given)) - 1])
        scored = {} if last is None else {"last": _scored(last, min(limit, len(given)))}
        own = _scored(rows.get(number, row), place)
        return self._lost(Stage.RANK, text, place=place, fact=own, **scored)

    def _no_candidate(self) -> WhyNot:
        """Say how far the fact is from the candidates, by words and by meaning."""
        lookup, query, wanted = self._corpus.lookup, self._query, self._request.wanted
        by_words = by_meaning = None
        vector = query.vector
        compares = vector is not None
        if vector is not None and self._is_near(vector):
            known = query.near if self._request.ranking.weights.vectors else None
            by_meaning = self._place(known, lambda k: lookup.near([vector], wanted, k)[0])
        ranking = self._request.ranking.usable(lookup)
        reads = bool(ranking.weights_for(query).words)
        if reads and self._has_words():
            by_words = self._place(self._by_words, lambda k: lookup.words(query.text, wanted, k))
        places = {"by_words": by_words, "by_meaning": by_meaning}
        is_pending = compares and not self._fact.embedded and by_words is None
        stage = Stage.PENDING if is_pending else Stage.CANDIDATES
        return self._lost(
            stage,
            " and ".join(self._distances(by_words, by_meaning, reads=reads)),
            candidates=self._request.candidates,
            **places,
        )

    def _has_words(self) -> bool:
        """Whether the fact has any word of the query."""
        return any(self._corpus.lookup.word_parts(self._query.text, [self._fact.id]).values())

    def _is_near(self, vector: Vector) -> bool:
        """Whether the fact is near the query at all: only then it has a place by meaning."""
        return self._corpus.lookup.cosines(vector, [self._fact.id]).get(self._fact.id, 0.0) > 0

    def _distances(
        self, by_words: int | None, by_meaning: int | None, *, reads: bool
    ) -> Iterator[str]:
        most = self._request.candidates
        if not reads:
            yield "was not compared by words"
        elif by_words is None:
            yield BEHIND.format("words") if self._has_words() else "has none of the query's words"
        else:
            yield f"is {_nth(by_words)} of {most} by words"
        if self._query.vector is None:
            why = self._words_only
            yield f"was not compared by meaning{'' if why is None else f' ({why.reason})'}"
        elif not self._fact.embedded:
            yield f"is not embedded{self._trouble()}"
        elif by_meaning is None:
            is_near = self._is_near(self._query.vector)
            yield BEHIND.format("meaning") if is_near else "is not near it by meaning"
        else:
            yield f"is {_nth(by_meaning)} of {most} by meaning"

    def _trouble(self) -> str:
        error = self._fact.embed_error
        return " yet" if error is None else f": {visible(error)}"

    def _place(
        self, known: Mapping[int, float] | None, first: Callable[[int], Mapping[int, float]]
    ) -> int | None:
        """Return the fact's place among the candidates, if these are known, or among more rows."""
        most = self._request.candidates
        rows = [*(first(most) if known is None else known)]
        if self._fact.id not in rows and len(rows) >= most:
            rows = [*first(MAX_PLACE)]  # one more look costs less than several at growing numbers
        return rows.index(self._fact.id) + 1 if self._fact.id in rows else None

    # -- the answer ------------------------------------------------------------------------

    def _lost(self, stage: Stage, text: str, **more: Any) -> WhyNot:
        return self._outcome(stage, f"fact {self._fact.id} {text}", **more)

    def _outcome(self, stage: Stage, text: str, **more: Any) -> WhyNot:
        return WhyNot(
            fact_id=self._fact.id,
            stage=stage,
            text=visible(text),
            limit=self._request.limit,
            words_only=self._words_only,
            **more,
        )


def _scored(row: Ranked, place: int) -> RankedFact:
    return RankedFact(
        fact_id=row.id,
        place=place,
        score=row.score,
        word_score=row.word_score,
        vector_score=row.vector_score,
        decay=row.decay,
        parts=row.parts,
    )


def _at(moment: datetime | None) -> str:
    return "" if moment is None else f" {zones.minute(moment)}"


def _outside(wanted: FactFilter, kind: str) -> str:
    """Say between which times something should have been, as they were given."""
    bounds = zip(("after", "before"), wanted.period(kind), strict=True)
    told = [
        f"{side} {wanted.said(f'{kind}_{side}') or zones.minute(bound)}"
        for side, bound in bounds
        if bound is not None
    ]
    return f", not {' and '.join(told)}"


def _nth(place: int) -> str:
    if place % 100 in (11, 12, 13):
        return f"{place:,}th"
    return f"{place:,}{({1: 'st', 2: 'nd', 3: 'rd'}).get(place % 10, 'th')}"
