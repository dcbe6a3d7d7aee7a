"""The graph: built on request from facts, showing only what active facts state."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.clock import ManualClock, counting_calls
from tests.support.examples import examples
from tests.support.raw import raw, sql

import memstore
from memstore import Conflict, NotFound, Store
from memstore.database.changes import Changes, Line
from memstore.database.journal import Author
from memstore.database.tables import entity_decisions as decision_table
from memstore.domain import clock
from memstore.domain.entities import EntityDecision, Neighbours
from memstore.graph.decisions import bring_decision
from memstore.text.names import name_key

TABLES = {
    "memstore_entity_names": ("id & 0xffffffff, entity_id & 0xffffffff, key, name", "id"),
    "memstore_mentions": ("name_id & 0xffffffff, fact_id", "name_id"),
    "memstore_relations": (
        "source_id & 0xffffffff, target_id & 0xffffffff, fact_id, label",
        "source_id",
    ),
}
"""The columns of a graph without the number of its build, and which of them holds it."""

FACTS = (
    ("alice", "Alice works at GitHub"),
    ("alice", "Alice's brother is Bob Smith"),
    ("bob smith", "Bob Smith lives in New York City"),
    ("github", "GitHub is based in San Francisco"),
    ("san francisco", "The mayor of San Francisco met Alice"),
)


@pytest.fixture
def store(open_store: Callable[..., Store], manual_clock: ManualClock) -> Store:
    """Yield a store whose builds take no pauses."""
    return open_store(embedder=None)


def fill(store: Store) -> list[int]:
    return [store.add(content, subject=subject).id for subject, content in FACTS]


def near(found: Neighbours) -> dict[str, int]:
    return {one.entity.name: one.distance for one in found}


def ways(found: Neighbours) -> dict[str, list[list[tuple[str, str, str]]]]:
    return {
        one.entity.name: [[(r.source, r.label, r.target) for r in step] for step in one.path]
        for one in found
    }


def rows(path: Path, state: str = "= 'current'") -> dict[str, list[Any]]:
    """Return the contents of the graphs in a state, numbered within each."""
    graphs = f"SELECT id FROM memstore_graphs WHERE state {state}"
    with raw(path) as file:
        return {
            table: file.execute(
                f"SELECT {columns} FROM {table} WHERE {own} >> 32 IN ({graphs}) ORDER BY 1, 2"
            ).fetchall()
            for table, (columns, own) in TABLES.items()
        }


def count_rows(path: Path) -> int:
    """Return the number of graph rows, including those that belong to no graph."""
    return sum(sql(path, f"SELECT count(*) FROM {table}")[0][0] for table in TABLES)


def bytes_of(path: Path) -> bytes:
    files = (path, Path(f"{path}-wal"))
    return b"".join(file.read_bytes() for file in files if file.exists())


def test_graph_is_built_only_on_request(store: Store, path: Path) -> None:
    fill(store)
    store.search("Alice")
    assert store.graph.status().built_at is None
    assert store.graph.entities() == []
    assert not any(rows(path).values())
    with pytest.raises(NotFound, match="'default' was never built"):
        store.graph.neighbours("Alice")


def test_neighbours_have_a_distance_a_path_and_facts(store: Store) -> None:
    ids = fill(store)
    built = store.graph.build()
    assert (built.status.facts, built.status.entities, built.status.relations) == (5, 5, 5)
    found = store.graph.neighbours("alice", depth=2)
    assert found.entity.name == "Alice"
    assert near(found) == {"GitHub": 1, "Bob Smith": 1, "San Francisco": 1, "New York City": 2}
    assert ways(found)["New York City"] == [
        [("Alice", "brother", "Bob Smith")],
        [("Bob Smith", "lives in", "New York City")],
    ]
    assert [r.facts[0].id for step in found[3].path for r in step] == [ids[1], ids[2]]
    assert found.cut is None
    assert near(store.graph.neighbours("Alice")) == {
        "GitHub": 1,
        "Bob Smith": 1,
        "San Francisco": 1,
    }


def test_relations_in_one_step_are_ordered_by_fact_count(store: Store) -> None:
    for content in ("Alice works at GitHub", "Alice works at GitHub again", "Hi, GitHub"):
        store.add(content, subject="alice")
    newest = store.add("Alice left GitHub", subject="alice")
    store.graph.build()
    (found,) = store.graph.neighbours("GitHub")
    (step,) = found.path
    assert [(r.label, r.fact_count) for r in step] == [
        ("works at", 2),
        ("left", 1),
        ("mentions", 1),
    ]
    assert step[1].facts == (newest,)
    assert found.entity.facts == 4


def test_cycles_are_followed_once(store: Store) -> None:
    ring = ["Ada Lovelace", "Bob Smith", "Cid Campeador", "Dan Brown"]
    for here, there in zip(ring, [*ring[1:], ring[0]], strict=True):
        store.add(f"{here} knows {there}", subject=here)
    store.graph.build()
    for depth in (2, 5):
        found = store.graph.neighbours("Ada Lovelace", depth=depth)
        assert near(found) == {"Bob Smith": 1, "Dan Brown": 1, "Cid Campeador": 2}


@pytest.mark.parametrize("depth", [0, 6, -1, True, 1.5, "2"])
def test_a_depth_out_of_range_is_refused(store: Store, depth: Any) -> None:
    with pytest.raises(ValueError, match="depth must be a whole number from 1 to 5"):
        store.graph.neighbours("Alice", depth=depth)


@pytest.mark.parametrize("limit", [0, 1001, True, None])
def test_a_limit_out_of_range_is_refused(store: Store, limit: Any) -> None:
    for call in (store.graph.entities, store.graph.likely_same):
        with pytest.raises(ValueError, match="limit must be a whole number from 1 to 1000"):
            call(limit=limit)
    with pytest.raises(ValueError, match="limit must be"):
        store.graph.neighbours("Alice", limit=limit)


def test_an_answer_reports_what_it_leaves_out(store: Store) -> None:
    store.add_many(
        {"subject": "alice", "content": f"Alice knows Nr{place} Person"} for place in range(30)
    )
    store.add("Nr3 Person knows Zed Zimmer", subject="nr3 person")
    store.graph.build()
    found = store.graph.neighbours("Alice", depth=3, limit=10)
    assert len(found) == 10
    assert found.cut == "20 more, and everything more than 1 step away; use a larger limit"
    # The one with the most facts between comes first.
    store.add("Alice met Nr7 Person", subject="alice")
    store.graph.build()
    assert store.graph.neighbours("Alice", limit=1)[0].entity.name == "Nr7 Person"
    found = store.graph.neighbours("Alice", depth=3, limit=1000)
    assert (len(found), found.cut) == (31, None)


def test_search_through_too_many_entities_reports_its_limit(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memstore.database.tables.graph_reads.MAX_STEPS", 8)
    store.add_many(
        {"subject": "alice", "content": f"Alice knows Nr{place} Person"} for place in range(30)
    )
    store.graph.build()
    found = store.graph.neighbours("Alice", depth=5, limit=1000)
    assert len(found) == 7
    assert found.cut is not None
    assert "the search ended after 8 entities" in found.cut


def test_unknown_entity_suggests_listing_entities(store: Store) -> None:
    fill(store)
    store.graph.build()
    for call in (store.graph.get, store.graph.neighbours):
        with pytest.raises(NotFound, match="no entity 'Zoe'"):
            call("Zoe")


def test_outdated_graph_shows_no_inactive_facts(store: Store) -> None:
    ids = fill(store)
    store.graph.build()
    store.add("Bob Smith lives in Oslo", subject="bob smith", supersedes=ids[2])
    store.delete(ids[3])
    found = store.graph.neighbours("Alice", depth=5)
    assert near(found) == {"GitHub": 1, "Bob Smith": 1, "San Francisco": 1}
    assert {one.name for one in store.graph.entities()} == set(near(found)) | {"Alice"}
    with pytest.raises(NotFound):
        store.graph.get("New York City")
    status = store.graph.status()
    assert (status.facts, status.entities, status.changed) == (5, 4, 3)
    store.restore(ids[3])
    assert near(store.graph.neighbours("GitHub"))["San Francisco"] == 1
    assert store.graph.build().status.changed == 0
    assert near(store.graph.neighbours("Bob Smith"))["Oslo"] == 1


def test_a_fact_that_expired_after_the_build_is_not_shown(
    store: Store, manual_clock: ManualClock
) -> None:
    expires = clock.utc_now() + timedelta(days=1)
    store.add("Alice works at GitHub", subject="alice", expired_at=expires)
    store.graph.build()
    assert near(store.graph.neighbours("alice")) == {"GitHub": 1}
    manual_clock.advance(2 * 86_400)
    assert store.graph.entities() == []


def test_a_name_found_only_in_a_deleted_fact_is_not_shown(store: Store) -> None:
    store.add("Alice works here", subject="alice")
    secret = store.add("Alice Witness works here", subject="x1")
    store.graph.merge("Alice", "Alice Witness")
    store.graph.build()
    assert store.graph.get("alice").names == ("Alice Witness", "Alice")
    store.delete(secret.id)
    assert store.graph.get("alice").names == ("Alice",)
    assert store.graph.get("Alice Witness").names == ("Alice",)


def test_only_facts_of_the_requested_owners_count(store: Store) -> None:
    store.add("Alice works at GitHub", subject="alice", user_id="ana")
    store.add("Alice knows Bob Smith", subject="alice", user_id="ben")
    store.graph.build()
    assert near(store.of(user_id="ana").graph.neighbours("Alice")) == {"GitHub": 1}
    assert {e.name for e in store.of(user_id="ben").graph.entities()} == {
        "Alice",
        "Bob Smith",
    }
    with pytest.raises(NotFound):
        store.of(user_id="ben").graph.get("GitHub")


def of_every_owner(store: Store) -> list[Any]:
    """Return all that the graph says to each."""
    found: list[Any] = []
    for one in (store, store.of("all"), store.of(user_id="ana"), store.of(user_id="nobody else")):
        entities = one.graph.entities(limit=1000)
        found += [
            one.graph.status(),
            entities,
            one.graph.likely_same(),
            one.graph.entities(limit=2),
        ]
        for entity in entities:
            found += [one.graph.get(entity.name), one.graph.neighbours(entity.name, depth=2)]
    return found


@pytest.mark.parametrize("few", [0, 100_000])
def test_an_open_index_changes_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr("memstore.database.tables.graph_reads.FEW_FACTS", few)
    chance = Random(3)
    names = ["Alice Smith", "Alice", "Bob Miller", "New York City", "NYC", "Carol", "Acme"]
    ids = [
        store.of(user_id=chance.choice([None, None, "ana", "ben"]))
        .add(
            f"{chance.choice(names)} met {chance.choice(names)} ({n})", subject=chance.choice(names)
        )
        .id
        for n in range(60)
    ]
    store.graph.build()
    every = store.of("all")
    for fact_id in chance.sample(ids, 25):
        every.delete(fact_id)
    store.graph.merge("Carol", "Bob Miller")
    store.add("Alice met Dora", subject="dora")
    assert not store.file.searches.facts.index.is_open
    without = of_every_owner(store)
    store.file.warm()
    store.search("Alice", touch=False)
    assert store.file.searches.facts.index.is_open
    assert of_every_owner(store) == without


def test_each_namespace_has_its_own_graph(open_store: Callable[..., Store]) -> None:
    one, two = (open_store(embedder=None, namespace=name) for name in ("one", "two"))
    fill(one)
    two.add("Alice knows Zed Zimmer", subject="alice")
    one.graph.build()
    assert two.graph.status().built_at is None
    two.graph.build()
    two.graph.merge("Alice", "GitHub")
    assert near(two.graph.neighbours("Alice")) == {"Zed Zimmer": 1}
    assert len(one.graph.neighbours("Alice")) == 3
    two.clear()
    assert len(one.graph.entities()) == 5
    assert two.graph.entities() == []


def test_the_same_facts_give_the_same_graph(
    open_store: Callable[..., Store], store: Store, path: Path, tmp_path: Path
) -> None:
    fill(store)
    store.graph.merge("Bob Smith", "San Francisco")
    store.graph.build()
    before = rows(path)
    assert before["memstore_relations"]
    store.graph.build()
    assert rows(path) == before
    other = open_store(tmp_path / "other.db", embedder=None)
    fill(other)
    other.graph.build()
    other.graph.merge("San Francisco", "Bob Smith")
    assert rows(tmp_path / "other.db") == before


KILLED = """
import os, signal, sys, memstore
from memstore.database.changes import Changes
from memstore.database.tables import graph as graph_table
from memstore.domain import clock
from memstore.graph import graph as build

