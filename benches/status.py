"""A status and a count at a million facts: the counts that are kept, beside counting the rows.

    python -m benches.status [--folder FOLDER] [--facts N]

Both ways in one run, on one file with 20,000 subjects, nine categories, an episode for every ten
facts, and a tenth of the facts with an owner. The last figure is the whole command, with the start
of Python. Every fact counts as embedded: what is pending is counted one by one in either way.
"""

from __future__ import annotations

import argparse
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import memstore
from memstore import NewEpisode, NewFact
from memstore.database.filters import FactFilter
from memstore.database.tables import facts as fact_table
from memstore.domain import clock
from memstore.domain.records import CATEGORIES, NOBODY
from memstore.store.store import Store, facts_of

MILLION = 1_000_000
BATCH = 5_000
SUBJECTS = 20_000
REPEATED = 15


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path("benches/.made"))
    parser.add_argument("--facts", type=int, default=MILLION)
    asked = parser.parse_args()
    path = asked.folder / f"status-{asked.facts}.db"
    with memstore.open(path, embedder="none") as store:
        if not store.of("all").count():
            _fill(store, asked.facts)
            _embed(path)
        status = _milliseconds(store.status)
        count = _milliseconds(store.count)
        print(f"{asked.facts:,} facts, {store.status().subject_count:,} subjects")
        print("| | kept counts, ms | counting rows, ms |\n|---|---|---|")
        print(f"| status | {status:.2f} | {_milliseconds(lambda: _by_rows(store)):.1f} |")
        print(f"| count | {count:.2f} | {_milliseconds(lambda: _rows(store)):.1f} |")
    command = [sys.executable, "-m", "memstore", "status", "--db", str(path), "--embedder", "none"]
    took = _milliseconds(lambda: subprocess.run(command, check=True, capture_output=True))
    print(f"| memstore status, the whole command | {took:.0f} | |")


def _fill(store: Store, number: int) -> None:
    for first in range(0, number, BATCH):
        store.add_many(_fact(place) for place in range(first, first + BATCH))
        places = range(first, first + BATCH, 10)
        store.episodes.add_many(
            NewEpisode(content=f"said {place}", source="bench") for place in places
        )


def _embed(path: Path) -> None:
    """Mark everything as embedded; the vectors are never read."""
    with sqlite3.connect(path) as file:
        for rows in ("fact", "piece"):
            file.execute(f"UPDATE memstore_{rows}_vectors SET embedding = zeroblob(4)")
    file.close()


def _fact(place: int) -> NewFact:
    return NewFact(
        content=f"fact {place} about thing {place % 997}",
        subject=f"subject {place * 7919 % SUBJECTS}",
        category=CATEGORIES[place % len(CATEGORIES)],
        user_id="ana" if place % 10 == 0 else None,
        created_at=clock.EPOCH.replace(year=2024 + place % 2, month=1 + place % 12),
    )


def _by_rows(store: Store) -> None:
    """Count what a status tells by reading the indexes of the rows."""
    with facts_of(store).reading() as transaction:
        list(
            transaction.rows(
                "SELECT kind, key, number FROM memstore_counts_read WHERE namespace = :namespace"
                " AND user_id = '' AND agent_id = '' AND run_id = ''",
                {"namespace": store.namespace},
            )
        )


def _rows(store: Store) -> None:
    active = FactFilter((store.namespace,), clock.utc_now(), scope=NOBODY)
    with facts_of(store).reading() as transaction:
        fact_table.count(transaction, active)


def _milliseconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATED):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return 1000 * median(times)


if __name__ == "__main__":
    main()
