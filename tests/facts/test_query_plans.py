"""Query plans: facts are found by an index, in order, never by a full scan."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.embedders import WordEmbedder

import memstore
from memstore import MetadataFilter, Scope, Store
from memstore._kernel.ids import Ids
from memstore.database.engine import Transaction
from memstore.database.filters import EpisodeFilter, FactFilter
from memstore.database.tables import (
    changed_facts,
    counts,
    feeds,
    graph_reads,
    indexed,
    key_counts,
    owner_counts,
    threads,
)
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import pieces as piece_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import searches as search_table
from memstore.database.tables import vectors as vector_table
from memstore.database.tables.proposals import ProposalFilter
from memstore.domain import clock
from memstore.domain.project_names import ABOUT_THE_USER
from memstore.domain.queries import Page
from memstore.domain.status import SubjectOrder
from memstore.episodes.traces import TRACE
from memstore.telling import briefing
from memstore.telling.briefing import SESSION

N = (MetadataFilter("n", "=", 7),)
OWNERS = {"nobody": Scope(), "ana": Scope(user_id="ana"), "a run": Scope(run_id="r"), "all": None}


class Explained:
    """A transaction that explains each statement before it runs it."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self.plans: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transaction, name)

    def _explain(self, sql: str, values: Any) -> None:
        plan = self._transaction.rows(f"EXPLAIN QUERY PLAN {sql}", values or {})
        self.plans.append("; ".join(str(row[3]) for row in plan))

    def rows(self, sql: str, values: Any = None) -> Iterator[Any]:
        self._explain(sql, values)
        return self._transaction.rows(sql, values or {})

    def one(self, sql: str, values: Any = None) -> Any:
        self._explain(sql, values)
        return self._transaction.one(sql, values or {})

    def ints(self, sql: str, values: Any = None) -> list[int]:
        self._explain(sql, values)
        return self._transaction.ints(sql, values or {})

    def scalar(self, sql: str, values: Any = None) -> int:
        self._explain(sql, values)
        return self._transaction.scalar(sql, values or {})