def killed(*a, **k):
    os.kill(os.getpid(), signal.SIGKILL)

def switched(*a, **k):
    write(*a, **k)
    killed()

class Steps(clock.Clock):
    left = int(sys.argv[2])
    def sleep(self, seconds):
        self.left -= 1
        if self.left == 0:
            killed()

build.ROWS_PER_STEP = 4
write = Changes.write
if sys.argv[2] == "0":
    Changes.write = switched
with clock.use(Steps()):
    memstore.open(sys.argv[1], embedder=None).graph.build()
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal")
@pytest.mark.parametrize("steps", [0, 1, 4, 7, 9])
def test_killed_build_leaves_a_complete_graph(store: Store, path: Path, steps: int) -> None:
    fill(store)
    store.graph.build()
    before = rows(path)
    secret = store.add("Zed Zimmer knows Alice", subject="zed zimmer")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), str(steps)], timeout=60, check=False
    )
    assert done.returncode == -signal.SIGKILL
    # Writing takes seven steps; a later kill interrupts the removal of the old graph.
    new = steps > 7
    assert (rows(path) == before) is not new
    assert store.graph.status().changed == (0 if new else 1)
    assert ("Zed Zimmer" in near(store.graph.neighbours("Alice"))) is new
    assert count_rows(path) > sum(map(len, rows(path).values()))
    assert store.file.doctor() == []
    # The rows of the killed build are removed with the fact as well.
    store.erase(secret.id)
    assert re.findall(b"[Zz]immer", bytes_of(path)) == []
    store.graph.build()
    assert rows(path) == before
    assert count_rows(path) == sum(map(len, before.values()))


