"""The rows of a search: facts, which have one vector each, and episodes, which have several.

How their rows are found and compared is in :mod:`~memstore.search.lookups.base`; here is what
differs between the two kinds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from memstore.database import journal
from memstore.database.filters import EpisodeFilter, FactFilter, Filter
from memstore.database.tables import facts as fact_table
from memstore.database.tables import indexed, threads
from memstore.database.tables import newer as newer_table
from memstore.domain import clock
from memstore.domain.records import AboutOthers, Fact, SearchHit, SearchHits, unchecked
from memstore.domain.results import CONTEXTUAL, Matched
from memstore.frozen import fields, replace
from memstore.lazy import lazy_import
from memstore.named import NamedTuple
from memstore.search.index.index import EPISODES, FACTS
from memstore.search.lookups.base import Aged, F, Query, Ranked, cosines_of_vectors
from memstore.search.lookups.database import DatabaseLookup
from memstore.search.lookups.indexed import IndexLookup
from memstore.search.ranking import Ageing
from memstore.text.folding import folded, is_named_in, subject_key
from memstore.text.references import references

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import FullText, Transaction
    from memstore.database.tables import episodes as episode_table
    from memstore.database.tables import pieces as piece_table
    from memstore.database.tables.pieces import Piece
    from memstore.domain import episodes as episode_records
    from memstore.domain import project_names, tasks
    from memstore.domain.episodes import Episode, EpisodeHit, EpisodeHits
    from memstore.domain.moments import Moment
    from memstore.domain.results import WordsOnly
    from memstore.history import past, trust
    from memstore.search import newer
    from memstore.search.index.contents import FeedContents
    from memstore.search.index.index import RowKind
    from memstore.search.index.visibility import Visible
    from memstore.search.lookups.base import About, Elsewhere, Lookup
    from memstore.search.past import Past
    from memstore.search.ranking import Weights
    from memstore.search.requests import Request
    from memstore.text.judging.judge import Rule
else:
    project_names = lazy_import("memstore.domain.project_names")
    tasks = lazy_import("memstore.domain.tasks")
    past = lazy_import("memstore.history.past")
    trust = lazy_import("memstore.history.trust")
    newer = lazy_import("memstore.search.newer")
    episode_records = lazy_import("memstore.domain.episodes")
    episode_table = lazy_import("memstore.database.tables.episodes")
    piece_table = lazy_import("memstore.database.tables.pieces")

MAX_MARKED: Final = 100_000
"""Characters of a text in which the words that matched are marked, which takes quadratic time."""

H = TypeVar("H", SearchHits, "EpisodeHits")
R = TypeVar("R", Fact, "Episode")
Hit = TypeVar("Hit", SearchHit, "EpisodeHit")


class BestRows(NamedTuple):
    """The best rows, best first, after the least relevance was applied."""

    rows: Sequence[Ranked]
    ranking: str
    """The ranking that ordered them."""
    elsewhere: Elsewhere | None = None
    """That their best one is about others than the one whom the query names."""
    is_relevant: bool | None = None
    """As in :class:`~memstore.domain.records.SearchHits`, like the next."""
    hidden: int = 0


class DatedText(NamedTuple):
    """What a row says, and the moment that it is about."""

    at: datetime
    text: str


class Corpus(ABC, Generic[F, H]):
    """Rows of one kind, as one transaction sees them.

    Args:
        transaction: the state to read.
        contents: the index in the same state; ``None`` if the database has to answer.
        compares_stored: as in :class:`~memstore.search.ranking.Ranking`.
    """

    kind: ClassVar[RowKind]

    def __init__(
        self,
        transaction: Transaction,
        contents: FeedContents | None,
        *,
        compares_stored: bool = False,
    ) -> None:
        self.transaction = transaction
        self._contents = contents
        self._past: Past | None = None
        self._unsettled: F | None = None
        self.is_provisional = False
        """Whether the order is another one as soon as the index is built."""
        self._full_text: FullText = getattr(transaction.full_text, self.kind.name)
        self.lookup: Lookup[F] = (
            DatabaseLookup(transaction, self.kind)
            if contents is None
            else IndexLookup(transaction, self.kind, contents, compares_stored=compares_stored)
        )

    def settled(self, request: Request[F]) -> Request[F]:
        """Return a request for the rows of its moment, whose weights of words are used then."""
        if request.past is None:
            return request
        self._past, self._unsettled = request.past, request.wanted
        self.lookup.until = self._last(request.past.moment)
        self.lookup.aged = self._aged
        boosted = request.boosted and self._settled(request.past, request.boosted)
        wanted = self._settled(request.past, request.wanted)
        return replace(request, wanted=wanted, boosted=boosted)

    def _aged(self, ids: Sequence[int]) -> Sequence[Aged]:
        """Return the ages of those of the rows that had others at the moment."""
        return ()

    @property
    def _as_of(self) -> datetime | None:
        return None if self._past is None else self._past.moment.at

    def _question(self, request: Request[F]) -> F:
        """Return the filter as it was asked for."""
        return request.wanted if self._unsettled is None else self._unsettled

    def _of_thread(self, wanted: F, row: Fact | Episode, table: str) -> F:
        """Return a filter for the rows of a row's thread that passed another one then, if so."""
        if self._past is None:
            return wanted
        settled = self._settled(self._past, wanted)
        ids = threads.ids(self.transaction, table, row)
        return replace(settled, among=[id_ for id_ in ids if id_ in (settled.among or ())])

    def _selected(self, wanted: F) -> Visible:
        """Return the rows of now that pass a filter."""
        state = None if self._contents is None else self._contents.state
        return self.kind.visible(self.transaction, state, wanted)

    @abstractmethod
    def _settled(self, past: Past, wanted: F) -> F:
        """Return a filter for the rows that passed one at an earlier moment."""

    @abstractmethod
    def _last(self, moment: Moment) -> int:
        """Return the last row of this kind that existed at a moment."""

    def relevances(self, query: str, rows: Sequence[Ranked]) -> Mapping[int, float]:
        """Return how relevant each of these rows is to the query, 0 to 1.

        A row has 1 if it has every word of the query, or bears on it by some of them. What came
        before an event is as relevant to what is said of that. Without an index, the others are
        left out: nothing is known of them.
        """
        if not rows:
            return {}
        topic = self.lookup.topic(query)
        ids = [row.id for row in rows]
        known = [row.relevance if topic == query else None for row in rows]
        found = self.lookup.relevances_of_hits(topic, ids, known)
        condition = self.lookup.named_dates(query).condition
        if condition is None or not condition.like:
            return found
        alike = self.lookup.relevances_of_hits(condition.like, ids, [None] * len(ids))
        return {id_: max(found.get(id_, 0.0), alike.get(id_, 0.0)) for id_ in {**found, **alike}}

    def about(
        self, prompt: str, texts: Mapping[int, str], near: Mapping[int, float], *, asks: bool
    ) -> About:
        """Return what rows have of a prompt, given their texts and cosines, and whether it asks."""
        found = self.lookup.about(prompt, texts, asks=asks)
        if asks:
            found = found._replace(likenesses=[*self.lookup.likenesses(near).values()])
        dated = [id_ for id_, row in zip(texts, found.bearings, strict=False) if row.dated]
        return found._replace(is_dated=bool(self.of_that_day(prompt, dated)))

    def of_that_day(self, query: str, ids: Sequence[int]) -> set[int]:
        """Return those of rows from a date in a query that are an answer by that alone."""
        return {*ids}

    @abstractmethod
    def named(self, query: str, wanted: F) -> list[int]:
        """Return the rows that a query consists of, by id, if they pass a filter."""

    def _named(self, numbers: Sequence[int], uuids: Sequence[str], wanted: F) -> list[int]:
        """Return those of these rows that pass a filter, in their order."""
        source, within = self.kind.source, wanted.namespaces
        known: dict[str, int]
        known = indexed.ids_with_uuids(self.transaction, source, uuids, within)
        ids: dict[int, None]
        ids = dict.fromkeys([*numbers, *(known[uuid] for uuid in uuids if uuid in known)])
        visible = self._full_text.visible(self.transaction, [*ids], wanted) if ids else ()
        return [id_ for id_ in ids if id_ in visible]

    def knows(self, word: str, wanted: F) -> bool:
        """Whether any fact or episode of the same namespaces and owners has a word."""
        if self.lookup.has_word(word, wanted):
            return True
        facts = FactFilter(
            wanted.namespaces, wanted.now, scope=wanted.scope, active_only=False, searched=True
        )
        turns = EpisodeFilter(
            wanted.namespaces, wanted.now, scope=wanted.scope, include_expired=True
        )
        return self._has_word(word, facts, turns)

    @staticmethod
    @abstractmethod
    def seen_by(wanted: Filter) -> F:
        """Return a filter for rows of this kind, of the namespaces, owners and times of another."""

    @abstractmethod
    def _has_word(self, word: str, facts: FactFilter, turns: EpisodeFilter) -> bool: ...

    @abstractmethod
    def texts(self, ids: Sequence[int]) -> Iterable[str]:
        """Return the words of rows, in any order."""

    @abstractmethod
    def dated_texts(self, ids: Sequence[int]) -> Mapping[int, DatedText]:
        """Return what rows say, and when."""

    @abstractmethod
    def foreign(self, ids: Sequence[int]) -> Collection[int]:
        """Return those of the rows that are text of others, such as web pages."""

    def has_rows(self, namespaces: Sequence[str] | None) -> bool:
        """Whether anything is stored there."""
        return indexed.has_any(self.transaction, self.kind.source, namespaces)

    def newest(self, request: Request[F]) -> list[Ranked]:
        """Return the results of a search without a query."""
        return []

    def ageing(
        self, now: datetime, ids: Iterable[int], half_lives_seconds: Mapping[str, float]
    ) -> list[Ageing]:
        """Return those of the rows whose scores decay."""
        return []

    def _about(
        self, found: BestRows, names: Callable[[Sequence[int]], Mapping[int, str | None]]
    ) -> AboutOthers | None:
        """Return whom the answer is about, if not whom the query names.

        Args:
            names: returns the subjects or speakers of rows.
        """
        if found.elsewhere is None or all(
            place.id != found.elsewhere.other for place in found.rows
        ):
            return None  # what is about others is not among the hits
        named, other, difference = found.elsewhere
        known = names([named, other])
        return AboutOthers(known[named] or "", known[other] or "", other, difference)

    def of_others(self, ids: Sequence[int], project: str, query: str) -> set[int]:
        """Return the rows known to come from other projects, except those that the query names."""
        projects: dict[int, str] = indexed.projects(self.transaction, self.kind.source, ids)
        others = {one for one in {*projects.values()} if project_names.other_than(project, one)}
        asked = folded(query)
        unmeant = {
            one for one in others if not is_named_in(asked, folded(project_names.short(one)))
        }
        return {id_ for id_, one in projects.items() if one in unmeant}

    def boosted(self, ids: Sequence[int], wanted: F) -> set[int]:
        """Return those of the rows that match a filter."""
        return self._full_text.visible(self.transaction, ids, wanted)

    @abstractmethod
    def results(
        self, query: Query, found: BestRows, request: Request[F], words_only: WordsOnly | None
    ) -> H:
        """Read the best rows; ``words_only`` says why vectors were not used."""


