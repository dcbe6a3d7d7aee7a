"""A memory on a local PostgreSQL server, beside a file and beside the bare driver, in one run.

    python -m benches.postgres [--part adds|searches|firsts] [--facts 10000] [--searched 100000]

The server is the one of ``MEMSTORE_TEST_DSN``, or one that is started for the run with the settings
of :mod:`benches.postgres_server`. What is compared takes turns, and the middle one of the rounds
counts, so that other work on the machine is shared by both.

The rivals of adding one are the statements that other additions sent, with their values at hand
("the same rows"), and a statement that writes only a fact, its vector and its line ("three rows").
The rival of adding many is a COPY of the same rows, at hand in the server's binary format.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from tests.support import postgres
from tests.support.sent import watched

import memstore
from benches.postgres_server import in_use
from memstore import NewFact, Store
from memstore.database.postgres import pools, transaction
from memstore.database.postgres.connection import Sent

ROUNDS = 7
NAMESPACES = 10
PROCESSES = 4
REST_SECONDS = 5.0

THREE_ROWS = (
    "WITH fact AS (INSERT INTO memstore_facts (tenant, id, content, subject, category, created_at,"
    " namespace, uuid, claim_hash, subject_key) VALUES ('three', $1, $2, 's', 'note', $3, 'three',"
    " $4, $1, 's') RETURNING id), line AS (INSERT INTO memstore_journal (tenant, id, txn, at,"
    " actor, source, kind, fact_id, after, hash) VALUES ('three', $1, $1, $3, 'user', 'library',"
    " 'add', $1, $5, $6) RETURNING id) INSERT INTO memstore_fact_vectors (tenant, generation_id,"
    " fact_id, embedding, code) VALUES ('three', 1, $1, $7, $8)"
)

RENEW = "UPDATE memstore_tenants SET version = $1 WHERE tenant = 'same'"

CONTENDING = """
import sys, memstore
with memstore.open(sys.argv[1], namespace="contended") as store:
    store.add("the first of " + sys.argv[3], subject="s")
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(sys.argv[2])):
        store.add(f"fact {number} of {sys.argv[3]}", subject="s")
    print("done", flush=True)
"""

FIRST = """
import sys, time
import psycopg, psycopg_pool, memstore
with memstore.open(sys.argv[1], namespace="small") as other:
    other.search("thing 5")  # the program and its model are loaded
    began = time.perf_counter()
    store = memstore.open(sys.argv[1], namespace=sys.argv[2])
    opened = time.perf_counter()
    hits = store.search("thing 5 at place 35")
    found = time.perf_counter()
    ranking = hits.ranking
    while hits.ranking != "contextual":
        time.sleep(0.02)
        hits = store.search("thing 7 at place 49")
    indexed = time.perf_counter()
    store.search("thing 8 at place 56")
    times = [opened - began, found - opened, indexed - opened, time.perf_counter() - indexed]
    print(*(f"{1000 * one:.1f}" for one in times), ranking)
    store.close()
