"""The store for asyncio."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from memstore.coroutines import Awaited, awaited
from memstore.domain.arguments import ALL_NAMESPACES
from memstore.embedding.generations import Generations
from memstore.episodes.episodes import Episodes
from memstore.facts.proposals import Proposals
from memstore.facts.tasks import Tasks
from memstore.file.file import File
from memstore.file.tokens import Tokens
from memstore.lazy import cached_property, lazy_import
from memstore.store.keys import Keys, KeyView
from memstore.store.ledger import Ledger, LedgerView
from memstore.store.recorded_searches import RecordedSearches
from memstore.store.sources import Sources
from memstore.store.store import Store
from memstore.store.transfer import Transfer, TransferView
from memstore.store.view import GraphView, View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime
    from typing import Self

    from memstore.database.engine import Progress
    from memstore.domain.records import OwnersSelection
    from memstore.errors import Reason
    from memstore.graph import graph
    from memstore.graph.graph import AsyncGraph
    from memstore.store import async_plans
    from memstore.store.async_plans import AsyncErasurePlan, AsyncPlan
else:
    graph = lazy_import("memstore.graph.graph")
    async_plans = lazy_import("memstore.store.async_plans")


V = TypeVar("V", bound=View)
K = TypeVar("K", bound=KeyView)
L = TypeVar("L", bound=LedgerView)
T = TypeVar("T", bound=TransferView)


class AsyncTasks(Awaited[Tasks]):
    create = awaited(Tasks.create)
    update = awaited(Tasks.update)
    list = awaited(Tasks.list)


class AsyncEpisodes(Awaited[Episodes]):
    add = awaited(Episodes.add)
    add_many = awaited(Episodes.add_many)
    replace = awaited(Episodes.replace)
    record = awaited(Episodes.record)
    by_keys = awaited(Episodes.by_keys)
    unerased = awaited(Episodes.unerased)
    fold_turns = awaited(Episodes.fold_turns)
    threads = awaited(Episodes.threads)
    sessions = awaited(Episodes.sessions)
    last_turns = awaited(Episodes.last_turns)
    expire = awaited(Episodes.expire)
    expire_all = awaited(Episodes.expire_all)
    pop = awaited(Episodes.pop)
    get = awaited(Episodes.get)
    namespace_of = awaited(Episodes.namespace_of)
    list = awaited(Episodes.list)
    count = awaited(Episodes.count)
    search = awaited(Episodes.search)
    around = awaited(Episodes.around)
    update = awaited(Episodes.update)
    journal = awaited(Episodes.journal)
    erase = awaited(Episodes.erase)


class AsyncProposals(Awaited[Proposals]):
    list = awaited(Proposals.list)
    count = awaited(Proposals.count)
    get = awaited(Proposals.get)
    put_forward = awaited(Proposals.put_forward)
    accept = awaited(Proposals.accept)
    reject = awaited(Proposals.reject)
    reopen = awaited(Proposals.reopen)
    decide = awaited(Proposals.decide)
    questions = awaited(Proposals.questions)


class AsyncTokens(Awaited[Tokens]):
    create = awaited(Tokens.create)
    list = awaited(Tokens.list)
    revoke = awaited(Tokens.revoke)
    required = awaited(Tokens.required)
    usable = awaited(Tokens.usable)
    check = awaited(Tokens.check)
    note_use = awaited(Tokens.note_use)


class AsyncGenerations(Awaited[Generations]):
    list = awaited(Generations.list)
    stage = awaited(Generations.stage)
    run = awaited(Generations.run)
    reembed = awaited(Generations.reembed)
    switch = awaited(Generations.switch)
    drop = awaited(Generations.drop)


# Exports are read whole in the thread, so that the event loop never waits for the disk.


@wraps(TransferView.export)
def _export(room: TransferView, *, progress: Progress | None = None) -> Iterator[str]:
    return iter([*room.export(progress=progress)])


@wraps(File.export)
def _export_file(
    file: File,
    namespaces: str | Sequence[str] = ALL_NAMESPACES,
    *,
    progress: Progress | None = None,
) -> Iterator[str]:
    return iter([*file.export(namespaces, progress=progress)])


# What a caller works with afterwards is asynchronous, too.


@wraps(Ledger.revert)
def _revert(ledger: Ledger, /, **selected: Any) -> AsyncPlan:
    return async_plans.AsyncPlan(ledger.revert(**selected))


@wraps(Ledger.erasure)
def _erasure(ledger: Ledger, /, **selected: Any) -> AsyncErasurePlan:
    return async_plans.AsyncErasurePlan(ledger.erasure(**selected))


@wraps(Store.as_of)
def _as_of(store: Store, moment: datetime | str) -> AsyncView:
    return AsyncView(store.as_of(moment))


class AsyncKeyView(Awaited[K]):
    get = awaited(KeyView.get)
    get_many = awaited(KeyView.get_many)


class AsyncKeys(AsyncKeyView[Keys]):
    put = awaited(Keys.put)
    delete = awaited(Keys.delete)
    change = awaited(Keys.change)
    first_stored = awaited(Keys.first_stored)
    forget_versions = awaited(Keys.forget_versions)
    folders = awaited(Keys.folders)


class AsyncLedgerView(Awaited[L]):
    log = awaited(LedgerView.log)
    changes = awaited(LedgerView.changes)
    diff = awaited(LedgerView.diff)
    journal = awaited(LedgerView.journal)
    histories = awaited(LedgerView.histories)
    support = awaited(LedgerView.support)
    explain = awaited(LedgerView.explain)


class AsyncLedger(AsyncLedgerView[Ledger]):
    activity = awaited(Ledger.activity)
    apply = awaited(Ledger.apply)
    revert = awaited(_revert)
    restore_deleted = awaited(Ledger.restore_deleted)
    erasure = awaited(_erasure)
    verify = awaited(Ledger.verify)


class AsyncSearches(Awaited[RecordedSearches]):
    record = awaited(RecordedSearches.record)
    list = awaited(RecordedSearches.list)
    most_used = awaited(RecordedSearches.most_used)
    never_used = awaited(RecordedSearches.never_used)
    clear = awaited(RecordedSearches.clear)
    note_use = awaited(RecordedSearches.note_use)


class AsyncSources(Awaited[Sources]):
    trust = awaited(Sources.trust)
    distrust = awaited(Sources.distrust)
    levels = awaited(Sources.levels)


class AsyncTransferView(Awaited[T]):
    export = awaited(_export)
    uuids = awaited(TransferView.uuids)
    identity = awaited(TransferView.identity)


class AsyncTransfer(AsyncTransferView[Transfer]):
    import_ = awaited(Transfer.import_)
    import_from = awaited(Transfer.import_from)


class AsyncGraphView(Awaited[GraphView]):
    """:class:`GraphView` for asyncio."""

    entities = awaited(GraphView.entities)
    get = awaited(GraphView.get)
    neighbours = awaited(GraphView.neighbours)


class AsyncFile(Awaited[File]):
    """:class:`memstore.File` for asyncio."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self.tokens = AsyncTokens(file.tokens)
        self.generations = AsyncGenerations(file.generations)

    @property
    def path(self) -> str:
        """The file, as an absolute path."""
        return self._blocking.path

    @property
    def is_replaced(self) -> bool:
        """Whether the file was replaced, moved or removed while it was open."""
        return self._blocking.is_replaced

    @property
    def embedder_trouble(self) -> Reason | None:
        """The embedder's last failure, or why there is none; ``None`` if there is no problem."""
        return self._blocking.embedder_trouble

    @property
    def upgraded(self) -> str | None:
        return self._blocking.upgraded

    embed_pending = awaited(File.embed_pending)
    embed_in_background = awaited(File.embed_in_background)
    reembed = awaited(File.reembed)
    probe_embedder = awaited(File.probe_embedder)
    newest_id = awaited(File.newest_id)
    similarities = awaited(File.similarities)
    warm = awaited(File.warm)
    save_index = awaited(File.save_index)
    export = awaited(_export_file)
    import_ = awaited(File.import_)
    import_from = awaited(File.import_from)
    give_up_imports = awaited(File.give_up_imports)
    backup = awaited(File.backup)
    backup_in_background = awaited(File.backup_in_background)
    copies = awaited(File.copies)
    remains = awaited(File.remains)
    doctor = awaited(File.doctor)
    head = awaited(File.head)
    namespaces = awaited(File.namespaces)
    rebuild = awaited(File.rebuild)