class FactCorpus(Corpus[FactFilter, SearchHits]):
    """Facts: one vector each."""

    kind = FACTS

    def ageing(
        self, now: datetime, ids: Iterable[int], half_lives_seconds: Mapping[str, float]
    ) -> list[Ageing]:
        """Return the facts of a category that decays, but never an open task."""
        lives = half_lives_seconds
        if not lives:
            return []
        if self._past is not None:
            facts = self._facts(sorted(ids))
            return [*_ageing(facts.values(), now, lives)]
        return [
            Ageing(fact_id, (now - created_at).total_seconds(), lives[category])
            for fact_id, category, created_at in fact_table.births(
                self.transaction, sorted(ids), tuple(lives)
            )
        ]

    def of_that_day(self, query: str, ids: Sequence[int]) -> set[int]:
        """Leave out those that were merely stored on a day such as today.

        "What is the weather today" does not ask for them; for what is valid since then it may.
        """
        if not ids or not self.lookup.named_dates(query).is_relative:
            return {*ids}
        return {id_ for id_, fact in self._facts(ids).items() if fact.valid_at is not None}

    def _aged(self, ids: Sequence[int]) -> Sequence[Aged]:
        if self._past is None:
            return ()
        aged = journal.aged_after(self.transaction, ids, self._past.moment.line)
        return [_aged(fact) for fact in self._facts(aged).values()] if aged else ()

    def results(
        self,
        query: Query,
        found: BestRows,
        request: Request[FactFilter],
        words_only: WordsOnly | None,
    ) -> SearchHits:
        ids = [place.id for place in found.rows]
        is_arranged = found.ranking == CONTEXTUAL and request.wanted.valid_on is None
        if self._past is None and ids and is_arranged:
            self.transaction.prefetch(
                fact_table.selecting(self.transaction, ids),
                *self.lookup.preparing(ids[: newer.MAX_HITS]),
                newer_table.STATE,
                newer_table.selecting(self.transaction, ids[: newer.MAX_HITS]),
            )
        facts = self._facts(ids)
        hits = [_hit(facts[place.id], place) for place in found.rows if place.id in facts]
        if is_arranged:
            hits = self._arranged(hits, request)
        if request.project is not None:
            hits = [_from_project(hit, request.project) for hit in hits]
        if request.matched:
            hits = [replace(hit, matched=self._matched(query.text, hit.fact)) for hit in hits]
        if request.context:
            rows = [hit.fact for hit in hits]
            hits = _with_neighbours(hits, rows, partial(self._neighbours, request))
        return SearchHits(
            hits,
            words_only=words_only,
            ranking=found.ranking,
            provisional=self.is_provisional and bool(query.text),
            about=self._about(found, self._subjects),
            is_relevant=found.is_relevant,
            hidden=found.hidden,
            respelt=query.respelt,
            as_of=self._as_of,
        )

    def _arranged(self, hits: Sequence[SearchHit], request: Request[FactFilter]) -> list[SearchHit]:
        """Return the hits as they are shown: newer facts after those that they may replace."""
        named: Mapping[int, tuple[int, ...]] = {}
        active = [hit.fact for hit in hits if hit.fact.status == "active"]
        # Of an earlier moment, the index knows only which rows pass the filter.
        is_known = self._past is None or self._question(request).active_only
        if active and is_known and not newer.is_off(request.without_rules):
            named = newer.newer(
                self.transaction, self.lookup, active, request.wanted, self._judge(request)
            )
        if named and request.project is not None:
            named = self._of_one_project(named)
        known = {hit.fact.id for hit in hits}
        if request.offset is not None:  # a page is a part of the ranking as it is
            return [replace(hit, newer=named.get(hit.fact.id, ())) for hit in hits]
        missing = [ids[0] for ids in named.values() if ids[0] not in known]
        facts = self._facts(missing) if missing else {}
        return newer.arranged(hits, named, facts, request.limit)

    def _of_one_project(self, named: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
        """Return the later facts of each without those that are known to be of another project."""
        ids = {*named, *(id_ for later in named.values() for id_ in later)}
        projects = indexed.projects(self.transaction, self.kind.source, sorted(ids))
        kept = {
            id_: tuple(
                one
                for one in later
                if not project_names.other_than(projects.get(id_), projects.get(one))
            )
            for id_, later in named.items()
        }
        return {id_: later for id_, later in kept.items() if later}

    def _judge(self, request: Request[FactFilter]) -> newer.Judged | None:
        """Return who judges the hits; ``None`` to read what is stored, which is of now."""
        if request.without_rules or self._past is not None:
            return newer.Judged(request.without_rules)
        return None

    def may_replace(
        self, fact: Fact, wanted: FactFilter, without_rules: frozenset[Rule]
    ) -> list[Fact]:
        """Return the earlier facts that a fact may replace, of those that pass a filter."""
        judge = newer.Judged(without_rules)
        ids = newer.older(self.transaction, self.lookup, fact, wanted, judge)
        facts = self._facts(ids) if ids else {}
        return [facts[id_] for id_ in ids]

    def _subjects(self, ids: Sequence[int]) -> Mapping[int, str | None]:
        return {id_: fact.subject for id_, fact in self._facts(ids).items()}

    def _facts(self, ids: Sequence[int]) -> Mapping[int, Fact]:
        """Return facts as they are, or were, by id."""
        if self._past is None:
            return fact_table.get_many(self.transaction, ids)
        return past.facts_at(self.transaction, ids, self._past.moment)

    def named(self, query: str, wanted: FactFilter) -> list[int]:
        asked = references(query)
        return self._named(asked.facts, asked.uuids, wanted) if any(asked) else []

    def _has_word(self, word: str, facts: FactFilter, turns: EpisodeFilter) -> bool:
        said = self.transaction.full_text.episodes
        return self.lookup.has_word(word, facts) or bool(
            said.search(self.transaction, word, turns, 1)
        )

    def texts(self, ids: Sequence[int]) -> Iterable[str]:
        if self._past is None:
            rows = fact_table.texts(self.transaction, ids) if ids else ()
            return [f"{content}\n{subject}\n{category}" for _, subject, content, category in rows]
        facts = self._facts(ids).values()
        return [f"{fact.content}\n{fact.subject}\n{fact.category}" for fact in facts]

    def dated_texts(self, ids: Sequence[int]) -> Mapping[int, DatedText]:
        return {id_: _dated_text(fact) for id_, fact in self._facts(ids).items()} if ids else {}

    def foreign(self, ids: Sequence[int]) -> Collection[int]:
        return trust.foreign_facts(self.transaction, ids)

    def fact(self, fact_id: int) -> Fact:
        """Return a fact that exists, as it is or was."""
        return self._facts([fact_id])[fact_id]

    def passes(self, fact_id: int, wanted: FactFilter) -> bool:
        """Whether a fact passes a filter, or passed it at the moment that is searched."""
        if self._past is None:
            return bool(fact_table.visible(self.transaction, [fact_id], wanted))
        return fact_id in (self._settled(self._past, wanted).among or ())

    def _matched(self, query: str, fact: Fact) -> Matched:
        texts = fact.content, fact.subject
        if max(map(len, texts)) > MAX_MARKED:
            return Matched()
        return Matched(*self._full_text.matched(self.transaction, query, fact.id, texts))

    def _neighbours(
        self, request: Request[FactFilter], fact: Fact
    ) -> tuple[Sequence[Fact], Sequence[Fact]]:
        wanted = FactFilter(
            (fact.namespace,),
            request.wanted.now,
            scope=fact.scope,
            active_only=self._question(request).active_only,
            tasks=False,
        )
        wanted = self._of_thread(wanted, fact, threads.FACTS)
        before, after = fact_table.neighbours(self.transaction, fact, wanted, request.context)
        if self._past is None:
            return before, after
        facts = self._facts([one.id for one in (*before, *after)])
        return [facts[one.id] for one in before], [facts[one.id] for one in after]

    @staticmethod
    def seen_by(wanted: Filter) -> FactFilter:
        return FactFilter(**_shared(wanted), tasks=False, searched=True)

    def _settled(self, past: Past, wanted: FactFilter) -> FactFilter:
        return past.facts(self.transaction, wanted, self._selected)

    def _last(self, moment: Moment) -> int:
        return moment.last_fact


class EpisodeCorpus(Corpus[EpisodeFilter, "EpisodeHits"]):
    """Episodes: a vector for each piece; an episode counts once, by its nearest piece."""

    kind = EPISODES

    def newest(self, request: Request[EpisodeFilter]) -> list[Ranked]:
        """Return the newest episodes, those that get a boost before the others."""
        found: dict[int, Ranked] = {}
        if request.boosted is not None:
            for id_ in self._newest_ids(request.boosted, request.depth):
                found[id_] = Ranked(id_, request.boost)
        for id_ in self._newest_ids(request.wanted, request.depth):
            found.setdefault(id_, Ranked(id_, 0.0))
        return [*found.values()][: request.depth]

    def results(
        self,
        query: Query,
        found: BestRows,
        request: Request[EpisodeFilter],
        words_only: WordsOnly | None,
    ) -> EpisodeHits:
        fill: list[Ranked] = []
        if words_only is not None and request.offset is None:
            known = {place.id for place in found.rows}
            newest = self._newest_ids(request.wanted, request.limit)
            fill = [Ranked(id_, 0.0) for id_ in newest if id_ not in known]
            fill = fill[: request.limit - len(found.rows)]
        hits = self._hits(query, [*found.rows, *fill], request)
        if request.context:
            rows = [hit.episode for hit in hits]
            hits = _with_neighbours(hits, rows, partial(self._neighbours, request))
        return episode_records.EpisodeHits(
            hits,
            words_only=words_only,
            newest_first=len(fill),
            ranking=found.ranking,
            provisional=self.is_provisional and bool(query.text),
            about=self._about(found, self._speakers),
            is_relevant=found.is_relevant,
            hidden=found.hidden,
            respelt=query.respelt,
            as_of=self._as_of,
        )

    def _neighbours(
        self, request: Request[EpisodeFilter], episode: Episode
    ) -> tuple[Sequence[Episode], Sequence[Episode]]:
        wanted = EpisodeFilter(
            (episode.namespace,),
            request.wanted.now,
            scope=episode.scope,
            include_expired=self._question(request).include_expired,
        )
        wanted = self._of_thread(wanted, episode, threads.EPISODES)
        return episode_table.neighbours(self.transaction, episode, wanted, request.context)

    def _hits(
        self, query: Query, found: Sequence[Ranked], request: Request[EpisodeFilter]
    ) -> list[EpisodeHit]:
        ids = [place.id for place in found]
        episodes = self._episodes(ids)
        pieces: dict[int, list[Piece]] = {}
        for piece in piece_table.of_episodes(self.transaction, ids):
            pieces.setdefault(piece.episode_id, []).append(piece)
        cosines: Mapping[int, float] = {}
        if query.vector is not None:
            every = [piece.id for each in pieces.values() for piece in each]
            given = cosines_of_vectors(self.transaction, self.kind.vectors, query.vector, every)
            cosines = request.ranking.compared(self.lookup, given)
        weights = request.ranking.weights_for(query)
        hits = []
        for place in found:
            episode, parts = episodes[place.id], pieces[place.id]
            words: Mapping[int, str] = {}
            if len(parts) > 1 and place.word_score:
                words = self._full_text.places(
                    self.transaction, query.text, episode.id, episode.content
                )
            best = _best_piece(parts, cosines, words, weights)
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
                    project=_other(request.project, episode.metadata),
                )
            )
        return hits

    def named(self, query: str, wanted: EpisodeFilter) -> list[int]:
        asked = references(query)
        return self._named(asked.turns, asked.uuids, wanted) if any(asked) else []

    def _has_word(self, word: str, facts: FactFilter, turns: EpisodeFilter) -> bool:
        told = self.transaction.full_text.facts
        return self.lookup.has_word(word, turns) or bool(
            told.search(self.transaction, word, facts, 1)
        )

    def texts(self, ids: Sequence[int]) -> Iterable[str]:
        return [episode.content for episode in self._episodes(ids).values()] if ids else ()

    def dated_texts(self, ids: Sequence[int]) -> Mapping[int, DatedText]:
        return {id_: _dated_text(turn) for id_, turn in self._episodes(ids).items()} if ids else {}

    def foreign(self, ids: Sequence[int]) -> Collection[int]:
        return trust.foreign_episodes(self.transaction, ids)

    def _speakers(self, ids: Sequence[int]) -> Mapping[int, str | None]:
        return {id_: episode.speaker for id_, episode in self._episodes(ids).items()}

    def _episodes(self, ids: Sequence[int]) -> Mapping[int, Episode]:
        """Return episodes as they are, or were, by id."""
        if self._past is None:
            return episode_table.get_many(self.transaction, ids)
        return past.episodes_at(self.transaction, ids, self._past.moment)

    @staticmethod
    def seen_by(wanted: Filter) -> EpisodeFilter:
        return EpisodeFilter(**_shared(wanted))

    def _settled(self, past: Past, wanted: EpisodeFilter) -> EpisodeFilter:
        return past.episodes(self.transaction, wanted, self._selected)

    def _last(self, moment: Moment) -> int:
        return moment.last_episode

    def _newest_ids(self, wanted: EpisodeFilter, limit: int) -> list[int]:
        return episode_table.newest_ids(self.transaction, wanted, limit)


