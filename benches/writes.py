"""Writing, compared with one connection that writes the same rows into the same tables.

    python -m benches.writes [--rounds 7] [WORD …]

The rival is the driver alone: the schema, pragmas and triggers that memstore has, prepared
statements, and rows inserted 64 at a time, which saves work of the full-text index, and statements.
It makes nothing of its rows itself: they are read from a store that was given the same facts, and
the journal's lines are among them. Before anything is measured, every table of that store is
compared with the rival's. Both begin with a copy of one file of 10,000 facts, at
``durability="normal"``, and take turns. The ratio is the rival's seconds divided by memstore's, the
median of the pairs; at 1 memstore would cost nothing. With words: only the ways to write that are
named by one.

With an embedder the rival is given the vectors, too, and "embedding too" is the ratio to a rival
that has to wait for the same embedder first; that ratio is the one to reach.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from queue import Queue
from statistics import median
from threading import Barrier
from typing import Any, Final

import apsw

import memstore
from benches.corpus import facts as made_facts
from memstore.embedding.embedding import first_batch
from memstore.text.folding import text_of

HELD: Final = 10_000
MANY: Final = 1_000
ADDS: Final = 400
PROCESSES: Final = 8

KEYS: Final = {
    "memstore_facts": "id",
    "memstore_fact_vectors": "fact_id",
    "memstore_journal": "fact_id",
}
"""The tables that an added fact is written to, and the column with its id."""

BESIDES: Final = ("memstore_line_counts",)
"""What memstore derives from its lines, a row for each 256: the rival writes none."""

ROWS_TOGETHER: Final = 64

Row = tuple[Any, ...]
Stored = list[tuple[Row, ...]]
"""For each fact what each of these tables holds of it, without the ids."""


def columns(connection: apsw.Connection, table: str) -> list[str]:
    """Return the columns of a table that the driver writes, the fact's id first."""
    rows = connection.execute(f"SELECT name FROM pragma_table_info('{table}')")
    return [KEYS[table], *(name for (name,) in rows if name not in ("id", KEYS[table]))]


def stored(path: Path, after: int) -> Stored:
    """Return the stored rows of the facts after this id."""
    connection = apsw.Connection(str(path))
    tables = []
    for table, key in KEYS.items():
        _, *others = columns(connection, table)
        query = f"SELECT {', '.join(others)} FROM {table} WHERE {key} > ? ORDER BY {key}"
        tables.append(connection.execute(query, (after,)).fetchall())
    connection.close()
    return [*zip(*tables, strict=True)]


def contents(path: Path) -> dict[str, list[Row]]:
    """Return every row of every table, the full-text index included."""
    connection = apsw.Connection(str(path))
    names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '% VIRTUAL %'"
    held = {
        name: connection.execute(f"SELECT * FROM {name}").fetchall()
        for (name,) in connection.execute(names)
    }
    connection.close()
    return held


class Rival:
    """The driver, one connection, and every statement prepared once."""

    def __init__(self, path: Path) -> None:
        self.connection = connection = apsw.Connection(str(path))
        connection.set_busy_timeout(60_000)
        connection.pragma("foreign_keys", True)
        connection.pragma("synchronous", "NORMAL")
        connection.pragma("secure_delete", True)
        connection.pragma("temp_store", "MEMORY")
        connection.pragma("journal_size_limit", 16 * 1024 * 1024)
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        self.inserts = []
        for table in KEYS:
            names = columns(connection, table)
            places = ", ".join("?" * len(names))
            self.inserts.append(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})")

    def add(self, rows: tuple[Row, ...]) -> None:
        """Store one fact."""
        execute = self.connection.execute
        first, *others = self.inserts
        fact, *rest = rows
        execute("BEGIN IMMEDIATE")
        execute(first, (None, *fact))
        fact_id = self.connection.last_insert_rowid()
        for insert, row in zip(others, rest, strict=True):
            execute(insert, (fact_id, *row))
        execute("COMMIT")

    def add_many(self, facts: Stored) -> None:
        """Store facts in one transaction."""
        self.connection.execute("BEGIN IMMEDIATE")
        newest = "SELECT seq FROM sqlite_sequence WHERE name = 'memstore_facts'"
        (held,) = self.connection.execute(newest).fetchone()
        for insert, rows in zip(self.inserts, zip(*facts, strict=True), strict=True):
            self._insert_together(insert, _numbered(rows, held))
        self.connection.execute("COMMIT")

    def _insert_together(self, insert: str, rows: Iterator[Row]) -> None:
        """Insert rows, 64 with each statement."""
        into, places = insert.split(" VALUES ")
        while some := [*islice(rows, ROWS_TOGETHER)]:
            values = ", ".join([places] * len(some))
            self.connection.execute(f"{into} VALUES {values}", [*chain.from_iterable(some)])


