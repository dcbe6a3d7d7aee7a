"""Many clients of one PostgreSQL server, mixed, beside one client in the same run.

    python -m benches.postgres_clients [--seconds 60] [--processes 4] [--clients 8]
        [--namespaces 8] [--pool-size 1]

Each process has so many clients, each of which is a thread with a store of its own. A namespace is
used by clients of several processes, unless there are as many namespaces as clients. An act is a
fact added, a fact superseded, a task created and finished, an episode recorded, or a search. In the
end every fact and episode that a call returned is looked for, and every text that is stored more
than once; each was given once.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import Any

from tests.process.test_postgres_kills import doubled
from tests.support import postgres

import memstore
from benches.postgres_server import in_use
from memstore import Store
from memstore.errors import MemstoreError


class Client:
    """Acts at random until its time is over, and keeps what was acknowledged."""

    def __init__(self, url: str, number: int, namespaces: int) -> None:
        self.namespace = f"space {number % namespaces}"
        self._store = memstore.open(url, namespace=self.namespace)
        self._number = number
        self._chance = random.Random(number)
        self._facts: list[int] = []
        self.kept: list[tuple[str, int, str]] = []
        self.errors: list[str] = []
        self.acts = 0
        self.took: dict[str, tuple[int, float]] = {}
        """How often each kind of act was done, and the seconds that this took."""

    def work(self, ends: float) -> None:
        with self._store as store:
            while (began := time.monotonic()) < ends:
                try:
                    kind = self._act(store, f"{self._number}-{self.acts}")
                except MemstoreError as error:
                    self.errors.append(repr(error))
                else:
                    number, seconds = self.took.get(kind, (0, 0.0))
                    self.took[kind] = number + 1, seconds + time.monotonic() - began
                self.acts += 1

    def _act(self, store: Store, name: str) -> str:
        """Act, and return the kind of the act."""
        what = self._chance.random()
        if what < 0.25:
            self._keep(store, f"thing {name} was seen by person {self._chance.randrange(97)}")
            return "a fact added"
        if what < 0.35 and self._facts:
            self._keep(store, f"thing {name} was moved", supersedes=self._facts.pop())
            return "a fact superseded"
        if what < 0.45:
            task = store.tasks.create(f"look for thing {name}")
            self.kept.append(("fact", task.id, task.content))
            store.tasks.update(task.id, "completed")
            return "a task created and closed"
        if what < 0.6:
            episode = store.episodes.add(f"somebody said that {name} is lost", source="clients")
            self.kept.append(("episode", episode.id, episode.content))
            return "an episode recorded"
        store.search(f"who saw thing {self._number}", limit=5)
        return "a search"

    def _keep(self, store: Store, text: str, **options: Any) -> None:
        fact = store.add(text, subject=f"client {self._number}", **options)
        self._facts.append(fact.id)
        self.kept.append(("fact", fact.id, text))


def run_clients(url: str, first: int, number: int, seconds: float, namespaces: int) -> None:
    """Run clients in threads; print what they did."""
    clients = [Client(url, first + place, namespaces) for place in range(number)]
    print("ready", flush=True)
    sys.stdin.readline()
    ends = time.monotonic() + seconds
    threads = [threading.Thread(target=client.work, args=(ends,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        print(json.dumps([client.namespace, client.acts, client.errors, client.kept, client.took]))


def together(
    url: str, processes: int, clients: int, seconds: float, namespaces: int, *, first: int
) -> list[Any]:
    """Return what the clients of several processes did, which begin at the same time."""
    running = []
    for place in range(processes):
        given = [url, first + place * clients, clients, seconds, namespaces]
        running.append(
            subprocess.Popen(
                [sys.executable, "-m", "benches.postgres_clients", "--run", json.dumps(given)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    for one in running:
        assert one.stdout is not None
        one.stdout.readline()
    for one in running:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    told = [one.communicate()[0] for one in running]
    return [json.loads(line) for lines in told for line in lines.splitlines()]


def lost(url: str, done: list[Any]) -> int:
    """Return how many of the acknowledged facts and episodes are not there."""
    missing = 0
    for namespace in {one[0] for one in done}:
        kept = [note for name, _, _, notes, _ in done if name == namespace for note in notes]
        with memstore.open(url, namespace=namespace, embedder=None) as store:
            for kind, id_, text in kept:
                held = store.get(id_) if kind == "fact" else store.episodes.get(id_)
                missing += held.content != text
            assert store.ledger.verify() == []
    return missing


def mean(done: list[Any]) -> dict[str, float]:
    """Return the seconds that each kind of act took on average."""
    found: dict[str, float] = {}
    for kind in sorted({kind for one in done for kind in one[4]}):
        numbers, seconds = zip(*(one[4][kind] for one in done if kind in one[4]), strict=True)
        found[kind] = sum(seconds) / sum(numbers)
    return found


@in_use()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--clients", type=int, default=8, help="of each process")
    parser.add_argument("--namespaces", type=int, default=8)
    parser.add_argument("--pool-size", type=int, help="the most connections of a process")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run is not None:
        run_clients(*json.loads(arguments.run))
        return
    with postgres.database() as plain:
        url = plain
        if arguments.pool_size is not None:
            url = postgres.with_option(plain, f"pool_size={arguments.pool_size}")
        options = (arguments.seconds, arguments.namespaces)
        alone = together(url, 1, 1, *options, first=10_000)
        done = together(url, arguments.processes, arguments.clients, *options, first=0)
        errors = Counter(error for one in alone + done for error in one[2])
        rates = [sum(one[1] for one in some) / arguments.seconds for some in (alone, done)]
        print(
            f"one client {rates[0]:.0f} acts a second, {len(done)} clients {rates[1]:.0f}"
            f" ({rates[1] / rates[0]:.2f} x); {errors.total()} errors,"
            f" {lost(url, alone + done)} lost, {len(doubled(plain))} doubled"
        )
        for error, number in errors.most_common(5):
            print(f"{number} x {error}")
        for kind, each in mean(alone).items():
            print(
                f"{kind:28}{1000 * each:8.2f} ms alone{1000 * mean(done)[kind]:8.2f} among others"
            )


if __name__ == "__main__":
    main()