class _AsyncReads(Awaited[V]):
    """What a store and a view have in common."""

    @property
    def at(self) -> datetime:
        """The moment; of a store, now."""
        return self._blocking.at

    @property
    def namespace(self) -> str:
        """The partition that everything is bound to."""
        return self._blocking.namespace

    @property
    def path(self) -> str:
        """The file, as an absolute path."""
        return self._blocking.path

    def __repr__(self) -> str:
        return f"Async{self._blocking!r}"

    search = awaited(View.search)
    search_batch = awaited(View.search_batch)
    recall = awaited(View.recall)
    turns_for = awaited(View.turns_for)
    why_not = awaited(View.why_not)
    get = awaited(View.get)
    get_many = awaited(View.get_many)
    list = awaited(View.list)
    count = awaited(View.count)
    exists = awaited(View.exists)
    history = awaited(View.history)


class AsyncView(_AsyncReads[View]):
    """:class:`View` for asyncio: the same methods as coroutines."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.keys = AsyncKeyView(view.keys)
        self.ledger = AsyncLedgerView(view.ledger)
        self.transfer = AsyncTransferView(view.transfer)

    @property
    def line(self) -> int:
        """The last line of the journal that counts: always the last one of an act."""
        return self._blocking.line

    @cached_property
    def graph(self) -> AsyncGraphView:
        """Entities and relations of then; see :attr:`View.graph`."""
        made = self._blocking.graph
        assert isinstance(made, GraphView)  # that of a store has a class of its own
        return AsyncGraphView(made)

    def of(
        self,
        owners: OwnersSelection | None = None,
        /,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Self:
        """Return the view of the memories of owners; see :meth:`View.of`."""
        own = self._blocking.of(owners, user_id=user_id, agent_id=agent_id, run_id=run_id)
        return type(self)(own)

    status = awaited(View.status)


class AsyncStore(_AsyncReads[Store]):
    """:class:`Store` for asyncio: the same methods as coroutines; an async context manager.

    Each call runs in a thread. A cancelled call returns at once, but a transaction it has begun is
    completed. ``transfer.export`` reads everything before it returns.

    Args:
        store: from :func:`memstore.open`; closing this object closes it.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.tasks = AsyncTasks(store.tasks)
        self.episodes = AsyncEpisodes(store.episodes)
        self.proposals = AsyncProposals(store.proposals)
        self.keys = AsyncKeys(store.keys)
        self.ledger = AsyncLedger(store.ledger)
        self.searches = AsyncSearches(store.searches)
        self.sources = AsyncSources(store.sources)
        self.transfer = AsyncTransfer(store.transfer)

    @cached_property
    def file(self) -> AsyncFile:
        """The whole file; see :attr:`Store.file`."""
        return AsyncFile(self._blocking.file)

    @cached_property
    def graph(self) -> AsyncGraph:
        """Entities and relations, built from facts on request: ``build``, ``neighbours``."""
        return graph.AsyncGraph(self._blocking.graph)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def of(
        self,
        owners: OwnersSelection | None = None,
        /,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Self:
        """Return a store of the memories of owners, sharing the connections and the model.

        It sees, changes, counts and exports only what is theirs; the id of anything else is not
        found. What it stores is theirs. A store that was just opened asks for memories without
        owners, but takes the id of any memory. It is closed with this one.

        Args:
            owners: :class:`memstore.Scope`, exactly these owners; :class:`memstore.AtLeast`, at
                least these: what is stored has to name its own; or ``"all"``, any owners.
            user_id: instead of ``owners``: exactly these, of which a missing one is not set.
                ``of()`` is of memories without owners.
            agent_id: the agent.
            run_id: the run.

        Raises:
            AccessDenied: this store is confined to owners that do not include these.
        """
        own = self._blocking.of(owners, user_id=user_id, agent_id=agent_id, run_id=run_id)
        return type(self)(own)

    def within(
        self, namespace: str | None = None, *, confined: bool = False, source: str | None = None
    ) -> Self:
        """Return a store for another namespace of this file; see :meth:`Store.within`."""
        return type(self)(self._blocking.within(namespace, confined=confined, source=source))

    def unless_changed(self, fact_ids: Iterable[int], since: int) -> Self:
        """Return the same store, bound to what was read; see :meth:`Store.unless_changed`."""
        return type(self)(self._blocking.unless_changed(fact_ids, since))

    close = awaited(Store.close)
    add = awaited(Store.add)
    add_many = awaited(Store.add_many)
    set_expiry = awaited(Store.set_expiry)
    supersede = awaited(Store.supersede)
    confirm = awaited(Store.confirm)
    pin = awaited(Store.pin)
    unpin = awaited(Store.unpin)
    update_metadata = awaited(Store.update_metadata)
    delete = awaited(Store.delete)
    restore = awaited(Store.restore)
    delete_all = awaited(Store.delete_all)
    reinstate = awaited(Store.reinstate)
    erase = awaited(Store.erase)
    clear = awaited(Store.clear)
    briefing = awaited(Store.briefing)
    remind = awaited(Store.remind)
    namespaces = awaited(Store.namespaces)
    subjects = awaited(Store.subjects)
    owners = awaited(Store.owners)
    as_of = awaited(_as_of)
    may_replace = awaited(Store.may_replace)
    counts = awaited(Store.counts)
    status = awaited(Store.status)