def _numbered(rows: Sequence[Row], held: int) -> Iterator[Row]:
    return ((row_id, *row) for row_id, row in enumerate(rows, held + 1))


class Ground:
    """A folder with the initial file of every turn, and the facts to write."""

    def __init__(self, folder: Path, embedder: str | None, count: int) -> None:
        self.embedder = embedder
        self._base = folder / "base.db"
        self._copies = 0
        told = [*made_facts(HELD + count)]
        with self.store(self._base) as store:
            for start in range(0, HELD, MANY):
                store.add_many(told[start : start + MANY])
        self.facts = [memstore.NewFact(**one) for one in told[HELD:]]
        copy = self.copy()
        with self.store(copy) as store:
            store.add_many(self.facts)
        self.rows = stored(copy, HELD)
        same = self.copy()
        Rival(same).add_many(self.rows)
        written, rivals = contents(copy), contents(same)
        if other := [n for n in written if written[n] != rivals[n] and n not in BESIDES]:
            raise RuntimeError(f"the rival does not write what memstore writes: {other}")

    def store(self, path: Path) -> memstore.Store:
        return memstore.open(path, embedder=self.embedder, durability="normal")

    def copy(self) -> Path:
        self._copies += 1
        return Path(shutil.copy(self._base, self._base.with_name(f"{self._copies}.db")))


def add(store: memstore.Store, new: memstore.NewFact) -> None:
    store.add(new.content, subject=new.subject, category=new.category, metadata=new.metadata)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# The first fact of each turn opens connections and loads models, and is not counted.


def adds_of_memstore(ground: Ground) -> float:
    with ground.store(ground.copy()) as store:
        add(store, ground.facts[0])
        return seconds(lambda: [add(store, one) for one in ground.facts[1:]])


def adds_of_rival(ground: Ground) -> float:
    rival = Rival(ground.copy())
    rival.add(ground.rows[0])
    return seconds(lambda: [rival.add(one) for one in ground.rows[1:]])


def many_of_memstore(ground: Ground) -> float:
    with ground.store(ground.copy()) as store:
        add(store, ground.facts[0])
        return seconds(lambda: store.add_many(ground.facts[1:]))


def many_of_rival(ground: Ground) -> float:
    rival = Rival(ground.copy())
    rival.add(ground.rows[0])
    return seconds(lambda: rival.add_many(ground.rows[1:]))


def embedding(ground: Ground, *, at_once: bool) -> float:
    """Return the embedder's own time for the facts."""
    embedder = memstore.LocalEmbedder()
    texts = [text_of(one.subject, one.content) for one in ground.facts[1:]]
    embedder.embed(texts[:1])

    def work() -> None:
        done = 0
        while done < len(texts):
            size = first_batch(texts[done:]) if at_once else 1
            embedder.embed(texts[done : done + size])
            done += size

    return seconds(work)


