"""A memory on a local PostgreSQL server, beside a file and beside the bare driver, in one run.

    python -m benches.postgres [--facts 10000] [--adds 300]

The server is that of the tests (``MEMSTORE_TEST_DSN``, or one that is started for the run), with
``fsync`` as it is set there; one that is started syncs nothing, so its figures show the program and
the round trips and not the disk. The rival of adding writes the rows of a fact (the fact, its
vector, its line) in one prepared statement for each fact, and commits it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any

import psycopg
from tests.support import postgres

import memstore
from memstore import NewFact, Store

RIVAL = (
    "WITH fact AS (INSERT INTO memstore_facts (tenant, id, content, subject, category, created_at,"
    " namespace, uuid, claim_hash, subject_key) VALUES ('rival', $1, $2, 's', 'note', $3, 'rival',"
    " $4, $1, 's') RETURNING id), line AS (INSERT INTO memstore_journal (tenant, id, txn, at,"
    " actor, source, kind, fact_id, after, hash) VALUES ('rival', $1, $1, $3, 'user', 'library',"
    " 'add', $1, $5, $6) RETURNING id) INSERT INTO memstore_fact_vectors (tenant, generation_id,"
    " fact_id, embedding) VALUES ('rival', 1, $1, $7)"
)


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def made(number: int, start: int = 0) -> list[NewFact]:
    return [
        NewFact(content=f"thing {i} was seen at place {i * 7 % 1000} by person {i % 97}",
                subject=f"person {i % 97}")
        for i in range(start, start + number)
    ]  # fmt: skip


def adding(store: Store, adds: int) -> float:
    facts = made(adds, 10**6)
    for fact in facts[:10]:
        store.add(fact.content + " first", subject=fact.subject)
    return adds / seconds(lambda: [store.add(fact.content, subject=fact.subject) for fact in facts])


def rival(url: str, adds: int) -> float:
    """Return how many facts a second the bare driver writes, one at a time."""
    vector = bytes(1024)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO memstore_tenants (tenant) VALUES ('rival')")
        connection.execute(
            "INSERT INTO memstore_generations (tenant, id, state, created_at)"
            " VALUES ('rival', 1, 'active', '2026')"
        )
        cursor = psycopg.RawCursor(connection)

        def write(number: int) -> None:
            values: list[Any] = [number, f"thing {number} was seen", "2026-01-01T00:00:00.000000Z"]
            values += [f"uuid {number}", '{"content": "x"}', bytes(32), vector]
            cursor.execute(RIVAL, values)

        for number in range(1, 11):
            write(number)
        return adds / seconds(lambda: [write(number) for number in range(11, 11 + adds)])


def contending(url: str, adds: int) -> float:
    """Return how many facts a second four threads add to one memory."""
    stores = [memstore.open(url, namespace="contended") for _ in range(4)]
    threads = [
        Thread(target=lambda store=store: [
            store.add(f"fact {i}", subject="s") for i in range(adds // 4)
        ])
        for store in stores
    ]  # fmt: skip

    def run() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    took = seconds(run)
    for store in stores:
        store.close()
    return adds / took


def searching(store: Store) -> float:
    """Return the median of warm searches, in milliseconds."""
    store.file.warm()
    for i in range(5):
        store.search(f"thing {i}")
    took = [seconds(lambda i=i: store.search(f"thing {i} at place {i * 7}")) for i in range(50)]
    return 1000 * median(took)


def first_search(path: str) -> float:
    with memstore.open(path) as store:
        store.add("something new", subject="s")  # the model is loaded
        return 1000 * seconds(lambda: store.search("thing 5"))


def measured(path: str, facts: int, adds: int) -> dict[str, float]:
    with memstore.open(path) as store:
        found = {
            "add_many, a second": facts / seconds(lambda: store.add_many(made(facts))),
            "add one at a time, a second": adding(store, adds),
            "search, warm, ms": searching(store),
        }
    return found | {"the first search of a process, ms": first_search(path)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--adds", type=int, default=300)
    arguments = parser.parse_args()
    with postgres.database() as url, tempfile.TemporaryDirectory() as folder:
        server = measured(url, arguments.facts, arguments.adds)
        file = measured(str(Path(folder, "memory.db")), arguments.facts, arguments.adds)
        print(f"{'':38}{'server':>10}{'file':>10}")
        for name, figure in server.items():
            print(f"{name:38}{figure:10.1f}{file[name]:10.1f}")
        bare = rival(url, arguments.adds)
        print(f"{'the bare driver, one at a time':38}{bare:10.1f}")
        ratio = server["add one at a time, a second"] / bare
        print(f"{'add, as a share of it':38}{ratio:10.2f}")
        print(f"{'four threads on one memory, a second':38}{contending(url, arguments.adds):10.1f}")


if __name__ == "__main__":
    main()
