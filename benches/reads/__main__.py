"""Every call that reads, at 100,000 and a million facts: no call reads more than it shows.

    python -m benches.reads [--folder FOLDER] [--facts 1000000] [--rounds 5] [--only TEXT]

The memory (``made.py``) is made once, which takes a minute for each 100,000 facts. Each call is
measured for all owners, for one with a twentieth of the facts, and in a small namespace beside the
large one. Medians of the rounds after the first, in milliseconds; the first is told where it took
more than twice as long. Marked are those above the reach, in units of this machine: the plain
product of a million vectors of 256 numbers by numpy, before the table and after it. A scan of a
large index has a thread for each core, of which ``--processor`` counts the calling one.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

import memstore
from benches.reads import calls, made
from memstore import Store

Clock = Callable[[], float]

SLOW_SECONDS = 2.0
"""A call that takes longer is not repeated."""
REACH = {"sessions": 10.0}
"""Milliseconds, by the room of the calls, on a machine that takes 150 ms for the product."""
ELSEWHERE = 20.0
PRODUCT = 150.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path("benches/.made"))
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="only calls with this in their name")
    parser.add_argument(
        "--processor", action="store_true", help="tell processor time of the calling thread instead"
    )
    parser.add_argument("--above", type=float, default=0.0, help="only calls that take as many ms")
    asked = parser.parse_args()
    clock = time.thread_time if asked.processor else time.perf_counter
    asked.folder.mkdir(parents=True, exist_ok=True)
    path = asked.folder / f"reads-{asked.facts}.db"
    if not path.exists():
        begun = path.with_suffix(".part")
        made.fill(begun, asked.facts)
        begun.rename(path)
    product = _product(clock)
    print(f"{asked.facts:,} facts; a plain product of a million x 256: {product:.0f} ms")
    with memstore.open(path) as store:
        store.file.warm()
        _table(store, asked, product / PRODUCT, clock)
    print(f"the product again: {_product(clock):.0f} ms")


def _table(store: Store, asked: argparse.Namespace, speed: float, clock: Clock) -> None:
    standings = {
        "no owner": store,
        "all owners": store.of("all"),
        "one owner": store.of(user_id=made.ANA),
        "small": store.within("project 3"),
    }
    ids = {name: calls.known(one) for name, one in standings.items()}
    print(f"| {'':44} | {' | '.join(f'{name:>16}' for name in standings)} |")
    print(f"|{'-' * 46}|{'|'.join(['-' * 18] * len(standings))}|")
    late = slow = 0
    for call in (*calls.library(), *calls.tools()):
        name = f"{call.room}: {call.name}" if call.name else call.room
        if asked.only not in name:
            continue
        times = [
            _milliseconds(partial(call.work, one, ids[kind]), asked.rounds, clock)
            for kind, one in standings.items()
        ]
        reach = speed * REACH.get(call.room, ELSEWHERE)
        late += max(middle for middle, _ in times) > reach
        slow += max(middle for middle, _ in times) > REACH.get(call.room, ELSEWHERE)
        if max(middle for middle, _ in times) >= asked.above:
            told = " | ".join(_told(*one, reach) for one in times)
            print(f"| {name:44} | {told} |", flush=True)
    print(f"\n{late} calls above {speed * ELSEWHERE:.0f} ms ({speed * 10:.0f} ms for sessions)")
    print(f"{slow} calls above {ELSEWHERE:.0f} ms ({REACH['sessions']:.0f} ms for sessions)")


def _told(middle: float, first: float, reach: float) -> str:
    mark = "!" if middle > reach else " "
    begun = f" ({first:.0f})" if first > max(2 * middle, 1.0) else ""
    return f"{f'{middle:.2f}{begun}{mark}':>16}"


def _milliseconds(work: Callable[[], object], rounds: int, clock: Clock) -> tuple[float, float]:
    """Return the median after the first round, and the time of the first."""
    times = [*_rounds(work, rounds, clock)]
    return median(times[1:] or times), times[0]


def _rounds(work: Callable[[], object], rounds: int, clock: Clock) -> Iterable[float]:
    for _ in range(rounds + 1):
        start = clock()
        work()
        took = clock() - start
        yield 1000 * took
        if took > SLOW_SECONDS:
            return


def _product(clock: Clock) -> float:
    """Return how long numpy takes for the products of one vector with a million, in ms."""
    rows = np.random.default_rng(3).standard_normal((1_000_000, 256), dtype=np.float32)
    asked = rows[0].copy()
    return _milliseconds(lambda: rows @ asked, 7, clock)[0]


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
