"""The store for asyncio."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from memstore.access.tokens import Tokens
from memstore.coroutines import Awaited, awaited
from memstore.domain.arguments import ALL_NAMESPACES
from memstore.embedding.generations import Generations
from memstore.episodes.episodes import Episodes
from memstore.facts.proposals import Proposals
from memstore.facts.tasks import Tasks
from memstore.lazy import cached_property, lazy_import
from memstore.store.file import File
from memstore.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime
    from typing import Self

    from memstore.database.engine import Progress
    from memstore.domain.records import OwnersSelection
    from memstore.errors import Reason
    from memstore.graph import graph
    from memstore.graph.graph import AsyncGraph
    from memstore.store import async_plans, view
    from memstore.store.async_plans import AsyncErasurePlan, AsyncPlan
    from memstore.store.view import AsyncView
else:
    graph = lazy_import("memstore.graph.graph")
    async_plans = lazy_import("memstore.store.async_plans")
    view = lazy_import("memstore.store.view")


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


@wraps(Store.export)
def _export(store: Store, *, progress: Progress | None = None) -> Iterator[str]:
    return iter([*store.export(progress=progress)])


@wraps(File.export)
def _export_file(
    file: File,
    namespaces: str | Sequence[str] = ALL_NAMESPACES,
    *,
    progress: Progress | None = None,
) -> Iterator[str]:
    return iter([*file.export(namespaces, progress=progress)])


# What a caller works with afterwards is asynchronous, too.


@wraps(Store.revert)
def _revert(store: Store, /, **selected: Any) -> AsyncPlan:
    return async_plans.AsyncPlan(store.revert(**selected))


@wraps(Store.erasure)
def _erasure(store: Store, /, **selected: Any) -> AsyncErasurePlan:
    return async_plans.AsyncErasurePlan(store.erasure(**selected))


@wraps(Store.as_of)
def _as_of(store: Store, moment: datetime | str) -> AsyncView:
    return view.AsyncView(store.as_of(moment))


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


class AsyncStore(Awaited[Store]):
    """:class:`Store` for asyncio: the same methods as coroutines; an async context manager.

    Each call runs in a thread. A cancelled call returns at once, but a transaction it has begun is
    completed. :meth:`export` reads everything before it returns.

    Args:
        store: from :func:`memstore.open`; closing this object closes it.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.tasks = AsyncTasks(store.tasks)
        self.episodes = AsyncEpisodes(store.episodes)
        self.proposals = AsyncProposals(store.proposals)

    @cached_property
    def file(self) -> AsyncFile:
        """The whole file; see :attr:`Store.file`."""
        return AsyncFile(self._blocking.file)

    @cached_property
    def graph(self) -> AsyncGraph:
        """Entities and relations, built from facts on request: ``build``, ``neighbours``."""
        return graph.AsyncGraph(self._blocking.graph)

    @property
    def namespace(self) -> str:
        """The partition that every read and write is bound to."""
        return self._blocking.namespace

    @property
    def path(self) -> str:
        """The file, as an absolute path."""
        return self._blocking.path

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"Async{self._blocking!r}"

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
    put = awaited(Store.put)
    delete_keys = awaited(Store.delete_keys)
    change_keys = awaited(Store.change_keys)
    set_expiry = awaited(Store.set_expiry)
    supersede = awaited(Store.supersede)
    confirm = awaited(Store.confirm)
    pin = awaited(Store.pin)
    unpin = awaited(Store.unpin)
    update_metadata = awaited(Store.update_metadata)
    delete = awaited(Store.delete)
    restore = awaited(Store.restore)
    delete_all = awaited(Store.delete_all)
    restore_deleted = awaited(Store.restore_deleted)
    reinstate = awaited(Store.reinstate)
    apply = awaited(Store.apply)
    revert = awaited(_revert)
    erase = awaited(Store.erase)
    erasure = awaited(_erasure)
    clear = awaited(Store.clear)
    touch = awaited(Store.touch)
    search = awaited(Store.search)
    recall = awaited(Store.recall)
    briefing = awaited(Store.briefing)
    remind = awaited(Store.remind)
    said = awaited(Store.said)
    search_batch = awaited(Store.search_batch)
    may_replace = awaited(Store.may_replace)
    why_not = awaited(Store.why_not)
    record_search = awaited(Store.record_search)
    searches = awaited(Store.searches)
    given = awaited(Store.given)
    clear_searches = awaited(Store.clear_searches)
    get = awaited(Store.get)
    get_many = awaited(Store.get_many)
    uuids = awaited(Store.uuids)
    identity = awaited(Store.identity)
    by_key = awaited(Store.by_key)
    by_keys = awaited(Store.by_keys)
    first_stored = awaited(Store.first_stored)
    forget_versions = awaited(Store.forget_versions)
    key_folders = awaited(Store.key_folders)
    namespaces = awaited(Store.namespaces)
    list = awaited(Store.list)
    count = awaited(Store.count)
    exists = awaited(Store.exists)
    subjects = awaited(Store.subjects)
    owners = awaited(Store.owners)
    history = awaited(Store.history)
    histories = awaited(Store.histories)
    as_of = awaited(_as_of)
    journal = awaited(Store.journal)
    log = awaited(Store.log)
    changes = awaited(Store.changes)
    activity = awaited(Store.activity)
    diff = awaited(Store.diff)
    support = awaited(Store.support)
    explain = awaited(Store.explain)
    trust = awaited(Store.trust)
    distrust = awaited(Store.distrust)
    sources = awaited(Store.sources)
    embed_pending = awaited(Store.embed_pending)
    export = awaited(_export)
    import_ = awaited(Store.import_)
    import_from = awaited(Store.import_from)
    counts = awaited(Store.counts)
    status = awaited(Store.status)
    verify = awaited(Store.verify)