class Steps(clock.Clock):
    """Runs a callback at each pause between the steps of writing a graph."""

    def __init__(self, what: Callable[[int], object]) -> None:
        self._what = what
        self.taken: list[int] = []

    def sleep(self, seconds: float) -> None:
        self.taken.append(len(self.taken))
        self._what(len(self.taken))


EveryStep = Callable[[Callable[[int], object]], list[int]]


@pytest.fixture
def every_step(monkeypatch: pytest.MonkeyPatch) -> Iterator[EveryStep]:
    """Run a callback between the steps of writing a graph, of a few rows each."""
    from memstore.graph import graph as build

    monkeypatch.setattr(build, "ROWS_PER_STEP", 4)
    with ExitStack() as stack:

        def begin(what: Callable[[int], object]) -> list[int]:
            steps = Steps(what)
            stack.enter_context(clock.use(steps))
            return steps.taken

        yield begin


def test_writers_wait_at_most_one_step_while_a_graph_is_written(
    store: Store, open_store: Callable[..., Store], every_step: EveryStep, path: Path
) -> None:
    other = open_store(embedder=None, wait_seconds=0.0)
    fill(store)
    store.graph.build()
    before = rows(path)

    def write(step: int) -> None:
        other.add(f"Step {step}", subject="x")
        assert rows(path) == before or step > 7

    taken = every_step(write)
    store.graph.build()
    assert len(taken) > 10
    assert store.graph.status().changed == len(taken)
    assert store.graph.status().facts == len(FACTS)