@pytest.fixture(scope="module")
def filled(empty_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = shutil.copy(empty_file, tmp_path_factory.mktemp("filled"))
    with memstore.open(path, embedder=WordEmbedder()) as store:
        store.add_many(
            {
                "content": f"fact {n}",
                "subject": "s0" if n == 7 else f"s{n % 7 or 1}",
                "user_id": [None, "ana"][n % 2],
                "metadata": {"n": n},
                "thread": [None, "a", "b"][n % 3],
            }
            for n in range(300)
        )
        store.episodes.add_many(
            {"content": f"said {n}", "source": "x", "thread": "a"} for n in range(30)
        )
        yield store


@pytest.fixture
def explained(filled: Store) -> Iterator[Explained]:
    with filled.file.engine.read() as transaction:
        yield Explained(transaction)


def facts(owner: str, **narrowed: Any) -> FactFilter:
    return FactFilter(("default",), clock.utc_now(), scope=OWNERS[owner], **narrowed)


def open_proposals(owner: str, **narrowed: Any) -> ProposalFilter:
    return ProposalFilter(state="open", owners=OWNERS[owner], **narrowed)


def said(owner: str) -> EpisodeFilter:
    return EpisodeFilter(("default",), clock.utc_now(), scope=OWNERS[owner])


READS: dict[str, Callable[[Any, str], Any]] = {
    "list": lambda t, o: [*fact_table.select(t, facts(o), Page(limit=20, newest_first=True))],
    "list of everything": lambda t, o: [
        *fact_table.select(t, facts(o, active_only=False), Page(limit=20, newest_first=True))
    ],
    "next page": lambda t, o: [
        *fact_table.select(t, facts(o), Page(limit=20, newest_first=True, before_id=250))
    ],
    "list of a source": lambda t, o: [
        *fact_table.select(t, facts(o, source="x"), Page(limit=20, newest_first=True))
    ],
    "list of a thread": lambda t, o: [*fact_table.select(t, facts(o, thread="c"), Page(limit=20))],
    "list of an episode": lambda t, o: [
        *fact_table.select(t, facts(o, episode_id=1), Page(limit=20))
    ],
    "list of a rare subject": lambda t, o: [
        *fact_table.select(t, facts(o, subject="s0"), Page(limit=20, newest_first=True))
    ],
    "list of a frequent subject": lambda t, o: [
        *fact_table.select(t, facts(o, subject="s1"), Page(limit=1, newest_first=True))
    ],
    "next page of episodes": lambda t, o: [
        *episode_table.select(t, said(o), Page(limit=5, newest_first=True, before_id=20))
    ],
    "count": lambda t, o: fact_table.count(t, facts(o)),
    "kept count of a subject": lambda t, o: counts.facts(t, facts(o, subject="S1")),
    "count of a subject": lambda t, o: fact_table.count(t, facts(o, subject="S1")),
    "list of a category": lambda t, o: [
        *fact_table.select(t, facts(o, category="x"), Page(limit=20))
    ],
    "exists": lambda t, o: fact_table.count(t, facts(o, subject="s1", content="fact 1")),
    "said again": lambda t, o: fact_table.saying(
        t, "default", "s1", "fact 1", OWNERS[o] or Scope()
    ),
    "visible": lambda t, o: fact_table.visible(t, [1, 2, 3], facts(o)),
    "visible with metadata": lambda t, o: fact_table.visible(t, [1, 2, 3], facts(o, metadata=N)),
    "ids": lambda t, o: fact_table.select_ids(t, facts(o)),
    "ids of a subject": lambda t, o: fact_table.select_ids(t, facts(o, subject="s1")),
    "ids of a category": lambda t, o: fact_table.select_ids(t, facts(o, category="x")),
    "ids with metadata": lambda t, o: fact_table.select_ids(t, facts(o, metadata=N)),
    "count with metadata": lambda t, o: fact_table.count(t, facts(o, metadata=N)),
    "vectors": lambda t, o: vector_table.blobs(t, vector_table.FACTS, [1, 2, 3]),
    "every vector": lambda t, o: [*vector_table.batches(t, vector_table.FACTS, facts(o))],
    "vectors of owners": lambda t, o: vector_table.of_owners(
        t, vector_table.FACTS, facts(o), [1, 2, 3]
    ),
    "whether there is a vector": lambda t, o: vector_table.has_any(
        t, vector_table.FACTS, ("default",)
    ),
    "rows to index": lambda t, o: [*indexed.rows(t, indexed.FACTS, [1, 2, 3])],
    "all rows to index": lambda t, o: [*indexed.rows(t, indexed.FACTS, indexed.Range(0, 20))],
    "vectors to index": lambda t, o: [*indexed.vectors(t, indexed.FACTS, 1, 256, [1, 2, 3])],
    "all vectors to index": lambda t, o: [
        *indexed.vectors(t, indexed.FACTS, 1, 256, indexed.Range(0, 20))
    ],
    "pieces to index": lambda t, o: [
        *indexed.vectors(t, indexed.EPISODES, 1, 256, indexed.Range(0, 20))
    ],
    "every piece": lambda t, o: [
        *vector_table.batches(
            t,
            vector_table.PIECES,
            EpisodeFilter(("default",), clock.utc_now(), scope=OWNERS[o]),
        )
    ],
    "changes": lambda t, o: feeds.fact_changes(t, feeds.span(t, "memstore_fact_changes").newest),
    "neighbours": lambda t, o: fact_table.neighbours(
        t,
        fact_table.get_many(t, [2])[2],
        FactFilter(("default",), clock.utc_now(), scope=OWNERS[o] or Scope(), tasks=False),
        3,
    ),
    "neighbours among episodes": lambda t, o: episode_table.neighbours(
        t,
        episode_table.get_many(t, [2])[2],
        EpisodeFilter(("default",), clock.utc_now(), scope=OWNERS[o] or Scope()),
        3,
    ),
    "last place": lambda t, o: threads.last_seq(
        t, threads.FACTS, threads.Thread("default", "a", **(OWNERS[o] or Scope()).ids)
    ),
    "origin of a fact": lambda t, o: episode_table.origin(t, 2, "default"),
    "half-lives": lambda t, o: fact_table.births(t, [1, 2, 3], ("note",)),
    "facts": lambda t, o: fact_table.get_many(t, [1, 2, 3]),
    "subjects by their beginning": lambda t, o: key_counts.subjects(
        key_counts.KeyCounts(t, facts(o), "subject"),
        "s",
        SubjectOrder.NAME,
        key_counts.SubjectPlace("s1", 0),
        3,
    ),
    "subjects by size": lambda t, o: key_counts.subjects(
        key_counts.KeyCounts(t, facts(o), "subject"),
        "",
        SubjectOrder.SIZE,
        key_counts.SubjectPlace("s1", 3),
        3,
    ),
    "last line of a large subject": lambda t, o: changed_facts.last_line(
        t, facts(o), "s1", 301, 300
    ),
    "last line of a small subject": lambda t, o: changed_facts.last_line(t, facts(o), "s1", 5, 300),
    "subjects by their last change": lambda t, o: [
        *changed_facts.subjects_before(t, facts(o), 300)
    ],
    "owners": lambda t, o: owner_counts.of_owners(t, ("default",), 3),
    "open proposals": lambda t, o: proposal_table.select(
        t, "default", open_proposals(o), after_id=1, limit=5
    ),
    "number of open proposals": lambda t, o: proposal_table.count(
        t, "default", open_proposals(o, subject="s1", category="c", source="w")
    ),
    "chains of several facts": lambda t, o: fact_table.chains_of(t, [1, 2, 3]),
    "episodes": lambda t, o: episode_table.count(
        t, EpisodeFilter(("default",), clock.utc_now(), scope=OWNERS[o])
    ),
    "states of episodes": lambda t, o: piece_table.count_waiting(
        t, EpisodeFilter(("default",), clock.utc_now(), scope=OWNERS[o])
    ),
    "pinned for a briefing": lambda t, o: [
        *fact_table.select(t, facts(o, tasks=False, pinned=True), Page(limit=25, newest_first=True))
    ],
    "used for a briefing": lambda t, o: [
        *fact_table.most_used(t, facts(o, tasks=False), ABOUT_THE_USER, 25),
        *fact_table.uses(t, facts(o, tasks=False), ABOUT_THE_USER, 100),
    ],
    "newest for a briefing": lambda t, o: [
        *fact_table.newest_without(t, facts(o, tasks=False), ABOUT_THE_USER, 25)
    ],
    "last sessions": lambda t, o: [*episode_table.newest_threads(t, said(o), SESSION, 250)],
    "ends of a session": lambda t, o: episode_table.ends(t, said(o), "a", 12),
    "trace of a session": lambda t, o: episode_table.tagged_in_thread(t, said(o), "a", TRACE),
    "what tasks say": lambda t, o: fact_table.said(t, facts(o, subject="todo")),
    "what held on a day": lambda t, o: fact_table.superseded_but_valid(
        t, facts(o, valid_on=(clock.utc_now(), clock.utc_now()))
    ),
    "ids of a thread": lambda t, o: episode_table.of_thread(
        t, EpisodeFilter(("default",), clock.utc_now(), scope=OWNERS[o], thread="a")
    ),
    "given in searches": lambda t, o: search_table.most_given(t, facts(o), 5, {1}),
    "given of few facts": lambda t, o: search_table.most_given(t, facts(o), 5),
    "names of a graph": lambda t, o: graph_reads.count_entities(t, 1, facts(o), Ids([1])),
    "facts of an entity": lambda t, o: graph_reads.count_facts(t, facts(o), 1, Ids([1])),
    "changes by others": lambda t, o: changed_facts.authors_since(
        t, facts(o, tasks=False), 2, [*briefing.VERBS], 20_000
    ),
}
MAY_SORT = {"changes", "subjects", "list of a category", "states of episodes"}
MAY_SORT |= {"list of a thread", "list of an episode", "list of a rare subject"}
MAY_SORT |= {"subjects by size", "owners", "newest fact of a subject"}
MAY_SORT |= {"subjects by their last change", "chains of several facts"}
MAY_SORT |= {"pinned for a briefing"}  # those that are pinned, and no others
MAY_SORT |= {"what tasks say", "given in searches", "given of few facts", "names of a graph"}
MAY_SORT |= {"changes by others", "last sessions"}  # no more rows than were asked for
MADE = (
    "json",
    "element",
    "e VIRTUAL TABLE",
    "p USING INDEX idx_memstore_proposal_open",
    "held",
    "newest",
    "CONST",
    "up",
    "chain",
    "t",
    "d",
)
"""Lists of ids, rows or counts that were made already, and the few facts that are distrusted."""
SORTED_FOR_ALL = {"ends of a session", "trace of a session"}
"""The index has the rows of each owner in order."""


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("read", READS)
def test_reads_use_an_index(explained: Explained, read: str, owner: str) -> None:
    READS[read](explained, owner)
    assert explained.plans
    for plan in explained.plans:
        scanned = [step for step in plan.split("; ") if step.startswith("SCAN")]
        assert [
            step for step in scanned if not step.startswith(tuple(f"SCAN {name}" for name in MADE))
        ] == []
        if read not in MAY_SORT and not (owner == "all" and read in SORTED_FOR_ALL):
            assert "TEMP B-TREE" not in plan, plan
    if read == "said again":
        assert "idx_memstore_claim" in explained.plans[0]
    if read.startswith("visible"):
        assert explained.plans[0].startswith("SEARCH f USING INTEGER PRIMARY KEY")
    if read == "used for a briefing":
        index = "idx_memstore_most_used" if owner == "all" else "idx_memstore_used"
        assert all(f"USING INDEX {index} (" in plan for plan in explained.plans)
    if read == "pinned for a briefing":
        assert "idx_memstore_pinned" in explained.plans[-1]
    if read == "last sessions":
        newest = "CO-ROUTINE newest; SEARCH e USING INDEX idx_memstore_episode_seen (namespace=?); "
        assert explained.plans[0].startswith(newest)
        assert "; SCAN newest; " in explained.plans[0]
    if read == "changes by others":  # as many lines as were asked for, however many facts there are
        plan = "SEARCH j USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
        assert explained.plans[-1].startswith(plan)
    if read.startswith("neighbours"):
        before, after = explained.plans[-2:]
        assert "thread=? AND user_id=? AND agent_id=? AND run_id=? AND seq<?)" in before
        assert "thread=? AND user_id=? AND agent_id=? AND run_id=? AND seq>?)" in after
    if read == "ids of a thread":
        assert "USING COVERING INDEX idx_memstore_episode_thread" in explained.plans[0]
    if read == "what held on a day":
        found = "SEARCH f USING INDEX idx_memstore_superseded_by"
        assert explained.plans[0].startswith(found)
        assert "SEARCH n USING INTEGER PRIMARY KEY" in explained.plans[0]
    if read == "last place":
        assert "USING COVERING INDEX idx_memstore_threads" in explained.plans[0]
    if read == "kept count of a subject":
        assert "AND key=?)" in explained.plans[-1]
    if read == "next page":
        assert "id<?" in explained.plans[-1]
    if read == "next page of episodes":
        assert "idx_memstore_episode_seen (namespace=? AND created_at<?)" in explained.plans[-1]
    if read == "open proposals":  # in order, as many as were asked for
        assert "SEARCH p USING INDEX idx_memstore_proposal_open" in explained.plans[0]
    for rare, index in (("source", "source"), ("thread", "threads"), ("subject", "subject")):
        if read in (f"list of a {rare}", f"list of a rare {rare}"):
            assert f"INDEX idx_memstore_{index} (" in explained.plans[-1]
    if read == "list of an episode":
        assert "SEARCH f USING INDEX idx_memstore_fact_episode" in explained.plans[-1]
    if read == "list of a frequent subject" and owner == "all":
        assert "SEARCH f USING INDEX idx_memstore_namespace" in explained.plans[-1]
    if read == "subjects by their beginning":  # read in order, as many as were asked for
        index = "idx_memstore_count_key" if owner == "all" else "PRIMARY KEY"
        assert index in explained.plans[-1]
        assert "key>? AND key<?" in explained.plans[-1]
    if read == "subjects by their last change":
        first = explained.plans[0].removeprefix("CO-ROUTINE")
        assert "SEARCH j USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)" in first
    if read == "last line of a large subject":
        newest, after = explained.plans[:2]
        assert "SEARCH f USING COVERING INDEX idx_memstore_subject" in newest
        assert "SEARCH j USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)" in after
    if read == "ids of a subject":
        assert "idx_memstore_subject" in explained.plans[0]
    if read in ("ids with metadata", "count with metadata"):
        assert "memstore_fact_members USING PRIMARY KEY (key=?" in explained.plans[0]
