"""Machines that share the embedding of a memory's texts, and a third that writes to it.

    python -m benches.postgres_leases [--texts 6000] [--machines 2] [--rounds 4]

Each machine is a process that embeds what waits, with a model that answers after 20 ms. It claims
each batch of texts as the library does, without the lock of the memory; or, as the rival does and
as in a file, in a write of the memory. A third process adds facts one by one meanwhile. The two
ways take turns. Compare them within a run; the seconds depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.support import postgres

import memstore
from benches.postgres import seconds, shown
from benches.postgres_server import in_use
from memstore.database.postgres.engine import PostgresEngine
from memstore.database.postgres.lazy_work import Outrun

WAYS = ("without the lock", "in a write of the memory")
ANSWERS_AFTER_SECONDS = 0.02


class Remote:
    """A model whose answer takes some time, in which the machine does nothing."""

    model = "letters-26"

    def __init__(self, answers_after_seconds: float = ANSWERS_AFTER_SECONDS) -> None:
        self._seconds = answers_after_seconds

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        time.sleep(self._seconds)
        counts = [[text.count(chr(97 + letter)) + 0.5 for letter in range(26)] for text in texts]
        return np.array(counts, dtype=np.float32)


def embed(url: str, way: str) -> None:
    """Embed what waits; print how many texts, the seconds, and those of each claim."""
    claims: list[float] = []
    claim = PostgresEngine.claim if way == WAYS[0] else PostgresEngine.write

    def timed(engine: PostgresEngine, **options: Any) -> Any:
        return Timed(claim(engine, **options), claims)

    PostgresEngine.claim = timed  # type: ignore[method-assign]
    with memstore.open(url, embedder=Remote()) as store:
        wait()
        began = time.perf_counter()
        report = store.file.embed_pending()
        print(json.dumps([report.embedded, time.perf_counter() - began, claims]))


class Timed:
    """A context that notes how long it lasted."""

    def __init__(self, inner: Any, times: list[float]) -> None:
        self._inner, self._times = inner, times

    def __enter__(self) -> Any:
        self._began = time.perf_counter()
        return self._inner.__enter__()

    def __exit__(self, *given: Any) -> Any:
        try:
            return self._inner.__exit__(*given)
        finally:
            self._times.append(time.perf_counter() - self._began)


def add(url: str) -> None:
    """Add facts until the input ends; print how many, how often outrun, and the seconds of each."""
    outrun = 0
    attempted = PostgresEngine._attempted

    def counted(*given: Any) -> Any:
        nonlocal outrun
        try:
            return attempted(*given)
        except Outrun:
            outrun += 1
            raise

    PostgresEngine._attempted = counted  # type: ignore[method-assign]
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    times: list[float] = []
    with memstore.open(url, embedder=Remote(0)) as store:
        wait(reads=False)
        while not ended.is_set():
            text = f"written {len(times)}"
            times.append(seconds(lambda text=text: store.add(text, subject="writer")))
    print(json.dumps([len(times), outrun, times]))


def wait(*, reads: bool = True) -> None:
    """Tell the parent that this process is ready, and wait for its sign."""
    print("ready", flush=True)
    if reads:
        sys.stdin.readline()


def started(*given: object) -> subprocess.Popen[str]:
    """Return a process of this module that is ready."""
    words = [sys.executable, "-m", "benches.postgres_leases", "--run", json.dumps(given)]
    running = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    running.stdout.readline()
    return running


def measured(way: str, texts: int, machines: int) -> tuple[float, float, float, int, int]:
    """Return the seconds until all is embedded, of a claim and of an add, adds and outrun ones."""
    with postgres.database() as url:
        with memstore.open(url, embedder=None) as store:
            made = ({"content": f"boat {n} at the quay", "subject": "s"} for n in range(texts))
            store.add_many(made)
        embedding = [started("embed", url, way) for _ in range(machines)]
        writing = started("add", url)
        for one in embedding:
            assert one.stdin is not None
            one.stdin.write("\n")
            one.stdin.flush()
        found = [json.loads(one.communicate()[0]) for one in embedding]
        added, outrun, times = json.loads(writing.communicate()[0])
        if not texts <= sum(one[0] for one in found) <= texts + added:
            raise RuntimeError("a text was embedded twice, or not at all")
    claims = [claim for one in found for claim in one[2]]
    return max(one[1] for one in found), median(claims), median(times), added, outrun


@in_use()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=6000)
    parser.add_argument("--machines", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run is not None:
        what, *given = json.loads(arguments.run)
        {"embed": embed, "add": add}[what](*given)
        return
    found: dict[str, list[tuple[float, float, float, int, int]]] = {way: [] for way in WAYS}
    for _ in range(arguments.rounds):
        for way in WAYS:
            found[way].append(measured(way, arguments.texts, arguments.machines))
            took, claim, add_, added, outrun = found[way][-1]
            print(
                f"{way}: {took:.2f} s, a claim {1000 * claim:.1f} ms, an add {1000 * add_:.1f} ms;"
                f" {added} added, {outrun} outrun",
                flush=True,
            )
    ours, theirs = ([median(one) for one in zip(*found[way], strict=True)] for way in WAYS)
    for place, what in enumerate(("until all is embedded", "a claim", "an add while they work")):
        shown(f"{what}, beside the rival", ours[place] / theirs[place], "x")


if __name__ == "__main__":
    main()
