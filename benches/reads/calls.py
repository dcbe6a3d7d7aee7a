"""The calls that read, by the room of the library or the face that they belong to.

Each is a function of a store, which stands for some of the memories, and of ids among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import memstore
from benches.language import TOPICS
from benches.reads.made import LARGE, THREAD, USER, WEB
from memstore import Store
from memstore.domain import clock
from memstore.faces.mcp import catalogue
from memstore.faces.mcp.calls import Calls

SMALL = "subject 17"
WORDS = "the garden plan of the team"
PROMPT = "Can you look at the deploy script of the home server again, it fails since the release?"
LONG_PROMPT = " ".join([PROMPT, "Error: the pipeline of the billing service did not start."] * 20)


class Known(NamedTuple):
    """Ids of what a store sees."""

    newest: list[int]
    """The newest 50 facts."""
    old: int
    """The oldest fact."""
    changed: int
    """A fact with the longest chain or, where none was superseded, any."""
    key: str
    task: int
    episode: int
    """An episode amid its thread; 0 if there is none."""
    act: int
    """The line of a large act."""
    before: int
    """The line of an act before the newest large ones."""
    run: str
    entity: str


class Call(NamedTuple):
    room: str
    name: str
    work: Callable[[Store, Known], object]


def known(store: Store) -> Known:
    facts = store.list(limit=50, newest_first=True)
    chained = store.list(subject="chain", limit=1, newest_first=True) or facts
    threaded = store.episodes.list(thread=THREAD, limit=2_000) or store.episodes.list(limit=1)
    keyed = store.list(external_key_prefix="notes/", limit=1)
    acts = store.ledger.changes(kinds=["add"], limit=50)
    entities = store.graph.entities(limit=1)
    return Known(
        newest=[one.id for one in facts],
        old=store.list(limit=1)[0].id,
        changed=chained[0].id,
        key=keyed[0].external_key or "" if keyed else "none",
        task=store.list(subject="todo", limit=1)[0].id if store.tasks.list(limit=1) else 0,
        episode=threaded[len(threaded) // 2].id if threaded else 0,
        act=acts[-1].act,
        before=store.ledger.log(limit=20)[-1].line,
        run=acts[-1].run or "",
        entity=entities[0].name if entities else "",
    )


def library() -> Iterator[Call]:
    """Yield the calls of a store and of its rooms."""
    for room, calls in ROOMS.items():
        for name, work in calls.items():
            yield Call(room, name, work)


def _page(**asked: Any) -> Callable[[Store, Known], object]:
    return lambda store, _: store.list(limit=50, newest_first=True, **asked)


def _count(**asked: Any) -> Callable[[Store, Known], object]:
    return lambda store, _: store.count(**asked)


def _search(query: str = WORDS, **asked: Any) -> Callable[[Store, Known], object]:
    return lambda store, _: store.search(query, touch=False, **asked)


def _log(**asked: Any) -> Callable[[Store, Known], object]:
    return lambda store, _: store.ledger.log(limit=20, **asked)


def _lines(**asked: Any) -> Callable[[Store, Known], object]:
    return lambda store, _: store.ledger.changes(**asked)


def _turns(**asked: Any) -> Callable[[Store, Known], object]:
    return lambda store, _: store.episodes.list(limit=50, newest_first=True, **asked)


def _then(work: Callable[[memstore.View], object]) -> Callable[[Store, Known], object]:
    return lambda store, _: work(store.as_of("30d"))


def _sessions(store: Store, _: Known) -> object:
    return store.briefing(agent="claude-code", session="session of now")


ROOMS: Mapping[str, Mapping[str, Callable[[Store, Known], object]]] = {
    "search": {
        "": _search(),
        "a large subject": _search(subject=LARGE),
        "a small subject": _search(subject=SMALL),
        "a category": _search(category="preference"),
        "metadata": _search(filters={"project": "coffee"}),
        "keys with a prefix": _search(external_key_prefix="notes/7/"),
        "what held on a day": _search(valid_on=clock.to_text(clock.utc_now())[:10]),
        "stored after a time": _search(created_after="30d"),
        "retired ones too": _search(active_only=False),
        "all namespaces": _search(namespaces="all"),
        "with neighbours": _search(context=2),
        "with matches": _search(matched=True),
        "pages": _search(offset=0),
        "classic": _search(ranking="classic"),
        "an id": lambda store, ids: store.search(f"#{ids.old}", touch=False),
        "ten at once": lambda store, _: store.search_batch([WORDS, *TOPICS[:9]], touch=False),
        "recall": lambda store, _: store.recall(WORDS, max_tokens=500, touch=False),
        "recall, a large subject": lambda store, _: store.recall(
            WORDS, max_tokens=500, subject=LARGE, touch=False
        ),
        "turns_for": lambda store, _: store.turns_for(WORDS, touch=False),
        "why_not": lambda store, ids: store.why_not(WORDS, ids.old),
        "why_not, of a recall": lambda store, ids: store.why_not(WORDS, ids.old, max_tokens=500),
        "may_replace": lambda store, ids: store.may_replace(ids.newest[0]),
    },
    "sessions": {
        "briefing": lambda store, _: store.briefing(),
        "briefing of an agent": _sessions,
        "remind": lambda store, _: store.remind(PROMPT),
        "remind, a long prompt": lambda store, _: store.remind(LONG_PROMPT),
        "remind, in a thread": lambda store, _: store.remind(PROMPT, thread=THREAD),
    },
    "facts": {
        "get": lambda store, ids: store.get(ids.old),
        "get_many, 50": lambda store, ids: store.get_many(ids.newest),
        "exists": lambda store, _: store.exists("nothing says so", subject=LARGE),
        "list": _page(),
        "list, oldest": lambda store, _: store.list(limit=50),
        "list, a large subject": _page(subject=LARGE),
        "list, a small subject": _page(subject=SMALL),
        "list, a category": _page(category="preference"),
        "list, metadata": _page(filters={"project": "coffee"}),
        "list, rare metadata": _page(filters={"project": "no such one"}),
        "list, keys with a prefix": _page(external_key_prefix="notes/7/"),
        "list, a thread": _page(thread=THREAD),
        "list, a source": _page(source=WEB),
        "list, a source without any": _page(source="no such one"),
        "list, pinned": _page(pinned=True),
        "list, superseded": _page(states=["superseded"]),
        "list, deleted": _page(states=["deleted"]),
        "list, expired": _page(states=["expired"]),
        "list, no tasks": _page(tasks=False),
        "list, what held on a day": _page(valid_on="2020-01-01"),
        "list, stored before a time": _page(created_before="30d"),
        "list, stored after a time": _page(created_after="1m"),
        "list, deep": lambda store, ids: store.list(limit=50, before_id=ids.old + 5_000),
        "list, all namespaces": _page(namespaces="all"),
        "count": _count(),
        "count, a large subject": _count(subject=LARGE),
        "count, a category": _count(category="preference"),
        "count, metadata": _count(filters={"project": "coffee"}),
        "count, keys with a prefix": _count(external_key_prefix="notes/7/"),
        "count, a thread": _count(thread=THREAD),
        "count, pinned": _count(pinned=True),
        "count, superseded": _count(states=["superseded"]),
        "count, deleted": _count(states=["deleted"]),
        "count, with retired ones": _count(active_only=False),
        "count, all namespaces": _count(namespaces="all"),
        "history, a chain": lambda store, ids: store.history(ids.changed),
        "history, a small subject": lambda store, _: store.history(subject=SMALL),
        "history, a key": lambda store, ids: store.history(external_key=ids.key),
        "keys.get": lambda store, ids: store.keys.get(ids.key),
        "keys.folders": lambda store, _: store.keys.folders("notes/"),
        "keys.first_stored": lambda store, ids: store.keys.first_stored([ids.key]),
        "transfer.uuids": lambda store, ids: store.transfer.uuids(ids.newest),
        "transfer.identity": lambda store, _: store.transfer.identity(),
    },
    "counts": {
        "counts": lambda store, _: store.counts(),
        "status": lambda store, _: store.status(),
        "owners": lambda store, _: store.owners(),
        "namespaces": lambda store, _: store.namespaces(),
        "namespaces with a prefix": lambda store, _: store.namespaces("project 99"),
        "subjects by name": lambda store, _: store.subjects(),
        "subjects with a prefix": lambda store, _: store.subjects("subject 99"),
        "subjects by size": lambda store, _: store.subjects(order="size"),
        "subjects by change": lambda store, _: store.subjects(order="changed"),
        "sources.levels": lambda store, _: store.sources.levels(),
    },
    "tasks, proposals": {
        "tasks": lambda store, _: store.tasks.list(),
        "tasks at the start": lambda store, _: store.tasks.list(surface="startup"),
        "tasks in any state": lambda store, _: store.tasks.list(status="all", limit=20),
        "proposals": lambda store, _: store.proposals.list(limit=50),
        "proposals, count": lambda store, _: store.proposals.count(),
        "proposals, questions": lambda store, _: store.proposals.questions(limit=20),
        "proposals on a subject": lambda store, _: store.proposals.list(subject=USER, limit=50),
        "searches": lambda store, _: store.searches.list(),
        "searches.most_used": lambda store, _: store.searches.most_used(),
        "searches.never_used": lambda store, _: store.searches.never_used(),
    },
    "ledger": {
        "log of 20 acts": _log(),
        "log of 20 acts, before the large ones": lambda store, ids: store.ledger.log(
            limit=20, before=ids.before
        ),
        "log, a source": _log(source="bench"),
        "log, what is from a source": _log(source=WEB),
        "log, an actor without any": _log(actor="nobody"),
        "log, a kind": _log(kinds=["delete"]),
        "log, of a day": _log(since="1d"),
        "log, of a fact": lambda store, ids: store.ledger.log(fact=ids.changed),
        "log, deep": lambda store, ids: store.ledger.log(limit=20, before=ids.act),
        "log, of a run": lambda store, ids: store.ledger.log(limit=20, run=ids.run),
        "changes": _lines(),
        "changes, a kind": _lines(kinds=["delete"]),
        "changes, an actor without any": _lines(actor="nobody"),
        "changes, what is from a source": _lines(source=WEB),
        "changes, of a fact": lambda store, ids: store.ledger.changes(fact=ids.changed),
        "diff of a day": lambda store, _: store.ledger.diff("1d", limit=50),
        "diff of minutes": lambda store, _: store.ledger.diff("3m", limit=50),
        "diff of a month": lambda store, _: store.ledger.diff("30d", limit=50),
        "journal of a chain": lambda store, ids: store.ledger.journal(ids.changed),
        "histories, 50": lambda store, ids: store.ledger.histories(ids.newest),
        "support": lambda store, ids: store.ledger.support(ids.old),
        "explain": lambda store, ids: store.ledger.explain(ids.old),
        "activity of 28 days": lambda store, _: store.ledger.activity(),
        "activity of a year": lambda store, _: store.ledger.activity(365),
    },
    "as of a month ago": {
        "status": _then(lambda view: view.status()),
        "count": _then(lambda view: view.count()),
        "list": _then(lambda view: view.list(limit=50, newest_first=True)),
        "search": _then(lambda view: view.search(WORDS, touch=False)),
        "get": lambda store, ids: store.as_of("1h").get(ids.old),
    },
    "episodes": {
        "get": lambda store, ids: ids.episode and store.episodes.get(ids.episode),
        "list": _turns(),
        "list, a thread": _turns(thread=THREAD),
        "list, a tag": _turns(tags=["bench"]),
        "list, a source without any": _turns(source="no such one"),
        "list, a speaker": _turns(speaker="user"),
        "list, recorded before a time": _turns(created_before="30d"),
        "count": lambda store, _: store.episodes.count(),
        "count, a thread": lambda store, _: store.episodes.count(thread=THREAD),
        "count, a tag": lambda store, _: store.episodes.count(tags=["bench"]),
        "threads": lambda store, _: store.episodes.threads(),
        "threads with a prefix": lambda store, _: store.episodes.threads("session 1"),
        "around": lambda store, ids: ids.episode and store.episodes.around(ids.episode),
        "journal": lambda store, ids: ids.episode and store.episodes.journal(ids.episode),
        "by_keys": lambda store, _: store.episodes.by_keys(["none"]),
        "search": lambda store, _: store.episodes.search(WORDS),
        "search, a thread": lambda store, _: store.episodes.search(WORDS, thread=THREAD),
        "search, a tag": lambda store, _: store.episodes.search(WORDS, tags=["bench"]),
        "search without a query": lambda store, _: store.episodes.search(),
        "search with neighbours": lambda store, _: store.episodes.search(WORDS, context=2),
    },
    "graph": {
        "status": lambda store, _: store.graph.status(),
        "entities": lambda store, _: store.graph.entities(limit=20),
        "get": lambda store, ids: ids.entity and store.graph.get(ids.entity),
        "neighbours": lambda store, ids: ids.entity and store.graph.neighbours(ids.entity),
        "neighbours, three steps": lambda store, ids: (
            ids.entity and store.graph.neighbours(ids.entity, depth=3)
        ),
        "decisions": lambda store, _: store.graph.decisions(),
        "likely_same": lambda store, _: store.graph.likely_same(),
    },
    "file": {
        "head": lambda store, _: store.file.head(),
        "namespaces": lambda store, _: store.file.namespaces(),
        "newest_id": lambda store, _: store.file.newest_id(),
        "tokens": lambda store, _: store.file.tokens.list(),
        "generations": lambda store, _: store.file.generations.list(),
    },
}

TOOLS: Mapping[str, Callable[[Known], dict[str, Any]]] = {
    "memory_search": lambda _: {"query": WORDS},
    "memory_search of 500 tokens": lambda _: {"query": WORDS, "max_tokens": 500},
    "memory_list": lambda _: {},
    "memory_list of a subject": lambda _: {"subject": LARGE},
    "memory_list since a time": lambda _: {"after": "30d"},
    "memory_history": lambda ids: {"id": ids.old, "why": True},
    "memory_history of a chain": lambda ids: {"id": ids.changed},
    "memory_history of an episode": lambda ids: {"id": f"e{ids.episode}"},
    "memory_history of a subject": lambda _: {"subject": SMALL},
    "memory_status": lambda _: {},
    "memory_task_list": lambda _: {"surface": "startup"},
    "search": lambda _: {"query": WORDS},
    "get_episodes": lambda _: {},
    "get_status": lambda _: {},
    "memory_graph_entities": lambda _: {},
    "memory_graph_neighbours": lambda ids: {"name": ids.entity or "none"},
}


def tools() -> Iterator[Call]:
    """Yield the tools that read, by all that a server does with a call."""
    offered = catalogue.offered("facts,tasks,episodes,graph")
    calls = Calls(offered._replace(records=False), lambda: None)

    def called(name: str, given: Callable[[Known], dict[str, Any]]) -> Call:
        def work(store: Store, ids: Known) -> object:
            asked = {"name": name.split(" ")[0], "arguments": given(ids)}
            return calls.answer(lambda: store, asked)

        return Call("tools", name, work)

    for name, given in TOOLS.items():
        yield called(name, given)