def _write(
    kind: str, path: Path, facts: list[Any], ready: Barrier, took: Queue[tuple[float, float]]
) -> None:
    """Write facts one at a time, in a separate process; print the start and the end."""
    if kind == "rival":
        rival = Rival(path)
        write: Callable[[Any], object] = rival.add
    else:
        store = memstore.open(path, embedder=None, durability="normal")
        write = lambda new: add(store, new)  # noqa: E731
    write(facts[0])
    ready.wait()
    start = time.perf_counter()
    for one in facts[1:]:
        write(one)
    took.put((start, time.perf_counter()))


def processes(ground: Ground, kind: str) -> float:
    """Return the time of several processes together, each with its part of the facts."""
    context = multiprocessing.get_context("spawn")
    ready, took = context.Barrier(PROCESSES), context.Queue()
    path = ground.copy()
    items = ground.rows if kind == "rival" else ground.facts
    parts = [items[n::PROCESSES] for n in range(PROCESSES)]
    working = [
        context.Process(target=_write, args=(kind, path, part, ready, took)) for part in parts
    ]
    for one in working:
        one.start()
    starts, ends = zip(*(took.get(timeout=300) for _ in working), strict=True)
    for one in working:
        one.join()
    return max(ends) - min(starts)


@dataclass(frozen=True)
class Way:
    """A way to write: functions that return the time of memstore and of the rival."""

    count: int
    ours: Callable[[Ground], float]
    rival: Callable[[Ground], float]
    reach: float | None = None
    embedder: str | None = None
    embedding: Callable[[Ground], float] | None = None


WAYS: Final = {
    "add": Way(ADDS, adds_of_memstore, adds_of_rival, 0.6),
    "add, embedded": Way(
        ADDS,
        adds_of_memstore,
        adds_of_rival,
        embedder="local",
        embedding=lambda g: embedding(g, at_once=False),
    ),
    "add_many": Way(MANY, many_of_memstore, many_of_rival, 0.7),
    "add_many, embedded": Way(
        MANY,
        many_of_memstore,
        many_of_rival,
        0.5,
        embedder="local",
        embedding=lambda g: embedding(g, at_once=True),
    ),
    "8 processes": Way(
        PROCESSES * 200, lambda g: processes(g, "memstore"), lambda g: processes(g, "rival"), 0.6
    ),
}


@contextmanager
def on_ground(way: Way) -> Iterator[Ground]:
    with tempfile.TemporaryDirectory() as name:
        yield Ground(Path(name), way.embedder, way.count + 1)


def measured(way: Way, rounds: int) -> list[tuple[float, float, float]]:
    """Return, by round, the seconds of memstore, of the rival, and of the embedder alone."""
    found = []
    with on_ground(way) as ground:
        for turn in range(rounds + 1):
            both = [way.ours, way.rival]
            times = {side: side(ground) for side in (both if turn % 2 else both[::-1])}
            alone = 0.0 if way.embedding is None else way.embedding(ground)
            if turn > 0:  # the first round is a warm-up
                found.append((times[way.ours], times[way.rival], alone))
    return found


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("words", nargs="*")
    asked = parser.parse_args(given)
    named = f"{'memstore':>10}{'rival':>10}{'ratio':>8}{'embedding too':>15}{'reach':>7}"
    print(f"{'facts per second':22}{named}")
    for name, way in WAYS.items():
        if asked.words and not any(word in name for word in asked.words):
            continue
        rounds = measured(way, asked.rounds)
        ours, rival = (way.count / median(column) for column in list(zip(*rounds, strict=True))[:2])
        ratio = median(theirs / mine for mine, theirs, _ in rounds)
        fair = median((theirs + alone) / mine for mine, theirs, alone in rounds)
        told = f"{fair:15.2f}" if way.embedding else " " * 15
        reach = (
            "" if way.reach is None else f"{way.reach:7.2f} {'yes' if fair >= way.reach else 'no'}"
        )
        print(f"{name:22}{ours:10,.0f}{rival:10,.0f}{ratio:8.2f}{told}{reach}", flush=True)


if __name__ == "__main__":
    main()