"""


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


def busy(work: Callable[[], object]) -> tuple[float, float]:
    """Return how long work takes, and the processor time of this process, in seconds."""
    used = time.process_time()
    took = seconds(work)
    return took, time.process_time() - used


def shown(name: str, figure: float, unit: str = "") -> None:
    print(f"{name:58}{figure:12.2f} {unit}", flush=True)


# -- adding -----------------------------------------------------------------------------------


@contextmanager
def recorded(sent: list[tuple[Any, Any]]) -> Iterator[None]:
    """Record the statements that write one fact each."""

    def record(_: Any, statements: Sequence[Sent]) -> None:
        sent.extend(
            (one.text, list(one.values))
            for one in statements
            if one.text.startswith("WITH checked")
        )

    with watched(before=record):
        yield


COPIED = {
    "memstore_facts": None,
    "memstore_fact_vectors": ["generation_id", "fact_id", "embedding", "checksum", "code"],
    "memstore_journal": None,
    "memstore_fact_changes": ["id"],
}
"""The tables that a COPY of many facts writes, and their columns, if not all."""


def copying(connection: psycopg.Connection[Any], tenant: str) -> Callable[[], None]:
    """Return what writes the rows of the default tenant again, as rows of another one."""
    data = []
    for table, given in COPIED.items():
        columns = given or [
            name
            for (name,) in connection.execute(
                "SELECT column_name FROM information_schema.columns WHERE table_name = %s"
                " AND is_generated = 'NEVER' AND column_name <> 'tenant'",
                [table],
            )
        ]
        listed, order = ", ".join(columns), "fact_id" if "fact_id" in columns else "id"
        query = (
            f"SELECT '{tenant}', {listed} FROM {table} WHERE tenant = 'default' ORDER BY {order}"
        )
        with connection.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT binary)") as out:
            data.append((f"{table} (tenant, {listed})", b"".join(out)))

    def copy() -> None:
        with connection.transaction():
            for target, rows in data:
                with connection.cursor().copy(f"COPY {target} FROM STDIN (FORMAT binary)") as into:
                    into.write(rows)

    return copy


def add_manys(facts: int) -> None:
    """Measure additions of many facts to a memory, to a file, and as rows that are at hand."""
    took: list[tuple[float, ...]] = []
    for turn in range(ROUNDS):
        with ExitStack() as stack:
            url = stack.enter_context(postgres.database())
            path = Path(stack.enter_context(tempfile.TemporaryDirectory()), "memory.db")
            store, file = (stack.enter_context(memstore.open(where)) for where in (url, path))
            for one in (store, file):
                one.add("the model is loaded", subject="bench")
            new = made(facts, turn * facts)
            ours, in_file = (busy(partial(one.add_many, new)) for one in (store, file))
            connection = stack.enter_context(psycopg.connect(url, autocommit=True))
            rival = seconds(copying(connection, "copied"))
            took.append((*ours, *in_file, rival))
    wall, used, file_wall, file_used, rival = (median(column) for column in zip(*took, strict=True))
    shown("add_many", facts / wall, "a second")
    shown("of each fact, processor time of the program", 1e6 * used / facts, "us")
    shown("add_many in a file", facts / file_wall, "a second")
    shown("of each fact, processor time of the program", 1e6 * file_used / facts, "us")
    shown("a raw COPY of the same rows", facts / rival, "a second")
    shown("add_many, as a share of the COPY", median(one[-1] / one[0] for one in took))


def adds(url: str, number: int) -> float:
    """Measure additions; return how long the same rows take in one raw statement, in seconds."""
    with ExitStack() as stack:
        store = stack.enter_context(memstore.open(url))
        connection = stack.enter_context(psycopg.connect(url, autocommit=True))
        pools.configure(connection)
        store.add_many(made(10_000))
        for tenant in ("same", "three"):
            connection.execute("INSERT INTO memstore_tenants (tenant) VALUES (%s)", [tenant])
            connection.execute(
                "INSERT INTO memstore_generations SELECT %s, id, model, dimension, state,"
                " created_at, switched_at FROM memstore_generations WHERE tenant = 'default'",
                [tenant],
            )
        cursor, three = psycopg.RawCursor(connection), count(1)

        def send_again(statements: list[tuple[str, list[Any]]]) -> None:
            last = None
            for text, values in statements:
                version, known = values[0], values[7]
                if known != last:  # some additions also trim the feed, and are not among these
                    cursor.execute(RENEW, [known])
                cursor.execute(text, values)
                last = version

        def add_each(new: list[NewFact]) -> None:
            for fact in new:
                store.add(fact.content, subject=fact.subject)

        def write_three() -> None:
            at = next(three)
            values: list[Any] = [at, f"thing {at} was seen", "2026-01-01T00:00:00.000000Z"]
            values += [f"uuid {at}", '{"content": "x"}', bytes(32), bytes(1024)]
            values.append(transaction.code(values[-1]))
            cursor.execute(THREE_ROWS, values)

        took: list[tuple[float, float, float]] = []
        each = max(1, number // ROUNDS)
        for turn in range(ROUNDS + 1):
            new = made(2 * each, 10**6 + 2 * turn * each)
            ours = seconds(lambda new=new[:each]: add_each(new))
            sent: list[tuple[Any, Any]] = []
            with recorded(sent):  # which takes time itself
                add_each(new[each:])
            same = [(text, ["same" if one == "default" else one for one in values])
                    for text, values in sent]  # fmt: skip
            again = seconds(lambda same=same: send_again(same))
            if cursor.fetchone() != (1,):
                raise RuntimeError("what was sent again wrote nothing")
            fewer = seconds(lambda: [write_three() for _ in range(each)])
            took.append((ours / each, again / len(same), fewer / each))
        ours, again, fewer = (median(column) for column in zip(*took[1:], strict=True))
        shown("add, one at a time", 1000 * ours, "ms")
        shown("the same rows in one raw statement", 1000 * again, "ms")
        shown("three rows in one raw statement", 1000 * fewer, "ms")
        shown("add, as a share of the same rows", median(b / a for a, b, _ in took[1:]))
        shown("add, as a share of three rows", median(c / a for a, _, c in took[1:]))
    return again


def contending(url: str, number: int) -> float:
    """Return how many facts a second several processes add to one memory."""
    memstore.open(url, namespace="contended").close()
    command = [sys.executable, "-c", CONTENDING, url, str(number // PROCESSES)]
    running = [
        subprocess.Popen(
            [*command, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for place in range(PROCESSES)
    ]

    def wait() -> None:
        for one in running:
            assert one.stdout is not None
            one.stdout.readline()

    wait()
    began = time.perf_counter()
    for one in running:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    wait()
    took = time.perf_counter() - began
    for one in running:
        one.communicate()
    return number / took


# -- searching --------------------------------------------------------------------------------


def searches(url: str, facts: int) -> None:
    """Measure warm searches among facts in several namespaces, and those of the same file."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path = str(Path(folder, "memory.db"))
        pairs: list[tuple[Store, Store]] = []
        for place in range(NAMESPACES):
            new = made(facts // NAMESPACES, place * facts)
            for where in (url, path):
                with memstore.open(where, namespace=f"space {place}") as store:
                    store.add_many(new)
        for place in range(NAMESPACES):
            pair = tuple(
                stack.enter_context(memstore.open(where, namespace=f"space {place}"))
                for where in (url, path)
            )
            pairs.append((pair[0], pair[1]))
            for store in pair:
                store.file.warm()
                while store.search("thing 1").ranking != "contextual":
                    time.sleep(0.05)
        took: list[list[float]] = [[], []]
        for turn in range(20 * NAMESPACES):
            place = turn % NAMESPACES
            query = f"thing {place * facts + turn} at place {turn * 7}"
            for times, store in zip(took, pairs[place], strict=True):
                times.append(seconds(lambda store=store, query=query: store.search(query)))
        connection = stack.enter_context(psycopg.connect(url, autocommit=True))
        trip = median(seconds(lambda: connection.execute("SELECT 1")) for _ in range(200))
        server, file = (median(times[len(times) // 4 :]) for times in took)
        shown(f"search among {facts} facts in {NAMESPACES} namespaces", 1000 * server, "ms")
        shown("the same in a file", 1000 * file, "ms")
        shown("a round trip", 1000 * trip, "ms")
        shown("(search - a round trip) / the file's", (server - trip) / file)


def firsts(url: str, sizes: list[int]) -> None:
    """Measure the first search of a namespace by a process that has served another one.

    Of what was written just before, and of what was left alone for some seconds.
    """
    with memstore.open(url, namespace="small") as store:
        store.add_many(made(10))
    for size in sizes:
        with memstore.open(url, namespace=f"of {size}") as store:
            for start in range(0, size, 10_000):
                store.add_many(made(min(size, 10_000), start))
        first(url, size, "just written")
        time.sleep(REST_SECONDS)
        for _ in range(3):
            first(url, size, "at rest")


def first(url: str, size: int, state: str) -> None:
    """Measure one first search, by a process without files of the index."""
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run(
            [sys.executable, "-c", FIRST, url, f"of {size}"],
            capture_output=True, text=True, check=True,
            env={**os.environ, "MEMSTORE_INDEX_FOLDER": folder},
        )  # fmt: skip
    *times, ranking = found.stdout.split()
    opened, took, indexed, warm = map(float, times)
    shown(f"{size} facts, {state}: opening", opened, "ms")
    shown(f"{size} facts, {state}: the first search ({ranking})", took, "ms")
    shown(f"{size} facts, {state}: indexed after", indexed, "ms")
    shown(f"{size} facts, {state}: the next search", warm, "ms")


@in_use()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["adds", "searches", "firsts"])
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--searched", type=int, default=100_000, help="in all namespaces")
    parser.add_argument("--adds", type=int, default=2100)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 10_000, 100_000])
    arguments = parser.parse_args()
    parts = [arguments.part] if arguments.part else ["adds", "searches", "firsts"]
    if "adds" in parts:
        add_manys(arguments.facts)
        with postgres.database() as url:
            same = adds(url, arguments.adds)
            rate = contending(url, arguments.adds)
            shown(f"{PROCESSES} processes on one memory", rate, "a second")
            shown("as a share of the same rows by one", rate * same)
    if "searches" in parts:
        with postgres.database() as url:
            searches(url, arguments.searched)
    if "firsts" in parts:
        with postgres.database() as url:
            firsts(url, arguments.sizes)


if __name__ == "__main__":
    main()
