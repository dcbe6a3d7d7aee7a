"""A store as it was at an earlier moment: read-only."""

from __future__ import annotations

import threading
from functools import partial, wraps
from typing import TYPE_CHECKING, NoReturn, Unpack

from memstore.coroutines import Awaited, awaited
from memstore.database import journal
from memstore.database.changes import Changes
from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.database.tables import facts as fact_table
from memstore.domain import clock, zones
from memstore.domain.arguments import (
    MAX_NUMBER,
    MAX_QUERY,
    checked_id,
    checked_ids,
    checked_number,
    checked_page,
    checked_text,
    stored_text,
)
from memstore.domain.episodes import EpisodeHits
from memstore.domain.queries import (
    ActList,
    DifferenceList,
    FactCount,
    FactList,
    FactRanking,
    FactRecall,
    FactSearch,
    Page,
)
from memstore.domain.records import EVERYBODY, NOBODY, chosen_owners, is_among
from memstore.domain.status import PastStatus
from memstore.episodes import passages
from memstore.episodes.episodes import Episodes
from memstore.errors import Conflict, InvalidArgument, NotFound, Remedy
from memstore.facts import explaining, keyed, rules, support
from memstore.frozen import replace
from memstore.graph import graph
from memstore.history import moments
from memstore.history import past as history
from memstore.keywords import keywords, part
from memstore.lazy import cached_property
from memstore.search import recall
from memstore.search.index import visibility
from memstore.search.past import EARLIEST, Past
from memstore.store import questions
from memstore.transfer import exporting, owned

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from memstore.database.engine import Progress, Transaction
    from memstore.database.journal import Author
    from memstore.domain.entities import Entity, Neighbours
    from memstore.domain.explanations import Explanation
    from memstore.domain.log import Act
    from memstore.domain.records import Fact, OwnersSelection, SearchHit, SearchHits
    from memstore.domain.standing import Standing
    from memstore.domain.support import Leg
    from memstore.history.differences import Differences
    from memstore.search.index.contents import FeedContents
    from memstore.search.recall import Recalled
    from memstore.search.why_not import WhyNot
    from memstore.store.file import File


def as_of(file: File, author: Author, standing: Standing, moment: datetime | str) -> View:
    """Return a view of an earlier moment; a confined store names only what is in its namespace."""
    with file.engine.read() as transaction:
        found = Past(moments.resolve(transaction, moment, standing))
    return View(file, author, standing, found)


