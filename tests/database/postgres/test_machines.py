"""Two machines with one memory: each finds what the other has committed, by its next search."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import postgres
from tests.support.embedders import WordEmbedder
from tests.support.postgres import with_option

import memstore
from memstore import Store

MACHINES = ("one", "other")
MOST = 100
"""More facts than an example makes, so a search finds all of them."""

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def opened() -> Iterator[Callable[[str, str], Store]]:
    """Opens a memory as a machine does: it shares no connections, and remembers for itself."""
    with postgres.database() as url, ExitStack() as stack:

        def open_as(machine: str, namespace: str) -> Store:
            at = with_option(url, f"application_name={machine}")
            return stack.enter_context(
                memstore.open(at, namespace=namespace, embedder=WordEmbedder())
            )

        for machine in MACHINES:
            open_as(machine, "so that the connections stay open")
        yield open_as


class Facts:
    """The facts that there are, and those that can come back, by their ids."""

    def __init__(self) -> None:
        self.current: dict[int, str] = {}
        self.deleted: dict[int, str] = {}
        self._number = 0

    def text(self) -> str:
        self._number += 1
        return f"boat {self._number} is at the quay"

    def act(self, store: Store, what: str, place: int) -> None:
        ids, gone = [*self.current], [*self.deleted]
        if what == "add many":
            made = store.add_many([{"content": self.text(), "subject": "boats"} for _ in range(3)])
            self.current |= {fact.id: fact.content for fact in made}
        elif what == "supersede" and ids:
            old = ids[place % len(ids)]
            del self.current[old]
            self._add(store, old)
        elif what == "delete" and ids:
            old = ids[place % len(ids)]
            store.delete(old)
            self.deleted[old] = self.current.pop(old)
        elif what == "restore" and gone:
            old = gone[place % len(gone)]
            store.restore(old)
            self.current[old] = self.deleted.pop(old)
        elif what == "erase" and ids:
            old = ids[place % len(ids)]
            store.erase(old)
            del self.current[old]
        else:
            self._add(store, None)

    def _add(self, store: Store, supersedes: int | None) -> None:
        fact = store.add(self.text(), subject="boats", supersedes=supersedes)
        self.current[fact.id] = fact.content


acts = st.tuples(
    st.sampled_from(MACHINES),
    st.sampled_from(["add", "add many", "supersede", "delete", "restore", "erase"]),
    st.integers(0, 7),
    st.sets(st.sampled_from(MACHINES), min_size=1),
)
"""Who acts, what, upon which fact, and who searches then."""

names = itertools.count()


@given(steps=st.lists(acts, max_size=8))
def test_what_either_machine_commits_the_next_search_of_each_finds(
    opened: Callable[[str, str], Store], steps: list[tuple[str, str, int, set[str]]]
) -> None:
    facts, namespace = Facts(), f"example {next(names)}"
    stores = {machine: opened(machine, namespace) for machine in MACHINES}
    for machine, what, place, searching in steps:
        facts.act(stores[machine], what, place)
        for other in sorted(searching):
            found = {hit.fact.content for hit in stores[other].search("boat quay", limit=MOST)}
            assert found == {*facts.current.values()}
    for store in stores.values():
        store.close()


def test_a_search_that_begins_after_a_commit_finds_it_while_others_write(
    opened: Callable[[str, str], Store],
) -> None:
    """Nothing waits: commits come at any moment of a search."""
    namespace = f"example {next(names)}"
    writing = [opened(f"writer{place}", namespace) for place in range(2)]
    searching = opened("one", namespace)
    committed: list[str] = []

    def write(store: Store, name: str) -> None:
        for number in range(20):
            text = f"boat {name}{number} is at the quay"
            store.add(text, subject="boats")
            committed.append(text)

    threads = [
        threading.Thread(target=write, args=(store, f"{place}x"))
        for place, store in enumerate(writing)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        expected = {*committed}
        found = {hit.fact.content for hit in searching.search("boat quay", limit=MOST)}
        assert expected <= found
    assert len(committed) == 40
    assert len(searching.search("boat quay", limit=MOST)) == 40