def _shared(wanted: Filter) -> dict[str, Any]:
    """Return what filters of both kinds have, but for the rows that one names by their ids."""
    own = {"among", "given"}
    return {one.name: getattr(wanted, one.name) for one in fields(Filter) if one.name not in own}


def _ageing(facts: Iterable[Fact], now: datetime, lives: Mapping[str, float]) -> Iterator[Ageing]:
    """Yield the ages of facts as they were."""
    for fact in facts:
        category = subject_key(fact.category)
        if category in lives and not _is_open_task(fact):
            yield Ageing(fact.id, (now - fact.created_at).total_seconds(), lives[category])


def _aged(fact: Fact) -> Aged:
    """Return what the age of a fact depends on in the contextual ranking."""
    confirmed = fact.last_confirmed_at or fact.created_at
    return Aged(
        fact.id,
        clock.to_text(max(fact.created_at, confirmed)),
        clock.to_text(max(fact.valid_at or fact.created_at, confirmed)),
        None if _is_open_task(fact) else subject_key(fact.category),
    )


def _dated_text(row: Fact | Episode) -> DatedText:
    return DatedText(row.valid_at or row.created_at, row.content)


def _is_open_task(fact: Fact) -> bool:
    """Whether a fact is an open task, which does not age."""
    is_task = fact_table.is_task(fact.subject, fact.metadata)
    return is_task and fact.metadata.get("status") in tasks.OPEN_STATUSES