class View(zones.Zoned):
    """A store as it was; returned by :meth:`memstore.Store.as_of`.

    What can be seen is what was active then, with the metadata and confirmations of then. What was
    erased since stays erased. Words rank by the weights of then; vectors are those of now. Nothing
    counts as used. A view stays valid while its store is open.
    """

    def __init__(self, file: File, author: Author, standing: Standing, past: Past) -> None:
        self._file = file
        self._author = author
        self._zone = file.zone
        self._standing = standing
        self._namespaces = standing.namespaces
        self._past = past

    @cached_property
    def _episodes(self) -> Episodes:
        file, standing = self._file, self._standing.alone
        log = Episodes(file.engine, self._author, standing, file.searches, file.screen, self._past)
        return zones.bound(log, file.zone)

    def of(
        self,
        owners: OwnersSelection | None = None,
        /,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> View:
        """Return the memories that owners had then; see :meth:`memstore.Store.of`."""
        standing = self._standing.of(chosen_owners(owners, user_id, agent_id, run_id))
        return View(self._file, self._author, standing, self._past)

    @property
    def at(self) -> datetime:
        """The moment."""
        return self._past.moment.at

    @property
    def line(self) -> int:
        """The last line of the journal that counts: always the last one of an act."""
        return self._past.moment.line

    @property
    def namespace(self) -> str:
        """The namespace of the store."""
        return self._standing.namespace

    def __repr__(self) -> str:
        return f"View({self._file.path!r}, {clock.to_text(self.at)!r}, line={self.line})"

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        return _refusal(self.at, name)

    # -- finding -----------------------------------------------------------------------------

    @keywords(FactSearch, limit=10, context=0, active_only=True, matched=False, touch=False)
    def search(self, query: str, **asked: Unpack[FactSearch]) -> SearchHits:
        """Find facts by words and by meaning, best first; see :meth:`memstore.Store.search`.

        ``as_of`` of the result and of each fact says which moment it is about.
        """
        return self._facts(query, asked, part(FactRanking, asked))

    @keywords(FactRecall, active_only=True, touch=False)
    def recall(
        self,
        query: str,
        *,
        max_tokens: int,
        counter: Callable[[str], int] | None = None,
        episodes: bool = True,
        **asked: Unpack[FactRecall],
    ) -> Recalled:
        """Return the best memories for a question as a text; see :meth:`memstore.Store.recall`."""
        checked_number(max_tokens, "max_tokens", 1, MAX_NUMBER)
        facts = self._facts(query, asked, {**part(FactRanking, asked), "limit": recall.FOUND})
        said = (
            questions.episodes_beside(self._episodes, query, asked) if episodes else EpisodeHits()
        )
        with self._file.engine.read() as transaction:
            marks = recall.sources_of(transaction, facts, said)
        return recall.recalled(facts, said, max_tokens, counter, marks)

    @keywords(FactRecall, active_only=True, touch=False)
    def said(
        self,
        query: str,
        hits: Sequence[SearchHit] = (),
        *,
        limit: int = 5,
        **asked: Unpack[FactRecall],
    ) -> EpisodeHits:
        """Return what had been said about a query; see :meth:`memstore.Store.said`."""
        checked_number(limit, "limit", 1, recall.FOUND)
        found = questions.episodes_beside(self._episodes, query, asked)
        turns = recall.said(hits, found, limit)
        last = self._past.moment.last_episode
        with self._file.engine.read() as transaction:
            joined = passages.exchanges(transaction, turns, last)
        return replace(found, items=joined, newest_first=0)

    @keywords(FactSearch, limit=10, context=0, active_only=True, touch=False)
    def why_not(
        self,
        query: str,
        fact_id: int,
        *,
        max_tokens: int | None = None,
        counter: Callable[[str], int] | None = None,
        episodes: bool = True,
        **asked: Unpack[FactSearch],
    ) -> WhyNot:
        """Say why a search of then does not find a fact; see :meth:`memstore.Store.why_not`."""
        searched = self._standing.select(asked["namespaces"])
        within = None if searched is None else (*self._namespaces, *searched)
        with self._file.engine.read() as transaction:
            fact = self._stored(transaction, fact_id, within)
        turns = self._episodes if episodes else None
        budget = questions.Budget(max_tokens, counter)
        return questions.why_not(
            self._file, self._standing, turns, query, fact, asked, budget, self._past
        )

    def get(self, fact_id: int) -> Fact:
        """Return one fact in the state it had; see its ``status``.

        Raises:
            NotFound: there was no such fact, or it was erased since.
        """
        with self._file.engine.read() as transaction:
            return self._known(transaction, fact_id)

    def by_key(self, external_key: str) -> Fact | None:
        """Return the fact that an external key named then; see :meth:`memstore.Store.by_key`."""
        return self.by_keys([external_key]).get(external_key)

    def by_keys(self, external_keys: Iterable[str]) -> dict[str, Fact]:
        """Return the facts that external keys named then, by key."""
        keys = keyed.checked_keys(external_keys)
        with self._file.engine.read() as transaction:
            return keyed.by_keys_at(transaction, self._standing, keys, self._past.moment)

    @keywords(
        FactList,
        active_only=True,
        tasks=True,
        include_deleted=False,
        pinned=False,
        offset=0,
        newest_first=False,
    )
    def list(self, **asked: Unpack[FactList]) -> builtins.list[Fact]:
        """Return facts ordered by id; see :meth:`memstore.Store.list`."""
        wanted, page = questions.counting(self._standing, asked, now=self.at), part(Page, asked)
        checked_page(page["limit"], page["offset"], page["before_id"], page["after_id"])
        limit, offset = page["limit"], page["offset"]
        before, after = page["before_id"], page["after_id"]

        def listed(transaction: Transaction, contents: FeedContents | None) -> builtins.list[Fact]:
            found = self._ids(transaction, contents, wanted)
            found = found if before is None else found.until(before - 1)
            ids = [id_ for id_ in found if after is None or id_ > after]
            ids = ids[::-1] if page["newest_first"] else ids
            ids = ids[offset : None if limit is None else offset + limit]
            facts = history.facts_at(transaction, ids, self._past.moment)
            return [facts[id_] for id_ in ids if id_ in facts]

        return self._file.searches.facts.index.read(listed)

    @keywords(FactCount, active_only=True, tasks=True, include_deleted=False, pinned=False)
    def count(self, **asked: Unpack[FactCount]) -> int:
        """Return how many facts :meth:`list` would return without a limit."""
        return self._count(questions.counting(self._standing, asked, now=self.at))

    def exists(self, content: str, *, subject: str) -> bool:
        """Return whether an active fact had this text and subject."""
        wanted = FactFilter(
            self._namespaces,
            self.at,
            subject=stored_text(subject, "subject"),
            content=stored_text(content, "content"),
            scope=self._standing.selected,
        )
        return self._count(wanted) > 0

    def history(
        self,
        fact_id: int | None = None,
        *,
        subject: str | None = None,
    ) -> builtins.list[Fact]:
        """Return the history that a fact or a subject had; see :meth:`memstore.Store.history`."""
        if (fact_id is None) == (subject is None):
            raise InvalidArgument("either a fact's id or a subject is needed, but not both")
        with self._file.engine.read() as transaction:
            if subject is not None:
                return self._of_subject(transaction, subject)
            first = self._known(transaction, fact_id or 0)
            chain = history.chain_at(transaction, first.id, self._past.moment)
        return [
            fact
            for fact in chain
            if fact.namespace == first.namespace
            and (self._standing.reaches(fact) or fact.status == "erased")
        ]

    def explain(self, fact_id: int) -> Explanation:
        """Explain why a fact was believed, or not; see :meth:`memstore.Store.explain`."""
        with self._file.engine.read() as transaction:
            fact = self._then(transaction, rules.reached(transaction, self._standing, fact_id))
            return explaining.explained(transaction, fact, self._standing, self._past.moment)

    def support(self, fact_id: int) -> builtins.list[Leg]:
        """Return why a fact was believed; see :meth:`memstore.Store.support`."""
        with self._file.engine.read() as transaction:
            self._known(transaction, fact_id)
            return support.legs(transaction, [fact_id], self.line)[fact_id]

    @keywords(ActList, limit=50)
    def log(self, **asked: Unpack[ActList]) -> builtins.list[Act]:
        """Return what had been done up to then; see :meth:`memstore.Store.log`."""
        return questions.acts(self._file, self._standing, asked, self.line)

    @keywords(DifferenceList, offset=0)
    def diff(self, a: datetime | str, **asked: Unpack[DifferenceList]) -> Differences:
        """Return what had changed since an earlier moment; see :meth:`memstore.Store.diff`."""
        return questions.differences(self._file, self._standing, a, self.at, asked)

    def status(self) -> PastStatus:
        """Return how many memories the namespace had, by state."""
        owners = self._standing.selected
        every = FactFilter(
            (self.namespace,), self.at, scope=owners, active_only=False, include_deleted=True
        )
        unretired = replace(every, active_only=True, include_deleted=False, now=EARLIEST)
        said = EpisodeFilter((self.namespace,), self.at, scope=owners, include_expired=True)
        active = self._count(replace(unretired, now=self.at))
        current = self._count(unretired)
        undeleted = self._count(replace(every, include_deleted=False))
        with self._file.engine.read() as transaction:
            head = journal.head(transaction, self.line)
            select = partial(visibility.of_episodes, transaction, None)
            episodes = self._past.episodes(transaction, said, select)
        return PastStatus(
            namespace=self.namespace,
            at=self.at,
            head=str(head),
            active=active,
            expired=current - active,
            superseded=undeleted - current,
            deleted=self._count(every) - undeleted,
            episodes=len(episodes.among or ()),
        )

    def export(self, *, progress: Progress | None = None) -> Iterator[str]:
        """Yield the namespace's memories of then as lines of JSON, with their journal.

        As :meth:`memstore.Store.export`. Proposals have their states of then. Replies of models and
        decisions about names are those of then that are still there. What was erased since is in
        it as erased.

        Args:
            progress: called with the number of facts and episodes read and the total.
        """
        standing = self._standing
        every = exporting.export_as_of(
            self._file.engine,
            self._namespaces,
            self._past.moment,
            progress,
            levels=not standing.confined,
        )
        return (
            every
            if standing.bound is None
            else owned.of_owners(self._file.engine, every, standing.bound)
        )

    @cached_property
    def graph(self) -> GraphView:
        """Entities and relations, read by rules from the facts that were active then.

        It is built in memory on first use. What a language model read in facts is not in it.
        """
        return GraphView(self, self._file)

    # -- what the others share -----------------------------------------------------------------

    def _facts(
        self, query: str, asked: FactSearch | FactRecall, ranking: FactRanking
    ) -> SearchHits:
        request = questions.request(self._file, self._standing, asked, ranking, self._past)
        return self._file.searches.facts.find(query, request)

    def _count(self, wanted: FactFilter) -> int:
        def count(transaction: Transaction, contents: FeedContents | None) -> int:
            return len(self._ids(transaction, contents, wanted))

        return self._file.searches.facts.index.read(count)

    def _ids(
        self, transaction: Transaction, contents: FeedContents | None, wanted: FactFilter
    ) -> visibility.Visible:
        columns = None if contents is None else contents.columns
        return self._past.fact_ids(
            transaction, wanted, partial(visibility.of_facts, transaction, columns)
        )

    def _known(self, transaction: Transaction, fact_id: int) -> Fact:
        fact = rules.known(transaction, self._standing, fact_id)
        return self._then(transaction, fact)

    def _stored(
        self,
        transaction: Transaction,
        fact_id: int,
        namespaces: Sequence[str] | None,
    ) -> Fact:
        """Return a fact as it was, even if it was erased since."""
        checked_id(fact_id, "fact_id")
        fact = fact_table.get_many(transaction, checked_ids([fact_id])).get(fact_id)
        if fact is None or (namespaces is not None and fact.namespace not in namespaces):
            raise rules.not_found(fact_id, self.namespace)
        if fact.status == "erased" and self._standing.bound not in (None, NOBODY):
            raise rules.not_found(fact_id, self.namespace)
        return self._then(transaction, rules.of_owners(fact, self._standing))

    def _then(self, transaction: Transaction, fact: Fact) -> Fact:
        fact_id = fact.id
        found = history.facts_at(transaction, [fact.id], self._past.moment).get(fact.id)
        if found is None:
            raise NotFound(
                f"fact {fact_id} was stored after {clock.to_text(self.at)}",
                remedy=Remedy.LATER_MOMENT,
            )
        return found

    def _of_subject(self, transaction: Transaction, subject: str) -> builtins.list[Fact]:
        name, owners = checked_text(subject, "subject", MAX_QUERY), self._standing.selected
        now = [
            fact.id
            for namespace in self._namespaces
            for fact in fact_table.of_subject(transaction, namespace, name)
            if is_among(fact.scope, owners)
        ]
        facts = history.facts_at(transaction, now, self._past.moment)
        return [facts[fact_id] for fact_id in now if fact_id in facts]


class GraphView:
    """The graph of a view: ``entities``, ``get``, ``neighbours``, as of :class:`Graph`.

    Names that people have declared one entity, or several, by the moment are so; a decision that
    was undone since is not known any more. It is built again when the journal has grown, so that
    nothing is left of what was erased.
    """

    def __init__(self, view: View, file: File) -> None:
        self._view, self._file = view, file
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

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        return _refusal(self._view.at, name)

    def _graph(self) -> graph.Graph:
        with self._file.engine.read() as transaction:
            line = journal.last_id(transaction)
        with self._lock:
            if self._built is None or self._line != line:
                self._built, self._line = self._build(), line
            return self._built

    def _build(self) -> graph.Graph:
        view, file, standing = self._view, self._file, self._view._standing
        decisions = graph.Graph(file.engine, file.author, standing).decisions()
        everybody = View(file, view._author, replace(standing, owners=EVERYBODY), view._past)
        assert file.open_aside is not None  # every file that is opened by name has it
        self._aside = aside = file.open_aside()
        with aside.engine.write() as transaction:
            changes = Changes(transaction, aside.author)
            for fact in everybody.list():
                if fact.namespace == view.namespace:  # a fact of then does not expire now
                    kept = replace(fact, expired_at=None, episode_id=None)
                    fact_table.insert(changes, kept, fact_table.encoded(kept), None)
        built = graph.Graph(aside.engine, aside.author, standing)
        for one in decisions:
            if one.at <= view.at:
                (built.merge if one.same else built.keep_apart)(one.left, one.right)
        built.build()
        return built


def _refusal(at: datetime, name: str) -> Callable[..., NoReturn]:
    """Return a function that says that an earlier moment can only be read."""
    if name.startswith("_"):
        raise AttributeError(name)

    def refuse(*_: object, **__: object) -> NoReturn:
        raise Conflict(
            f"the memory as of {clock.to_text(at)} cannot {name}: it can only be read",
            remedy=Remedy.ASK_STORE,
        )

    return refuse


@wraps(View.export)
def _export(view: View, *, progress: Progress | None = None) -> Iterator[str]:
    return iter([*view.export(progress=progress)])


class AsyncGraphView(Awaited[GraphView]):
    """:class:`GraphView` for asyncio."""

    entities = awaited(GraphView.entities)
    get = awaited(GraphView.get)
    neighbours = awaited(GraphView.neighbours)


class AsyncView(Awaited[View]):
    """:class:`View` for asyncio: the same methods as coroutines."""

    @property
    def at(self) -> datetime:
        """The moment."""
        return self._blocking.at

    @property
    def line(self) -> int:
        """The last line of the journal that counts: always the last one of an act."""
        return self._blocking.line

    @property
    def namespace(self) -> str:
        """The namespace of the store."""
        return self._blocking.namespace

    def of(
        self,
        owners: OwnersSelection | None = None,
        /,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> AsyncView:
        """Return the memories that owners had then; see :meth:`memstore.Store.of`."""
        own = self._blocking.of(owners, user_id=user_id, agent_id=agent_id, run_id=run_id)
        return AsyncView(own)

    @cached_property
    def graph(self) -> AsyncGraphView:
        """Entities and relations of then; see :attr:`View.graph`."""
        return AsyncGraphView(self._blocking.graph)

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        return _refusal(self.at, name)

    def __repr__(self) -> str:
        return f"Async{self._blocking!r}"

    search = awaited(View.search)
    recall = awaited(View.recall)
    said = awaited(View.said)
    get = awaited(View.get)
    by_key = awaited(View.by_key)
    by_keys = awaited(View.by_keys)
    list = awaited(View.list)
    count = awaited(View.count)
    exists = awaited(View.exists)
    history = awaited(View.history)
    why_not = awaited(View.why_not)
    explain = awaited(View.explain)
    support = awaited(View.support)
    log = awaited(View.log)
    diff = awaited(View.diff)
    status = awaited(View.status)
    export = awaited(_export)
