"""Many small memories on one PostgreSQL server: opening them, and searching cold and warm ones.

    python -m benches.postgres_namespaces [--namespaces 1000] [--facts 1000] [--measured 100]

Each namespace is a memory of its own. A process that serves one of them opens others, which no
index file of this machine has; it searches each twice. Then it searches every namespace with a
bound on the memory of indexes that a tenth of them would fill.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from statistics import median

import psycopg
from tests.support import postgres

import memstore
from benches.postgres import busy, made, seconds, shown
from memstore.search.index.residents import BYTES_PER_ROW

TENTH = 10


def name(number: int) -> str:
    return f"space {number}"


def fill(url: str, namespaces: int, facts: int) -> None:
    with memstore.open(url, namespace="the first"):  # keeps the connections
        for number in range(namespaces):
            with memstore.open(url, namespace=name(number)) as store:
                store.add_many(made(facts, number * facts))


def measure(url: str, namespaces: int, facts: int, measured: int) -> None:
    """Measure in a new process; print the figures in milliseconds, and memory in bytes."""
    chosen = random.Random(28).sample(range(namespaces), measured)
    opening: list[tuple[float, float]] = []
    cold, warm = opening[:], opening[:]
    with ExitStack() as stack:
        first = stack.enter_context(memstore.open(url, namespace="the first"))
        first.search("thing 5")  # the program and its model are loaded
        connection = stack.enter_context(psycopg.connect(url, autocommit=True))
        trip = median(seconds(lambda: connection.execute("SELECT 1")) for _ in range(200))
        for number in chosen:
            took = busy(
                lambda number=number: stack.enter_context(
                    memstore.open(url, namespace=name(number))
                )
            )
            opening.append(took)
        stores = [memstore.open(url, namespace=name(number)) for number in chosen]
        for number, store in zip(chosen, stores, strict=True):
            stack.enter_context(store)
            query = f"thing {number * facts + 3} at place 21"
            cold.append(busy(lambda store=store, query=query: store.search(query)))
            store.search("thing")
            warm.append(busy(lambda store=store, query=query: store.search(query)))
    most = 0
    before = resident()
    with ExitStack() as stack:
        for number in range(namespaces):
            store = stack.enter_context(memstore.open(url, namespace=name(number)))
            hits = store.search(f"thing {number * facts + 3}")
            if not hits:
                raise RuntimeError("nothing was found")
            if number % max(1, namespaces // 20) == 0:
                most = max(most, store.status().index_bytes)
    middle = [[1000 * median(one) for one in zip(*some, strict=True)]
              for some in (opening, cold, warm)]  # fmt: skip
    print(json.dumps([*middle, 1000 * trip, most, resident() - before]))


def resident() -> int:
    """Return the memory of this process in bytes."""
    with open("/proc/self/statm", encoding="ascii") as read:
        return int(read.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--namespaces", type=int, default=1000)
    parser.add_argument("--facts", type=int, default=1000, help="of each")
    parser.add_argument("--measured", type=int, default=100)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run is not None:
        measure(*json.loads(arguments.run))
        return
    number, facts = arguments.namespaces, arguments.facts
    bound = number * facts * BYTES_PER_ROW // TENTH
    environment = os.environ | {"MEMSTORE_INDEX_MEMORY": f"{bound}B"}
    with postgres.database() as url, tempfile.TemporaryDirectory() as folder:
        took = seconds(lambda: fill(url, number, facts))
        shown(f"{number} namespaces of {facts} facts are made", took, "s")
        given = [url, number, facts, min(arguments.measured, number)]
        found = subprocess.run(
            [sys.executable, "-m", "benches.postgres_namespaces", "--run", json.dumps(given)],
            stdout=subprocess.PIPE, text=True, check=True,
            env=environment | {"MEMSTORE_INDEX_FOLDER": folder},
        )  # fmt: skip
        opening, cold, warm, trip, most, grown = json.loads(found.stdout)
    for what, (wall, used) in (
        ("opening one, beside another that is open", opening),
        ("search in a cold one", cold),
        ("search in a warm one", warm),
    ):
        shown(what, wall, "ms")
        shown("of it, processor time of the program", used, "ms")
    shown("a round trip", trip, "ms")
    shown("bound on the memory of indexes", bound / 1e6, "MB")
    shown("the most that they took, all namespaces searched", most / 1e6, "MB")
    shown("what the process grew by, with all of them open", grown / 1e6, "MB")


if __name__ == "__main__":
    main()