def _hit(fact: Fact, place: Ranked) -> SearchHit:
    return unchecked(
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


def _from_project(hit: SearchHit, project: str) -> SearchHit:
    """Return a hit that says of which other project it is."""
    other = _other(project, hit.fact.metadata, hit.fact.category)
    return hit if other is None else replace(hit, project=other)


def _other(
    project: str | None, metadata: Mapping[str, Any], category: str | None = None
) -> str | None:
    """Return the project that metadata names, if it is another one than the caller's."""
    if project is None:
        return None
    return project_names.other_than(project, project_names.of(metadata, category))


def _with_neighbours(
    hits: Sequence[Hit],
    rows: Sequence[R],
    neighbours: Callable[[R], tuple[Sequence[R], Sequence[R]]],
) -> list[Hit]:
    """Return hits with what is before and after each row in its thread.

    No row is there twice: one that was found is no neighbour of another, and what is beside
    several goes with the first of them.
    """
    told = {row.id for row in rows}

    def fresh(rows: Iterable[R]) -> tuple[R, ...]:
        new = tuple(row for row in rows if row.id not in told)
        told.update(row.id for row in new)
        return new

    return [
        replace(hit, before=fresh(before), after=fresh(after))
        for hit, (before, after) in zip(hits, map(neighbours, rows), strict=True)
    ]


def _best_piece(
    pieces: Sequence[Piece],
    cosines: Mapping[int, float],
    places: Mapping[int, str],
    weights: Weights,
) -> Piece:
    """Return the piece that holds most of the weighed words and is nearest; of equals the first."""
    if len(pieces) == 1:
        return pieces[0]
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
        by_vectors = max(0.0, cosines.get(piece.id, 0.0))
        return weights.words * by_words + weights.vectors * by_vectors, len(held[piece.id])

    return max(pieces, key=score)
