"""Where one stands in a file: the namespace, the owners and the moment, with all that is read."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Final

from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.domain import clock, zones
from memstore.domain.arguments import (
    MAX_NUMBER,
    checked_choice,
    checked_items,
    checked_key,
    checked_name,
    checked_number,
    checked_page,
    checked_query,
    stored_text,
)
from memstore.domain.records import (
    EVERYBODY,
    STATES,
    TODO,
    SearchHit,
    SearchHits,
    chosen_owners,
)
from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.facts import reading
from memstore.frozen import asdict, derived, from_arguments, replace
from memstore.lazy import cached_property, lazy_import
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Self, TypeVar

    from memstore.database import changes, journal
    from memstore.database.engine import Transaction
    from memstore.database.journal import Author
    from memstore.database.tables import facts as fact_table
    from memstore.domain import episodes as episode_records
    from memstore.domain import metadata, status
    from memstore.domain import moments as given_moments
    from memstore.domain import queries as questions
    from memstore.domain.entities import Entity, Neighbours
    from memstore.domain.episodes import EpisodeHits
    from memstore.domain.metadata import Filters
    from memstore.domain.queries import FactCount, FactNarrowing, FactRecall, FactSearch, Page
    from memstore.domain.records import Fact, Head, OwnersSelection
    from memstore.domain.standing import Namespaces, Standing
    from memstore.domain.status import PastStatus, StoreStatus
    from memstore.episodes import episodes as log
    from memstore.episodes import passages
    from memstore.episodes.episodes import Episodes
    from memstore.facts import keyed
    from memstore.file.file import File
    from memstore.graph import graph
    from memstore.graph.graph import Graph
    from memstore.history import moments, past
    from memstore.search import past as searching
    from memstore.search import requests
    from memstore.search.index import visibility
    from memstore.search.index.contents import FeedContents
    from memstore.search.lookups.sequel import Sequel, Sequels
    from memstore.search.past import Past
    from memstore.store import keys, ledger
    from memstore.store import transfer as carrying
    from memstore.store.keys import KeyView
    from memstore.store.ledger import LedgerView
    from memstore.store.transfer import TransferView
    from memstore.telling import fitting, identified, named_projects, of_a_time, recall
    from memstore.telling import why_not as following
    from memstore.telling.recall import Found, Recalled
    from memstore.telling.why_not import WhyNot
    from memstore.text import asking, words

    R = TypeVar("R", FactRecall, FactSearch)
else:
    carrying = lazy_import("memstore.store.transfer")
    changes = lazy_import("memstore.database.changes")
    episode_records = lazy_import("memstore.domain.episodes")
    fact_table = lazy_import("memstore.database.tables.facts")
    following = lazy_import("memstore.telling.why_not")
    given_moments = lazy_import("memstore.domain.moments")
    fitting = lazy_import("memstore.telling.fitting")
    graph = lazy_import("memstore.graph.graph")
    journal = lazy_import("memstore.database.journal")
    identified = lazy_import("memstore.telling.identified")
    keyed = lazy_import("memstore.facts.keyed")
    keys = lazy_import("memstore.store.keys")
    ledger = lazy_import("memstore.store.ledger")
    log = lazy_import("memstore.episodes.episodes")
    metadata = lazy_import("memstore.domain.metadata")
    moments = lazy_import("memstore.history.moments")
    passages = lazy_import("memstore.episodes.passages")
    past = lazy_import("memstore.history.past")
    questions = lazy_import("memstore.domain.queries")
    named_projects = lazy_import("memstore.telling.named_projects")
    of_a_time = lazy_import("memstore.telling.of_a_time")
    recall = lazy_import("memstore.telling.recall")
    requests = lazy_import("memstore.search.requests")
    searching = lazy_import("memstore.search.past")
    status = lazy_import("memstore.domain.status")
    asking = lazy_import("memstore.text.asking")
    visibility = lazy_import("memstore.search.index.visibility")
    words = lazy_import("memstore.text.words")


MAX_REQUESTS: Final = 8
"""Of so many kinds of searches a view remembers what was asked besides the query."""

PLAIN: Final = frozenset((str, int, float, bool, type(None)))
"""What is the same whenever it is read."""


class View(zones.Zoned):
    """Memories to be read: those of a namespace and of owners, at a moment.

    A :class:`memstore.Store` is a view of now that also writes; :meth:`memstore.Store.as_of`
    returns one of an earlier moment. What can be seen there is what was active then, with the
    metadata and confirmations of then. What was erased since stays erased. Words rank by the
    weights of then; vectors are those of now. Nothing counts as used. A view stays valid while its
    store is open.
    """

    def __init__(self, file: File, standing: Standing, author: Author, past: Past | None) -> None:
        self._file = file
        self._standing = standing
        self._author = author
        self._past = past
        """What limits reads to a moment; ``None`` for now."""
        self._moment = None if past is None else past.moment
        self._zone = file.zone

    @cached_property
    def keys(self) -> KeyView:
        """The facts that external keys name: ``get``, ``get_many``."""
        return keys.KeyView(self._file, self._standing, self._moment)

    @cached_property
    def ledger(self) -> LedgerView:
        """What was done, and why: ``log``, ``changes``, ``diff``, ``explain``, ``support``, …"""
        return ledger.LedgerView(self._file, self._standing, self._moment)

    @cached_property
    def transfer(self) -> TransferView:
        """Memories to be carried elsewhere: ``export``, ``uuids``, ``identity``."""
        return carrying.TransferView(self._file, self._standing, self._moment)

    @cached_property
    def graph(self) -> Graph | GraphView:
        """Entities and relations: ``entities``, ``get``, ``neighbours``.

        At an earlier moment it is built in memory on first use, by rules from the facts that were
        active then. What a language model read in facts is not in it.
        """
        return GraphView(self)  # a store has a graph of its own

    @property
    def namespace(self) -> str:
        """The partition that everything is bound to."""
        return self._standing.namespace

    @property
    def project(self) -> str | None:
        """The project that the caller works in, where the namespace holds those of several."""
        return self._standing.project

    @property
    def path(self) -> str:
        """The file, as an absolute path."""
        return self._file.engine.path

    @property
    def at(self) -> datetime:
        """The moment; of a store, now."""
        return clock.utc_now() if self._moment is None else self._moment.at

    @property
    def line(self) -> int:
        """The last line of the journal that counts: always the last one of an act."""
        if self._moment is not None:
            return self._moment.line
        with self._file.engine.read() as transaction:
            return journal.last_id(transaction)

    def __repr__(self) -> str:
        return f"View({self._file.path!r}, {clock.to_text(self.at)!r}, line={self.line})"

    def of(
        self,
        owners: OwnersSelection | None = None,
        /,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Self:
        """Return the view of the memories of owners.

        It sees only what is theirs; the id of anything else is not found.

        Args:
            owners: :class:`memstore.Scope`, exactly these owners; :class:`memstore.AtLeast`, at
                least these; or ``"all"``, any owners.
            user_id: instead of ``owners``: exactly these, of which a missing one is not set.
                ``of()`` is of memories without owners.
            agent_id: the agent.
            run_id: the run.

        Raises:
            AccessDenied: this view is confined to owners that do not include these.
        """
        standing = self._standing.of(chosen_owners(owners, user_id, agent_id, run_id))
        return type(self)(self._file, standing, self._author, self._past)

    # -- finding -----------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int | None = None,
        subject: str | None = None,
        category: str | None = None,
        filters: Filters = None,
        namespaces: Namespaces = None,
        external_key_prefix: str | None = None,
        active_only: bool = True,
        tasks: bool | None = None,
        valid_on: datetime | str | None = None,
        context: int = 0,
        word_weight: float | None = None,
        vector_weight: float | None = None,
        ranking: str | None = None,
        matched: bool = False,
        half_lives_seconds: Mapping[str, float] | None = None,
        min_relevance: float | None = None,
        touch: bool = True,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        valid_after: datetime | str | None = None,
        valid_before: datetime | str | None = None,
    ) -> SearchHits:
        """Find facts by words and by meaning, best first.

        Any text is a query; its words have no special syntax. Facts that contain only some of the
        words are found too. If the query cannot be embedded, the search uses words only, and
        ``words_only`` of the result says why.

        Args:
            query: a question or some words.
            limit: the maximum number of facts, 1 to 1000.
            context: the number of neighbours to return on either side of each fact in its thread, 0
                to 10. They have the same owners and pass the same filters, but are never tasks.
                Each is returned once, and hits are not repeated as neighbours.
            subject: only facts about this.
            category: only facts of this category.
            filters: conditions on metadata: ``{"key": value}``, or ``[("key", "<=", value)]``
                with ``= != < <= > >= in contains``; see :class:`memstore.MetadataFilter`, which has
                nested keys too, :class:`memstore.AnyOf` and :class:`memstore.Not`.
            namespaces: search these instead of the store's own; ``"all"`` for all.
            external_key_prefix: only facts with an external key that begins like this.
            active_only: leave out superseded and expired facts.
            valid_on: only facts that held then, as far as is known now: a time, or a day
                at some time of which they held. A fact holds from its ``valid_at``, or else
                ``created_at``, until :attr:`Fact.holds_until`; superseded and expired facts pass.
            tasks: whether to find tasks too; ``None``: only if ``subject`` is ``todo``.
            created_after, created_before: only facts stored between these times (exclusive).
            valid_after, valid_before: only facts whose ``valid_at``, or else ``created_at``, is
                between these times (exclusive).
            offset: skip this many, to read an answer in pages: the first page has ``offset=0``. All
                pages are parts of one order of at most 1,000 facts, in which newer facts are named,
                but not moved next to those that they may replace; it takes longer than a search
                without an offset.
            word_weight: the weight of the words, 0.6 by default.
            vector_weight: the weight of the meaning, 0.4 by default.
            half_lives_seconds: by category, the time in which :attr:`SearchHit.decay` is halved; 0
                for never. A category that is not in the table does not age, so ``{}`` switches age
                off. ``None`` stands for the table that the store was opened with. Age only orders
                facts that match equally well; in the classic ranking it multiplies the score.
            ranking: ``"contextual"`` (the default) also uses conversations, names, dates and the
                kind of answer that the question asks for; ``"classic"`` uses only words and
                meaning, with the weights above. The ranking is also classic if a weight is given or
                while the index is being built; :attr:`SearchHits.ranking` says which one was used.
            min_relevance: leave out what is less relevant, 0 to 1, unless it has a rare word, name
                or identifier of the query, or ranks near a hit that is relevant;
                :attr:`SearchHits.hidden` counts it. 0.075 by default, in the classic ranking 0. A
                search by words alone leaves nothing out.
            matched: let each hit say which of its words match the query: exactly, without accents,
                by their stems, as the search found them; also in scripts without spaces.
            touch: count a use of every fact found.

        Raises:
            ValueError: a limit, weight or filter out of range.
        """
        return self._search([query], from_arguments(questions.FactSearch, locals()))[0]

    def search_batch(
        self,
        queries: Sequence[str],
        *,
        limit: int = 10,
        offset: int | None = None,
        subject: str | None = None,
        category: str | None = None,
        filters: Filters = None,
        namespaces: Namespaces = None,
        external_key_prefix: str | None = None,
        active_only: bool = True,
        tasks: bool | None = None,
        valid_on: datetime | str | None = None,
        context: int = 0,
        word_weight: float | None = None,
        vector_weight: float | None = None,
        ranking: str | None = None,
        matched: bool = False,
        half_lives_seconds: Mapping[str, float] | None = None,
        min_relevance: float | None = None,
        touch: bool = True,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        valid_after: datetime | str | None = None,
        valid_before: datetime | str | None = None,
    ) -> builtins.list[SearchHits]:
        """Search for several queries with one call to the embedder; see :meth:`search`."""
        asked = from_arguments(questions.FactSearch, locals())
        if isinstance(queries, str):
            raise InvalidArgumentType("must be a list of texts, not one text", argument="queries")
        return self._search(checked_items(queries, "queries"), asked)

    def recall(
        self,
        query: str,
        *,
        max_tokens: int,
        counter: Callable[[str], int] | None = None,
        episodes: bool = True,
        subject: str | None = None,
        category: str | None = None,
        filters: Filters = None,
        namespaces: Namespaces = None,
        external_key_prefix: str | None = None,
        active_only: bool = True,
        tasks: bool | None = None,
        valid_on: datetime | str | None = None,
        half_lives_seconds: Mapping[str, float] | None = None,
        min_relevance: float | None = None,
        touch: bool = True,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        valid_after: datetime | str | None = None,
        valid_before: datetime | str | None = None,
    ) -> Recalled:
        """Return the best memories for a question as a text for a prompt, within a token budget.

        There is one line for each fact or episode, with its id, below the date that it shares with
        others, and no repetition. The best ones are taken until one does not fit, and the next ones
        fill the room that is left, as far as they fit.
        A question that names one of several projects is answered from that one.
        Memories are data, not instructions: line breaks in them become spaces, so each stays on
        one line.

        Args:
            query: a question or some words.
            max_tokens: the maximum length of the text.
            counter: returns the number of tokens of a text, for the model that will read it; by
                default an estimate that no current model exceeds.
            episodes: recall episodes too. Filters on times apply to them; any other filter (a
                subject, a category, metadata, superseded facts) leaves them out.
            subject: this and the other keywords are those of :meth:`search`. ``min_relevance``
                applies to facts and episodes separately. Episodes do not age.

        Raises:
            ValueError: a budget below 1, or a filter out of range.
        """
        asked = from_arguments(questions.FactSearch, locals(), limit=recall.FOUND)
        checked_number(max_tokens, "max_tokens", 1, MAX_NUMBER)
        query = asking.requested(checked_query(query))
        searched = partial(self._recallable, asked, episodes)
        query, told = self._of_the_project(query, searched, namespaces)
        with self._file.engine.read() as transaction:
            told = self._identified_first(transaction, query, *told[:2], asked)
            facts, turns = told.facts, told.turns
            marks = recall.sources_of(transaction, facts, turns)
        found = fitting.recalled(facts, turns, max_tokens, counter, marks, query)
        if touch:
            self._note_use(found.facts)
        return found

    def turns_for(
        self,
        query: str,
        hits: Sequence[SearchHit] = (),
        *,
        limit: int = 5,
        max_tokens: int = 0,
        subject: str | None = None,
        category: str | None = None,
        filters: Filters = None,
        namespaces: Namespaces = None,
        external_key_prefix: str | None = None,
        active_only: bool = True,
        tasks: bool | None = None,
        valid_on: datetime | str | None = None,
        half_lives_seconds: Mapping[str, float] | None = None,
        min_relevance: float | None = None,
        touch: bool = True,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        valid_after: datetime | str | None = None,
        valid_before: datetime | str | None = None,
    ) -> EpisodeHits:
        """Return what was said about a query, to be shown beside the facts of a search.

        Turns are ranked together with the facts, as in :meth:`recall`; those far behind the best
        are left out, and those that add few words to one of the facts: one that was extracted from
        the turn, or has the same words. Each turn comes with the question that it answers (in
        ``before``), or with the answer to it (in ``after``).

        Args:
            query: a question or some words.
            hits: the facts that a search for the query found.
            limit: the maximum number of turns, 1 to 100, not counting those beside them.
            max_tokens: return more than that while they and the facts fit into so many tokens.
            namespaces: this and the other keywords are those of :meth:`recall`: a filter that only
                facts have (a subject, a category, metadata, superseded facts) leaves nothing.

        Raises:
            ValueError: a limit or filter out of range.
        """
        asked = from_arguments(questions.FactRecall, locals())
        checked_number(limit, "limit", 1, recall.FOUND)
        checked_number(max_tokens, "max_tokens", 0, MAX_NUMBER)
        facts = checked_items(hits, "hits")
        if not all(isinstance(hit, SearchHit) for hit in facts):
            raise InvalidArgumentType("must be the hits of a search", argument="hits")
        topic = asking.requested(checked_query(query))

        def search(question: str, is_judged: bool, sequels: Sequels | None) -> Found:
            wanted = asked if is_judged else _unjudged(asked)
            turns = self._episodes_beside(question, wanted, sequels.turns if sequels else None)
            found = recall.Found(SearchHits(facts), turns).if_relevant()
            if _is_empty(found) and self._is_of_a_time(question, wanted):
                again = search(question, False, sequels)
                return self._of_that_time(question, again, found, wanted)
            return found

        topic, both = self._of_the_project(topic, search, namespaces)
        found = both.turns
        with self._file.engine.read() as transaction:
            told = self._identified_first(transaction, topic, *both[:2], asked)
            turns = recall.said(told.facts, told.turns, facts, limit, max_tokens, topic)
            joined = passages.exchanges(transaction, turns, self._last_episode)
        return replace(found, items=joined, newest_first=0)

    def why_not(
        self,
        query: str,
        fact_id: int,
        *,
        max_tokens: int | None = None,
        counter: Callable[[str], int] | None = None,
        episodes: bool = True,
        limit: int = 10,
        offset: int | None = None,
        subject: str | None = None,
        category: str | None = None,
        filters: Filters = None,
        namespaces: Namespaces = None,
        external_key_prefix: str | None = None,
        active_only: bool = True,
        tasks: bool | None = None,
        valid_on: datetime | str | None = None,
        context: int = 0,
        word_weight: float | None = None,
        vector_weight: float | None = None,
        ranking: str | None = None,
        matched: bool = False,
        half_lives_seconds: Mapping[str, float] | None = None,
        min_relevance: float | None = None,
        touch: bool = True,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        valid_after: datetime | str | None = None,
        valid_before: datetime | str | None = None,
    ) -> WhyNot:
        """Say why a search does not find a fact: the first stage that lost it, with numbers.

        Or that it is found, and at which place. Nothing counts as used.

        Args:
            query: the query of the search.
            fact_id: a fact in any state.
            max_tokens: examine a :meth:`recall` with this budget instead of a :meth:`search`; only
                the keywords of a recall then count.
            counter: as of :meth:`recall`, like the next.
            episodes: whether the recall has episodes too.
            subject: this and the other keywords are those of :meth:`search`. If the store was not
                made by :meth:`of`, the answer for a fact with owners is that it belongs to others.

        Raises:
            NotFound: no such fact, or the caller may not see it.
            ValueError: a limit, budget or filter out of range.
        """
        asked = from_arguments(questions.FactSearch, locals())
        searched = self._standing.select(namespaces)
        within = None if searched is None else (*self._standing.namespaces, *searched)
        with self._file.engine.read() as transaction:
            fact = reading.find(transaction, self._standing, fact_id, within, self._moment)
        if max_tokens is not None:
            checked_number(max_tokens, "max_tokens", 1, MAX_NUMBER)
            asked = questions.FactSearch(
                **asdict(derived(questions.FactRecall, asked)), limit=recall.FOUND
            )
        facts = self._file.searches.facts
        if max_tokens is None:
            request = self._request(asked)
            return facts.examine(query, request, following.examined(fact, request))[0]
        whole = asking.requested(checked_query(query))
        recallable = partial(self._recallable, asked, episodes)
        query, told = self._of_the_project(whole, recallable, namespaces)
        is_judged = told.facts.is_relevant is not None
        request = self._filling(asked if is_judged else _unjudged(asked))
        request = replace(request, fills=request.fills and bool(told.facts or told.turns))
        outcome, _ = facts.examine(query, request, following.examined(fact, request))
        if outcome.stage != "found":
            return outcome
        with self._file.engine.read() as transaction:
            told = self._identified_first(transaction, query, *told[:2], asked)
            hits, turns = told.facts, told.turns
            marks = recall.sources_of(transaction, hits, turns)
        return following.recalled(
            outcome,
            hits,
            turns,
            max_tokens,
            counter,
            marks,
            query,
            is_of_a_time=not is_judged and self._is_of_a_time(query, asked),
        )

    def get(self, fact_id: int) -> Fact:
        """Return one fact in any state; see its ``status``.

        Raises:
            NotFound: no such fact in this namespace, or it was erased.
        """
        if self._past is None:
            self._file.write_use_counts()
        with self._file.engine.read() as transaction:
            return reading.get(transaction, self._standing, fact_id, self._moment)

    def get_many(self, fact_ids: Iterable[int]) -> builtins.list[Fact]:
        """Return facts in any state, in the order of their ids as given.

        Those that are not in this namespace, or were erased, are left out.

        Args:
            fact_ids: their ids.
        """
        ids = checked_items(fact_ids, "fact_ids")
        if self._past is None:
            self._file.write_use_counts()
        with self._file.engine.read() as transaction:
            return reading.get_many(transaction, self._standing, ids, self._moment)

    def list(
        self,
        *,
        subject: str | None = None,
        category: str | None = None,
        filters: Filters = None,
        namespaces: Namespaces = None,
        external_key_prefix: str | None = None,
        active_only: bool = True,
        tasks: bool | None = True,
        valid_on: datetime | str | None = None,
        include_deleted: bool = False,
        pinned: bool = False,
        states: Iterable[str] | None = None,
        source: str | None = None,
        thread: str | None = None,
        episode: int | None = None,
        limit: int | None = None,
        offset: int = 0,
        newest_first: bool = False,
        before_id: int | None = None,
        after_id: int | None = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        valid_after: datetime | str | None = None,
        valid_before: datetime | str | None = None,
    ) -> builtins.list[Fact]:
        """Return facts ordered by id. The filters are those of :meth:`search`.

        Args:
            tasks: ``False`` leaves tasks out.
            include_deleted: also return deleted facts.
            pinned: only pinned facts.
            states: only facts whose status is one of these, such as ``["active", "superseded"]``;
                ``active_only`` and ``include_deleted`` then say nothing.
            source: only facts from exactly this source.
            thread: only facts of the conversation with this name.
            episode: only facts extracted from this episode.
            limit: the maximum number; ``None`` for all.
            offset: how many to skip.
            newest_first: return the newest first.
            before_id: only facts with smaller ids. With the last id of a page, the next page:
                unlike an ``offset``, it stays right while others write, and costs the same
                everywhere.
            after_id: only facts with larger ids.
        """
        given = locals()
        wanted = self._counting(from_arguments(questions.FactCount, given))
        page = from_arguments(questions.Page, given)
        checked_page(limit, offset, before_id, after_id)
        if self._past is not None:
            return self._listed_then(self._past, wanted, page)
        self._file.write_use_counts()
        return self._file.searches.list_facts(wanted, page)

    def count(
        self,
        *,
        subject: str | None = None,
        category: str | None = None,
        filters: Filters = None,
        namespaces: Namespaces = None,
        external_key_prefix: str | None = None,
        active_only: bool = True,
        tasks: bool | None = True,
        valid_on: datetime | str | None = None,
        include_deleted: bool = False,
        pinned: bool = False,
        states: Iterable[str] | None = None,
        source: str | None = None,
        thread: str | None = None,
        episode: int | None = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        valid_after: datetime | str | None = None,
        valid_before: datetime | str | None = None,
    ) -> int:
        """Return how many facts :meth:`list` would return without a limit."""
        return self._counted(self._counting(from_arguments(questions.FactCount, locals())))

    def exists(self, content: str, *, subject: str) -> bool:
        """Return whether an active fact has exactly this text and subject.

        Superseded facts do not count: what was once true may become true again.
        """
        wanted = FactFilter(
            self._standing.namespaces,
            self.at,
            subject=stored_text(subject, "subject"),
            content=stored_text(content, "content"),
            scope=self._standing.selected,
        )
        return self._counted(wanted) > 0

    def history(
        self,
        fact_id: int | None = None,
        *,
        subject: str | None = None,
        external_key: str | None = None,
    ) -> builtins.list[Fact]:
        """Return the history of a fact, a subject or an external key, oldest first.

        Args:
            fact_id: any fact of a chain, for the whole chain.
            subject: instead of an id: a subject, for every fact there ever was about it.
            external_key: instead of both: a key, for every fact that had it.

        Raises:
            NotFound: no such fact.
            ValueError: several or none of ``fact_id``, ``subject`` and ``external_key`` were given.
        """
        standing, moment = self._standing, self._moment
        if external_key is not None and fact_id is None and subject is None:
            key = checked_key(external_key, "external_key")
            with self._file.engine.read() as transaction:
                return keyed.history(transaction, standing, key, moment)
        if external_key is not None:
            raise InvalidArgument("is one of three ways to name a history", argument="external_key")
        if (fact_id is None) == (subject is None):
            raise InvalidArgument("either a fact's id or a subject is needed, but not both")
        with self._file.engine.read() as transaction:
            if subject is not None:
                return reading.of_subject(transaction, standing, subject, moment)
            return reading.chain(transaction, standing, fact_id or 0, moment)

    def status(self) -> StoreStatus | PastStatus:
        """Return how many memories the namespace had, by state; :class:`memstore.PastStatus`."""
        then = self._past
        assert then is not None  # a store has a status of its own
        owners, now = self._standing.selected, self.at
        every = FactFilter(
            (self.namespace,), now, scope=owners, active_only=False, include_deleted=True
        )
        unretired = replace(every, active_only=True, include_deleted=False, now=searching.EARLIEST)
        records = EpisodeFilter((self.namespace,), now, scope=owners, include_expired=True)
        active = self._counted(replace(unretired, now=now))
        current = self._counted(unretired)
        undeleted = self._counted(replace(every, include_deleted=False))

        def recorded(transaction: Transaction, contents: FeedContents | None) -> tuple[Head, int]:
            state = None if contents is None else contents.state
            select = partial(visibility.of_episodes, transaction, state)
            held = then.episodes(transaction, records, select).among or ()
            return journal.head(transaction, then.moment.line), len(held)

        head, episodes = self._file.searches.read_episodes(recorded)
        return status.PastStatus(
            namespace=self.namespace,
            at=now,
            head=str(head),
            active=active,
            expired=current - active,
            superseded=undeleted - current,
            deleted=self._counted(every) - undeleted,
            episodes=episodes,
        )

    def _search(
        self, queries: Sequence[str], asked: FactSearch, ids: Collection[int] | None = None
    ) -> builtins.list[SearchHits]:
        request = self._request(asked)
        if ids is not None:
            request = replace(request, wanted=replace(request.wanted, among=ids))
        found = self._file.searches.facts.batch(queries, request)
        if asked.touch:
            self._note_use(hit.fact.id for hits in found for hit in hits)
        return found

    # -- what is asked for, as filters and requests ------------------------------------------

    def _narrowing(self, asked: FactNarrowing, *, searched: bool = False) -> FactFilter:
        """Return the filter for what a search or a list asks for."""
        if asked.external_key_prefix is not None:
            stored_text(asked.external_key_prefix, "external_key_prefix")
        subject, tasks, valid_on = asked.subject, asked.tasks, asked.valid_on
        if tasks is None:
            tasks = isinstance(subject, str) and subject_key(subject) == TODO
        return FactFilter(
            self._standing.select(asked.namespaces),
            self.at,
            subject=subject,
            category=asked.category,
            metadata=metadata.parse_filters(asked.filters),
            external_key_prefix=asked.external_key_prefix,
            scope=self._standing.selected,
            active_only=asked.active_only,
            tasks=tasks,
            valid_on=None if valid_on is None else given_moments.period(valid_on, "valid_on"),
            given=questions.as_given(asked),
            searched=searched,
            **questions.times(asked),
        )

    def _counting(self, asked: FactCount) -> FactFilter:
        """Return the filter for what a list or a count asks for."""
        wanted = self._narrowing(asked)
        thread = None if asked.thread is None else checked_name(asked.thread, "thread")
        if asked.episode is not None:
            checked_number(asked.episode, "episode", 0, MAX_NUMBER)
        wanted = replace(
            wanted,
            include_deleted=asked.include_deleted,
            pinned=asked.pinned,
            source=asked.source,
            thread=thread,
            episode_id=asked.episode,
        )
        if asked.states is None:
            return wanted
        states = checked_items(asked.states, "states")
        given = [checked_choice(one, STATES, "states") for one in states]
        if given == ["active"]:  # so that counts that are kept and indexes of active facts serve
            return replace(wanted, active_only=True, include_deleted=False)
        return replace(wanted, states=tuple(one for one in STATES if one in given))

    def _request(self, asked: FactSearch) -> requests.Request[FactFilter]:
        """Return the request for a search of facts.

        Of two searches that differ in their queries alone, the second one's is that of the first,
        at its own time.
        """
        values = asked.__dict__.values()
        kinds = (*map(type, values),)
        if not PLAIN.issuperset(kinds):  # namespaces, say: what they hold may be other names later
            return self._new_request(asked)
        shape = (*values, *kinds)
        if (known := self._requests.get(shape)) is not None:
            return replace(known, wanted=replace(known.wanted, now=self.at))
        made = self._new_request(asked)
        if not (asked.valid_on or questions.times(asked)):
            if len(self._requests) >= MAX_REQUESTS:
                self._requests.clear()
            self._requests[shape] = made
        return made

    @cached_property
    def _requests(self) -> dict[tuple[object, ...], requests.Request[FactFilter]]:
        """Requests by what was asked, without conditions and times."""
        return {}

    def _new_request(self, asked: FactSearch) -> requests.Request[FactFilter]:
        file, lives = self._file, asked.half_lives_seconds
        return requests.for_facts(
            self._narrowing(asked, searched=True),
            asked,
            file.half_lives_seconds if lives is None else lives,
            past=self._past,
            without_rules=file.without_rules,
            project=self._standing.project,
        )

    def _filling(self, asked: FactSearch) -> requests.Request[FactFilter]:
        """Return the request for a search of facts that fill a budget."""
        return replace(self._request(asked), fills=asked.min_relevance is None)

    @property
    def _log(self) -> Episodes:
        """The episodes that searches look into, too."""
        file, standing = self._file, self._standing.alone
        made = log.Episodes(
            file.engine, self._author, standing, file.searches, file.screen, self._past
        )
        return zones.bound(made, self._zone)

    def _recallable(
        self,
        asked: FactSearch,
        episodes: bool,
        query: str,
        is_judged: bool,
        sequels: Sequels | None,
    ) -> Found:
        """Return the facts and the turns that a recall chooses from."""
        if not is_judged:
            asked = _unjudged(asked)
        request, of_turns = self._filling(asked), sequels.turns if sequels else None
        if sequels:
            request = replace(request, sequel=sequels.facts)
        facts = self._file.searches.facts.find(query, request)
        turns = self._episodes_beside(query, asked, of_turns) if episodes else None
        found = recall.Found(facts, turns or episode_records.EpisodeHits()).if_relevant()
        if _is_empty(found) and self._is_of_a_time(query, asked):
            again = self._recallable(asked, episodes, query, False, sequels)
            return self._of_that_time(query, again, found, asked)
        return found

    def _is_of_a_time(self, query: str, asked: FactRecall) -> bool:
        """Whether a question asks for what was so at some time, and its caller set no minimum."""
        return asked.min_relevance is None and of_a_time.is_asked_for(query, self.at)

    def _of_that_time(self, query: str, every: Found, relevant: Found, asked: FactRecall) -> Found:
        """Return what is of the time asked, or what was relevant."""
        both, made = self._file.searches, self._request(derived(questions.FactSearch, asked))
        found = of_a_time.known(query, every, made, both.facts, both.episodes)
        return relevant if _is_empty(found) else found

    def _of_the_project(
        self,
        query: str,
        search: Callable[[str, bool, Sequels | None], Found],
        namespaces: Namespaces = None,
    ) -> tuple[str, Found]:
        """Return what was searched for, without the name of a project, and what was found."""
        searches, within = self._file.searches, self._standing.select(namespaces)
        asker = within and (*within,), self._standing.selected
        known = searches.names_asked.of(asker)
        sequels = named_projects.sequels(query, known) if known else None
        found = search(query, True, sequels)
        perhaps = found.named_in(query)
        if not any(perhaps):
            return query, found
        last_fact = MAX_NUMBER if self._past is None else self._past.moment.last_fact
        wanted = FactFilter(within, self.at, scope=self._standing.selected, active_only=False)
        return named_projects.Naming(
            self._file.engine,
            perhaps,
            self.project,
            wanted,
            last_fact,
            partial(searches.names_asked.add, asker),
        ).searched(query, found, lambda topic: search(topic, False, sequels))

    def _identified_first(
        self,
        transaction: Transaction,
        query: str,
        facts: SearchHits,
        turns: EpisodeHits,
        asked: FactRecall | None = None,
    ) -> Found:
        """Return what was found; what has an identifier of the query comes first.

        Whoever asks for a period, or for no turns, is given no turn that was not found.
        """
        found = recall.Found(facts, turns)
        names = words.identifiers_of_several_words(query)
        if not names:
            return identified.reports_go_on(found) if turns else found
        narrowed = asked is not None and any(asdict(derived(questions.Periods, asked)).values())
        return identified.identified_first(
            transaction,
            names,
            found,
            until=self._last_episode,
            adds=bool(turns) and not narrowed,
        )

    @property
    def _last_episode(self) -> int:
        return MAX_NUMBER if self._past is None else self._past.moment.last_episode

    def _episodes_beside(self, query: str, asked: FactRecall, sequel: Sequel | None) -> EpisodeHits:
        """Search the episodes too, unless there is a filter that only facts have."""
        of_facts = asked.subject or asked.category or asked.filters or asked.valid_on
        if of_facts or asked.external_key_prefix is not None or not asked.active_only:
            return episode_records.EpisodeHits()
        wanted = questions.EpisodeSearch(
            limit=recall.FOUND,
            namespaces=asked.namespaces,
            min_relevance=asked.min_relevance,
            **asdict(derived(questions.Periods, asked)),
        )
        fills = asked.min_relevance is None
        return log.found(self._log, query, wanted, sequel, fills=fills)

    def _note_use(self, fact_ids: Iterable[int]) -> None:
        if self._past is None and not self._file.read_only:
            self._file.use_counts.note(fact_ids)

    # -- facts of the moment -----------------------------------------------------------------

    def _counted(self, wanted: FactFilter) -> int:
        if self._past is None:
            return self._file.searches.count_facts(wanted)
        found = partial(self._ids_then, self._past, wanted)
        return self._file.searches.facts.index.read(lambda *state: len(found(*state)))

    def _listed_then(self, then: Past, wanted: FactFilter, page: Page) -> builtins.list[Fact]:
        limit, offset = page.limit, page.offset
        before, after = page.before_id, page.after_id

        def listed(transaction: Transaction, contents: FeedContents | None) -> builtins.list[Fact]:
            found = self._ids_then(then, wanted, transaction, contents)
            found = found if before is None else visibility.until(found, before - 1)
            found = found if after is None else found - visibility.until(found, after)
            start, stop = offset, len(found) if limit is None else min(offset + limit, len(found))
            if page.newest_first:
                start, stop = len(found) - stop, len(found) - start
            ids = [*visibility.part(found, start, stop)]
            ids = ids[::-1] if page.newest_first else ids
            facts = past.facts_at(transaction, ids, then.moment)
            return [facts[id_] for id_ in ids if id_ in facts]

        return self._file.searches.facts.index.read(listed)

    def _ids_then(
        self,
        then: Past,
        wanted: FactFilter,
        transaction: Transaction,
        contents: FeedContents | None,
    ) -> visibility.Visible:
        state = None if contents is None else contents.state
        select = partial(visibility.of_facts, transaction, state)
        return then.fact_ids(transaction, wanted, select)


def as_of(file: File, author: Author, standing: Standing, moment: datetime | str) -> View:
    """Return a view of an earlier moment; a confined store names only what is in its namespace."""
    with file.engine.read() as transaction:
        found = searching.Past(moments.resolve(transaction, moment, standing))
    return View(file, standing, author, found)


class GraphView:
    """The graph of a view: ``entities``, ``get``, ``neighbours``, as of :class:`Graph`.

    Names that people have declared one entity, or several, by the moment are so; a decision that
    was undone since is not known any more. It is built again when the journal has grown, so that
    nothing is left of what was erased.
    """

    def __init__(self, view: View) -> None:
        self._view, self._file = view, view._file
        self._lock = threading.Lock()
        self._line = -1
        self._aside: File | None = None
        self._built: graph.Graph | None = None

    def entities(self, *, limit: int = 100, offset: int = 0) -> list[Entity]:
        """Return the entities of then, those with the most facts first."""
        return self._graph().entities(limit=limit, offset=offset)

    def get(self, name: str) -> Entity:
        """Return an entity of then by any of its names."""
        return self._graph().get(name)

    def neighbours(self, name: str, *, depth: int = 1, limit: int = 20) -> Neighbours:
        """Return the entities that one was related to, the nearest first."""
        return self._graph().neighbours(name, depth=depth, limit=limit)

    def _graph(self) -> graph.Graph:
        with self._file.engine.read() as transaction:
            line = journal.last_id(transaction)
        with self._lock:
            if self._built is None or self._line != line:
                self._built, self._line = self._build(), line
            return self._built

    def _build(self) -> graph.Graph:
        view, file, standing = self._view, self._file, self._view._standing
        decisions = graph.Graph(file.engine, file.author, standing, file.searches).decisions()
        everybody = View(file, replace(standing, owners=EVERYBODY), view._author, view._past)
        assert file.open_aside is not None  # every file that is opened by name has it
        self._aside = aside = file.open_aside()
        with aside.engine.write() as transaction:
            writing = changes.Changes(transaction, aside.author)
            for fact in everybody.list():
                if fact.namespace == view.namespace:  # a fact of then does not expire now
                    kept = replace(fact, expired_at=None, episode_id=None)
                    fact_table.insert(writing, kept, fact_table.encoded(kept), None)
        built = graph.Graph(aside.engine, aside.author, standing, aside.searches)
        for one in decisions:
            if one.at <= view.at:
                (built.merge if one.same else built.keep_apart)(one.left, one.right)
        built.build()
        return built


def _is_empty(found: Found) -> bool:
    return not (found.facts or recall.matching(found.turns))


def _unjudged(asked: R) -> R:
    """Return a search that leaves nothing out for its relevance, unless its caller set that."""
    return asked if asked.min_relevance is not None else replace(asked, min_relevance=0)
