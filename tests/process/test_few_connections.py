"""Random acts of many threads that share one connection to the server: they do not deadlock."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.support.programs import Letters

pgbouncer = pytest.importorskip("tests.support.pgbouncer", reason="needs psycopg")

import memstore  # noqa: E402
from memstore import Store  # noqa: E402
from memstore.domain import clock  # noqa: E402
from memstore.facts import use_counts  # noqa: E402
from memstore.search.index import index as module  # noqa: E402

pytestmark = [pytest.mark.process, pytest.mark.slow]

few = pgbouncer.few

MEMORIES = ("one", "another")
THREADS = 6
SECONDS = 8.0
MORE_SECONDS = 60.0
"""How long the acts may go on after their time: a pooler gives up after 120 s."""


class Actor:
    """Acts at random, and keeps what was acknowledged."""

    def __init__(self, store: Store, number: int) -> None:
        self._store = store
        self._number = number
        self._chance = random.Random()
        self.acts = 0
        self.kept: dict[int, str] = {}
        self.failure: Exception | None = None

    def work(self, ends: float) -> None:
        acts: list[Callable[[str], object]] = [
            self._search, self._search, self._add, self._supersede, self._add_many, self._complete,
            self._say, self._remove, self._look,
        ]  # fmt: skip
        try:
            while clock.monotonic() < ends:
                self._chance.choice(acts)(f"{self._number} {self.acts}")
                self.acts += 1
        except Exception as error:  # noqa: BLE001 - it is told in the end
            self.failure = error

    def _search(self, _: str) -> None:
        number = self._chance.randrange(200)
        self._store.search(f"thing {number}")
        self._store.search_batch([f"thing {number}", "new", "->"])
        self._store.recall(f"thing {number}", max_tokens=200)

    def _add(self, name: str) -> None:
        fact = self._store.add(f"new {name}", subject=f"of {self._number}")
        self.kept[fact.id] = fact.content

    def _supersede(self, name: str) -> None:
        old = self._store.add(f"old {name}", subject=f"of {self._number}")
        new = self._store.add(f"newer {name}", subject=old.subject, supersedes=old.id)
        self.kept[new.id] = new.content

    def _add_many(self, name: str) -> None:
        texts = [{"content": f"many {name} {n}", "subject": "many"} for n in range(30)]
        self.kept.update((fact.id, fact.content) for fact in self._store.add_many(texts))

    def _complete(self, name: str) -> None:
        task = self._store.tasks.create(f"do {name}")
        self._store.tasks.update(task.id, "completed")
        self.kept[task.id] = task.content

    def _say(self, name: str) -> None:
        self._store.episodes.add(f"said {name}", source="chat")
        assert self._store.episodes.search("said")

    def _remove(self, name: str) -> None:
        fact = self._store.add(f"gone {name}", subject="gone")
        (self._store.erase if self._chance.random() < 0.3 else self._store.delete)(fact.id)

    def _look(self, _: str) -> None:
        self._store.status()
        self._store.file.embed_pending()
        self._store.list(limit=5)


@pytest.mark.parametrize("at_once", [2000, 0], ids=["indexed at once", "provisional first"])
def test_threads_do_not_deadlock(
    url: str, few: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setenv("MEMSTORE_INDEX_FOLDER", str(tmp_path))
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    monkeypatch.setattr(module, "SAVED_FROM", 20)
    monkeypatch.setattr(module, "COMPARED_EVERY_SECONDS", 1.0)
    monkeypatch.setattr(use_counts, "MAX_WAITING", 3)
    with ExitStack() as stack:

        def opened(address: str, namespace: str) -> Store:
            store = memstore.open(address, namespace=namespace, embedder=Letters())
            return stack.enter_context(store)

        others = [opened(url, namespace) for namespace in MEMORIES]
        for other in others:
            other.add_many([{"content": f"thing {n}", "subject": "things"} for n in range(200)])
        stores = [opened(few, namespace) for namespace in MEMORIES]
        ends = clock.monotonic() + SECONDS
        actors = [Actor(stores[number % 2], number) for number in range(THREADS)]
        actors += [Actor(other, THREADS + number) for number, other in enumerate(others)]
        threads = [
            threading.Thread(target=actor.work, args=(ends,), daemon=True) for actor in actors
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, ends + MORE_SECONDS - clock.monotonic()))
        assert not any(thread.is_alive() for thread in threads)
        assert [actor.failure for actor in actors if actor.failure] == []
        for number, actor in enumerate(actors):
            held = others[number % 2].get_many([*actor.kept])
            assert {fact.id: fact.content for fact in held} == actor.kept
        for other in others:
            assert other.ledger.verify() == []
            assert other.file.doctor(deep=True) == []
    print(f"{sum(actor.acts for actor in actors)} acts, no deadlock")
