"""Many small memories on one PostgreSQL server: opening them, and searching cold and warm ones.

    python -m benches.postgres_namespaces [--namespaces 1000] [--facts 1000] [--measured 100]

Each namespace is a memory of its own. A process that serves one of them opens others, which no
index file of this machine has, and searches each twice; then it searches them again, in another
order, ten in turn with the rival. That is the bare driver on the same rows, with one connection and
prepared statements: the server's own word search, and all vectors of the namespace, compared and
fused here.

Another process then searches every namespace, with a bound on the memory of indexes that a tenth of
them would fill, and keeps all of them open.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from statistics import median
from typing import Any

import psycopg
from tests.support import postgres

import memstore
from benches.postgres import busy, made, seconds, shown
from benches.postgres_server import in_use
from memstore.embedding.vectors import numbers, similarities
from memstore.providers.local import LocalEmbedder
from memstore.search.index.residents import BYTES_PER_ROW

TENTH = 10

FIGURES = {
    "opening": "opening one, beside others that are open",
    "cold": "search in a cold one",
    "next": "the next search there",
    "warm": "search in a warm one, after others were searched",
    "rival": "the same rows by the bare driver, words and vectors",
    "trip": "a round trip",
}

WORDS = (
    "SELECT id FROM (SELECT id, words FROM memstore_facts WHERE tenant = %s OFFSET 0) AS own,"
    " websearch_to_tsquery('english', replace(%s, ' ', ' or ')) AS query"
    " WHERE words @@ query ORDER BY ts_rank(words, query) DESC LIMIT 50"
)
VECTORS = "SELECT fact_id, embedding FROM memstore_fact_vectors WHERE tenant = %s"
ROWS = "SELECT * FROM memstore_facts WHERE tenant = %s AND id = ANY (%s)"


def name(number: int) -> str:
    return f"space {number}"


def fill(url: str, namespaces: int, facts: int) -> None:
    with memstore.open(url, namespace="the first"):  # keeps the connections
        for number in range(namespaces):
            with memstore.open(url, namespace=name(number)) as store:
                store.add_many(made(facts, number * facts))


def measure(url: str, namespaces: int, facts: int, measured: int) -> None:
    """Measure in a new process; print the figures in milliseconds."""
    chosen = random.Random(28).sample(range(namespaces), measured)
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in FIGURES}
    with ExitStack() as stack:
        first = stack.enter_context(memstore.open(url, namespace="the first"))
        first.search("thing 5")  # the program and its model are loaded
        connection = stack.enter_context(psycopg.connect(url, autocommit=True))
        stores: dict[int, memstore.Store] = {}

        def open_one(number: int) -> None:
            store = memstore.open(url, namespace=name(number))
            stores[number] = stack.enter_context(store)

        def searched(number: int, query: str) -> tuple[float, float]:
            return busy(lambda: stores[number].search(query))

        for number in chosen:
            took["opening"].append(busy(lambda number=number: open_one(number)))
        for number in chosen:
            query = f"thing {number * facts + 3} at place 21"
            took["cold"].append(searched(number, query))
            took["next"].append(searched(number, "thing"))
        again = random.Random(29).sample(chosen, measured)
        for start in range(0, measured, TENTH):
            asked = [(number, f"thing {number * facts + 7} at place 49")
                     for number in again[start : start + TENTH]]  # fmt: skip
            took["warm"] += [searched(*one) for one in asked]
            took["rival"] += [
                busy(lambda number=number, query=query: rival(connection, name(number), query))
                for number, query in asked
            ]
            took["trip"] += [busy(lambda: connection.execute("SELECT 1")) for _ in asked]
    print(
        json.dumps(
            {
                name: [1000 * median(one) for one in zip(*each, strict=True)]
                for name, each in took.items()
            }
        )
    )


def rival(connection: psycopg.Connection[Any], tenant: str, query: str) -> list[tuple[Any, ...]]:
    """Return the ten best facts by words and vectors, found by the bare driver."""
    with connection.transaction(), connection.pipeline():
        words = connection.execute(WORDS, [tenant, query], prepare=True)
        vectors = connection.execute(VECTORS, [tenant], prepare=True, binary=True)
        by_words = [fact_id for (fact_id,) in words.fetchall()]
        ids, blobs = zip(*vectors.fetchall(), strict=True)
    asked = numbers(LocalEmbedder().embed_bytes([query])[0])
    near = sorted(zip(similarities(asked, blobs), ids, strict=True), reverse=True)[:50]
    scores: Counter[int] = Counter()
    for order in (by_words, [fact_id for _, fact_id in near]):
        scores.update({fact_id: 1 / (60 + place) for place, fact_id in enumerate(order)})
    best = [fact_id for fact_id, _ in scores.most_common(10)]
    return connection.execute(ROWS, [tenant, best], prepare=True).fetchall()


def measure_memory(url: str, namespaces: int, facts: int) -> None:
    """Search every namespace in a new process; print what its indexes and the process take."""
    found: list[tuple[int, int, int]] = []
    with ExitStack() as stack:
        first = stack.enter_context(memstore.open(url, namespace="the first"))
        first.search("thing 5")
        before = resident()
        for number in range(namespaces):
            store = stack.enter_context(memstore.open(url, namespace=name(number)))
            if not store.search(f"thing {number * facts + 3}"):
                raise RuntimeError("nothing was found")
            if (number + 1) % max(1, namespaces // TENTH) == 0:
                taken = store.status().index_bytes
                found.append((number + 1, taken, resident() - before))
    print(json.dumps(found))


def resident() -> int:
    """Return the memory of this process in bytes."""
    with open("/proc/self/statm", encoding="ascii") as read:
        return int(read.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@in_use()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--namespaces", type=int, default=1000)
    parser.add_argument("--facts", type=int, default=1000, help="of each")
    parser.add_argument("--measured", type=int, default=100)
    parser.add_argument("--filled", help="the URL of a database that an earlier run has filled")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    number, facts = arguments.namespaces, arguments.facts
    measured = min(arguments.measured, number)
    if arguments.run == "times":
        measure(arguments.filled, number, facts, measured)
    elif arguments.run == "memory":
        measure_memory(arguments.filled, number, facts)
    elif arguments.filled:
        show(arguments.filled, number, facts, measured)
    else:
        with postgres.database() as url:
            took = seconds(lambda: fill(url, number, facts))
            shown(f"{number} namespaces of {facts} facts are made", took, "s")
            show(url, number, facts, measured)


def show(url: str, namespaces: int, facts: int, measured: int) -> None:
    for what, (wall, used) in found_by("times", url, namespaces, facts, measured).items():
        shown(FIGURES[what], wall, "ms")
        shown("of it, processor time of the program", used, "ms")
    bound = namespaces * facts * BYTES_PER_ROW // TENTH
    shown("bound on the memory of indexes", bound / 1e6, "MB")
    sizes = found_by("memory", url, namespaces, facts, measured, MEMSTORE_INDEX_MEMORY=f"{bound}B")
    for searched, taken, grown in sizes:
        shown(f"{searched} searched and open: the indexes take", taken / 1e6, "MB")
        shown("the process grew by", grown / 1e6, "MB")


def found_by(
    run: str, url: str, namespaces: int, facts: int, measured: int, **variables: str
) -> Any:
    """Return what another process finds, which has no index files."""
    command = [sys.executable, "-m", "benches.postgres_namespaces", "--run", run, "--filled", url]
    sizes = [f"--namespaces={namespaces}", f"--facts={facts}", f"--measured={measured}"]
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run(
            [*command, *sizes], stdout=subprocess.PIPE, text=True, check=True,
            env=os.environ | {"MEMSTORE_INDEX_FOLDER": folder} | variables,
        )  # fmt: skip
    return json.loads(found.stdout)


if __name__ == "__main__":
    main()