@pytest.mark.parametrize("step", range(1, 8))
def test_a_fact_erased_while_the_graph_is_written_leaves_nothing_in_it(
    store: Store, path: Path, every_step: EveryStep, step: int
) -> None:
    ids = fill(store)
    every_step(lambda now: now == step and store.erase(ids[2]))
    assert store.graph.build().status.facts == 4
    assert near(store.graph.neighbours("Alice")) == {
        "GitHub": 1,
        "Bob Smith": 1,
        "San Francisco": 1,
    }
    assert store.file.doctor() == []
    store.close()
    assert b"New York" not in bytes_of(path)
    assert b"new york" not in bytes_of(path)


@pytest.mark.parametrize("step", range(8, 13))
def test_a_fact_erased_while_the_old_graph_is_being_removed_leaves_nothing_in_it(
    store: Store, path: Path, every_step: EveryStep, step: int
) -> None:
    ids = fill(store)
    store.graph.build()

    def stop(now: int) -> None:
        if now == step:
            raise KeyboardInterrupt

    every_step(stop)
    with pytest.raises(KeyboardInterrupt):
        store.graph.build()
    assert store.graph.status().changed == 0
    store.erase(ids[2])
    assert store.file.doctor() == []
    store.close()
    assert re.findall(b"(?i)new york", bytes_of(path)) == []


def test_a_decision_made_while_the_graph_is_written_applies_to_it(
    store: Store, path: Path, every_step: EveryStep
) -> None:
    fill(store)
    store.graph.merge("Alice", "GitHub")

    def decide(step: int) -> None:
        if step == 3:
            store.graph.forget("Alice", "GitHub")
            store.graph.merge("Bob Smith", "San Francisco")

    every_step(decide)
    store.graph.build()
    assert store.graph.get("Bob Smith").names == ("San Francisco", "Bob Smith")
    assert store.graph.get("Alice").names == ("Alice",)
    assert store.file.doctor() == []


@pytest.mark.parametrize("what", ["build", "drop", "clear"])
def test_build_is_abandoned_if_the_graph_changed_since_it_began(
    store: Store,
    open_store: Callable[..., Store],
    path: Path,
    every_step: EveryStep,
    what: str,
) -> None:
    other = open_store(embedder=None)
    fill(store)
    done: list[str] = []

    def interrupt(step: int) -> None:
        if step == 3 and not done:
            done.append(what)
            other.clear() if what == "clear" else getattr(other.graph, what)()

    every_step(interrupt)
    with pytest.raises(Conflict, match=r"in the meantime; this build was abandoned"):
        store.graph.build()
    assert (store.graph.status().built_at is not None) is (what == "build")
    assert store.file.doctor() == []
    assert count_rows(path) == sum(map(len, rows(path).values()))
    store.graph.build()
    assert len(store.graph.entities()) == (0 if what == "clear" else 5)


