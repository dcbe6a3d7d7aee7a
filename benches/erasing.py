"""Erasing many rows: how long it takes, and how long another process waits to write meanwhile.

python -m benches.erasing [ROWS]
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.synchronize import Event
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import memstore
from memstore import Store

ROWS = 500_000
EPISODES_IN = 10
"""One row of so many is an episode; the facts before it were drawn from it."""

BATCH = 2000
SOURCE = "web:x"
PAUSE_SECONDS = 0.02


class Write(NamedTuple):
    began: float
    seconds: float


def fill(store: Store, rows: int) -> None:
    """Store the rows of a source, and a tenth as many others."""
    numbers = range(rows // EPISODES_IN)
    for start in range(0, len(numbers), BATCH // EPISODES_IN):
        some = numbers[start : start + BATCH // EPISODES_IN]
        made = store.episodes.add_many(
            [
                {"content": f"Page {n} says that harbour {n} opens at dawn.", "source": SOURCE}
                for n in some
            ]
        )
        store.add_many(
            [
                {
                    "content": f"Harbour {page.id} opens at dawn on pier {pier}",
                    "subject": f"harbour {page.id % 1000}",
                    "episode_id": page.id,
                }
                for page in made
                for pier in range(EPISODES_IN - 1)
            ]
        )
        store.add_many(
            [{"content": f"Street {n} is paved", "subject": f"street {n % 1000}"} for n in some]
        )


def keep_writing(path: str, ready: Event, ended: Event, out: str) -> None:
    """Store a fact every few milliseconds; note how long each took."""
    writes = []
    with memstore.open(path, embedder=None) as store:
        ready.set()
        while not ended.is_set():
            began = time.monotonic()
            with suppress(memstore.StoreBusy):  # it waited as long as it is willing to
                store.add(f"another thing at {began}", subject="others")
            writes.append(Write(began, time.monotonic() - began))
            time.sleep(PAUSE_SECONDS)
    Path(out).write_text(json.dumps(writes))


def timed(act: Callable[[], object]) -> float:
    began = time.monotonic()
    act()
    return time.monotonic() - began


def longest(writes: list[Write], first: float, last: float) -> float:
    """Return the longest write that overlapped a period."""
    return max(
        (w.seconds for w in writes if w.began < last and w.began + w.seconds > first), default=0
    )


def main(rows: int) -> None:
    with TemporaryDirectory() as folder:
        path = f"{folder}/memory.db"
        with memstore.open(path, embedder=None) as store:
            print(
                f"stored {rows + rows // EPISODES_IN:,} in {timed(lambda: fill(store, rows)):.0f} s"
            )
            print(f"file: {Path(path).stat().st_size >> 20} MB")
            measure(store, path, f"{folder}/writes.json")


def measure(store: Store, path: str, out: str) -> None:
    began = time.monotonic()
    plan = store.ledger.erasure(source=SOURCE)
    print(f"plan: {time.monotonic() - began:.1f} s, {plan.counts}")
    ready, ended = multiprocessing.Event(), multiprocessing.Event()
    writer = multiprocessing.Process(target=keep_writing, args=(path, ready, ended, out))
    writer.start()
    ready.wait()
    compacting: list[float] = []
    compact = store.file.engine.compact

    def noted() -> bool:
        compacting.append(time.monotonic())
        done = compact()
        compacting.append(time.monotonic())
        return done

    store.file.engine.compact = noted  # type: ignore[method-assign]
    began = time.monotonic()
    done = plan.apply()
    end = time.monotonic()
    ended.set()
    writer.join()
    writes = [Write(*one) for one in json.loads(Path(out).read_text())]
    erasing = compacting[0] - began
    print(f"erased: {done.counts.facts:,} facts, {done.counts.episodes:,} episodes, {done.is_gone}")
    print(
        f"in {end - began:.0f} s: {erasing:.0f} in steps, then {end - compacting[0]:.1f} rewriting"
    )
    print(
        f"longest wait of another process: {longest(writes, began, compacting[0]):.2f} s in steps,"
    )
    print(
        f"{longest(writes, *compacting):.2f} s while the file was rewritten; {len(writes):,} writes"
    )
    print(f"file: {Path(path).stat().st_size >> 20} MB, left: {len(done.left)}")
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)