def test_a_fact_erased_while_the_graph_is_derived_leaves_nothing_in_it(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memstore.graph import graph as build

    ids = fill(store)
    derive = build.derive

    def slow(*arguments: Any) -> Any:
        derived = derive(*arguments)
        store.erase(ids[1])
        store.erase(ids[2])
        return derived

    monkeypatch.setattr(build, "derive", slow)
    assert store.graph.build().status.facts == 3
    assert near(store.graph.neighbours("Alice")) == {"GitHub": 1, "San Francisco": 1}
    store.close()
    assert b"New York" not in bytes_of(path)


def test_other_writers_are_not_blocked_by_a_build(
    store: Store, open_store: Callable[..., Store]
) -> None:
    other = open_store(embedder=None)
    fill(store)
    failures: list[Exception] = []

    def build() -> None:
        try:
            for _ in range(10):
                other.graph.build()
        except Exception as error:  # noqa: BLE001 - told below
            failures.append(error)

    builder = threading.Thread(target=build)
    builder.start()
    for place in range(60):
        store.add(f"Alice knows Nr{place} Person", subject="alice")
        store.graph.entities()
    builder.join()
    assert failures == []
    store.graph.build()
    assert len(store.graph.neighbours("Alice", limit=100)) == 63
    assert store.file.doctor() == []


def test_erasing_a_fact_removes_its_relations_and_names_at_once(store: Store, path: Path) -> None:
    fill(store)
    secret = store.add("Alice met Deep Throat of GitHub", subject="alice")
    store.graph.build()
    store.graph.merge("Deep Throat", "Bob Smith")
    assert "Deep Throat" in store.graph.get("Bob Smith").names
    assert store.erase(secret.id)
    assert store.graph.decisions() == []
    assert store.graph.get("Bob Smith").names == ("Bob Smith",)
    assert "Deep Throat" not in {name for e in store.graph.entities() for name in e.names}
    assert near(store.graph.neighbours("Alice")) == {
        "GitHub": 1,
        "Bob Smith": 1,
        "San Francisco": 1,
    }
    assert store.file.doctor() == []
    store.close()
    assert b"Deep Throat" not in bytes_of(path)
    assert b"deep throat" not in bytes_of(path)


def test_an_import_that_erases_a_fact_removes_it_from_the_graph(
    store: Store, tmp_path: Path
) -> None:
    secret = store.add("Alice met Deep Throat of GitHub", subject="alice")
    with memstore.open(tmp_path / "other.db", embedder=None) as other:
        other.transfer.import_(store.transfer.export())
        other.graph.build()
        other.graph.merge("Deep Throat", "Bob Smith")
        store.erase(secret.id)
        assert other.transfer.import_(store.transfer.export()).removed == 1
        assert (other.graph.entities(), other.graph.decisions()) == ([], [])
        assert other.file.doctor() == []


@pytest.mark.process
def test_erasing_from_the_graph_does_not_load_the_graph_code(store: Store, path: Path) -> None:
    secret = store.add("Alice met Deep Throat of GitHub", subject="alice")
    store.graph.build()
    program = (
        "import memstore, sys\n"
        f"with memstore.open(sys.argv[1], embedder=None) as store: store.erase({secret.id})\n"
        "print('memstore.graph.graph' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
    assert store.graph.entities() == []


def test_a_decision_stays_while_another_fact_contains_its_names(store: Store) -> None:
    fill(store)
    again = store.add("Bob Smith and Alice met", subject="x1")
    old = store.add("Bobby was here", subject="bobby")
    store.delete(old.id)
    store.graph.merge("Bob Smith", "Bobby")
    store.erase(again.id)
    # A tombstone keeps its text, so the name is in the file with or without the decision.
    assert [one.right for one in store.graph.decisions()] == ["Bobby"]
    store.erase(old.id)
    assert store.graph.decisions() == []


def test_erasing_a_name_keeps_its_entity(store: Store) -> None:
    first = store.add("Nothing", subject="Al Smith")
    store.add("Nothing", subject="Alice Smith")
    store.add("Nothing", subject="A. Smith")
    store.graph.merge("Al Smith", "Alice Smith")
    store.graph.merge("Al Smith", "A. Smith")
    store.graph.build()
    assert store.graph.get("A. Smith").facts == 3
    store.erase(first.id)
    # The decision that linked the two named the erased one.
    assert store.graph.get("A. Smith").names == ("A. Smith",)
    assert store.graph.get("alice smith").names == ("Alice Smith",)
    assert store.file.doctor() == []


def test_clearing_a_namespace_clears_graph_and_decisions(store: Store, path: Path) -> None:
    fill(store)
    store.graph.build()
    store.graph.merge("Alice", "Alice of Somewhere")
    store.clear()
    assert store.graph.decisions() == []
    assert store.graph.status().built_at is None
    assert store.file.doctor() == []
    store.close()
    assert not any(rows(path).values())
    assert b"Somewhere" not in bytes_of(path)


def test_dropping_the_graph_keeps_decisions(store: Store, path: Path) -> None:
    fill(store)
    store.graph.build()
    store.graph.merge("Alice", "Bob Smith")
    store.graph.drop()
    assert not any(rows(path).values())
    store.graph.build()
    assert store.graph.get("alice").names == ("Bob Smith", "Alice")


def test_a_merge_applies_at_once_and_after_every_build(store: Store) -> None:
    fill(store)
    store.graph.build()
    store.graph.merge("alice", "BOB SMITH")
    for _ in range(2):
        found = store.graph.neighbours("Alice")
        assert found.entity.name == "Bob Smith"
        assert found.entity.names == ("Bob Smith", "Alice")
        # The relation between the two is gone.
        assert near(found) == {"GitHub": 1, "San Francisco": 1, "New York City": 1}
        store.graph.build()
    store.graph.forget("bob smith", "Alice")
    assert near(store.graph.neighbours("Alice"))["Bob Smith"] == 1
    assert store.graph.decisions() == []


def test_aliases_are_recognised_from_the_next_build_on(store: Store) -> None:
    fill(store)
    store.add("Everybody likes the red queen", subject="x1")
    store.graph.merge("the red queen", "Alice")
    store.graph.build()
    assert near(store.graph.neighbours("x1")) == {"the red queen": 1}
    assert store.graph.get("alice").names == ("the red queen", "Alice")


def test_a_merged_name_found_in_no_fact_resolves_to_its_entity(store: Store) -> None:
    fill(store)
    store.graph.build()
    store.graph.merge("Wonderland's Alice", "Alice")
    assert store.graph.get("wonderland's alice").name == "Alice"


def test_contradictory_decisions_are_refused_with_the_chain(store: Store) -> None:
    graph = store.graph
    graph.merge("A1", "B1")
    graph.merge("B1", "C1")
    with pytest.raises(Conflict, match="'A1' is 'B1', and 'B1' is 'C1'"):
        graph.keep_apart("a1", "c1")
    graph.keep_apart("C1", "D1")
    with pytest.raises(Conflict, match=r"'D1' is not 'C1', and 'C1' is 'B1', and 'B1' is 'A1'"):
        graph.merge("D1", "A1")
    graph.merge("D1", "E1")
    with pytest.raises(Conflict, match=r"'A1' is 'B1', .*'C1' is not 'D1', and 'D1' is 'E1'"):
        graph.merge("A1", "E1")
    with pytest.raises(Conflict, match="'C1' is not 'D1'"):
        graph.merge("C1", "D1")
    graph.forget("D1", "C1")
    graph.merge("D1", "A1")
    assert len(graph.decisions()) == 4


def test_repeating_a_decision_has_no_effect(store: Store) -> None:
    first = store.graph.merge("Bob", "Alice")
    assert (first.left, first.right) == ("Alice", "Bob")
    assert store.graph.merge("ALICE", "bob") == first
    assert store.graph.decisions() == [first]


def test_a_decision_needs_two_different_names(store: Store) -> None:
    for call in (store.graph.merge, store.graph.keep_apart):
        with pytest.raises(ValueError, match="are one name"):
            call("Alice  Smith", "ALICE SMITH")
        with pytest.raises(ValueError, match="right is empty"):
            call("Alice", " ")
    with pytest.raises(NotFound, match="nothing was decided about 'Alice' and 'Bob'"):
        store.graph.forget("Alice", "Bob")


def test_the_journal_records_who_decided_but_no_names(
    open_store: Callable[..., Store], path: Path
) -> None:
    store = open_store(embedder=None, actor="ben", source="test")
    store.graph.merge("Alice", "Bob")
    store.graph.forget("Alice", "Bob")
    store.graph.keep_apart("Alice", "Bob")
    fill(store)
    store.graph.build()
    store.close()
    lines = sql(
        path,
        "SELECT kind, actor, before, after FROM memstore_journal WHERE fact_id IS NULL ORDER BY id",
    )
    assert [line[0] for line in lines] == ["same_entity", "undecide", "other_entity", "graph"]
    assert {line[1] for line in lines} == {"ben"}
    assert "Bob" not in str(lines)


STEPS = st.lists(
    st.tuples(st.sampled_from(["merge", "keep_apart", "forget"]), *[st.sampled_from("ABCDE")] * 2),
    max_size=12,
)


@settings(max_examples=examples(40), deadline=None)
@given(steps=STEPS)
def test_decisions_are_refused_exactly_when_they_contradict(
    fresh: Callable[[], Store],
    steps: list[tuple[str, str, str]],
) -> None:
    held: dict[frozenset[str], bool] = {}

    def one_with(name: str) -> set[str]:
        found = {name}
        while more := {n for pair, same in held.items() if same and pair & found for n in pair}:
            if more <= found:
                break
            found |= more
        return found

    def allowed(left: str, right: str, same: bool) -> bool:
        ours, others = one_with(left), one_with(right)
        if not same:
            return right not in ours
        return not any(
            not s and len(pair & ours) and len(pair & others) and pair <= ours | others
            for pair, s in held.items()
        )

    store = fresh()
    for letter in "ABCDE":
        store.add("Nothing", subject=f"{letter}{letter}")
    with clock.use(ManualClock()):
        store.graph.build()
    for what, left, right in steps:
        if left == right:
            continue
        pair = frozenset((left, right))
        call = getattr(store.graph, what)
        names = (left * 2, right * 2)
        if what == "forget":
            if pair in held:
                call(*names)
                del held[pair]
            else:
                with pytest.raises(NotFound):
                    call(*names)
        elif allowed(left, right, what == "merge"):
            call(*names)
            held[pair] = what == "merge"
        else:
            with pytest.raises(Conflict):
                call(*names)
    for letter in "ABCDE":
        shown = {name[0] for name in store.graph.get(letter * 2).names}
        assert shown == one_with(letter)
    assert store.file.doctor() == []


def test_thousands_of_decisions_add_little_work_to_a_build(store: Store) -> None:
    def decided(kept: decision_table.Kept) -> Line:
        return Line("same_entity", after={"namespace": kept.namespace, "decision": kept.id})

    at = clock.utc_now()
    with store.file.engine.write() as transaction:
        changes = Changes(transaction, Author("ben", "test"))
        for number in range(3000):
            left, right = f"Human {number}", f"Person {number}"
            keys = (name_key(left), name_key(right))
            one = EntityDecision(left=left, right=right, same=True, actor="ben", at=at)
            decision_table.insert(changes, "default", keys, one, decided)
    store.add("Human 7 knows Human 8", subject="person 7")
    with counting_calls() as calls:
        store.graph.build()
        store.graph.merge("Human 7", "Human 9")
    # Comparing each with every other would take millions of comparisons.
    assert calls[0] < 500_000
    assert store.file.doctor() == []
    assert store.graph.get("Person 9").names == ("person 7", "Human 7")


def test_decisions_are_imported_unless_they_contradict(store: Store) -> None:
    store.graph.keep_apart("A1", "B1")
    at = clock.from_text("2026-01-01")

    def brought(left: str, right: str, same: bool) -> bool:
        decision = EntityDecision(left=left, right=right, same=same, actor="ben", at=at)
        with store.file.engine.write() as transaction:
            return bring_decision(Changes(transaction, store.file.author), "default", decision)

    assert [brought(*one) for one in (("A1", "B1", True), ("b1", "a1", False))] == [False, False]
    assert brought("B1", "C1", True)
    assert not brought("C1", "A1", True)
    with store.file.engine.read() as transaction:
        out = list(decision_table.everything(transaction, ["default"]))
        assert out == list(decision_table.everything(transaction))
    assert [(space, one.left, one.same, one.actor) for space, one in out] == [
        ("default", "A1", False, "user"),
        ("default", "B1", True, "ben"),
    ]
    assert out[1][1].at == at


def test_likely_pairs_are_proposed_and_none_is_merged(store: Store) -> None:
    for subject in ("Alice", "Alice Smith", "A. Smith", "NYC", "New York City", "Globex"):
        store.add("Nothing", subject=subject)
    store.add("Nothing more", subject="Alice")
    store.graph.build()

    def likely() -> set[tuple[str, ...]]:
        return {(*sorted((p.left.name, p.right.name)),) for p in store.graph.likely_same()}

    assert likely() == {
        ("Alice", "Alice Smith"),
        ("A. Smith", "Alice Smith"),
        ("NYC", "New York City"),
    }
    assert len(store.graph.entities()) == 6
    assert len(store.graph.likely_same(limit=1)) == 1
    store.graph.keep_apart("NYC", "New York City")
    store.graph.merge("Alice", "Alice Smith")
    assert likely() == {("A. Smith", "Alice Smith")}
    store.graph.keep_apart("Alice", "A. Smith")
    assert likely() == set()


def test_entities_are_ordered_by_the_number_of_their_facts(store: Store) -> None:
    fill(store)
    store.graph.build()
    every = store.graph.entities()
    assert [one.facts for one in every] == sorted((one.facts for one in every), reverse=True)
    assert every[0].name == "Alice"
    assert store.graph.entities(limit=2, offset=1) == every[1:3]
    with pytest.raises(ValueError, match="offset"):
        store.graph.entities(offset=-1)


def test_entities_with_many_facts_of_others_come_after_those_with_own_ones(store: Store) -> None:
    bob = store.of(user_id="bob")
    for number in range(12):
        store.add(f"Postgres runs job {number}", subject="Postgres")
    for name, own in {"Postgres": 1, "Redis": 3, "Kafka": 2}.items():
        for number in range(own):
            bob.add(f"{name} keeps queue {number}", subject=name)
    store.graph.build()
    found = [(one.name, one.facts) for one in bob.graph.entities(limit=3)]
    assert found == [("Redis", 3), ("Kafka", 2), ("Postgres", 1)]
    assert [one.name for one in bob.graph.entities(limit=1, offset=1)] == ["Kafka"]


DAMAGE = {
    "no fact mentions": "DELETE FROM memstore_mentions WHERE name_id = (SELECT max(id) FROM"
    " memstore_entity_names)",
    "a fact that is missing": "UPDATE memstore_mentions SET fact_id = 999 WHERE name_id ="
    " (SELECT min(name_id) FROM memstore_mentions) AND fact_id = 1",
    "a missing entity": "UPDATE memstore_entity_names SET entity_id = 1 WHERE key = 'alice'",
    "entity_names of no build": "DELETE FROM memstore_graphs",
    "their fact does not mention": "INSERT INTO memstore_relations (source_id, target_id, fact_id,"
    " label) SELECT source_id + 9, target_id, 1, 'x' FROM memstore_relations LIMIT 1",
    "than was decided": "UPDATE memstore_entity_names SET entity_id = (SELECT id FROM"
    " memstore_entity_names WHERE key = 'alice') WHERE key = 'github'",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_the_doctor_finds_inconsistencies_and_drops_the_graph(
    store: Store, path: Path, what: str
) -> None:
    fill(store)
    store.graph.build()
    assert store.file.doctor() == []
    sql(path, DAMAGE[what])
    findings = store.file.doctor()
    assert {finding.check for finding in findings} == {"graph"}
    assert any(what in finding.message for finding in findings)
    assert all(finding.repairable for finding in findings)
    assert any(line.startswith("dropped the graph") for line in store.file.rebuild())
    assert store.file.doctor() == []
    store.graph.build()
    assert len(store.graph.entities()) == 5


def test_the_doctor_finds_an_erased_name_and_contradictory_decisions(
    store: Store, path: Path
) -> None:
    ids = fill(store)
    store.graph.build()
    left = [(name + (1 << 32), fact) for name, fact in rows(path)["memstore_mentions"]]
    store.erase(ids[2])
    store.graph.merge("A1", "B1")
    store.graph.merge("B1", "C1")
    with raw(path) as file:
        file.executemany(
            "INSERT INTO memstore_mentions (name_id, fact_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
            left,
        )
        file.execute(
            "INSERT INTO memstore_entity_decisions (id, namespace, left_key, right_key, same,"
            " left_name, right_name, actor, at) SELECT 99, namespace, 'a1', 'c1', 0, 'A1', 'C1',"
            " actor, at FROM memstore_entity_decisions LIMIT 1"
        )
        file.commit()
    findings = store.file.doctor()
    assert any("erased" in f.message and f.repairable for f in findings)
    assert any("'A1' is not 'C1'" in f.message and not f.repairable for f in findings)


def test_a_read_only_store_reads_the_graph_but_cannot_build_it(
    open_store: Callable[..., Store], store: Store
) -> None:
    fill(store)
    store.graph.build()
    reader = open_store(embedder=None, read_only=True)
    assert len(reader.graph.neighbours("alice")) == 3
    with pytest.raises(memstore.StorageError):
        reader.graph.build()


def test_the_documented_example_is_correct(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "graph.md").read_text(encoding="utf-8")
    code, told = (page.split(f"```{kind}\n")[1].split("```")[0] for kind in ("python", "text"))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/graph.md", "exec"), {})
    assert capsys.readouterr().out == told


def test_results_can_be_written_as_json(store: Store) -> None:
    import json

    fill(store)
    built = store.graph.build()
    decision = store.graph.keep_apart("Alice", "Bob")
    values = [
        built.to_dict(),
        decision.to_dict(),
        *[one.to_dict() for one in store.graph.neighbours("Alice", depth=2)],
        *[one.to_dict() for one in store.graph.entities()],
    ]
    told = json.loads(json.dumps(values))
    assert told[0]["status"]["entities"] == 5
    assert told[1]["same"] is False
    assert told[2]["path"][0][0]["facts"][0]["content"]
    assert name_key(told[-1]["name"])


@pytest.mark.parametrize("owner", [None, "ana", "all"])
def test_the_most_mentioned_entities_are_the_first_of_all(store: Store, owner: str | None) -> None:
    chance = Random(7)
    names = [f"Acme {number}" for number in range(12)]
    added = [
        store.of("all").add(
            f"{number} is about {chance.choice(names)} and {chance.choice(names)}",
            subject=chance.choice(names),
            user_id=chance.choice([None, "ana"]),
        )
        for number in range(90)
    ]
    store.graph.build()
    store.graph.merge("Acme 1", "Acme 2")
    for one in added[::4]:
        store.of("all").delete(one.id)
    standing = store.of("all") if owner == "all" else store.of(user_id=owner)
    every = standing.graph.entities(limit=1_000)
    numbers = [one.facts for one in every]
    assert numbers == sorted(numbers, reverse=True)
    assert [standing.graph.get(one.name) for one in every] == every
    for limit in range(1, len(every) + 1):
        assert standing.graph.entities(limit=limit) == every[:limit]
    assert [standing.graph.entities(limit=1, offset=n)[0] for n in range(len(every))] == every
